import Foundation
import Testing

extension SideBySide {
    /// The one dashboard of a run in several processes.
    @Suite struct ProcessesDashboardTests {
        private typealias Control = SideBySide.ControlTests.Control
        private static let processes = ["--processes", "3"]
        private static let scans = SideBySide.ControlTests.scans

        private static func control(
            _ url: String, _ steps: [String]
        ) async throws -> [SideBySide.ControlTests.Answer] {
            try await SideBySide.ControlTests.control(url, steps)
        }

        private struct Followed: Decodable {
            var frames: [String]
            var windows: [Int]
            var late: [String]
            var finished: String
            var whole: Bool
        }

        @Test func `the page of several processes grows, and ends with the merged verdict`() async throws {
            let run = try RunProcess(SideBySide.ControlTests.calm() + Self.processes)
            let url = try await run.dashboard()
            let script = Package.tests.appending(path: "Tools/follow.py").path
            let tool = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", script, url], seconds: 55)
            try #require(tool.code == 0, "\(tool.complaint)")
            let followed = try JSONDecoder().decode(Followed.self, from: Data(tool.output.utf8))
            let outcome = try await run.end(seconds: 20)
            #expect(outcome.hasPassed, "\(outcome)")
            let word = outcome.code == 0 ? "PASSED" : "NOT TRUSTWORTHY"
            #expect(
                followed.finished
                    == "\(word), exit code \(outcome.code); report in \(run.report.folder.path)")
            #expect(followed.whole && followed.frames.count >= 4, "\(followed.frames)")
            #expect(followed.windows == followed.windows.sorted() && (followed.windows.last ?? 0) >= 3)
            #expect(followed.late.contains("time") && followed.late.contains("control"))
            // Nothing of it is left, and no shard has a page of its own.
            for shard in 0..<3 {
                let folder = run.report.folder.appending(path: "shards/\(shard)-of-3")
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(!names.contains("snapshot"), "\(names)")
            }
            #expect(outcome.complaint.components(separatedBy: "dashboard: http").count == 2)
        }

        @Test func `orders are carried out by all processes, and are reported once`() async throws {
            let run = try RunProcess(
                SideBySide.ControlTests.calm(scans: 3, jobTime: "1s..2s") + Self.processes)
            let url = try await run.controlURL()
            let answers = try await Self.control(
                url,
                [
                    "+phones?by=-10", "phones?by=-3", "=1", "phones?by=4&group=commuters",
                    "pause", "pause", "=1", "resume", "fault?offline=1", "close",
                ])
            let outcome = try await run.end(seconds: 40)
            #expect(answers.map(\.status) == [200, 409, 200, 200, 409, 200, 200, 409], "\(answers)")
            #expect(answers[0].body.contains("2 of 12 phones of commuters active"))
            #expect(outcome.code == 98, "load was held back, and nothing else is wrong: \(outcome)")
            let summary = try run.report.summary()
            #expect(summary.broken.isEmpty && summary.scans.lost == 0 && summary.failure == nil, "\(outcome)")
            let control = try #require(try Control(run.report).control)
            #expect(control.actions.map(\.action) == ["phones", "phones", "paused", "resumed", "offline"])
            #expect(control.actions.first?.text == "2 of 12 phones of commuters active")
            #expect(summary.scans.captured + control.held_back == 36 && control.held_back > 0)
            let notes = summary.warnings.filter { $0.contains("controlled from the dashboard") }
            #expect(notes.count == 1, "\(summary.warnings)")
            // Each process did its part.
            var offline: Set<Int> = []
            for shard in 0..<3 {
                let log = try RunReport(
                    folder: run.report.folder.appending(path: "shards/\(shard)-of-3")
                ).log()
                offline.formUnion(log.filter { $0.what == "path-lost" }.map(\.device))
                let captured = log.filter { $0.what == "captured" }.map(\.t)
                let paused = try #require(log.first { $0.what == "paused" }).t
                let resumed = try #require(log.first { $0.what == "resumed" }).t
                #expect(captured.allSatisfy { $0 < paused + 200_000_000 || $0 > resumed }, "\(captured)")
            }
            #expect(offline.count == 12)
        }

        @Test func `a run in several processes is stopped from its page, which stays`() async throws {
            let run = try RunProcess(
                SideBySide.ControlTests.calm() + Self.processes + ["--dashboard-stay"])
            let url = try await run.controlURL()
            let answers = try await Self.control(url, ["=2.5", "stop", "end", "=0.5", "close"])
            let outcome = try await run.end(seconds: 30)
            #expect(answers[0].status == 200 && answers[0].body.contains("run stopped"), "\(answers)")
            #expect(answers.last?.status == 200 && answers.last?.body.contains("closed") == true)
            #expect(outcome.code == 105, "\(outcome)")
            let summary = try run.report.summary()
            #expect(summary.exit == 105 && summary.broken.isEmpty && summary.scans.captured < Self.scans)
            #expect(try Control(run.report).control?.actions.map(\.action) == ["stopped"])
        }

        /// Shards that have not begun hear no orders.
        @Test func `a run in several processes that is stopped before it begins ends at once`() async throws {
            let run = try RunProcess(SideBySide.ControlTests.calm() + Self.processes)
            let answers = try await Self.control(try await run.controlURL(), ["stop"])
            #expect(answers[0].status == 200, "\(answers)")
            #expect(try await run.end(seconds: 20).code == 105)
        }

        @Test func `a process that is killed leaves the page of the others`() async throws {
            let run = try RunProcess(SideBySide.ControlTests.calm(scans: 4) + Self.processes)
            let url = try await run.controlURL()
            _ = try await Self.control(url, ["=2"])
            let shards = try await ProcessLine.all().filter { $0.parent == run.number }
                .sorted { $0.command < $1.command }
            try #require(shards.count == 3, "\(shards)")
            kill(shards[1].number, SIGKILL)
            let pages = try await Self.control(url, ["end"])[0].body
            let outcome = try await run.end(seconds: 40)
            #expect(
                pages.contains("shard 1/3 was killed by signal 9: its phones are shown as they were before"))
            #expect(pages.contains("exit code 98"))
            #expect(outcome.code == 98, "\(outcome)")
        }
    }
}
