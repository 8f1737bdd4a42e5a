import Foundation
import Testing

extension SideBySide {
    /// A target that does anything but what its contract says costs the run its SLOs, and nothing else.
    @Suite struct HostileTargetTests {
        private static let residentKilobytesMax = 200 * 1_024

        /// What each is found out by, on which requests, and where in the answer.
        private static let cases: [(HostileServer.Mode, operation: String, problem: String, path: String)] = [
            (.html, "upload", "wrong-content-type", "header Content-Type"),
            (.wrongShape, "upload", "undecodable", "data.jobId"),
            (.endlessLine, "stream", "overlong-stream", "event"), (.huge, "upload", "too-large", "body"),
        ]

        @Test(arguments: cases) func `a hostile target is survived, counted and explained`(
            mode: HostileServer.Mode, operation: String, problem: String, path: String
        ) async throws {
            let server = try await HostileServer(mode)
            let run = try RunProcess(
                [ShortRun.scenario, "--target", server.process.base] + ShortRun.options
                    // Without a fault there is no gateway in between.
                    + ShortRun.set(["drain=2s", "fleet.commuters.scans=1", "faults=[]", "trial.judge=off"]))
            let outcome = try await run.end(seconds: 40)
            #expect(await server.process.end() == 0)

            // A latency without a sample has not been met.
            #expect(outcome.code == 99, "\(outcome)")
            #expect(outcome.complaint == "")
            let summary = try run.report.summary()
            #expect(summary.scans.captured == ShortRun.devices)
            #expect(summary.scans.isConserved, "\(summary.scans)")
            #expect(summary.scans.waiting == ShortRun.devices && summary.scans.lost == 0)
            #expect(summary.books.received == 0)
            #expect(summary.broken.isEmpty)
            let resident = try #require(summary.resources.client_rss_kb.number)
            #expect(resident < Self.residentKilobytesMax)
            #expect(summary.resources.backend_rss_kb == .notAvailable)

            let problems = try run.report.log().filter { $0.isPhone("bad-answer") }
            #expect(problems.count > 0)
            #expect(problems.allSatisfy { $0.operation == operation && $0.problem == problem })
            let counters =
                operation == "stream"
                ? ["sse.connect.attempts", "sse.reconnect.attempts"] : ["upload.attempts"]
            let attempts = counters.compactMap { summary.counters[$0]?.number }.reduce(0, +)
            #expect(attempts >= problems.count)

            // Every report names what could not be used, and where.
            let finding = try #require(
                summary.findings.first { $0.operation == operation && $0.path == path })
            #expect(finding.used == false && (finding.count ?? 0) >= problems.count)
            #expect(summary.counters["contract.findings"]?.number ?? 0 >= problems.count)
            for name in ["report.md", "report.html"] {
                let text = try run.report.text(name)
                #expect(text.contains(path), "\(name)")
            }
            #expect(outcome.output.contains("Findings"), "\(outcome.output)")
        }
    }
}
