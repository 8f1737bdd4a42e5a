/// A starter scenario: small, valid, and with a comment on every line that is likely to be changed.
package enum StarterFile {
    /// Whether a scenario may be called that.
    package static func accepts(name: String) -> Bool {
        (try? Values.name(name, what: "a name")) != nil
    }

    /// The file of the schema, as the first line of a starter scenario names it.
    package static let schemaName = "scenario.schema.json"
    private static let schemaLine = "# yaml-language-server: $schema="

    /// Another scenario under this name, which must be one that is accepted.
    package static func text(copying text: String, name: String) -> String {
        precondition(self.accepts(name: name), "a scenario's name was not checked")
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if let first = lines.first, first.hasPrefix(self.schemaLine) {
            lines[0] = self.schemaLine + self.schemaName
        } else {
            lines.insert(self.schemaLine + self.schemaName, at: 0)
        }
        if let index = lines.firstIndex(where: { $0.hasPrefix("name:") }) {
            lines[index] = "name: \(name)"
        } else if let index = lines.firstIndex(where: { $0.hasPrefix("scenario:") }) {
            lines.insert("name: \(name)", at: index + 1)
        }
        return lines.joined(separator: "\n")
    }

    /// `name` must be one that is accepted.
    package static func text(name: String) -> String {
        precondition(self.accepts(name: name), "a scenario's name was not checked")
        return """
            \(self.schemaLine)\(self.schemaName)
            #
            # Purpose:
            #   describe here what a run shows.
            #
            #   swiftwing-sim check \(name)     show the errors in this file
            #   swiftwing-sim plan \(name)      show what a run would do
            #   swiftwing-sim run \(name)       run it and write the report
            scenario: 1
            name: \(name)
            description: Describe the scenario in one line.
            seed: 4                        # the same seed gives the same schedule and the same random decisions
            # extends: flaky-network      # inherits another scenario and overrides the keys below

            \(self.sections)
            """
    }

    /// What a scenario says after its head.
    private static let sections = """
        fleet:
          phones:                      # a group; add more groups with their own client, link and load
            phones: 20
            profile: contract
            network: lte               # or a timeline: [{at: 0s, link: lte}, {at: 12s, link: edge, for: 4s}]
            scans: 3                   # per phone
            arrivals: 6/s              # captures on schedule, however slow the backend is
            spacing: poisson           # uniform | poisson | burst(n)
            # arrivals: [{rate: 5/s, for: 10s}, {ramp: 5/s..50/s, over: 60s}]
            # think: 1s..4s            # instead of arrivals: the pause of a phone after each scan
            photos: shelves            # built in; or your own folder or photo, a list [shelves, mine/one.jpg], {paint: 8}

        server:                        # the simulated backend; ignored with --target
          books: 3..8
          job-time: 1s..3s
          ping: 1s
          rate-limit: 10 per 20m       # per device; `off` for no limit

        faults:                        # `swiftwing-sim schema --faults` describes all kinds
          - {do: reset,   on: stream, after: 1..4 events, chance: 35%}
          - {do: offline, scope: 60% of phones, at: 4s, for: 3s}

        slo:                           # objectives; if one fails, the run exits with 99
          scan.time:            p(95) < 30s
          sse.reconnect.failed: rate < 5%
          scans.waiting:        count == 0   # nothing is unfinished at the end
          scans.lost:           count == 0
          # Checked by default: no book is missing, every refusal is explained by a fault
          # (scans.refused.unexplained), and the job of every completed scan is deleted (cleanup.unfinished).
        # expect-broken: [stream.no-gap]   # for a broken client: exactly this must fail
        # sometimes: [stream-resumed, slots-full]   # situations that a run must reach, or it exits with 98

        """
}
