import Foundation
import Testing

extension SideBySide {
    /// The app at HEAD against the live backend of February 2026 (Docs/apps.md section 4.12), next to the
    /// contract's client.
    @Suite struct LiveDialectTests {
        private static let scenario = """
            scenario: 1
            name: live
            seed: 7
            fleet:
              head: {phones: 1, profile: swiftwing-head, scans: 1, arrivals: 1/s}
              contract: {phones: 1, profile: contract, scans: 1, arrivals: 1/s}
            server: {dialect: live-2026-02, books: 5..5, job-time: 12s}
            drain: 1m
            slo:
              cleanup.attempts{group:head}: count == 7
              cleanup.attempts{group:contract}: count == 1
              sse.undecodable{group:head}: count == 6
              books.received: count == 10
              books.duplicated: count == 0
              scans.completed: count == 2
            """

        /// A line of `events.ndjson`, as far as this test reads it.
        private struct Event: Decodable {
            /// Nanoseconds.
            var t: Int
            var device: Int?
            var what: String
            var operation: String?
            var malformed: Bool?
        }

        private func events(_ scratch: Scratch) async throws -> [Event] {
            let file = scratch.folder.appending(path: "live.scenario")
            try Self.scenario.write(to: file, atomically: true, encoding: .utf8)
            let report = scratch.folder.appending(path: "report")
            let outcome = try await Binary.run(
                ["simulate", file.path, "--output", report.path, "--quiet", "--no-color"])
            #expect(outcome.code == 0, "\(outcome)")
            let lines = try String(contentsOf: report.appending(path: "events.ndjson"), encoding: .utf8)
            return try lines.split(separator: "\n").map {
                try JSONDecoder().decode(Event.self, from: Data($0.utf8))
            }
        }

        @Test func `six events that it cannot read cost a job of 12 s seven DELETEs and 31.2 s`() async throws
        {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let events = try await self.events(scratch)
            let head = events.filter { $0.device == 0 }
            let unread = head.filter { $0.what == "event-ignored" && $0.malformed == true }.map(\.t)
            let deletes = head.filter { $0.what == "request-sent" && $0.operation == "cleanup" }.map(\.t)
            #expect(unread.count == 6 && deletes.count == 7)
            // Each error is shown for 5.2 s before its DELETE, and no event is read during it.
            #expect(zip(unread, deletes).map { $1 - $0 } == Array(repeating: 5_200_000_000, count: 6))
            #expect(zip(unread, deletes).reduce(0) { $0 + $1.1 - $1.0 } == 31_200_000_000)
            let done = { (device: Int) in
                events.first { $0.device == device && $0.what == "completed" }?.t ?? 0
            }
            // The first error is over when the job completes; five are not.
            #expect((25_000_000_000...26_000_000_000).contains(done(0) - done(1)))
            #expect(events.count { $0.device == 1 && $0.what == "book-added" } == 5)
        }
    }
}
