import Foundation
import Testing

extension SideBySide {
    /// One run in several processes.
    @Suite struct ProcessesTests {
        private static let arguments = ShortRun.arguments + ["--processes", "3"]

        private static func shards(of run: RunProcess) async throws -> [ProcessLine] {
            try await ProcessLine.all().filter { $0.parent == run.number }
                .sorted { $0.command < $1.command }
        }

        /// Until each shard has an accepted upload.
        private static func waitForUploads(_ run: RunProcess) async throws {
            for shard in 0..<3 {
                let report = RunReport(
                    folder: run.report.folder.appending(path: "shards/\(shard)-of-3"))
                let isThere = try await Patience.until(seconds: 30) {
                    try report.log().contains { $0.isPhone("upload-accepted") }
                }
                try #require(isThere, "shard \(shard) never had an upload")
            }
        }

        @Test func `a run in three processes has the verdict of one`() async throws {
            let run = try RunProcess(Self.arguments)
            let outcome = try await run.end(seconds: 50)
            try #require(outcome.hasPassed, "\(outcome)")
            let summary = try run.report.summary()
            #expect(summary.scans.captured == ShortRun.scans && summary.scans.completed == ShortRun.scans)
            #expect(summary.broken.isEmpty)
            let whole = try await ShortRun.standard().process.report.summary()
            #expect(summary.faults.keys.sorted() == whole.faults.keys.sorted())
            #expect(run.temporaryFolders == [])
            #expect(
                outcome.output.replacing(#/\s+/#, with: " ").contains("--processes 3"), "\(outcome.output)")
            // Compared with itself, and by a later run.
            let compared = try await Binary.run(
                ["compare", run.report.folder.path, run.report.folder.path])
            // Of a few streams that were lost nothing is proven.
            #expect(compared.code == 98 && compared.output.contains("NOT PROVEN"), "\(compared)")
            #expect(
                compared.output.contains("sse.reconnect.time") && !compared.output.contains("- scan.time"))
            let later = try RunProcess(Self.arguments + ["--baseline", run.report.folder.path])
            let next = try await later.end(seconds: 50)
            // Which it is depends on the machine: `compare` says the same.
            let direct = try await Binary.run(
                ["compare", run.report.folder.path, later.report.folder.path, "--no-color"])
            let headline = try #require(direct.output.firstMatch(of: #/[A-Z]{2}[A-Z ]+[A-Z]{2}/#)).0
            #expect(next.output.contains(headline), "\(next)\n\(direct)")
            #expect(next.code == outcome.code || next.code == direct.code, "\(next)\n\(direct)")
            #expect(try later.report.text("report.html").contains("<section id=\"baseline\""))
            // The report is made again from the shards.
            let again = try await Binary.run(["report", run.report.folder.path])
            #expect(again.code == outcome.code, "\(again)")
        }

        @Test func `a process that is killed costs the verdict on its phones, and nothing else`() async throws
        {
            let run = try RunProcess(Self.arguments)
            try await Self.waitForUploads(run)
            let shards = try await Self.shards(of: run)
            try #require(shards.count == 3, "\(shards)")
            kill(shards[1].number, SIGKILL)
            let outcome = try await run.end(seconds: 50)
            #expect(outcome.code == 98, "\(outcome)")
            #expect(outcome.complaint.contains("shard 1/3 was killed by signal 9"), "\(outcome.complaint)")
            #expect(
                outcome.output.contains(
                    "shard 1/3 ended before its verdict: the verdict on its phones is n/a"),
                "\(outcome.output)")
            let summary = try run.report.summary()
            #expect(summary.scans.completed >= 16 && summary.scans.lost == 0, "\(summary.scans)")
            #expect(summary.invariants.allSatisfy { $0.violations == .notAvailable }, "\(summary.invariants)")
        }

        @Test func `a process that hangs is ended, and the others keep their verdicts`() async throws {
            let plan = "plan.json"
            let run = try RunProcess(Self.arguments + ["--shard-timeout", "4s", "--save-plan", plan])
            try await Self.waitForUploads(run)
            let shards = try await Self.shards(of: run)
            try #require(shards.count == 3, "\(shards)")
            kill(shards[1].number, SIGSTOP)
            let outcome = try await run.end(seconds: 50)
            #expect(outcome.code == 98, "\(outcome)")
            #expect(
                outcome.complaint.contains("shard 1/3 did not answer for 4 s and was ended"),
                "\(outcome.complaint)")
            #expect(
                try run.report.text("summary.json").contains(
                    "shard 1/3 ended before its verdict: the verdict on its phones is n/a (4 phones, numbers 1, 4, 7, ...)"
                ))
            let summary = try run.report.summary()
            #expect(summary.scans.completed >= 16 && summary.scans.lost == 0, "\(summary.scans)")
            #expect(try await !shards[1].isAlive())
            // The plan is that of all phones.
            let path = run.folder.folder.appending(path: plan).path
            let saved = try String(contentsOfFile: path, encoding: .utf8)
            #expect(saved.contains("of 12 phones"), "\(saved.prefix(400))")
            let again = try await Binary.run(["simulate", path, "--no-color"])
            #expect([0, 97, 98, 99].contains(again.code), "\(again)")
        }

        @Test func `processes continue from the state that as many have left`() async throws {
            let scratch = try Scratch()
            let state = scratch.folder.appending(path: "state")
            let words = Self.arguments + ShortRun.objectiveOfScansAlone + ["--state", state.path]
            let first = try RunProcess(words)
            try await Self.waitForUploads(first)
            first.signal(SIGINT)
            #expect(try await first.end(seconds: 30).code == 105)
            let one = try first.report.summary()
            try #require(one.scans.waiting > 0, "\(one.scans)")
            for (more, text) in [
                (["--processes", "2"], "is that of a run in 3 processes"),
                ([], "is that of a run in 3 processes"),
            ] {
                let other = try await Binary.run(
                    ["run"] + ShortRun.arguments + [
                        "--state", state.path, "--output", scratch.folder.path + "/x",
                    ]
                        + more)
                #expect(other.code == 65 && other.complaint.contains(text), "\(other)")
            }
            let gone = state.appending(path: "1-of-3")
            try FileManager.default.moveItem(at: gone, to: scratch.folder.appending(path: "kept"))
            let partial = try await RunProcess(words + ["--duration", "1ms"]).end(seconds: 50)
            #expect(
                partial.code == 65
                    && partial.complaint.contains("\(gone.path) is missing or has been emptied"),
                "\(partial)")
            try FileManager.default.moveItem(at: scratch.folder.appending(path: "kept"), to: gone)
            let second = try RunProcess(words + ["--duration", "1ms"])
            let outcome = try await second.end(seconds: 50)
            #expect(outcome.hasPassed, "\(outcome)")
            let two = try second.report.summary()
            #expect(two.scans.captured == 0 && two.scans.restored == one.scans.waiting, "\(two.scans)")
            #expect(two.scans.completed == one.scans.waiting && two.broken.isEmpty, "\(two.scans)")
        }

        @Test func `Ctrl-C ends all processes, and what they found is merged`() async throws {
            let run = try RunProcess(Self.arguments)
            try await Self.waitForUploads(run)
            run.signal(SIGINT)
            let outcome = try await run.end(seconds: 30)
            #expect(outcome.code == 105, "\(outcome)")
            let summary = try run.report.summary()
            #expect(summary.exit == 105 && summary.scans.captured > 0)
            #expect(try await Self.shards(of: run).isEmpty)
            #expect(run.temporaryFolders == [])
        }

        @Test func `processes end with the one that started them`() async throws {
            let run = try RunProcess(Self.arguments)
            try await Self.waitForUploads(run)
            let shards = try await Self.shards(of: run)
            run.signal(SIGKILL)
            _ = try await run.end(seconds: 10)
            let areGone = try await Patience.until(seconds: 20) {
                let alive = try await ProcessLine.all().map(\.number)
                return !shards.contains { alive.contains($0.number) }
            }
            #expect(areGone)
        }

        @Test func `options of one process are refused`() async throws {
            for words in [
                ["--shard", "0/2"], ["--summary-line"],
            ] {
                let outcome = try await Binary.run(["run", "flaky-network", "--processes", "2"] + words)
                #expect(outcome.code == 64, "\(outcome)")
                #expect(
                    outcome.complaint.contains("\(words[0]) belongs to one process"), "\(outcome.complaint)")
            }
            for (words, text) in [
                (["--shard-timeout", "5s"], "--shard-timeout requires --processes"),
                (["--processes", "2", "--shard-timeout", "10ms"], "--shard-timeout is at least 1s"),
            ] {
                let outcome = try await Binary.run(["run", "flaky-network"] + words)
                #expect(outcome.code == 64 && outcome.complaint.contains(text), "\(outcome)")
            }
            let many = try await Binary.run(["run", "flaky-network", "--phones", "2", "--processes", "3"])
            #expect(many.code == 64 && many.complaint.contains("2 phones cannot be divided into 3 shards"))
        }

        @Test func `a start that is over is refused`() async throws {
            for time in ["2001-01-01T00:00:00Z", "1000000000", "tomorrow"] {
                let outcome = try await Binary.run(
                    ["run", "flaky-network", "--shard", "0/2", "--start-at", time])
                #expect(outcome.code == 64, "\(outcome)")
            }
        }
    }
}
