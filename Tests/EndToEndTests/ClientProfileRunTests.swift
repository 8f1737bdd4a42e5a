import Foundation
import Testing

extension SideBySide {
    /// What is different where another client runs, as the files of a simulated run show it.
    @Suite struct ClientProfileRunTests {
        private struct Event: Decodable {
            var device: Int?
            var what: String
            var code: String?
            var cause: String?
        }

        private struct Summary: Decodable {
            struct Gauge: Decodable { var peak: Int }
            var gauges: [String: Gauge]
        }

        /// The folder of the report is kept as long as the scratch.
        private func simulate(_ scenario: String, in scratch: Scratch) async throws -> URL {
            let file = scratch.folder.appending(path: "client.scenario")
            try scenario.write(to: file, atomically: true, encoding: .utf8)
            let report = scratch.folder.appending(path: "report")
            let outcome = try await Binary.run(
                ["simulate", file.path, "--output", report.path, "--quiet", "--no-color"])
            #expect(outcome.code == 0, "\(outcome)")
            return report
        }

        private func events(_ scenario: String) async throws -> [Event] {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let report = try await self.simulate(scenario, in: scratch)
            let lines = try String(contentsOf: report.appending(path: "events.ndjson"), encoding: .utf8)
            return try lines.split(separator: "\n").map {
                try JSONDecoder().decode(Event.self, from: Data($0.utf8))
            }
        }

        @Test func `the wingtip app gets its books once from its backend`() async throws {
            let events = try await self.events(
                """
                scenario: 1
                name: wingtip
                seed: 7
                fleet: {wingtip: {phones: 4, profile: wingtip, scans: 2, arrivals: 4/s}}
                server: {dialect: wingtip, books: 2..2, job-time: 1s..2s}
                slo: {scans.completed: count == 8, books.received: count == 16, books.duplicated: count == 0}
                """)
            #expect(events.count { $0.what == "completed" } == 8)
            #expect(events.count { $0.what == "book-added" } == 16)
        }

        @Test func `a reset costs the wingtip app the books that came before it`() async throws {
            let events = try await self.events(
                """
                scenario: 1
                name: wingtip-resets
                seed: 7
                fleet: {wingtip: {phones: 4, profile: wingtip, scans: 2, arrivals: 4/s}}
                server: {dialect: wingtip, books: 2..2, job-time: 8s..9s}
                faults: [{do: reset, on: stream, after: 1 events, chance: 100%, count: each-attempt}]
                expect-broken: [scans.completed, scans.waiting]
                """)
            #expect(events.count { $0.what == "queued" && $0.cause == "results-unavailable" } == 8)
        }

        @Test(arguments: [("on", 10), ("off", 5)])
        func `quirk 17 leaves streams open while the app opens others`(toggle: String, peak: Int) async throws
        {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let report = try await self.simulate(
                """
                scenario: 1
                name: quirk-17
                seed: 7
                fleet: {old: {phones: 5, profile: contract, quirk-17: \(toggle), scans: 1, arrivals: 10/s}}
                server: {dialect: live-2026-02, books: 3..8, job-time: 6s..8s, ping: 1s}
                faults: [{do: background, at: 2s..3s, for: 1s}]
                """, in: scratch)
            let summary = try Data(contentsOf: report.appending(path: "summary.json"))
            let gauges = try JSONDecoder().decode(Summary.self, from: summary).gauges
            #expect(gauges["server.streams.open"]?.peak == peak)
        }

        @Test func `quirk 21 has one text for every refused upload`() async throws {
            let events = try await self.events(
                """
                scenario: 1
                name: quirk-21
                seed: 7
                fleet:
                  old: {phones: 1, profile: contract, quirk-21: on, scans: 2, arrivals: 4/s}
                  new: {phones: 1, profile: contract, scans: 2, arrivals: 4/s}
                server: {books: 2..2, job-time: 1s..2s}
                faults: [{do: http-error, on: upload, status: 413, code: FILE_TOO_LARGE, chance: 100%}]
                expect-broken: [scans.completed]
                """)
            let codes = { (device: Int) in
                events.filter { $0.device == device && $0.what == "refused" }.map { $0.code ?? "" }
            }
            #expect(codes(0) == ["NETWORK_ERROR", "NETWORK_ERROR"])
            #expect(codes(1) == ["FILE_TOO_LARGE", "FILE_TOO_LARGE"])
        }
    }
}
