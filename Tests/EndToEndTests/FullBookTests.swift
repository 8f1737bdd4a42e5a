import Foundation
import Testing

extension SideBySide {
    /// The 128 KiB rule with the books of one photo, and what is drawn for books.
    @Suite struct FullBookTests {
        private static let scenario = """
            scenario: 1
            name: full-books
            seed: 5
            fleet:
              phones: {phones: 2, scans: 2, arrivals: 1/s}
            server: {books: 500, job-time: 2s..3s}
            slo: {scans.lost: count == 0}
            """

        /// A run with keys of `server`: the books that came, and how often they were requested.
        private func run(_ command: String, _ keys: String...) async throws -> [Int] {
            let scratch = try Scratch()
            let scenario = try scratch.file("full.scenario", Data(Self.scenario.utf8)).path
            let folder = scratch.folder.appending(path: "report")
            let outcome = try await Binary.run(
                [command, scenario, "--output", folder.path, "--quiet", "--no-color"]
                    + keys.flatMap { ["--set", "server.\($0)"] })
            #expect(outcome.code == 0, "\(outcome)")
            let report = RunReport(folder: folder)
            return [try report.summary().books.received, try report.metricCount("results.time")]
        }

        @Test(arguments: ["simulate", "run"])
        func `full books do not fit into the event and are fetched, lean ones are not`(command: String)
            async throws
        {
            #expect(try await self.run(command) == [2_000, 0])
            #expect(try await self.run(command, "inline=full") == [2_000, 4])
            #expect(try await self.run(command, "inline=full", "completed-size-max=256KiB") == [2_000, 0])
        }

        @Test(arguments: ["simulate", "run"])
        func `books of every status and confidence come, and events tell of open circuits`(command: String)
            async throws
        {
            let statuses = "{success: 20%, pending: 20%, not_found: 20%, error: 10%, circuit_open: 30%}"
            #expect(
                try await self.run(
                    command, "books=9", "statuses=\(statuses)", "confidence=0..1") == [36, 0])
        }

        @Test(arguments: ["simulate", "run"])
        func `a limit that phones share delays them, and loses nothing`(command: String) async throws {
            let limit = "[{quota: 1 per 3s, per: address}]"
            #expect(
                try await self.run(command, "books=3", "limits=\(limit)", "phones-per-address=2") == [12, 0])
        }
    }
}
