import Foundation
import Testing

extension SideBySide {
    /// Progressive results between the program and those that others wrote (`Tools/progressive.py`).
    @Suite struct ProgressiveTests {
        private static let script = Package.tests.appending(path: "Tools/progressive.py").path
        private static let switches = [
            "--set", "server.progressive=on", "--set", "server.preview=1MB", "--set",
            "server.job-time=300ms..500ms",
        ]

        /// What a client in Python has read.
        private struct Reading: Decodable, Equatable {
            var names: [String]
            var steps: [[Int]]
            var shown: [[String]]
            var books: [[String]]?
            var imageBytes: Int?
            var totalBooks: Int?
        }

        private static func read(_ base: String) async throws -> Reading {
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", self.script, "read", base], seconds: 40)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            return try JSONDecoder().decode(Reading.self, from: Data(outcome.output.utf8))
        }

        private static func check(_ reading: Reading) throws {
            let books = try #require(reading.books)
            #expect(reading.shown == books && reading.totalBooks == books.count)
            #expect(reading.imageBytes == 1_000_000)
            #expect(reading.steps == (1...books.count).map { [$0, books.count] })
            #expect(reading.names.count { $0 == "segmented" } == 1 && reading.names.last == "completed")
        }

        @Test func `a client that others wrote reads what serve sends, directly and through the gateway`()
            async throws
        {
            try await ServeProcess.during(Self.switches) { serve in
                try Self.check(try await Self.read(serve.base))
                let proxy = try await ServeProcess.start(
                    Binary.path, ["proxy", "--port", "0", "--upstream", serve.base])
                try Self.check(try await Self.read(proxy.base))
                #expect(await proxy.end() == 0)
            }
        }

        private static let scenario = """
            scenario: 1
            name: foreign-progress
            seed: 5
            fleet: {readers: {devices: 6, scans: 2, arrivals: 6/s, network: perfect}}
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
            try await ServeProcess.start(
                URL(filePath: "/usr/bin/env"), ["python3", self.script, "serve"] + options)
        }

        @Test func `phones complete against a backend of another make, and show its books early`()
            async throws
        {
            let backend = try await Self.backend()
            let run = try await Self.run(backend.base)
            #expect(run.outcome.code == 0, "\(run.outcome)")
            #expect(run.summary.scans.completed == 12)
            #expect(run.log.count { $0.isPhone("book-shown") } == 36)
            #expect(run.log.count { $0.isPhone("book-added") } == 36)
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
