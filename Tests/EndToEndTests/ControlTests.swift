import Foundation
import Testing

extension SideBySide {
    /// The control of a run by its dashboard.
    @Suite struct ControlTests {
        struct Answer: Decodable {
            var step: String
            var status: Int
            var body: String
        }

        static func control(_ url: String, _ steps: [String]) async throws -> [Answer] {
            let script = Package.tests.appending(path: "Tools/control.py").path
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", script, url] + steps, seconds: 55)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            return try JSONDecoder().decode([Answer].self, from: Data(outcome.output.utf8))
        }

        /// What `summary.json` says of the control.
        struct Control: Decodable {
            struct Action: Decodable {
                var at: Double
                var by, action, text: String
            }
            struct Part: Decodable {
                var held_back: Int
                var actions: [Action]
            }
            var control: Part?
            var complaints: [String]

            init(_ report: RunReport) throws {
                self = try JSONDecoder().decode(
                    Control.self, from: Data(report.text("summary.json").utf8))
            }
        }

        /// Phones that have no trouble, and a capture each quarter of a second for six seconds.
        static func calm(
            scans: Int = 2, jobTime: String = "200ms..400ms", faults: String = "[]"
        ) -> [String] {
            [ShortRun.scenario]
                + ShortRun.set([
                    "fleet.commuters.phones=12", "fleet.commuters.scans=\(scans)",
                    "fleet.commuters.arrivals=4/s", "server.job-time=\(jobTime)", "drain=20s",
                    "faults=\(faults)",
                ]) + ShortRun.objectiveOfScansAlone + ["--dashboard"]
        }

        static let scans = 24

        // MARK: Who may

        @Test func `who has no token, another name or another origin changes nothing`() async throws {
            let run = try RunProcess(Self.calm())
            let url = try await run.controlURL()
            let answers = try await Self.control(url, ["guard"])
            let outcome = try await run.end(seconds: 30)
            for answer in answers {
                let isMethod = ["GET", "HEAD", "PUT", "OPTIONS"].contains(answer.step)
                // HTTP/1.1 has no requests without a name.
                let status = isMethod ? 405 : answer.step == "no name" ? 400 : 403
                #expect(answer.status == status, "\(answer)")
                let hasText = !["HEAD", "no name"].contains(answer.step)
                #expect(answer.body.contains("{\"error\": \"") == hasText, "\(answer)")
            }
            #expect(answers.count == 13)
            #expect(outcome.hasPassed, "\(outcome)")
            let control = try Control(run.report)
            #expect(control.control == nil)
            #expect(try run.report.summary().scans.captured == Self.scans, "nobody stopped it")
        }

        // MARK: Orders

        @Test func `a run that is stopped ends with 105 and its report`() async throws {
            let run = try RunProcess(Self.calm())
            let url = try await run.controlURL()
            let answers = try await Self.control(url, ["=2", "stop"])
            let outcome = try await run.end(seconds: 30)
            #expect(
                answers[0].status == 200 && answers[0].body == "{\"done\": \"run stopped\"}", "\(answers)")
            #expect(outcome.code == 105, "\(outcome)")
            #expect(RunReport.names.allSatisfy(run.report.files.contains))
            let summary = try run.report.summary()
            #expect(summary.exit == 105 && summary.broken.isEmpty && summary.scans.captured < Self.scans)
            #expect(summary.warnings.first?.hasPrefix("controlled from the dashboard, so the seed") == true)
            let control = try Control(run.report).control
            #expect(control?.actions.map(\.action) == ["stopped"] && control?.held_back == 0)
            #expect(try run.report.log().contains { $0.side == "control" && $0.what == "stopped" })
            // A report that is made again from the files has it, too.
            let again = try await Binary.run(["report", run.report.folder.path, "--no-color"])
            #expect(again.code == 105 && again.output.contains("controlled from the dashboard"), "\(again)")
        }

        @Test func `a pause holds captures back, and the run says how many`() async throws {
            let run = try RunProcess(Self.calm())
            let url = try await run.controlURL()
            let answers = try await Self.control(url, ["=1.5", "pause", "pause", "=2", "resume"])
            let outcome = try await run.end(seconds: 30)
            #expect(answers.map(\.status) == [200, 409, 200], "\(answers)")
            #expect(answers[1].body.contains("arrivals are already paused"))
            let log = try run.report.log()
            let paused = try #require(log.first { $0.what == "paused" }).t
            let resumed = try #require(log.first { $0.what == "resumed" }).t
            #expect(resumed - paused >= 1_900_000_000)
            let captured = log.filter { $0.what == "captured" }.map(\.t)
            // One may have been under way as the pause came.
            #expect(captured.allSatisfy { $0 < paused + 200_000_000 || $0 > resumed }, "\(captured)")
            #expect(captured.contains { $0 > resumed }, "captures went on")
            let control = try #require(try Control(run.report).control)
            #expect(control.held_back >= 6)
            let summary = try run.report.summary()
            #expect(summary.scans.captured + control.held_back == Self.scans)
            #expect(control.actions.map(\.action) == ["paused", "resumed"])
            #expect(control.actions.allSatisfy { $0.by == "dashboard" })
            // Less load than requested proves nothing.
            #expect(outcome.code == 98, "\(outcome)")
            let complaints = try Control(run.report).complaints
            #expect(complaints.contains { $0.hasPrefix("paused from the dashboard: ") })
            for report in ["report.md", "report.html"] {
                let text = try run.report.text(report)
                #expect(
                    text.contains("arrivals paused") && text.contains("captures were held back"), "\(report)")
            }
            #expect(outcome.output.contains("controlled from the dashboard"))
            let again = try await Binary.run(["report", run.report.folder.path, "--no-color"])
            #expect(again.code == 98)
            #expect(try Control(run.report).control?.held_back == control.held_back)
        }

        @Test func `phones rest and go on, all go offline, and the harness finds nothing wrong`() async throws
        {
            let run = try RunProcess(Self.calm(scans: 3, jobTime: "1s..2s"))
            let url = try await run.controlURL()
            let answers = try await Self.control(
                url,
                [
                    "=1.5", "phones?by=-10", "phones?by=-3", "=1", "phones?by=4&group=commuters",
                    "phones?by=9",
                    "fault?offline=1", "fault?id=nothing", "=1", "close",
                ])
            let outcome = try await run.end(seconds: 40)
            #expect(answers.map(\.status) == [200, 409, 200, 409, 200, 409, 409], "\(answers)")
            #expect(answers[0].body.contains("2 of 12 phones of commuters active"))
            #expect(answers[1].body.contains("only 2 phones of commuters are active"))
            #expect(answers[3].body.contains("cannot have more phones than it was started with"))
            #expect(outcome.code == 98, "load was held back, and nothing else is wrong: \(outcome)")
            let summary = try run.report.summary()
            #expect(summary.broken.isEmpty && summary.scans.lost == 0 && summary.failure == nil, "\(outcome)")
            let log = try run.report.log()
            #expect(Set(log.filter { $0.what == "path-lost" }.map(\.device)).count == 12)
            let control = try #require(try Control(run.report).control)
            #expect(control.actions.map(\.action) == ["phones", "phones", "offline"])
            #expect(summary.scans.captured + control.held_back == 36)
            #expect(control.held_back > 0)
        }

        /// Twelve phones that think for half a second, with so many scans or for so long.
        private static func closed(_ scratch: Scratch, _ end: String) throws -> [String] {
            let scenario = try scratch.file(
                "closed.scenario",
                Data(
                    """
                    scenario: 1
                    drain: 5s
                    fleet: {readers: {phones: 12, think: 500ms, start: 0s..500ms, photos: shelves, \(end)}}
                    server: {books: 1..3, job-time: 100ms..200ms, rate-limit: off}
                    slo: {scans.lost: count == 0}

                    """.utf8))
            return [scenario.path, "--dashboard"]
        }

        /// The processes of a run begin when all of them are ready, and hear no order before.
        private static func waitForCaptures(_ run: RunProcess) async throws {
            let folder = run.report.folder
            let isThere = try await Patience.until(seconds: 30) {
                let files = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
                return files.filter { $0.hasSuffix("events.ndjson") }.contains { file in
                    let text = try? String(contentsOf: folder.appending(path: file), encoding: .utf8)
                    return text?.contains("\"captured\"") == true
                }
            }
            try #require(isThere, "no phone has captured anything")
        }

        @Test(arguments: [[], ["--processes", "2"]])
        func `the scans of phones at rest in a closed group are missing from the load`(more: [String])
            async throws
        {
            let scratch = try Scratch()
            let run = try RunProcess(try Self.closed(scratch, "scans: 10") + more)
            let url = try await run.controlURL()
            try await Self.waitForCaptures(run)
            let answers = try await Self.control(url, ["+phones?by=-11"])
            let outcome = try await run.end(seconds: 50)
            #expect(answers.map(\.status) == [200], "\(answers)")
            #expect(outcome.code == 98, "\(outcome)")
            let control = try Control(run.report)
            let held = try #require(control.control).held_back
            let summary = try run.report.summary()
            #expect(held > 50 && summary.scans.captured + held == 120, "\(summary.scans) \(held)")
            #expect(
                control.complaints.contains {
                    $0.hasPrefix("phones put to rest from the dashboard: \(held) of 120 captures")
                }, "\(control.complaints)")
        }

        @Test(arguments: [[], ["--processes", "2"]])
        func `where a closed group captures for a time, the time of a pause is missing`(more: [String])
            async throws
        {
            let scratch = try Scratch()
            let run = try RunProcess(
                try Self.closed(scratch, "scans: 1000") + ["--duration", "8s"] + more)
            let url = try await run.controlURL()
            try await Self.waitForCaptures(run)
            let answers = try await Self.control(url, ["+pause", "=2", "resume"])
            let outcome = try await run.end(seconds: 50)
            #expect(answers.map(\.status) == [200, 200], "\(answers)")
            #expect(outcome.code == 98, "\(outcome)")
            let complaints = try Control(run.report).complaints
            #expect(
                complaints.contains {
                    $0.contains("paused from the dashboard: phones of closed groups were held back for 2")
                }, "\(complaints)")
        }

        @Test func `a fault of the scenario starts before its time`() async throws {
            let run = try RunProcess(
                Self.calm(
                    faults:
                        "[{do: background, at: 5s, for: 1s}, {do: reset, on: stream, after: 1..4 events, chance: 20%}]"
                ))
            let url = try await run.controlURL()
            let answers = try await Self.control(
                url, ["=1.5", "fault?id=background-1", "fault?id=reset-1"])
            let outcome = try await run.end(seconds: 40)
            #expect(answers.map(\.status) == [200, 409], "\(answers) \(outcome)")
            #expect(answers.last?.body.contains("can be started: 'background-1'") == true, "\(answers)")
            #expect(outcome.code != 70 && outcome.code != 97, "\(outcome)")
            let log = try run.report.log()
            let started = try #require(log.first { $0.side == "control" }).t
            let began = log.filter { $0.side == "fault" && $0.what == "began" }.map(\.t)
            #expect(began.count { $0 - started < 500_000_000 } == 12, "\(began)")
        }

        // MARK: The page

        private struct Page: Decodable {
            struct Violation: Decodable { var rule, first: String }
            var viewed, shown, focus, asked, line: String
            var beyond: Int
            var told, console: [String]
            var violations: [Violation]
        }

        @Test func `the buttons of the page control the run, for who has the token`() async throws {
            let run = try RunProcess(Self.calm(scans: 10) + ["--dashboard-stay"])
            let url = try await run.controlURL()
            let script = Package.tests.appending(path: "Tools/control_page.py").path
            let python = Package.root.appending(path: ".build/venv/bin/python")
            let outcome = try await Subprocess.run(python, [script, url], seconds: 50)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            let page = try JSONDecoder().decode(Page.self, from: Data(outcome.output.utf8))
            #expect(page.viewed == "none" && page.shown == "flex" && page.beyond <= 0)
            #expect(
                page.told == [
                    "arrivals paused", "7 of 12 phones of commuters active", "all phones offline for 5 s",
                    "run stopped", "closed",
                ])
            #expect(page.focus == "Resume arrivals")
            #expect(page.violations.isEmpty, "\(page.violations)")
            #expect(page.asked.hasPrefix("End this run now?"))
            #expect(page.line.hasPrefix("run finished: INTERRUPTED, exit code 105"))
            #expect(page.console == [])
            #expect(try await run.end(seconds: 10).code == 105)
        }

        // MARK: The end

        @Test func `a page that stays is served until it is closed, and the code is the run's`() async throws
        {
            let run = try RunProcess(Self.calm() + ["--dashboard-stay"])
            let url = try await run.controlURL()
            let answers = try await Self.control(
                url, ["close", "end", "=0.5", "page", "end", "stop", "close"])
            let outcome = try await run.end(seconds: 10)
            #expect(answers.map(\.status) == [409, 200, 200, 200, 409, 200], "\(answers)")
            #expect(answers[1].body.contains("event: finished\n"))
            #expect(answers[3].body.contains("event: finished\n"), "who comes later sees the end")
            #expect(answers[3].body.contains("data-control=\"close\""))
            #expect(answers[4].body.contains("the run is over"))
            let summary = try run.report.summary()
            #expect(outcome.hasPassed && outcome.code == summary.exit, "\(outcome)")
            #expect(outcome.complaint.contains("until you close it there or press Ctrl-C"))
        }

        @Test func `Ctrl-C ends a page that stays, and does not interrupt the run that is over`() async throws
        {
            let run = try RunProcess(Self.calm() + ["--dashboard-stay"])
            let url = try await run.controlURL()
            _ = try await Self.control(url, ["end", "page"])
            let isServed = try await Patience.until(seconds: 20) {
                try await Self.control(url, ["page"])[0].status == 200
                    && run.report.files.contains("summary.json")
            }
            #expect(isServed)
            try await Task.sleep(for: .milliseconds(300))
            run.signal(SIGINT)
            let outcome = try await run.end(seconds: 10)
            let summary = try run.report.summary()
            #expect(outcome.hasPassed && outcome.code == summary.exit, "\(outcome)")
            #expect(!outcome.complaint.contains("Interrupted"), "\(outcome)")
        }
    }
}
