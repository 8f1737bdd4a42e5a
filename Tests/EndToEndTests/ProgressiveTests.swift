import Foundation
import Testing

extension SideBySide {
    /// Progressive results of a backend that others wrote (`Tests/Targets/progressive.py`).
    @Suite struct ProgressiveTests {
        private static let scenario = """
            scenario: 1
            name: foreign-progress
            seed: 5
            fleet: {readers: {phones: 6, scans: 2, arrivals: 6/s, network: perfect, preprocess: once}}
            server: {books: 3, job-time: 100ms..1s}
            slo: {scans.lost: count == 0, scans.waiting: count == 0}
            trial: {probes: off, witness: off}
            drain: 15s
            """

        private struct Ending {
            let outcome: Outcome
            let summary: Summary
            let log: [LogLine]
        }

        private static func run(_ base: String) async throws -> Ending {
            let scratch = try Scratch()
            let scenario = try scratch.file("foreign.scenario", Data(self.scenario.utf8)).path
            let folder = scratch.folder.appending(path: "report")
            let options = ["--target", base, "--output", folder.path, "--quiet", "--no-color"]
            let outcome = try await Binary.run(["run", scenario] + options)
            let report = RunReport(folder: folder)
            return Ending(outcome: outcome, summary: try report.summary(), log: try report.log())
        }

        private static func backend(_ options: String...) async throws -> ServeProcess {
            let script = Package.root.appending(path: "Tests/Targets/progressive.py").path
            return try await ServeProcess.start(
                URL(filePath: "/usr/bin/env"), ["python3", script, "--job-time", "0.3..0.6"] + options)
        }

        @Test(arguments: ["200000", "1000000"])
        func `phones complete against a backend of another make, and show its books early`(preview: String)
            async throws
        {
            let backend = try await Self.backend("--preview", preview)
            let run = try await Self.run(backend.base)
            #expect(run.outcome.code == 0, "\(run.outcome)")
            #expect(run.summary.scans.completed == 12)
            let added = run.log.count { $0.isPhone("book-added") }
            #expect(added >= 36 && run.log.count { $0.isPhone("book-shown") } == added)
        }

        @Test func `a job that the backend cancels is refused, and deleted`() async throws {
            let backend = try await Self.backend("--cancel", "3")
            let run = try await Self.run(backend.base)
            #expect(run.summary.scans.isConserved && run.summary.scans.lost == 0)
            #expect(run.summary.scans.completed == 8 && run.summary.scans.refused == 4)
            #expect(run.log.count { $0.isPhone("cleanup-answered") } == 12)
        }

        @Test func `a book that is shown and does not come is named by phones and trial`() async throws {
            let backend = try await Self.backend("--lie")
            let run = try await Self.run(backend.base)
            #expect(run.outcome.code == 97, "\(run.outcome)")
            let broken = run.summary.invariants.filter { $0.first != nil }.map(\.id)
            #expect(broken == ["book.shown", "target.results-agree"])
        }
    }
}
