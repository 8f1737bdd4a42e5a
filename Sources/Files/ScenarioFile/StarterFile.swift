/// A scenario to begin with: small, sound, and with a word on every line that one is likely to change.
package enum StarterFile {
    /// Whether a scenario may be called that.
    package static func accepts(name: String) -> Bool {
        (try? Values.name(name, what: "a name")) != nil
    }

    /// `name` must be one that is accepted.
    package static func text(name: String) -> String {
        precondition(self.accepts(name: name), "a scenario's name was not checked")
        return """
            # yaml-language-server: $schema=scenario.schema.json
            #
            # What it shows:
            #   say here what somebody learns from a run.
            #
            #   swiftwing-sim check \(name)     what is wrong with this file
            #   swiftwing-sim plan \(name)      what a run would do
            #   swiftwing-sim run \(name)       the run, and its report
            scenario: 1
            name: \(name)
            description: Say in a line what it shows.
            seed: 4                        # the same seed, the same schedule and the same draws
            # extends: flaky-network      # begins with all of another scenario and changes what is said here

            fleet:
              phones:                      # a group; others may follow, each with its own client, link and load
                devices: 20
                profile: contract
                network: lte               # or a way: [{at: 0s, link: lte}, {at: 12s, link: edge, for: 4s}]
                scans: 3                   # of each phone
                arrivals: 6/s              # captures on schedule, whatever the backend does
                spacing: poisson           # uniform | poisson | burst(n)
                # arrivals: [{rate: 5/s, for: 10s}, {ramp: 5/s..50/s, over: 60s}]
                # think: 1s..4s            # instead of arrivals: a phone's pause after each of its scans
                photos: shelves            # a folder under Images/, a list [shelves, mine/one.jpg], or {paint: 8}

            server:                        # the simulated backend; ignored with --target
              books: 3..8
              job-time: 1s..3s
              ping: 1s
              rate-limit: 10 per 20m       # per device; `off` switches it off

            faults:                        # what breaks; `swiftwing-sim schema --faults` describes all of them
              - {do: reset,   on: stream, after: 1..4 events, chance: 35%}
              - {do: offline, scope: 60% of devices, at: 4s, for: 3s}

            slo:                           # what must hold; otherwise the run ends with 99
              scan.time:            p(95) < 30s
              sse.reconnect.failed: rate < 5%
              scans.waiting:        count == 0   # nothing is unfinished at the end
              scans.lost:           count == 0
              # Held in any case, unless it is stated otherwise: no book is missing, no refusal without a fault that
              # explains it (scans.refused.unexplained), no job left behind by a completed scan (cleanup.unfinished).
            # expect-broken: [stream.no-gap]   # of a client that is meant to be broken: this must break, nothing else
            # sometimes: [stream-resumed, slots-full]   # what a run must come to, or it has tried nothing and ends with 98

            """
    }
}
