import Foundation
import Testing

extension SideBySide {
    /// Batches of barcodes against a backend that is not observed and does not know all books.
    @Suite struct UnknownBookTests {
        private static let scenario = """
            scenario: 1
            name: unknown-books
            seed: 3
            fleet:
              batches: {phones: 4, scans: 3, journey: batch-enrichment, batch-form: barcodes, arrivals: 6/s, network: perfect}
            server: {books: 6..8, job-time: 300ms..600ms}
            slo: {scans.lost: count == 0}
            drain: 10s
            """

        private struct Books: Decodable {
            struct Numbers: Decodable {
                var asked, unknown, unjudged: Int
                var absent: [String: Int]
            }
            var books: Numbers
            var counters: [String: Figure]
        }

        private struct Ending {
            let outcome: Outcome
            let summary: Summary
            let books: Books.Numbers
            let complaint: String?
        }

        private func run(_ base: String, seed: Int = 3) async throws -> Ending {
            let scratch = try Scratch()
            let scenario = try scratch.file("unknown.scenario", Data(Self.scenario.utf8)).path
            let folder = scratch.folder.appending(path: "report")
            let outcome = try await Binary.run(
                [
                    "run", scenario, "--seed", "\(seed)", "--target", base, "--output", folder.path,
                    "--set", "trial.judge=off",
                    "--quiet",
                    "--no-color",
                ])
            let report = RunReport(folder: folder)
            let books = try JSONDecoder().decode(
                Books.self, from: Data(try report.text("summary.json").utf8))
            #expect(books.counters["books.unknown"]?.number == books.books.unknown)
            let summary = try report.summary()
            return Ending(
                outcome: outcome, summary: summary, books: books.books,
                complaint: summary.invariants.first { $0.id == "book.answered" }?.first?.text)
        }

        private func backend(_ options: String...) async throws -> ServeProcess {
            let script = Package.tests.appending(path: "Tools/batches.py").path
            return try await ServeProcess.start(URL(filePath: "/usr/bin/env"), ["python3", script] + options)
        }

        @Test func `another serve that knows no book for some barcodes is green, and the report names them`()
            async throws
        {
            try await ServeProcess.during([
                "--set", "server.rate-limit=off", "--set", "server.job-time=300ms..600ms",
            ]) { serve in
                // 5 % of about 84 barcodes are unknown to it: with this seed, some.
                let ending = try await self.run(serve.base, seed: 4)
                #expect(ending.outcome.code == 0, "\(ending.outcome)")
                #expect(ending.complaint == nil)
                #expect(ending.books.unknown > 0 && ending.books.unknown < ending.books.asked)
                #expect(ending.books.absent.values.reduce(0, +) == ending.books.unknown)
                #expect(ending.outcome.output.contains("never came: the backend counts"))
            }
        }

        @Test func `a backend that counts what it does not know is green`() async throws {
            let server = try await self.backend("--unknown", "10")
            let ending = try await self.run(server.base)
            #expect(ending.outcome.code == 0 && ending.complaint == nil, "\(ending.outcome)")
            #expect(ending.books.unknown == ending.books.asked / 10)
        }

        @Test func `one that counts failures and keeps other books back is red`() async throws {
            let server = try await self.backend("--unknown", "10", "--withheld", "1")
            let ending = try await self.run(server.base)
            #expect(ending.outcome.code == 97, "\(ending.outcome)")
            #expect(ending.complaint?.contains("that the batch asked for never came") == true)
        }

        @Test func `one that counts no failures has to answer everything`() async throws {
            let server = try await self.backend("--unknown", "10", "--admitted", "0")
            #expect(try await self.run(server.base).outcome.code == 97)
        }

        @Test func `one that has found nothing is no pass, however openly it says so`() async throws {
            let server = try await self.backend("--unknown", "1")
            let ending = try await self.run(server.base)
            #expect(ending.outcome.code == 99, "\(ending.outcome)")
            #expect(ending.outcome.output.contains("The backend found none of the 84 books"))
        }
    }
}
