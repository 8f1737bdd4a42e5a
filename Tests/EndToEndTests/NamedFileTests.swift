import Foundation
import Testing

extension SideBySide {
    /// Files that options name to be written: what others made is kept.
    @Suite struct NamedFileTests {
        private static let simulate = [
            "simulate", "flaky-network", "--phones", "2", "--quiet", "--force", "--output",
        ]

        @Test func `a plan replaces a plan, and nothing else`() async throws {
            let scratch = try Scratch()
            let report = scratch.folder.path + "/report"
            let plan = scratch.folder.path + "/x.plan.json"
            // `--force` is about the folder of the run.
            let words = Array(Self.simulate.filter { $0 != "--force" })
            for ordinal in 1...2 {
                let outcome = try await Binary.run(words + ["\(report)\(ordinal)", "--save-plan", plan])
                #expect(outcome.code == 0, "\(outcome)")
            }
            for content in ["root:x:0:0\n", "{\"scripts\": {}}\n"] {
                let other = try scratch.file("other", Data(content.utf8))
                for command in [words, ["run"] + words.dropFirst()] {
                    let outcome = try await Binary.run(command + ["\(report)3", "--save-plan", other.path])
                    #expect(outcome.code == 64, "\(outcome)")
                    #expect(
                        outcome.complaint.contains("--save-plan does not replace '\(other.path)'"),
                        "\(outcome)")
                    #expect(try String(contentsOf: other, encoding: .utf8) == content)
                }
            }
            #expect(!FileManager.default.fileExists(atPath: report + "3"), "it is refused before the run")
        }

        @Test func `pages and comparisons replace their like, and nothing else`() async throws {
            let scratch = try Scratch()
            let folder = scratch.folder.path
            _ = try await Binary.run(Self.simulate + [folder + "/a"])
            _ = try await Binary.run(Self.simulate + [folder + "/b", "--seed", "2"])
            let (page, markdown) = (folder + "/page.html", folder + "/page.md")
            for _ in 1...2 {
                let both = try await Binary.run(
                    ["compare", folder + "/a", folder + "/a", "--html", page, "--markdown", markdown])
                #expect(both.code == 0, "\(both)")
                let trend = try await Binary.run(["trend", folder + "/a", folder + "/b", "--html", page])
                #expect(trend.code == 0, "\(trend)")
            }
            let other = try scratch.file("readme", Data("# Mine\n\n<!doctype html>\n".utf8))
            for option in ["--html", "--markdown"] {
                let outcome = try await Binary.run([
                    "compare", folder + "/a", folder + "/a", option, other.path,
                ])
                #expect(outcome.code == 64 && outcome.complaint.contains("does not replace"), "\(outcome)")
            }
            let photo = try await Binary.run(["preprocess", Package.photo.path, other.path])
            #expect(photo.code == 74 && photo.complaint.contains("no JPEG picture"), "\(photo)")
            #expect(try String(contentsOf: other, encoding: .utf8).hasPrefix("# Mine"))
        }

        @Test func `a named pipe is refused at once`() async throws {
            let scratch = try Scratch()
            let pipe = scratch.folder.path + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let start = ContinuousClock.now
            let outcome = try await Binary.run(
                Self.simulate + [scratch.folder.path + "/r", "--save-plan", pipe])
            #expect(outcome.code == 64 && outcome.complaint.contains("it is a named pipe"), "\(outcome)")
            #expect(ContinuousClock.now - start < .seconds(20))
        }

        @Test func `a name of an output moves no cursor`() async throws {
            let scratch = try Scratch()
            let file = try scratch.file("file", Data())
            for words in [
                ["--output", file.path + "/x\u{1B}[31m"], ["--save-plan", file.path + "/x\u{1B}[31m"],
            ] {
                let outcome = try await Binary.run(
                    ["simulate", "flaky-network", "--phones", "2", "--quiet"] + words
                        + (words[0] == "--output" ? [] : ["--output", scratch.folder.path + "/r"]))
                #expect(outcome.code == 74, "\(outcome)")
                #expect(!(outcome.output + outcome.complaint).contains("\u{1B}"), "\(outcome)")
            }
        }
    }
}
