import CSV
import Foundation
import SimBase
import Testing

extension SideBySide {
    /// A client that was written from the contract alone carries out each journey of v2 against `serve`, also where the server
    /// fails and streams are cut.
    @Suite struct V2ClientTests {
        private struct Report: Decodable {
            let ok: Bool
            let reasons, warnings: [String]
            let counts: [String: Int?]?
        }

        private static let script = Package.root.appending(path: "Tests/Clients/v2_client.py").path
        private static let quick = [
            "--set", "server.job-time=300ms..600ms", "--set", "server.rate-limit=off",
        ]

        private func run(_ serve: ServeProcess, _ words: [String]) async throws -> Report {
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", Self.script, "--base", serve.base] + words,
                seconds: 90)
            let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
            #expect(outcome.code == (report.ok ? 0 : 1), "\(outcome)")
            return report
        }

        /// A scenario whose server does this to requests.
        private func faults(_ lines: [String], in scratch: Scratch) throws -> [String] {
            let text = """
                scenario: 1
                name: v2-faults
                fleet: {phones: {phones: 1, scans: 1, arrivals: 1/s}}
                server: {rate-limit: off, job-time: 500ms..600ms}
                faults:
                \(lines.map { "  - {\($0)}" }.joined(separator: "\n"))
                slo: {scans.lost: count == 0}
                """
            return [try scratch.file("faults.scenario", Data(text.utf8)).path]
        }

        /// A library file, a list of books and a photo.
        private struct Inputs {
            let library, books, photo: String
            private let scratch: Scratch

            init(rows: Int) throws {
                self.scratch = try Scratch()
                var spec = LibrarySpec()
                spec.rows = rows
                let library = LibraryFile(spec, KeyedRandom(seed: 3), device: DeviceNumber(1), number: 1)
                self.library = try self.scratch.file("library.csv", Data(library.bytes)).path
                let books = #"""
                    [{"title": "Emma", "author": "Jane Austen", "isbn": "9780141439587"},
                     {"title": "Les Misérables", "author": "Victor Hugo"}, {"title": "紅樓夢"}]
                    """#
                self.books = try self.scratch.file("books.json", Data(books.utf8)).path
                let photos = Package.root.appending(path: "Images/shelves")
                self.photo = try #require(
                    FileManager.default.contentsOfDirectory(atPath: photos.path)
                        .filter { $0.hasSuffix(".jpg") }
                        .sorted().first.map { photos.appending(path: $0).path })
            }
        }

        @Test func `each journey is carried out`() async throws {
            let inputs = try Inputs(rows: 200)
            try await ServeProcess.during(Self.quick) { serve in
                for words in [
                    ["scan", inputs.photo, inputs.photo], ["batch", "--books", inputs.books],
                    ["batch", "--barcodes", "9780141439587,9780306406157,0306406152"],
                    ["enrich", "9780141439587", "--key", "scan_9780141439587"],
                    ["enrich", "9780306406157"], ["limits", "9780141439587"], ["import", inputs.library],
                ] {
                    let report = try await self.run(serve, words)
                    #expect(report.ok, "\(words): \(report.reasons)")
                }
            }
        }

        @Test func `a job of each journey is canceled, and leaves no results`() async throws {
            let inputs = try Inputs(rows: 5_000)
            let slow = ["--set", "server.job-time=20s", "--set", "server.rate-limit=off"]
            try await ServeProcess.during(slow) { serve in
                for words in [
                    ["scan", inputs.photo], ["batch", "--barcodes", "9780141439587,9780306406157"],
                    ["batch", "--books", inputs.books], ["import", inputs.library],
                ] {
                    let report = try await self.run(serve, words + ["--cancel-after", "0.5"])
                    #expect(report.ok, "\(words): \(report.reasons)")
                }
            }
        }

        @Test func `a server of another document is told apart`() async throws {
            let inputs = try Inputs(rows: 20)
            let other =
                Self.quick + [
                    "--set", "server.v2.envelope=plain", "--set", "server.v2.event-names=dotted",
                ]
            try await ServeProcess.during(other) { serve in
                for (words, reason) in [
                    (["enrich", "9780141439587"], "without success true"),
                    (["limits", "9780141439587"], "without success false"),
                    (["scan", inputs.photo], "without success true"),
                ] {
                    let report = try await self.run(serve, words)
                    let said = report.reasons + report.warnings
                    #expect(!report.ok && said.contains { $0.contains(reason) }, "\(words): \(said)")
                }
            }
        }

        @Test func `a stream that is cut and a server that fails do not end a journey`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let cut = try self.faults(
                ["do: reset, on: stream, after: 2 events", "do: http-error, on: results, status: 502"],
                in: scratch)
            try await ServeProcess.during(cut) { serve in
                let report = try await self.run(
                    serve, ["batch", "--barcodes", "9780141439587,9780306406157,9781861972712"])
                #expect(report.ok, "\(report.reasons)")
                #expect((report.counts?["unaccounted"] ?? nil) == 0)
            }
        }

        @Test func `a job that fails is told as failed`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let failing = try self.faults(
                ["do: final-error, after: 1 events, count: each-attempt"], in: scratch)
            try await ServeProcess.during(failing) { serve in
                let report = try await self.run(serve, ["batch", "--barcodes", "9780141439587"])
                #expect(!report.ok && !report.reasons.isEmpty)
            }
        }
    }
}
