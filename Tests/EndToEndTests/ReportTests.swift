import Foundation
import Testing

extension SideBySide {
    /// What a run leaves behind, read by programs that others wrote.
    @Suite struct ReportTests {
        private static let python = Package.root.appending(path: ".build/venv/bin/python")

        private static func tool(_ name: String, _ arguments: [String]) async throws -> Outcome {
            try #require(
                FileManager.default.isExecutableFile(atPath: Self.python.path),
                "the readers are missing: run `make test`, which installs them")
            let script = Package.tests.appending(path: "Tools/\(name)").path
            return try await Subprocess.run(Self.python, [script] + arguments, seconds: 55)
        }

        private struct Page: Decodable {
            var title: String
            var console, requests: [String]
            var scripts: Int
            var text: String
        }

        private static func page(_ folder: URL) async throws -> Page {
            let outcome = try await Self.tool(
                "page.py", [folder.appending(path: "report.html").path])
            try #require(outcome.code == 0, "\(outcome.complaint)")
            return try JSONDecoder().decode(Page.self, from: Data(outcome.output.utf8))
        }

        /// A run of the virtual world, in a folder of its own.
        private static func simulated(
            _ scratch: Scratch, _ name: String, _ more: [String] = [], devices: Int = 12
        ) async throws -> RunReport {
            let folder = scratch.folder.appending(path: name)
            let outcome = try await Binary.run(
                ["simulate", "flaky-network", "--phones", String(devices), "--output", folder.path]
                    + ["--quiet"] + more)
            try #require(outcome.code == 0, "\(outcome)")
            return RunReport(folder: folder)
        }

        // MARK: The page

        @Test func `the page opens from disk without a request and without a word on the console`()
            async throws
        {
            let scratch = try Scratch()
            let report = try await Self.simulated(scratch, "run")
            let page = try await Self.page(report.folder)
            #expect(page.console == [])
            #expect(page.requests == [])
            #expect(page.scripts == 1)
            #expect(page.title.hasPrefix("✓ Passed: flaky-network"))
            // The script ran: it alone shows the field to search in.
            #expect(page.text.contains("<p class=\"find\">"))
            #expect(try Data(contentsOf: report.folder.appending(path: "report.html")).count < 2_000_000)
        }

        @Test func `a backend whose every text is hostile leaves all outputs inert`() async throws {
            let script = Package.tests.appending(path: "Tools/talaria.py").path
            let server = try await ServeProcess.start(Self.python, [script, "--hostile"])
            let scratch = try Scratch()
            let plan = scratch.folder.appending(path: "plan.json")
            let run = try RunProcess(
                [ShortRun.scenario, "--target", server.base, "--save-plan", plan.path] + ShortRun.options
                    + ShortRun.set(["drain=30s", "fleet.commuters.scans=1", "faults=[]"]))
            let outcome = try await run.end(seconds: 40)
            #expect(await server.end() == 0)

            // The target breaks rules, so a plan is left.
            #expect(run.report.files == (RunReport.names + ["plan.json", "progress.ndjson"]).sorted())
            let files =
                (RunReport.names + ["progress.ndjson"]).map { run.report.folder.appending(path: $0) } + [plan]
            for (name, file) in files.map({ ($0.lastPathComponent, $0) }) {
                let data = try Data(contentsOf: file)
                #expect(!data.contains(0) && !data.contains(0x1B), "\(name)")
                if name == "report.html" || name == "junit.xml" {
                    #expect(!String(decoding: data, as: UTF8.self).contains("<script>alert"), "\(name)")
                }
            }
            #expect(!outcome.output.utf8.contains(0x1B) && !outcome.output.utf8.contains(0))
            // It came as far as the log, so the page was really put to the test.
            #expect(try run.report.text("events.ndjson").contains("<script>alert(1)"))
            let page = try await Self.page(run.report.folder)
            #expect(page.console == [])
            #expect(page.requests == [])
            #expect(page.scripts == 1)
            let read = try await Self.tool("read_reports.py", [run.report.folder.path])
            #expect(read.code == 0, "\(read.complaint)")
        }

        // MARK: Published readers

        private struct Tag: Decodable {
            var count: Int
            var p50, p90, p95, p99, p999, max: Double
        }

        private struct Summaries: Decodable {
            struct Metric: Decodable {
                var unit: String?
                var count: Int?
                var p50, p90, p95, p99, p999, max: Double?

                init(from decoder: any Decoder) throws {
                    guard let fields = try? decoder.container(keyedBy: Key.self) else { return }
                    self.unit = try fields.decodeIfPresent(String.self, forKey: .unit)
                    self.count = try fields.decodeIfPresent(Int.self, forKey: .count)
                    self.p50 = try fields.decodeIfPresent(Double.self, forKey: .p50)
                    self.p90 = try fields.decodeIfPresent(Double.self, forKey: .p90)
                    self.p95 = try fields.decodeIfPresent(Double.self, forKey: .p95)
                    self.p99 = try fields.decodeIfPresent(Double.self, forKey: .p99)
                    self.p999 = try fields.decodeIfPresent(Double.self, forKey: .p999)
                    self.max = try fields.decodeIfPresent(Double.self, forKey: .max)
                }

                private enum Key: CodingKey { case unit, count, p50, p90, p95, p99, p999, max }
            }

            var metrics: [String: Metric]
        }

        @Test func `the log of histograms gives the percentiles of the summary to three digits`() async throws
        {
            let scratch = try Scratch()
            let report = try await Self.simulated(scratch, "run")
            let read = try await Self.tool(
                "read_hlog.py", [report.folder.appending(path: "latency.hlog").path])
            try #require(read.code == 0, "\(read.complaint)")
            let tags = try JSONDecoder().decode([String: Tag].self, from: Data(read.output.utf8))
            let summary = try JSONDecoder().decode(
                Summaries.self, from: Data(contentsOf: report.folder.appending(path: "summary.json")))
            let told = summary.metrics.filter { $0.value.unit == "ms" && ($0.value.count ?? 0) > 0 }
            #expect(Set(tags.keys) == Set(told.keys))
            for (name, tag) in tags {
                let metric = try #require(told[name])
                #expect(tag.count == metric.count, "\(name)")
                let pairs = [
                    (tag.p50, metric.p50), (tag.p90, metric.p90), (tag.p95, metric.p95),
                    (tag.p99, metric.p99),
                    (tag.p999, metric.p999), (tag.max, metric.max),
                ]
                for (read, told) in pairs {
                    let told = try #require(told)
                    // The summary rounds to the microsecond.
                    #expect(abs(read - told) <= max(told * 0.001, 0.000_6), "\(name): \(read) and \(told)")
                }
            }
        }

        private struct Read: Decodable {
            struct Suite: Decodable, Equatable {
                var cases, failures, errors, skipped: Int
            }

            var junit: [String: Suite]
            var families: Int
            var samples: [String: Double]
        }

        @Test
        func `JUnit and OpenMetrics are read by the parsers of others, with the numbers of the summary`()
            async throws
        {
            let scratch = try Scratch()
            let folder = scratch.folder.appending(path: "run")
            let outcome = try await Binary.run([
                "simulate", "flaky-network", "--phones", "12", "--output", folder.path, "--quiet", "--set",
                "slo.sse.connect.time=p(95) < 1ms", "--tag", "build=<\"1432\">",
            ])
            #expect(outcome.code == 99)
            let tool = try await Self.tool("read_reports.py", [folder.path])
            try #require(tool.code == 0, "\(tool.complaint)")
            let read = try JSONDecoder().decode(Read.self, from: Data(tool.output.utf8))
            #expect(read.junit["objectives"] == .init(cases: 11, failures: 1, errors: 0, skipped: 0))
            let summary = try RunReport(folder: folder).summary()
            #expect(summary.invariants.count > 20, "a virtual run is judged by more than a live one")
            #expect(
                read.junit["invariants"]
                    == .init(cases: summary.invariants.count, failures: 0, errors: 0, skipped: 0))
            #expect(read.samples["swiftwing_scans_captured_total"] == Double(summary.scans.captured))
            #expect(read.samples["swiftwing_books_received_total"] == Double(summary.books.received))
        }

        @Test func `a run in one line`() async throws {
            let scratch = try Scratch()
            let folder = scratch.folder.appending(path: "run")
            let run = try await Binary.run([
                "simulate", "flaky-network", "--phones", "4", "--quiet", "--summary-line", "--output",
                folder.path,
            ])
            #expect(run.code == 0)
            #expect(
                run.output.hasPrefix(
                    "PASSED flaky-network, seed 42: 12 of 12 scans completed, 0 lost, scan.time p50 "))
            #expect(
                run.output.hasSuffix(", exit code 0, \(folder.path)\n")
                    && run.output.split(separator: "\n").count == 1)
        }

        // MARK: From the files

        @Test func `a report made from the files is the one that the run made`() async throws {
            let scratch = try Scratch()
            let report = try await Self.simulated(scratch, "run")
            let again = scratch.folder.appending(path: "again")
            let outcome = try await Binary.run(["report", report.folder.path, "--output", again.path])
            #expect(outcome.code == 0, "\(outcome)")
            for name in ["report.html", "report.md", "junit.xml", "metrics.prom"] {
                #expect(try RunReport(folder: again).text(name) == report.text(name), "\(name)")
            }
            #expect(try !report.text("report.md").contains("- machine"), "it is the same everywhere")
        }

        @Test func `what is about no one phone stays so in a report made from the files`() async throws {
            let scratch = try Scratch()
            let report = try await Self.simulated(scratch, "run")
            let sound = """
                      "first": null,
                      "had_occasion": true,
                      "id": "memory.bounded",
                      "kind": "always",
                      "violations": 0
                """
            let broken = """
                      "first": {"device": null, "scan": null, "at": 1250, "text": "11 of them"},
                      "had_occasion": true,
                      "id": "memory.bounded",
                      "kind": "always",
                      "violations": 1
                """
            let summary = try report.text("summary.json")
            #expect(summary.contains(sound))
            try summary.replacing(sound, with: broken).write(
                to: report.folder.appending(path: "summary.json"), atomically: true, encoding: .utf8)
            let outcome = try await Binary.run(["report", report.folder.path])
            #expect(outcome.output.contains("\n    at 1.250 s: 11 of them\n"), "\(outcome.output)")
        }

        @Test func `a count that must not grow has the window in which it grew most`() async throws {
            let scratch = try Scratch()
            let fault = "{do: http-error, on: upload, status: 503, retry-after: 1s, at: 5s, for: 1s}"
            let report = try await Self.simulated(
                scratch, "run",
                [
                    "--set", "faults=[\(fault)]", "--set",
                    "slo={http.503: count < 1000, sse.events: count > 0}",
                ])
            let rows = try report.text("report.md").split(separator: "\n")
            let failures = rows.first { $0.contains("`http.503`") } ?? ""
            let events = rows.first { $0.contains("`sse.events`") } ?? ""
            #expect(failures.contains(" at 0:05, 5 s"), "\(failures)")
            #expect(!events.contains(" at "), "\(events)")
        }

        @Test func `a killed run tells what its log holds`() async throws {
            let run = try RunProcess(ShortRun.arguments)
            try await run.waitForLog("a completed scan") { $0.isPhone("completed") }
            run.signal(SIGKILL)
            _ = try await run.end(seconds: 10)
            // Half a line, as a kill leaves it.
            let events = run.report.folder.appending(path: "events.ndjson")
            var data = try Data(contentsOf: events)
            data.append(contentsOf: Data("{\"t\":12,\"device\":1,\"sc".utf8))
            try data.write(to: events)

            let outcome = try await Binary.run(["report", run.report.folder.path])
            #expect(outcome.code == 105, "\(outcome)")
            let page = try run.report.text("report.html")
            #expect(page.contains("the run was killed before its verdict"))
            #expect(
                page.contains("skipped 1 incomplete line of the logs") || page.contains("lines of the logs"))
            let lines = try run.report.log()
            let summary = try run.report.summary()
            #expect(summary.scans.captured == lines.count { $0.isPhone("captured") })
            #expect(summary.scans.completed == lines.count { $0.isPhone("completed") })
            #expect(summary.scans.lost == 0 && summary.broken.isEmpty)
            // Times are a machine's, and its report says which.
            let processors = "\(ProcessInfo.processInfo.activeProcessorCount) × "
            #expect(try run.report.text("report.md").contains("- machine `\(processors)"))
            #expect(page.contains(processors))
        }

        @Test func `a damaged verdict is neither guessed nor written over`() async throws {
            let scratch = try Scratch()
            let run = try await Self.simulated(scratch, "a", ["--seed", "1"], devices: 4)
            let file = run.folder.appending(path: "summary.json")
            for damaged in [try Data(contentsOf: file).dropLast(40), Data("{}".utf8), Data()] {
                try damaged.write(to: file)
                let outcome = try await Binary.run(["report", run.folder.path])
                #expect(outcome.code == 65 && outcome.output == "", "\(outcome)")
                #expect(outcome.complaint.contains("summary.json is damaged"), "\(outcome)")
                #expect(outcome.complaint.contains("move the file away"), "\(outcome)")
                #expect(try Data(contentsOf: file) == damaged)
            }
            try FileManager.default.removeItem(at: file)
            let outcome = try await Binary.run(["report", run.folder.path])
            #expect(outcome.code == 105, "\(outcome)")
        }

        @Test func `shards become one verdict`() async throws {
            let scratch = try Scratch()
            let first = try await Self.simulated(scratch, "a", ["--seed", "1"], devices: 4)
            let second = try await Self.simulated(scratch, "b", ["--seed", "2"], devices: 4)
            let folder = scratch.folder.appending(path: "merged")
            let outcome = try await Binary.run([
                "report", first.folder.path, second.folder.path, "--output", folder.path,
            ])
            #expect(outcome.code == 0, "\(outcome)")
            let (a, b) = (try first.summary(), try second.summary())
            let merged = try RunReport(folder: folder).summary()
            #expect(merged.scans.captured == a.scans.captured + b.scans.captured)
            #expect(merged.books.received == a.books.received + b.books.received)
            let counts = try [first, second].map { try $0.metricCount("upload.time") }
            #expect(try RunReport(folder: folder).metricCount("upload.time") == counts[0] + counts[1])
        }

        @Test func `the tags of a run stand in its report, and in what makes it again`() async throws {
            let scratch = try Scratch()
            let tags = ["--tag", "build=1432", "--tag", "note=two words"]
            let run = try await Self.simulated(scratch, "run", tags, devices: 2)
            let outcome = try await Binary.run(["report", run.folder.path])
            #expect(outcome.code == 0 && outcome.output.contains("  build=1432 · note=two words\n"))
            // The command is broken between its words.
            let again = outcome.output.replacing("\\\n", with: "").split(separator: " ").joined(
                separator: " ")
            #expect(again.contains("--tag build=1432 --tag 'note=two words' --seed 42"))
            for name in ["summary.json", "run.json", "report.html", "report.md", "junit.xml", "metrics.prom"]
            {
                #expect(try run.text(name).contains("two words"), "\(name)")
            }
        }

        // MARK: One phone

        @Test func `a phone's story has a line for each observation of it`() async throws {
            let scratch = try Scratch()
            let report = try await Self.simulated(scratch, "run")
            let told = try await Binary.run(["inspect", report.folder.path, "--phone", "3"])
            #expect(told.code == 0)
            let lines = told.output.split(separator: "\n")
            let traced = try await Self.simulated(scratch, "traced", ["--trace"])
            let logged = try traced.text("events.ndjson").split(separator: "\n")
                .filter { $0.contains("\"device\":3,") }
            #expect(lines.count == logged.count && lines.count > 20)
            // A phone with problems has all of it without --trace.
            #expect(
                try await Binary.run(["inspect", traced.folder.path, "--phone", "3"]).output == told.output)
            #expect(lines[0].hasSuffix("launched             restored=0"))
            #expect(
                lines.contains { $0.contains("request-sent") && $0.contains("operation=upload attempt=1") })
            // In words: what it has in the log is for programs.
            #expect(told.output.contains(/upload-accepted .* took=.* after-sending=/))
            #expect(!told.output.contains(#/ [a-z]+_[a-z_]+=/#))
            // What a fault decides is not what it does.
            #expect(told.output.contains(" armed ") && !told.output.contains(" decided "))

            let list = try await Binary.run(["inspect", report.folder.path])
            #expect(list.code == 0 && list.output.hasPrefix("phone  group"))
            #expect(list.output.contains(#/\n[0-9]+ phones? with problems, the worst first; the weights, /#))
            #expect(list.complaint.contains("--phone"))
            let nobody = try await Binary.run(["inspect", report.folder.path, "--phone", "99"])
            #expect(nobody.code == 65)
            #expect(nobody.complaint.contains("the phones of the run have the numbers 0 to 11"))
        }

        @Test func `the story of a scan fits the terminal, and no word is cut`() async throws {
            let scratch = try Scratch()
            let report = try await Self.simulated(scratch, "run")
            let words = ["inspect", report.folder.path, "--phone", "3", "--scan", "1"]
            let told = try await Binary.run(words)
            #expect(told.code == 0, "\(told)")
            let lines = told.output.split(separator: "\n").map(String.init)
            #expect(lines[0] == "phone 3, scan 1: completed")
            #expect(lines.allSatisfy { $0.count <= 80 })
            #expect(lines.contains { $0.contains("phone  -> POST scans, attempt 1") })
            #expect(lines.contains { $0.contains("server creates job ") })
            var environment = Subprocess.environment
            environment["COLUMNS"] = "52"
            let narrow = try await Subprocess.run(Binary.path, words, environment: environment)
            let wrapped = narrow.output.split(separator: "\n").map(String.init)
            #expect(
                wrapped.dropFirst().allSatisfy { line in
                    line.count <= 52 || line.split(separator: " ").contains { $0.count > 16 }
                }, "\(narrow.output)")
            func text(_ output: String) -> Set<Substring> { Set(output.split { " \n".contains($0) }) }
            #expect(text(narrow.output) == text(told.output))
            let nothing = try await Binary.run(
                ["inspect", report.folder.path, "--phone", "3", "--scan", "999"])
            #expect(nothing.code == 65 && nothing.complaint.contains("the phone has the scans 1"))
            #expect(try await Binary.run(["inspect", report.folder.path, "--scan", "1"]).code == 64)
        }

        @Test func `the scans that hung or were slow are listed`() async throws {
            let scratch = try Scratch()
            let folder = scratch.folder.appending(path: "run")
            let run = try await Binary.run([
                "simulate", "flaky-network", "--phones", "4", "--quiet", "--output", folder.path, "--set",
                "server.job-time=5m",
            ])
            #expect(run.code == 99)
            let hung = try await Binary.run(["inspect", folder.path, "--hung"])
            #expect(hung.code == 0)
            let rows = hung.output.split(separator: "\n")
            #expect(rows.count == 13 && rows[0].hasPrefix("phone"), "\(hung.output)")
            #expect(rows.dropFirst().allSatisfy { $0.contains("not finished") })
            #expect(hung.complaint.contains("--scan"))
            let healthy = try await Self.simulated(scratch, "healthy", devices: 4)
            #expect(
                try await Binary.run(["inspect", healthy.folder.path, "--hung"]).output
                    == "every scan had finished\n")
            let slow = try await Binary.run(["inspect", healthy.folder.path, "--slower-than", "1s"])
            #expect(slow.output.split(separator: "\n").count > 4 && !slow.output.contains("not finished"))
            #expect(
                try await Binary.run(["inspect", healthy.folder.path, "--slower-than", "1h"]).output
                    == "no scan took 60 min or longer\n")
            #expect(
                try await Binary.run(["inspect", healthy.folder.path, "--hung", "--phone", "1"]).code == 64)
        }

        @Test func `a reader that has had enough is no error`() async throws {
            let scratch = try Scratch()
            let report = try await Self.simulated(scratch, "run")
            let line =
                "'\(Binary.path.path)' inspect '\(report.folder.path)' --phone 3 | true; echo ${PIPESTATUS[0]}"
            let outcome = try await Subprocess.run(URL(filePath: "/usr/bin/env"), ["bash", "-c", line])
            #expect(outcome.output == "0\n")
            #expect(outcome.complaint == "")
        }

        // MARK: What cannot be

        @Test func `a folder that holds no run is refused, and one that cannot be written ends with 74`()
            async throws
        {
            let scratch = try Scratch()
            #expect(try await Binary.run(["report", scratch.folder.path + "/nothing"]).code == 66)
            #expect(try await Binary.run(["report", scratch.folder.path]).code == 65)
            let report = try await Self.simulated(scratch, "run")
            let twice = try await Binary.run([
                "report", report.folder.path, report.folder.path + "/../run", "--output",
                scratch.folder.path + "/merged",
            ])
            #expect(twice.code == 64 && twice.complaint.contains("is given twice"), "\(twice)")
            let file = try scratch.file("file")
            let outcome = try await Binary.run([
                "report", report.folder.path, "--output", file.path + "/below",
            ])
            #expect(outcome.code == 74)
            #expect(outcome.complaint.contains("below: Not a directory"))
        }
    }
}
