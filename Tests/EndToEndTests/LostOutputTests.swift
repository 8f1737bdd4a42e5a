import Foundation
import Testing

extension SideBySide {
    /// What cannot be written is an error, costs nothing else, and is nowhere called a success.
    @Suite struct LostOutputTests {
        /// A command line of the shell's, `SIM` being the program.
        private static func shell(_ line: String, in folder: URL = Package.root, seconds: Int = 20)
            async throws -> Outcome
        {
            let script = "BIN=\"\(Binary.path.path)\"\nSIM() { \"$BIN\" \"$@\"; }\n" + line
            return try await Subprocess.run(
                URL(filePath: "/bin/bash"), ["-c", script], folder: folder, seconds: seconds)
        }

        // MARK: Standard output

        @Test(
            .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
            arguments: [
                "schema", "list", "--help", "help run", "--version", "check flaky-network",
                "plan flaky-network",
                "profiles contract", "inspect Reports/sample", "compare Reports/sample Reports/sample",
            ])
        func `standard output that cannot be written to is an error`(_ words: String) async throws {
            let full = try await Self.shell("SIM \(words) > /dev/full")
            #expect(full.code == 74, "\(full)")
            #expect(
                full.complaint.contains("cannot write to standard output: No space left on device"), "\(full)"
            )
            let closed = try await Self.shell("SIM \(words) >&-")
            #expect(closed.code == 74, "\(closed)")
            #expect(closed.complaint.contains("cannot write to standard output: "), "\(closed)")
        }

        @Test func `a reader that has seen enough is no error`() async throws {
            let schema = try await Self.shell("SIM schema | true; echo ${PIPESTATUS[0]}")
            #expect(schema == Outcome(code: 0, output: "0\n", complaint: ""))
            let decoded = try await Self.shell(
                #"yes $'data: 1\n' | head -100000 | SIM sse decode | head -1; echo ${PIPESTATUS[2]}"#)
            #expect(
                decoded
                    == Outcome(
                        code: 0, output: #"{"event":"message","data":"1","id":""}"# + "\n0\n", complaint: ""))
        }

        @Test func `a server goes on when nobody reads its log any more`() async throws {
            let served = try await Self.shell(
                """
                exec 3< <(exec "$BIN" serve 2> >(head -1 > /dev/null))
                pid=$!
                read -t 10 -u 3 word url
                for i in 1 2 3 4 5; do curl -s -o /dev/null -w '%{http_code} ' $url/v3/nothing; sleep 0.1; done
                kill $pid
                """)
            #expect(served.output == "404 404 404 404 404 ", "\(served)")
        }

        // MARK: Files

        /// A file may not grow beyond 40 KiB: the logs and the page are larger.
        @Test func `files that are cut short cost no number, and nothing says that the run passed`()
            async throws
        {
            let scratch = try Scratch()
            let report = scratch.folder.appending(path: "report")
            let outcome = try await Self.shell(
                "ulimit -f 40; SIM simulate flaky-network --trace --quiet --output \(report.path) | cat; exit ${PIPESTATUS[0]}"
            )
            #expect(outcome.code == 74, "\(outcome)")
            let complaints = outcome.complaint.split(separator: "\n")
            let start = "swiftwing-sim: cannot write to \(report.path): File too large ("
            #expect(complaints.count == 2 && complaints.allSatisfy { $0.hasPrefix(start) }, "\(outcome)")
            #expect(complaints.first?.hasSuffix("(events.ndjson); the run continues") == true)
            for part in ["ABORTED", "Scans ", "Latencies ", "scan.time ", "Report "] {
                #expect(outcome.output.contains(part), "\(part): \(outcome.output)")
            }
            let run = RunReport(folder: report)
            #expect(try run.text("summary.json").contains(#""exit": 74"#))
            #expect(!run.files.contains("report.html"), "it is larger")
            for name in ["report.md", "junit.xml", "summary.json"] {
                #expect(try run.text(name).contains("File too large"), "\(name)")
            }
        }

        /// The journals of the state folder may not grow beyond 8 KiB: the harness ends the run, and its phones leave their jobs.
        @Test(arguments: [[], ["--processes", "2"]])
        func `a state folder that is full is no violation of a phone`(more: [String]) async throws {
            let scratch = try Scratch()
            let state = scratch.folder.appending(path: "state").path
            let report = scratch.folder.appending(path: "report").path
            let words =
                ["run", ShortRun.scenario] + ShortRun.options
                + ShortRun.set(["fleet.commuters.scans=40", "faults=[]", "slo={scans.lost: count == 0}"])
                + ["--state", state, "--quiet", "--no-color", "--output", report] + more
            let outcome = try await Self.shell(
                "ulimit -f 8; SIM \(words.map { "'\($0)'" }.joined(separator: " ")) | cat; exit ${PIPESTATUS[0]}",
                seconds: 60)
            #expect(outcome.code == 74, "\(outcome)")
            #expect(outcome.output.contains("cannot write the state folder"), "\(outcome)")
            #expect(!outcome.output.contains("violation"), "\(outcome.output)")
            // The figures reach the terminal, wherever they could not be written.
            #expect(outcome.output.contains("Scans  "), "\(outcome.output)")
        }

        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
        func `a plan or a summary that cannot be written makes no run a success`() async throws {
            let scratch = try Scratch()
            let run = "SIM simulate flaky-network --phones 4 --quiet"
            let plan = try await Self.shell("\(run) --save-plan /dev/full --output \(scratch.folder.path)/a")
            #expect(plan.code == 74 && plan.output.contains("Latencies "), "\(plan)")
            #expect(
                try RunReport(folder: scratch.folder.appending(path: "a")).text("summary.json").contains(
                    #""exit": 74"#))
            let summary = try await Self.shell("\(run) --output \(scratch.folder.path)/b > /dev/full")
            #expect(summary.code == 74, "\(summary)")
            #expect(
                try RunReport(folder: scratch.folder.appending(path: "b")).text("summary.json").contains(
                    #""exit": 74"#))
        }

        // MARK: Other runs

        @Test func `a run is replaced only by force`() async throws {
            let scratch = try Scratch()
            let (first, second) = (scratch.folder.path + "/first", scratch.folder.path + "/second")
            func simulate(_ more: [String]) async throws -> Outcome {
                try await Binary.run(["simulate", "flaky-network", "--phones", "4", "--quiet"] + more)
            }
            for folder in [first, second] {
                #expect(try await simulate(["--output", folder]).code == 0)
            }
            let before = try Data(contentsOf: URL(filePath: first + "/summary.json"))
            for words in [
                ["simulate", "flaky-network", "--output", first],
                ["run", "flaky-network", "--output", first],
                ["replay", "Scenarios/regressions/photo-asked-twice.plan.json", "--output", first],
                ["report", second, "--output", first], ["report", first, second, "--output", first],
            ] {
                let refused = try await Binary.run(words)
                #expect(refused.code == 64, "\(words): \(refused)")
                #expect(refused.complaint.contains("\(first) already contains a run"), "\(refused)")
                #expect(refused.complaint.contains("--force"), "\(refused)")
            }
            #expect(try Data(contentsOf: URL(filePath: first + "/summary.json")) == before)
            #expect(try await simulate(["--output", first, "--force", "--seed", "7"]).code == 0)
            #expect(try Data(contentsOf: URL(filePath: first + "/summary.json")) != before)
            #expect(try await Binary.run(["report", first, "--output", first]).code == 0, "its own")
        }

        @Test func `an option is no value of the one before it`() async throws {
            let scratch = try Scratch()
            for words in [["--output", "--quiet"], ["--output", "--x"], ["--output", ""], ["--force"]] {
                let outcome = try await Subprocess.run(
                    Binary.path, ["run", Package.root.path + "/Scenarios/flaky-network.scenario"] + words,
                    folder: scratch.folder)
                #expect(outcome.code == 64, "\(words): \(outcome)")
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
            #expect(names == [])
        }

        @Test func `nothing that a scenario holds moves the cursor`() async throws {
            let scratch = try Scratch()
            let file = try scratch.file(
                "odd.scenario", Data("scenario: 1\nextends: \"a\\0b\\e[2J\"\n".utf8))
            let outcome = try await Binary.run(["check", file.path])
            #expect(outcome.code == 65)
            let controls = (outcome.output + outcome.complaint).unicodeScalars.filter {
                $0.properties.generalCategory == .control && $0 != "\n"
            }
            #expect(controls.isEmpty, "\(outcome)")
        }
    }
}
