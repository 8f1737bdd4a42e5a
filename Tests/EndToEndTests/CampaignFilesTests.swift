import Foundation
import Testing

extension SideBySide {
    /// What a search leaves: files of each failure, and of a worker that crashes its last event.
    @Suite struct CampaignFilesTests {
        /// What these tests read of `INVARIANT-SEED.json`.
        private struct Record: Decodable {
            struct Plan: Decodable {
                struct Fault: Decodable {
                    var id: String
                    var content: String
                    var needed: Bool?
                }

                var file: String?
                var captures: Int
                var faults: [Fault]
            }

            struct Event: Decodable {
                var at_ns: Int64
                var side: String
                var text: String
            }

            struct Drawn: Decodable {
                var recipe: String
                var generator: Int
            }

            struct Host: Decodable { var tool, machine, toolchain: String }

            var schema: Int
            var title: String
            var invariant: String
            var seed: UInt64
            var violation: Event
            var drawn: Drawn
            var original: Plan
            var smallest: Plan
            var digest: String
            var story: [Event]
            var host: Host
        }

        /// Seed 9 breaks `stream.no-gap` and `stream.id-monotone`.
        private static func words(_ folder: URL) -> [String] {
            [
                "simulate", "flaky-network", "--faults", "swarm", "--quiet", "--seeds", "38..38", "--set",
                "fleet.commuters.gap-5=on", "--output", folder.path,
            ]
        }

        @Test func `the report of a failure is JSON, too`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "search")
            let outcome = try await Binary.run(Self.words(folder))
            #expect(outcome.code == 97, "\(outcome)")
            let record = try JSONDecoder().decode(
                Record.self, from: try Data(contentsOf: folder.appending(path: "stream.no-gap-38.json")))
            let text = try String(
                contentsOf: folder.appending(path: "stream.no-gap-38.txt"), encoding: .utf8)
            #expect(record.schema == 1 && record.seed == 38 && record.invariant == "stream.no-gap")
            #expect(text.hasPrefix(String(record.title.prefix(90))))
            #expect(record.drawn.generator >= 1)
            #expect(record.original.captures > record.smallest.captures)
            #expect(record.original.faults.count > record.smallest.faults.count)
            #expect(record.smallest.faults.allSatisfy { $0.needed == true })
            let plan = try #require(record.smallest.file)
            let saved = try String(contentsOfFile: plan, encoding: .utf8)
            #expect(saved.contains("\"digest\": \"\(record.digest)\""))
            #expect(
                record.story.contains { $0.side == "phone" } && record.story.contains { $0.side == "backend" }
            )
            #expect(zip(record.story, record.story.dropFirst()).allSatisfy { $0.at_ns <= $1.at_ns })
            #expect(record.violation.at_ns > 0)
            #expect(
                record.host.tool.hasPrefix("swiftwing-sim ") && record.host.toolchain.hasPrefix("Swift 6"))
        }

        /// No file may be larger than 1 KiB: a plan is.
        @Test func `a full disk costs neither the plan nor the file of an earlier search`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "search")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let earlier = folder.appending(path: "stream.no-gap-38.plan.json")
            try Data("earlier\n".utf8).write(to: earlier)
            let words = Self.words(folder).map { "'\($0)'" }.joined(separator: " ")
            // What is read from the pipe may be as long as it is.
            let script =
                "(ulimit -f 1; exec '\(Binary.path.path)' \(words)) 2>&1 | cat; exit ${PIPESTATUS[0]}"
            let outcome = try await Subprocess.run(URL(filePath: "/bin/bash"), ["-c", script])
            #expect(outcome.code == 74, "\(outcome)")
            #expect(outcome.output.contains("cannot write to \(folder.path): File too large"), "\(outcome)")
            #expect(try Data(contentsOf: earlier) == Data("earlier\n".utf8))
            let marker = try #require(
                outcome.output.firstRange(of: "could not be saved to \(earlier.path):\n"))
            let printed = outcome.output[marker.upperBound...]
            let end = try #require(printed.firstRange(of: "\n}\n"))
            // The printed plan is whole.
            let plan = scratch.folder.appending(path: "printed.plan.json")
            try Data(printed[..<end.upperBound].utf8).write(to: plan)
            let replay = try await Binary.run(
                ["replay", plan.path, "--quiet", "--output", scratch.folder.appending(path: "r").path])
            #expect(replay.code == 97 && !replay.output.contains("does not reproduce"), "\(replay)")
        }

        @Test func `a worker that crashes is reported with its last event, and the search goes on`()
            async throws
        {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let outcome = try await Subprocess.run(
                Binary.path,
                [
                    "simulate", "flaky-network", "--faults", "swarm", "--quiet", "--seeds", "1..6",
                    "--canary",
                    "3", "--jobs", "1", "--output", scratch.folder.appending(path: "search").path,
                ], seconds: 50)
            #expect(outcome.code == 70, "\(outcome)")
            #expect(outcome.output.contains("5 seeds (1..6, faults: swarm)"), "\(outcome.output)")
            let lines = outcome.output.split(separator: "\n").map(String.init)
            let first = try #require(
                lines.firstIndex { $0.hasPrefix("FAIL  seed 3: the simulation was killed by signal ") })
            #expect(
                lines[first + 1].contains(/^  the last event, with its time in ns: [0-9]+ \S/),
                "\(lines[first + 1])")
            #expect(lines[(first + 2)...].contains { $0.contains("the canary of --canary") })
            #expect(!outcome.output.contains("Registers:"))
        }
    }
}
