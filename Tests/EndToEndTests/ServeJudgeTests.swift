import Foundation
import Testing

extension SideBySide {
    /// `--judge` of `serve` and `proxy`: an app written in Python, judged by what passes.
    @Suite struct ServeJudgeTests {
        private struct Judged: Decodable {
            var code: Int
            var output, log, verdict: String
        }

        private static func judge(
            _ edge: String, _ bug: String, _ arguments: [String] = ["--judge"]
        ) async throws -> Judged {
            let tool = Package.root.appending(path: "Tests/EndToEndTests/Tools/judged_app.py")
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                ["python3", tool.path, Binary.path.path, edge, bug] + arguments, seconds: 60)
            try #require(outcome.code == 0, "\(outcome)")
            return try JSONDecoder().decode(Judged.self, from: Data(outcome.output.utf8))
        }

        @Test(arguments: ["serve", "proxy"])
        func `an honest app passes`(edge: String) async throws {
            let judged = try await Self.judge(edge, "none")
            #expect(judged.code == 0 && judged.verdict == "passed", "\(judged.output)")
            #expect(judged.output.contains("\nclients PASSED: "))
            #expect(judged.log.contains(" last-event-id "))
            #expect(judged.output.contains("last-event-id"))
        }

        @Test(arguments: [
            ("serve", "last-event-id", "client.last-event-id"),
            ("proxy", "last-event-id", "client.last-event-id"),
            ("serve", "delete", "client.job-deleted"), ("proxy", "delete", "client.job-deleted"),
            ("serve", "part", "client.upload-form"), ("proxy", "part", "client.upload-form"),
            ("serve", "results", "client.results-needed, client.results-lean"),
            ("proxy", "results", "client.results-needed, client.results-lean"),
        ])
        func `an app with a bug is named`(edge: String, bug: String, rules: String) async throws {
            let judged = try await Self.judge(edge, bug)
            #expect(judged.code == 97 && judged.verdict == "broken", "\(judged.output)")
            #expect(judged.output.hasSuffix("\nclients FAILED: broken: \(rules)\n"), "\(judged.output)")
        }

        @Test func `what is expected to be broken must be broken`() async throws {
            let expected = try await Self.judge(
                "serve", "delete", ["--judge", "--expect-broken", "client.job-deleted"])
            #expect(expected.code == 0, "\(expected.output)")
            #expect(expected.output.contains("broken as expected client.job-deleted"))
            let held = try await Self.judge(
                "serve", "none", ["--judge", "--expect-broken", "client.job-deleted"])
            #expect(held.code == 97, "\(held.output)")
            let profile = try await Self.judge(
                "serve", "delete", ["--judge", "--profile", "swiftwing-polling"])
            #expect(profile.code == 0, "\(profile.output)")
        }

        @Test func `without a client there is nothing to judge, and without --judge no verdict`() async throws
        {
            let nobody = try await Self.judge("serve", "nobody")
            #expect(nobody.code == 98, "\(nobody.output)")
            let unjudged = try await Self.judge("serve", "delete", [])
            #expect(unjudged.log.contains("BROKEN client.job-deleted"), "\(unjudged)")
            #expect(unjudged.code == 0 && unjudged.output.isEmpty, "\(unjudged)")
        }

        @Test func `an option that names nothing is refused`() async throws {
            for words in [
                ["--expect-broken", "client.nothing"], ["--profile", "nothing"], ["--phones", "0"],
            ] {
                let outcome = try await Subprocess.run(Binary.path, ["serve"] + words)
                #expect(outcome.code == 64, "\(outcome)")
            }
        }
    }
}
