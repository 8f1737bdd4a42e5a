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
                ["simulate", "steady-load", "--devices", "24", "--output", folder.path, "--quiet"] + more)
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
                base, new, ["--html", page.path, "--markdown", markdown.path])
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
