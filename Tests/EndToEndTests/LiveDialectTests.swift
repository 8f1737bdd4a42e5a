import Foundation
import Testing

extension SideBySide {
    /// The app at HEAD against the live backend of February 2026 (Docs/contract.md section 4.12).
    @Suite struct LiveDialectTests {
        private static let scenario = """
            scenario: 1
            name: live
            seed: 7
            fleet: {head: {devices: 1, profile: swiftwing-head, scans: 1, arrivals: 1/s}}
            server: {dialect: live-2026-02, books: 5..5, job-time: 12s}
            slo: {cleanup.attempts: count == 7, sse.undecodable: count == 6, scans.completed: count == 1}
            """

        @Test func `six events that it cannot read cost a job seven DELETEs`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let file = scratch.folder.appending(path: "live.scenario")
            try Self.scenario.write(to: file, atomically: true, encoding: .utf8)
            let report = scratch.folder.appending(path: "report")
            let outcome = try await Binary.run(
                ["simulate", file.path, "--output", report.path, "--quiet", "--no-color"])
            #expect(outcome.code == 0, "\(outcome)")
        }
    }
}
