import Foundation
import Testing

extension SideBySide {
    /// Two runs side by side, as a person or a build asks for it.
    @Suite struct CompareTests {
        private static let delay = ["--set", "faults=[{do: delay, on: link, by: 50ms}]"]

        private static func simulated(_ scratch: Scratch, _ name: String, _ more: [String] = []) async throws
            -> URL
        {
            let folder = scratch.folder.appending(path: name)
            let outcome = try await Binary.run(
                ["simulate", "steady-load", "--phones", "24", "--output", folder.path, "--quiet"] + more)
            try #require(outcome.code == 0, "\(outcome)")
            return folder
        }

        private static func compare(_ base: URL, _ new: URL, _ more: [String] = []) async throws -> Outcome {
            try await Binary.run(["compare", base.path, new.path] + more)
        }

        // MARK: Verdicts

        @Test func `two virtual runs of one seed are identical`() async throws {
            let scratch = try Scratch()
            let (first, second) = (
                try await Self.simulated(scratch, "a"), try await Self.simulated(scratch, "b")
            )
            let outcome = try await Self.compare(first, second)
            #expect(outcome.code == 0 && outcome.complaint == "")
            #expect(outcome.output.hasPrefix("✓ IDENTICAL  steady-load\n"), "\(outcome.output)")
            let other = try await Self.simulated(scratch, "c", ["--seed", "21"])
            let seeds = try await Self.compare(first, other)
            #expect(seeds.output.contains("the seeds differ: 20 in BASE, 21 in NEW"))
            #expect(!seeds.output.contains("IDENTICAL"))
        }

        @Test func `fifty milliseconds on the link are found, and named`() async throws {
            let scratch = try Scratch()
            let base = try await Self.simulated(scratch, "a")
            let new = try await Self.simulated(scratch, "b", Self.delay)
            let (page, markdown) = (
                scratch.folder.appending(path: "c.html"), scratch.folder.appending(path: "c.md")
            )
            let outcome = try await Self.compare(
                base, new,
                ["--judge", "cleanup.time", "--html", page.path, "--markdown", markdown.path])
            #expect(outcome.code == 99, "\(outcome)")
            #expect(outcome.output.hasPrefix("✗ WORSE  steady-load\n"))
            #expect(outcome.output.contains("the resolved scenarios differ"))
            let texts = try [page, markdown].map {
                String(decoding: try Data(contentsOf: $0), as: UTF8.self)
            }
            for text in [outcome.output] + texts {
                for metric in ["sse.connect.time", "sse.event.latency", "cleanup.time"] {
                    #expect(text.contains("\(metric): p") || text.contains("\(metric){group:"), "\(metric)")
                }
            }
            #expect(try await Self.compare(new, base).code == 0, "what got better is no regression")
            // As much as that may be allowed.
            let patient = try await Self.compare(base, new, ["--max-regression", "10000%"])
            #expect(patient.code == 0, "\(patient)")
        }

        @Test func `a live run compares with itself, and with its killed self`() async throws {
            let (outcome, process) = try await ShortRun.standard()
            try #require(outcome.code == 0, "\(outcome)")
            let scratch = try Scratch()
            let killed = scratch.folder.appending(path: "killed")
            try FileManager.default.copyItem(at: process.report.folder, to: killed)
            let same = try await Self.compare(process.report.folder, killed)
            #expect(same.code == 0 && same.output.contains("IDENTICAL"))
            try FileManager.default.removeItem(at: killed.appending(path: "summary.json"))
            let cut = try await Self.compare(process.report.folder, killed)
            #expect(cut.code == 99, "\(cut)")
            #expect(cut.output.contains("NEW was killed"))
            #expect(cut.output.contains("the run itself got worse"), "\(cut)")
        }

        // MARK: A baseline and a trend

        @Test func `a run is compared with its baseline on its own page and in its exit code`() async throws {
            let scratch = try Scratch()
            let base = try await Self.simulated(scratch, "a")
            let same = try await Self.simulated(scratch, "b", ["--baseline", base.path])
            let page = try String(contentsOf: same.appending(path: "report.html"), encoding: .utf8)
            #expect(page.contains("<section id=\"baseline\"") && page.contains("<b>Identical</b>"))
            let folder = scratch.folder.appending(path: "c")
            let slow = try await Binary.run(
                ["simulate", "steady-load", "--phones", "24", "--output", folder.path, "--quiet"]
                    + Self.delay + ["--baseline", base.path])
            #expect(slow.code == 99, "\(slow)")
            #expect(slow.output.contains("✓ PASSED") && slow.output.contains("✗ WORSE"))
            let worse = try String(contentsOf: folder.appending(path: "report.html"), encoding: .utf8)
            #expect(worse.contains("<b>Worse</b>") && worse.contains("sse.connect.time: p"))
            try await self.reportKeepsTheComparison(folder, base, scratch)
        }

        @Test func `the previous run of a scenario is the baseline`() async throws {
            let scratch = try Scratch()
            func run(_ name: String, _ more: [String] = []) async throws -> Outcome {
                try await Binary.run(
                    [
                        "simulate", "steady-load", "--phones", "24", "--quiet", "--previous", "--output",
                        scratch.folder.appending(path: name).path,
                    ] + more)
            }
            let first = try await run("b")
            #expect(
                first.code == 66 && first.complaint.contains("no finished run of 'steady-load'"), "\(first)")
            _ = try await Self.simulated(scratch, "a")
            let second = try await run("b")
            #expect(second.code == 0 && second.output.contains("✓ IDENTICAL"), "\(second)")
            let third = try await run("c", Self.delay + ["--judge", "job.time"])
            #expect(third.code == 99 && third.output.contains("/b · passed"), "\(third)")
            let both = try await run("d", ["--baseline", scratch.folder.appending(path: "a").path])
            #expect(both.code == 64 && both.complaint.contains("cannot be used together"), "\(both)")
            let unknown = try await run("d", ["--judge", "scan.tim"])
            #expect(
                unknown.code == 64 && unknown.complaint.contains("did you mean 'scan.time'"), "\(unknown)")
        }

        private func reportKeepsTheComparison(_ run: URL, _ base: URL, _ scratch: Scratch) async throws {
            let elsewhere = scratch.folder.appending(path: "again")
            let again = try await Binary.run(["report", run.path, "--output", elsewhere.path])
            #expect(again.code == 99 && again.output.contains("✗ WORSE"), "\(again)")
            let page = try String(contentsOf: elsewhere.appending(path: "report.html"), encoding: .utf8)
            #expect(page.contains("<section id=\"baseline\"") && page.contains("<b>Worse</b>"))
            // Without the baseline it cannot be compared, and is not greener for that.
            try FileManager.default.moveItem(at: base, to: scratch.folder.appending(path: "moved"))
            let alone = try await Binary.run(["report", run.path])
            #expect(alone.code == 99, "\(alone)")
            #expect(alone.complaint.hasPrefix("warning: the page has no comparison with the baseline: "))
            // A later run in the folder has no baseline.
            let next = try await Binary.run([
                "simulate", "steady-load", "--phones", "24", "--quiet", "--output", run.path, "--force",
            ])
            #expect(next.code == 0)
            #expect(try await Binary.run(["report", run.path]).code == 0)
        }

        @Test func `a baseline that is gone after the run costs it no verdict`() async throws {
            let (_, standard) = try await ShortRun.standard()
            let scratch = try Scratch()
            let base = scratch.folder.appending(path: "base")
            try FileManager.default.copyItem(at: standard.report.folder, to: base)
            // What is expected to break holds.
            let run = try RunProcess(
                ShortRun.arguments
                    + ShortRun.set([
                        "fleet.commuters.phones=2", "fleet.commuters.scans=1",
                        "expect-broken=[scan.custody]",
                    ]) + ["--baseline", base.path])
            let hasBegun = try await Patience.until(seconds: 30) { run.report.files.contains("run.json") }
            try #require(hasBegun)
            try FileManager.default.removeItem(at: base)
            let outcome = try await run.end(seconds: 50)
            #expect(outcome.code == 97, "\(outcome)")
            #expect(
                outcome.complaint.contains("the run was not compared with \(base.path): there is no folder"),
                "\(outcome.complaint)")
        }

        @Test func `a baseline that is none is refused before the run`() async throws {
            let scratch = try Scratch()
            let base = try await Self.simulated(scratch, "a")
            let folder = scratch.folder.appending(path: "new")
            func refused(_ more: [String], code: Int32, _ words: String) async throws {
                let outcome = try await Binary.run(
                    ["simulate", "train-tunnel", "--phones", "2", "--output", folder.path] + more)
                #expect(outcome.code == code && outcome.complaint.contains(words), "\(outcome)")
                #expect(!FileManager.default.fileExists(atPath: folder.path))
            }
            try await refused(["--baseline", folder.path + "-none"], code: 66, "there is no folder")
            try await refused(["--baseline", scratch.folder.path], code: 65, "is not the folder of a run")
            try await refused(
                ["--baseline", base.path], code: 65,
                "a run of 'steady-load' and a run of 'train-tunnel' cannot be compared")
            try await refused(["--different-scenarios"], code: 64, "requires --baseline")
            try await refused(
                ["--baseline", base.path, "--seeds", "1..2"], code: 64, "--baseline belongs to one run")
            let again = try await Binary.run(
                ["simulate", "steady-load", "--output", base.path, "--force", "--baseline", base.path])
            #expect(again.code == 64 && again.complaint.contains("name the same folder"), "\(again)")
            let asked = try await Binary.run([
                "simulate", "train-tunnel", "--phones", "2", "--quiet", "--output", folder.path,
                "--baseline",
                base.path, "--different-scenarios",
            ])
            #expect(asked.output.contains("the scenarios differ"), "\(asked)")
        }

        @Test func `several runs become a trend`() async throws {
            let scratch = try Scratch()
            var runs: [String] = []
            for (index, build) in ["10", "11", "12"].enumerated() {
                let more = ["--tag", "build=\(build)"] + (index == 2 ? Self.delay : [])
                runs.append(try await Self.simulated(scratch, build, more).path)
            }
            let page = scratch.folder.appending(path: "trend.html")
            let trend = try await Binary.run(["trend"] + runs + ["--html", page.path])
            #expect(trend.code == 0, "\(trend)")
            let rows = trend.output.split(separator: "\n").filter { $0.contains("passed") }
            #expect(rows.map { $0.prefix(2) } == ["10", "11", "12"], "\(trend.output)")
            #expect(
                trend.output.contains("the last run against the one before: worse, sse.connect.time: p50 "),
                "\(trend.output)")
            #expect(try String(contentsOf: page, encoding: .utf8).contains("id=\"trend-scan-time\""))
            #expect(try await Binary.run(["trend", runs[0]]).code == 64)
            let other = scratch.folder.appending(path: "other")
            _ = try await Binary.run([
                "simulate", "train-tunnel", "--phones", "2", "--quiet", "--output", other.path,
            ])
            let mixed = try await Binary.run(["trend", runs[0], other.path])
            #expect(mixed.code == 65 && mixed.complaint.contains("--different-scenarios"), "\(mixed)")
            #expect(try await Binary.run(["trend", runs[0], other.path, "--different-scenarios"]).code == 0)
            #expect(try await Binary.run(["compare", runs[0], other.path]).code == 65)
        }

        @Test func `a trend needs only the summaries, and keeps a history of one line for each run`()
            async throws
        {
            let scratch = try Scratch()
            let archive = scratch.folder.appending(path: "archive")
            for build in 1...10 {
                let more = ["--tag", "build=\(build)"] + (build > 5 ? Self.delay : [])
                let run = try await Self.simulated(scratch, "run", more + ["--force"])
                let kept = archive.appending(path: "\(100 + build)")
                try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
                try FileManager.default.copyItem(
                    at: run.appending(path: "summary.json"), to: kept.appending(path: "summary.json"))
            }
            let history = scratch.folder.appending(path: "load.ndjson")
            let trend = try await Binary.run(["trend", archive.path, "--append", history.path])
            #expect(trend.code == 0 && trend.output.contains("10 runs"), "\(trend)")
            let step = trend.output.split(separator: "\n").first { $0.contains("sse.connect.time p95") }
            #expect(step?.contains(" 6 ") == true, "\(trend.output)")
            let lines = try String(contentsOf: history, encoding: .utf8)
            #expect(lines.split(separator: "\n").count == 10)
            // It is read as it was written, and a run is added once.
            let again = try await Binary.run(["trend", archive.path + "/101", "--append", history.path])
            #expect(again.output == trend.output && again.code == 0)
            #expect(try await Binary.run(["trend", history.path]).output == trend.output)
            #expect(try String(contentsOf: history, encoding: .utf8) == lines)
            try (lines + "{\"schema\":\n").write(to: history, atomically: true, encoding: .utf8)
            let bad = try await Binary.run(["trend", history.path])
            #expect(bad.code == 65 && bad.complaint.contains("load.ndjson:11: it is not JSON"), "\(bad)")
            // A run that is named twice is one, and a link to a history stays a link.
            let twice = try await Binary.run([
                "trend", archive.path, archive.path + "/101", "--append", history.path,
            ])
            #expect(twice.complaint.contains("load.ndjson:11"), "\(twice)")
            try lines.write(to: history, atomically: true, encoding: .utf8)
            #expect(
                try await Binary.run(["trend", archive.path, archive.path + "/101"]).output == trend.output)
            let same = try await Binary.run(["trend", archive.path, "--append", "x.html", "--html", "x.html"])
            #expect(same.code == 64 && same.complaint.contains("name the same file"), "\(same)")
            let empty = try await Binary.run(["trend", scratch.folder.path + "/none"])
            #expect(empty.code == 66, "\(empty)")
        }

        // MARK: What cannot be

        @Test func `what cannot be compared is refused with its reason`() async throws {
            let scratch = try Scratch()
            let run = try await Self.simulated(scratch, "a")
            func refused(_ new: URL, _ more: [String] = [], code: Int32, _ words: String) async throws {
                let outcome = try await Self.compare(run, new, more)
                #expect(outcome.code == code, "\(outcome)")
                #expect(outcome.complaint.contains(words), "\(outcome)")
                #expect(outcome.output == "" || code == 74)
            }
            try await refused(
                scratch.folder.appending(path: "nothing"), code: 66, "there is no folder")
            try await refused(scratch.folder, code: 65, "is not the folder of a run")
            try await refused(run, ["--max-regression", "10"], code: 64, "a share needs a unit")
            try await refused(run, ["--max-regression", "soon"], code: 64, "--max-regression 'soon'")
            try await refused(run, ["third"], code: 64, "unexpected argument 'third'")
            try await refused(
                run, ["--html", scratch.folder.appending(path: "no/page.html").path], code: 74,
                "cannot write")
            let other = scratch.folder.appending(path: "other")
            try FileManager.default.copyItem(at: run, to: other)
            let head = other.appending(path: "run.json")
            let text = String(decoding: try Data(contentsOf: head), as: UTF8.self)
            try Data(text.replacing("\"schema\": 1", with: "\"schema\": 2").utf8).write(to: head)
            try await refused(other, code: 65, "has format 2; this program reads format 1")
            try Data(text.dropLast(40).utf8).write(to: head)
            try await refused(other, code: 65, "is incomplete")
            try Data(text.replacing("\"virtual\"", with: "\"live\"").utf8).write(to: head)
            try await refused(other, code: 65, "a virtual run and a live run cannot be compared")
        }
    }
}
