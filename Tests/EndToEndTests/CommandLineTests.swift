import Foundation
import Testing

extension SideBySide {
    /// What the program says to people and scripts, word for word.
    @Suite struct CommandLineTests {
        private static let fixtures = "Tests/EndToEndTests/Fixtures"

        // MARK: Help

        @Test func `the help names every command and every exit code`() async throws {
            try Golden.expect(try await Golden.transcript([["--help"]]), is: "help.txt")
            let help = try await Binary.run(["--help"])
            #expect(try await Binary.run(["-h"]) == help)
            #expect(try await Binary.run(["help"]) == help)
            #expect(
                try await Binary.run([]) == Outcome(code: 64, output: "", complaint: help.output),
                "nothing to do is a mistake")
        }

        @Test func `every command that the help names has a help of its own`() async throws {
            let all = try await self.commandNames(["--help"])
            #expect(["run", "check", "serve", "tool"].allSatisfy(all.contains))
            let tools = try await self.commandNames(["tool", "--help"])
            #expect(tools == ["preprocess", "images make", "sse decode"])
            try Golden.expect(try await Golden.transcript([["tool", "--help"]]), is: "help-tool.txt")
            #expect(try await Binary.run(["help", "tool"]) == Binary.run(["tool", "--help"]))
            #expect(try await Binary.run(["tool"]).code == 64)
            let wrong = try await Binary.run(["tool", "image", "make", "x"])
            #expect(wrong.code == 64 && wrong.complaint.contains("did you mean 'images'?"))
            for name in all.filter({ $0 != "tool" }) + tools {
                let words = name.split(separator: " ").map(String.init)
                let text = try await Golden.transcript([words + ["--help"]])
                try Golden.expect(text, is: "help-\(words.joined(separator: "-")).txt")
                #expect(text.contains("\nexample:\n"))
                let help = try await Binary.run(words + ["--help"])
                #expect(try await Binary.run(words + ["-h"]) == help)
                #expect(try await Binary.run(["help"] + words) == help)
                if tools.contains(name) {
                    #expect(try await Binary.run(["tool"] + words + ["--help"]) == help)
                }
            }
        }

        /// The first words of the help's table of commands, up to what is not a word of the name.
        private func commandNames(_ words: [String]) async throws -> [String] {
            let lines = try await Binary.run(words).output.split(
                separator: "\n", omittingEmptySubsequences: false)
            let table = lines.drop { !$0.hasPrefix("  ") }.prefix { $0.hasPrefix("  ") }
            return table.map { line in
                line.split(separator: " ").prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } }
                    .joined(separator: " ")
            }
        }

        @Test func `options go on to have their former names`() async throws {
            let plan = try await Binary.run(["plan", "flaky-network", "--phones", "4"])
            #expect(plan.code == 0)
            #expect(try await Binary.run(["plan", "flaky-network", "--devices", "4"]) == plan)
            #expect(try await Binary.run(["plan", "flaky-network", "--devices=4"]) == plan)
            let both = try await Binary.run(["plan", "flaky-network", "--devices", "4", "--phones", "4"])
            #expect(both.code == 64 && both.complaint.contains("--phones is given twice"))
            let none = try await Binary.run(["inspect", "Reports/sample", "--device", "x"])
            #expect(none.code == 64 && none.complaint.contains("--phone expects a whole number"))
        }

        @Test func `the version is one line`() async throws {
            let version = try await Binary.run(["--version"])
            #expect(version.code == 0 && version.complaint.isEmpty)
            let line = /swiftwing-sim [0-9]+\.[0-9]+\.[0-9]+( \(commit [0-9a-f]{12}(\+changes)?\))?\n/
            #expect(version.output.wholeMatch(of: line) != nil)
            #expect(try await Binary.run(["version"]) == version)
        }

        // MARK: Mistakes

        @Test func `a command line that is not understood is explained`() async throws {
            try Golden.expect(
                try await Golden.transcript([
                    ["chek"], ["xyzzy"], ["sse"], ["sse", "decod"], ["help", "serv"],
                    ["serve", "--prot", "1"], ["serve", "--zzz"], ["serve", "--port"],
                    ["serve", "--port", "http"], ["serve", "--port", "65536"],
                    ["serve", "--port", "1", "--port=2"], ["serve", "--host", "localhost"],
                    ["serve", "--set", "server.pong=1s"], ["serve", "--set", "seed"],
                    ["serve", "one", "two"], ["check"], ["check", "--format", "yaml", "flaky-network"],
                    ["check", "--no-color=yes", "flaky-network"], ["sse", "decode", "--chunk", "0"],
                    ["run", "--vus", "3", "flaky-network"], ["run", "-d", "3s", "flaky-network"],
                    ["run", "--iterations", "3", "flaky-network"],
                    ["run", "flaky-network", "--dashboard", "5665"], ["help", "metric"],
                    ["replay", "flaky-network"], ["schema", "--man", "--links"], ["completion", "csh"],
                    ["run", "Scenarios/regressions/photo-asked-twice.plan.json"],
                ]), is: "mistakes.txt")
        }

        /// The address is one for documentation (RFC 5737), which no machine has: the warning comes, and nothing listens.
        @Test func `an address that others can reach is warned of`() async throws {
            let warning =
                "warning: listening on 192.0.2.1: every client that can reach this machine can use this server"
            let serve = try await Binary.run(["serve", "--host", "192.0.2.1"])
            #expect(serve.code == 64 && serve.complaint.contains(warning + "\n"), "\(serve)")
            let proxy = try await Binary.run([
                "proxy", "--upstream", "http://127.0.0.1:1", "--header", "X-Secret: 1", "--host", "192.0.2.1",
            ])
            #expect(proxy.complaint.contains(warning + " and sends the values of --header to the upstream\n"))
            try await ServeProcess.during([]) { taken in
                let other = try await Binary.run(["serve", "--port", "\(taken.port)"])
                #expect(other.code == 69 && !other.complaint.contains("warning"), "\(other)")
            }
        }

        @Test func `a tag that is no tag is explained, and nothing runs`() async throws {
            let scratch = try Scratch()
            let folder = scratch.folder.appending(path: "run").path
            for (words, complaint) in [
                (["--tag"], "--tag needs a value: --tag KEY=VALUE"),
                (["--tag", "build"], "--tag expects KEY=VALUE, not 'build'"),
                (
                    ["--tag", "a-b=1"],
                    "--tag expects a key of at most 32 letters, digits and _ that begins with a letter"
                ),
                (["--tag", "build="], "--tag 'build' has no value"),
                (["--tag", "build=a\nb"], "--tag 'build' expects one printable line"),
                (["--tag", "build=1", "--tag=build=2"], "--tag 'build' is given twice"),
                ((0..<21).flatMap { ["--tag", "k\($0)=v"] }, "--tag is given 21 times; the maximum is 20"),
            ] {
                for command in [["run", "flaky-network"], ["simulate", "flaky-network"]] {
                    let outcome = try await Binary.run(command + ["--output", folder] + words)
                    #expect(outcome.code == 64 && outcome.output.isEmpty, "\(outcome)")
                    #expect(outcome.complaint.contains(complaint), "\(outcome)")
                }
            }
            #expect(!FileManager.default.fileExists(atPath: folder))
        }

        @Test func `what is not there is said to be not there`() async throws {
            try Golden.expect(
                try await Golden.transcript([
                    ["check", "nowhere"], ["check", "flaky-netwrok"],
                    ["check", "Scenarios/nowhere.scenario"],
                    ["check", "Scenarios"], ["serve", "nowhere"], ["sse", "decode", "nowhere.stream"],
                    ["sse", "decode", "Scenarios"],
                ]), is: "not-there.txt")
        }

        // MARK: check

        @Test func `everything that is wrong with a scenario is shown at once`() async throws {
            let file = "\(Self.fixtures)/broken.scenario"
            let text = try await Golden.transcript([["check", file]])
            try Golden.expect(text, is: "check-broken.txt")
            #expect(text.matches(of: /broken\.scenario:[0-9]+:[0-9]+:/).count >= 6)
            #expect(text.hasSuffix("(exit code 65)\n\n"))
            // A good one next to it is still reported.
            let both = try await Binary.run(["check", "Scenarios/flaky-network.scenario", file])
            #expect(both.code == 65)
            #expect(both.output.hasPrefix("Scenarios/flaky-network.scenario: ok\n"))
        }

        @Test func `what is wrong can be had as JSON, an object a line, with the same paths`() async throws {
            struct Found: Codable, Equatable {
                var file: String
                var line, column: Int
                var message: String
            }
            let file = "\(Self.fixtures)/broken.scenario"
            let json = try await Binary.run(["check", "--format", "json", file])
            try Golden.expect(json.output, is: "check-broken.json")
            #expect(json.code == 65 && json.complaint.isEmpty)
            let found = try json.output.split(separator: "\n").map {
                try JSONDecoder().decode(Found.self, from: Data($0.utf8))
            }
            let text = try await Binary.run(["check", file]).output
            let paths = text.split(separator: "\n").filter { $0.hasPrefix(file) }
            #expect(
                found.map { "\($0.file):\($0.line):\($0.column): \($0.message)" } == paths.map(String.init))
        }

        @Test func `colors come only when they are asked for`() async throws {
            var environment = Subprocess.environment
            environment["FORCE_COLOR"] = "1"
            let arguments = ["check", "\(Self.fixtures)/broken.scenario"]
            let plain = try await Binary.run(arguments)
            let colored = try await Subprocess.run(Binary.path, arguments, environment: environment)
            let refused = try await Subprocess.run(
                Binary.path, arguments + ["--no-color"], environment: environment)
            #expect(!plain.output.contains("\u{1B}"))
            #expect(colored.output.contains("\u{1B}[1m"))
            #expect(colored.output.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain.output)
            #expect(refused == plain)
        }

        @Test func `every scenario of the package is good, by path and by name`() async throws {
            let folder = Package.root.appending(path: "Scenarios")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix(".scenario") }.sorted()
            try #require(files.contains("flaky-network.scenario"))
            let outcome = try await Binary.run(["check"] + files.map { "Scenarios/\($0)" })
            #expect(
                outcome
                    == Outcome(
                        code: 0, output: files.map { "Scenarios/\($0): ok\n" }.joined(), complaint: ""))
            #expect(try await Binary.run(["check", "flaky-network"]).code == 0)
        }

        // MARK: sse decode

        @Test func `a captured stream is decoded the same however it is cut`() async throws {
            let file = "\(Self.fixtures)/captured.stream"
            let whole = try await Binary.run(["sse", "decode", file])
            try Golden.expect(whole.output, is: "sse-decode.ndjson")
            #expect(whole.code == 0)
            for chunk in ["1", "3", "1000"] {
                #expect(try await Binary.run(["sse", "decode", "--chunk", chunk, file]) == whole)
            }
            let bytes = try Data(contentsOf: Package.root.appending(path: file))
            #expect(try await Binary.run(["sse", "decode"], input: bytes) == whole)
            #expect(try await Binary.run(["sse", "decode", "-"], input: bytes) == whole)
        }

        @Test func `bytes that are no stream decode to nothing`() async throws {
            let nothing = Outcome(code: 0, output: "", complaint: "")
            #expect(try await Binary.run(["sse", "decode"]) == nothing)
            let photo = try Data(contentsOf: Package.photo)
            let decoded = try await Binary.run(["sse", "decode"], input: photo)
            #expect(decoded.code == 0 && decoded.output.isEmpty)
        }
    }
}
