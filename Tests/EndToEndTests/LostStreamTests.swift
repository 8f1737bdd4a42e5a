import Foundation
import Testing

extension SideBySide {
    /// A stream that is reset in the middle, and clients that do not open it again (Docs/apps.md section 4.11, Q9).
    @Suite struct LostStreamTests {
        private static let scenario = """
            scenario: 1
            name: lost-stream
            seed: 7
            fleet:
              quirk: {phones: 6, profile: contract, quirk-9: on, scans: 2, arrivals: 8/s}
              head: {phones: 6, profile: swiftwing-head, quirk-11: off, scans: 2, arrivals: 8/s}
              contract: {phones: 6, profile: contract, scans: 2, arrivals: 8/s}
            server: {books: 2..4, job-time: 400ms..900ms, ping: 1s}
            faults: [{do: reset, on: stream, after: 1..2 events, chance: 50%}]
            drain: 10s
            """

        /// The scans of a group, by their outcome.
        private struct Scans: Decodable {
            var captured: Int
            var completed: Int
            var waiting: Int
            var lost: Int
        }

        private struct Summary: Decodable {
            struct Group: Decodable { var scans: Scans }
            var groups: [String: Group]
        }

        private func scans(_ world: String, _ more: [String] = []) async throws -> [String: Scans] {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let file = scratch.folder.appending(path: "lost-stream.scenario")
            try Self.scenario.write(to: file, atomically: true, encoding: .utf8)
            let report = scratch.folder.appending(path: "report")
            let outcome = try await Binary.run(
                [world, file.path, "--output", report.path, "--quiet", "--no-color"] + more)
            #expect([0, 98, 99].contains(outcome.code), "\(outcome)")
            let summary = try Data(contentsOf: report.appending(path: "summary.json"))
            return try JSONDecoder().decode(Summary.self, from: summary).groups.mapValues(\.scans)
        }

        @Test(arguments: ["simulate", "run"]) func `a reset costs scans where the client does not reconnect`(
            world: String
        ) async throws {
            let scans = try await self.scans(world)
            let (quirk, head) = (try #require(scans["quirk"]), try #require(scans["head"]))
            let contract = try #require(scans["contract"])
            // Alone, the defect leaves them in the durable queue; the app at HEAD removes them.
            #expect(quirk.waiting > 0 && quirk.lost == 0, "\(quirk)")
            #expect(head.lost > 0, "\(head)")
            #expect(contract.completed == contract.captured, "\(contract)")
        }

        @Test(arguments: ["simulate", "run"]) func `without the reset no client loses a scan`(
            world: String
        ) async throws {
            for (name, scans) in try await self.scans(world, ["--set", "faults=[]"]) {
                #expect(scans.completed == scans.captured, "\(name): \(scans)")
            }
        }
    }
}
