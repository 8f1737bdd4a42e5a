import Foundation
import Testing

extension SideBySide {
    /// What people read of the program outside of a run: pages, man page, completions.
    @Suite struct ManualTests {
        // MARK: help TOPIC

        @Test func `help shows a page as text within the width of the terminal`() async throws {
            var environment = Subprocess.environment
            environment["COLUMNS"] = "80"
            let page = try await Subprocess.run(
                Binary.path, ["help", "objectives"], environment: environment)
            #expect(page.code == 0 && page.complaint.isEmpty)
            let lines = page.output.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.first == "Objectives")
            #expect(!page.output.contains("](") && !page.output.contains("<!--"), "marks are left in")
            // Code is not folded.
            #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("      ") })
            #expect(lines.contains("      scan.time:            p(95) < 20s") || lines.contains("      slo:"))
        }

        @Test func `every topic that the help names is a page`() async throws {
            let help = try await Binary.run(["--help"]).output
            let section = try #require(help.firstRange(of: "topics of 'swiftwing-sim help TOPIC':\n"))
            let topics = help[section.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
                .prefix { $0.hasPrefix("  ") }.compactMap { $0.split(separator: " ").first.map(String.init) }
            #expect(topics.contains("getting-started") && topics.count >= 16)
            for topic in topics {
                let page = try await Binary.run(["help", topic])
                #expect(page.code == 0 && page.output.count > 500, "\(topic)")
            }
        }

        @Test func `a topic that is not there is explained`() async throws {
            let wrong = try await Binary.run(["help", "metric"])
            #expect(wrong.code == 64)
            #expect(
                wrong.complaint
                    == "swiftwing-sim: unknown command or topic 'metric'\nhelp: did you mean 'metrics'?\n")
            #expect(try await Binary.run(["images", "--help"]) == Binary.run(["images", "make", "--help"]))
        }

        @Test func `the page of messages has every exit code and every variable`() async throws {
            let page = try await Binary.run(["help", "troubleshooting"]).output
            let help = try await Binary.run(["--help"]).output
            for title in ["exit codes:\n", "environment variables:\n"] {
                let section = try #require(help.firstRange(of: title))
                let names = help[section.upperBound...].split(
                    separator: "\n", omittingEmptySubsequences: false
                ).prefix { $0.hasPrefix("  ") }.map {
                    $0.drop { $0 == " " }.prefix { $0 != " " && $0 != "," }
                }
                #expect(names.count >= 6)
                for name in names { #expect(page.contains(name), "\(title) \(name)") }
            }
        }

        // MARK: Generated pages

        @Test func `every metric has its row, and every key of a scenario its words`() async throws {
            let metrics = try await Binary.run(["schema", "--metrics"]).output
            let summary = try Data(
                contentsOf: Package.root.appending(path: "Reports/sample/summary.json"))
            struct Summary: Decodable {
                var metrics: [String: Row?]
                struct Row: Decodable {}
            }
            let names = try JSONDecoder().decode(Summary.self, from: summary).metrics.keys
            #expect(names.count > 20)
            for name in names { #expect(metrics.contains("| `\(name)` | "), "\(name)") }
            for page in ["--metrics", "--links", "--invariants", "--scenario"] {
                let text = try await Binary.run(["schema", page]).output
                #expect(!text.contains("|  |"), "\(page): a cell without words")
            }
        }

        // MARK: man page

        @Test func `the man page is without a fault`() async throws {
            let scratch = try Scratch()
            let text = try await Binary.run(["schema", "--man"])
            let page = try scratch.file("swiftwing-sim.1", Data(text.output.utf8))
            let lint = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["mandoc", "-T", "lint", "-W", "warning", page.path])
            // A page that is made has no date of its own.
            let faults = lint.output.split(separator: "\n").filter { !$0.contains("missing date") }
            #expect(faults.isEmpty && lint.complaint.isEmpty, "\(lint)")
            let shown = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["mandoc", "-T", "utf8", page.path])
            for command in ["run [options] SCENARIO", "sse decode", "--allow-target HOST", "105"] {
                #expect(shown.output.replacing(/.\u{8}/, with: "").contains(command), "\(command)")
            }
        }

        // MARK: Completions

        @Test func `bash completes commands, options, scenarios and values`() async throws {
            try await self.completes("bash")
            let scratch = try Scratch()
            let script = try await Binary.run(["completion", "bash"]).output
            let file = try scratch.file("completion.bash", Data(script.utf8))
            let check = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["shellcheck", "--shell=bash", file.path])
            #expect(check.code == 0, "\(check.output)")
        }

        @Test func `zsh completes commands, options, scenarios and values`() async throws {
            try await self.completes("zsh")
        }

        @Test func `fish completes commands, options, scenarios and values`() async throws {
            try await self.completes("fish")
        }

        @Test(arguments: [
            (["run", "--state", ""], "folders\n"), (["compare", "--html=o"], "files\n"),
            (["replay", ""], "files\n"), (["run", "--seed", ""], "words\n"), (["no-command", ""], "words\n"),
            (["simulate", "--ties", ""], "words\nfixed\nshuffled\n"),
            (["simulate", "--ties=sh"], "words\nfixed\nshuffled\n"),
            (["completion", ""], "words\nbash\nzsh\nfish\n"),
            (
                ["help", "sse", ""],
                "words\ndecode\tDecodes an event stream from FILE or standard input to JSON, one object per line\n"
            ),
            (["help", "run", ""], "words\n"),
            (
                ["list", "--names", "--"],
                """
                words
                --all\talso list what a bug once needed, and a scenario for each known deviation of a client (gaps, inconsistencies, quirks)
                --json\tprint one JSON document in place of the text
                --help\tshow this help

                """
            ),
        ])
        func `a shell is told what a word can become`(words: [String], answer: String) async throws {
            let outcome = try await Binary.run(["__complete", "--"] + words)
            #expect(outcome == Outcome(code: 0, output: answer, complaint: ""))
        }

        /// The script of the shell, asked as a person asks, with the Tab key.
        private func completes(_ shell: String) async throws {
            let tool = Package.tests.appending(path: "Tools/complete.py").path
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", tool, shell, Binary.path.path], seconds: 50)
            if outcome.output.hasPrefix("skipped: ") {
                return print("\(outcome.output)")
            }
            #expect(outcome == Outcome(code: 0, output: "ok\n", complaint: ""))
        }

        @Test func `shell scripts are without a fault`() async throws {
            for script in [
                ".ci/packages", ".ci/run", "Distributed/debian/build", "Distributed/release/build",
                "Tests/Packages/deb", "Tests/Packages/unpacked",
            ] {
                let check = try await Subprocess.run(
                    URL(filePath: "/usr/bin/env"), ["shellcheck", Package.root.appending(path: script).path])
                #expect(check.code == 0, "\(check.output)")
            }
        }

        // MARK: make install

        @Test func `make install installs all that belongs to the program`() async throws {
            let scratch = try Scratch()
            let prefix = scratch.folder.path
            let made = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                ["make", "-o", "build", "install", "PREFIX=\(prefix)", "BINARY=\(Binary.path.path)"])
            #expect(made.code == 0, "\(made)")
            for file in [
                "bin/swiftwing-sim", "share/man/man1/swiftwing-sim.1",
                "share/bash-completion/completions/swiftwing-sim",
                "share/zsh/site-functions/_swiftwing-sim",
                "share/fish/vendor_completions.d/swiftwing-sim.fish",
                "share/doc/swiftwing-sim/LICENSE",
            ] {
                let size =
                    try FileManager.default.attributesOfItem(atPath: "\(prefix)/\(file)")[.size] as? Int
                #expect(size ?? 0 > 500, "\(file)")
            }
            let program = URL(filePath: "\(prefix)/bin/swiftwing-sim")
            let names = try await Subprocess.run(program, ["list", "--names"], folder: scratch.folder)
            #expect(names.output.split(separator: "\n").contains("flaky-network"))
        }
    }
}

extension SideBySide {
    /// The commands of the documents, as somebody pastes them into a shell.
    @Suite struct DocumentedCommandTests {
        private static let tool = Package.root.appending(path: "Tests/Manual/commands.py").path

        /// All documents in one shell. In the others, whose syntax alone is different, those that are read first: `make manual`
        /// runs all of them in each.
        @Test(arguments: [
            ("bash", []), ("zsh,fish", ["README.md", "Docs/manual/getting-started.md"]),
        ])
        func `the quick commands of the documents do what they say`(shells: String, documents: [String])
            async throws
        {
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                [
                    "PYTHONDONTWRITEBYTECODE=1", "python3", Self.tool, "--binary", Binary.path.path,
                    "--shells", shells,
                ] + documents.map { Package.root.appending(path: $0).path }, seconds: 580)
            print(outcome.output)
            #expect(outcome.code == 0, "\(outcome)")
        }

        @Test func `a command that does not do what its page says is found`() async throws {
            let scratch = try Scratch()
            let page = try scratch.file(
                "page.md",
                Data(
                    """
                    # Page

                        swiftwing-sim simulate no-such-scenario

                    <!-- exits: 66 -->

                        swiftwing-sim simulate no-such-scenario

                    """.utf8))
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                [
                    "PYTHONDONTWRITEBYTECODE=1", "python3", Self.tool, "--binary", Binary.path.path,
                    "--shells", "bash", page.path,
                ])
            #expect(outcome.code == 1)
            #expect(outcome.output.contains("2 commands run, 1 failed") && outcome.output.contains("was 66"))
        }
    }
}
