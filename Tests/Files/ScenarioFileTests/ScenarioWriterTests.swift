import Foundation
import Plan
import SimBase
import Testing

@testable import ScenarioFile

struct ScenarioWriterTests {
    private func expectRoundTrip(_ scenario: Scenario, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let text = ScenarioWriter.resolved(scenario)
        // Its variables, if it seems to have any, are text.
        let read = try load(text)
        #expect(read == scenario, sourceLocation: sourceLocation)
        #expect(ScenarioWriter.resolved(read) == text, sourceLocation: sourceLocation)
    }

    @Test func `what is written is read back equal`() throws {
        try expectRoundTrip(load(minimal))
        try expectRoundTrip(
            load(
                """
                scenario: 1
                name: 1st.try_x
                description: "a \\"quote\\", a back\\\\slash, $${NOT_A_VARIABLE} $$$${, : # { }\\n\\u0007\\u2028 é 紅樓夢"
                seed: 18446744073709551615
                drain: 1500us
                duration: 90s
                fleet:
                  on: {phones: 3, network: 3g, arrivals: 7/3s, spacing: burst(4), photos: no/where, idle-timeout: 1m, request-timeout: 8s}
                  b: {phones: 2, network: {up: {delay: 1ns, rate: 1001bps}}, arrivals: 1/h, photos: {paint: 2}, resume: off}
                  staged: {phones: 4, arrivals: [{rate: 5/3s, for: 1m}, {ramp: 0/s..2.5/m, over: 1ms}, {rate: 0/s, for: 3ns}]}
                  closed: {phones: 4, think: 1ms..4s}
                  start: {phones: 4, think: 0s, start: 3s..1h}
                  way: {phones: 4, arrivals: 1/s, network: [{at: 0s, link: lte}, {at: 1s, link: none, for: 4ms}, {at: 2s, link: {down: {loss: 0.0001%}}}]}
                  bad: {phones: 4, arrivals: 1/s, network: [{at: 0s, link: none}, {at: 1s, link: very-bad}]}
                  old: {phones: 4, arrivals: 1/s, gap-5: on, gap-14: off, inconsistency-2: on}
                  shipped: {phones: 4, arrivals: 1/s, profile: swiftwing-legacy, gap-5: off}
                  c.d_e-1: {phones: 5, arrivals: 90/m, scans: 9, streams-max: 1, cleanup: off, inline-books: off}
                server:
                  {books: 0..9, job-time: 1ms..1001us, ping: 1h, ping-ids: on, rate-limit: off, replay-ids: fresh,
                   links: "http://h:1", retry: 3s, completed-size-max: 1000B, repeated-cleanup: 404}
                faults:
                  - {do: rate-limit, quota: 1 per 4s, retry-after: 2s, scope: "on", count: once}
                  - {do: rate-limit, quota: 9 per 20m, chance: 0.0001%}
                  - {do: strip-books, as: "null", chance: 33.3333%, at: 1s, for: 2s}
                  - {do: reset, after: 1..4 events, cut: inside-event, count: 2, scope: 50% of phones}
                  - {do: reset, after: 10..20 bytes, count: each-attempt, cut: after-bytes(99)}
                  - {do: reset, id: x, after: 1ms..2s, cut: inside-utf8}
                  - {do: expire-token, after: 1s}
                  - {do: offline, at: 3s, for: 1500ms, scope: c.d_e-1}
                slo:
                  sse.connect.time{group:c.d_e-1}: [p(99.99) <= 1500us, {expect: "avg != 2h", severity: warn}]
                  faults.x: {expect: "count > 3", abort: on}
                  http.429: value >= 1
                  results.failed: [rate < 0.0001%, rate < 1% over 30s]
                  upload.time: {expect: "max < 9s within 1500ms of offline-1.end", no-data: pass}
                """))
    }

    @Test func `the shipped scenario is read back equal`() throws {
        let path = packageFolder + "/Scenarios/flaky-network.scenario"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let scenario = try ScenarioLoader.load(path: path, text: text, overrides: [], environment: [:])
        try expectRoundTrip(scenario)
        try expectRoundTrip(scenario.scaled(devices: 17))
    }

    @Test(arguments: ["/mine", "../My photos: all, #1", "$${HOME}", "[./a, '{b}']"])
    func `paths of photos are read back equal`(text: String) throws {
        let quoted = text.hasPrefix("[") ? text : "'\(text)'"
        try expectRoundTrip(try load(minimal, set: ["fleet.phones.photos=\(quoted)"]))
    }

    @Test(arguments: ["[shelves, one.jpg]", "{paint: 8}", "{paint: 2, size: 640x480}"])
    func `photos are written as they are read`(text: String) throws {
        let scenario = try load(minimal, set: ["fleet.phones.photos=\(text)"])
        #expect(ScenarioWriter.resolved(scenario).contains("    photos: \(text)\n"))
        try expectRoundTrip(scenario)
    }

    @Test func `every default is written`() throws {
        let text = ScenarioWriter.resolved(
            try load(minimal + "faults: [{do: reset}]\nslo: {scans.lost: count == 0}\n"))
        let expected = """
            scenario: 1
            name: test
            description: ""
            seed: 1
            drain: 30s
            duration: off

            fleet:
              phones:
                phones: 2
                profile: contract
                journey: scan
                resume: on
                cleanup: on
                inline-books: on
                result-events: shown-top-level
                streams-max: 5
                idle-timeout: auto
                request-timeout: 30s
                status-polling: off
                status-interval: 2s
                status-requests-max: 75
                stream-token: header
                token-refresh: 90m
                network: perfect
                scans: 1
                photos: shelves
                photos-per-scan: 1
                regions: 1
                preprocess: once
                arrivals: 1/s
                spacing: uniform

            server:
              dialect: contract
              books: 3..8
              statuses: {}
              confidence: auto
              job-time: 8s..16s
              ping: 30s
              ping-ids: off
              token-lifetime: 2h
              event-buffer: 1m
              replay-ids: kept
              line-ends: lf
              rate-limit: 10 per 20m
              limits: []
              phones-per-address: 1
              results-lifetime: 2h
              completed-size-max: 128KiB
              inline: lite
              progressive: off
              preview: 200kB
              cancel-event: off
              strict-device: off
              strict-accept: off
              repeated-cleanup: 204
              enrichment-body: nested
              links: relative
              retry: off
              stream-linger: 0s
              photos-max: 5
              photo-size-max: 10MB
              batch-size-max: 50MB
              jobs-max: 100000
              tombstones-max: 65536
              v2: {stream-auth: either, event-names: plain, progress: push, websocket-url: absent, envelope: discriminated, tokens: both, books-key: books, authors: author}
              circuit-breaker: off

            faults:
              - {do: reset, on: stream, id: reset-1, key: "e5cc8ebf1174455b", cut: between-events, side: "reply", chance: 100%, at: 0s, count: once, scope: all}

            slo:
              scans.lost:
                - {expect: "count == 0", severity: error, abort: off}

            """
        #expect(text == expected)
    }
}
