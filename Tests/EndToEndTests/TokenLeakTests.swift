import Foundation
import Testing

extension SideBySide {
    /// Tokens stay between a phone and the server. Every token of the simulated backend is 64 hexadecimal digits, and so is
    /// the digest of the scenario file, which is all that may be found.
    @Suite struct TokenLeakTests {
        private static func secrets(in text: String) -> Set<String> {
            Set(text.matches(of: /[0-9a-f]{64}/).map { String($0.0) })
        }

        /// In all files of a run and in their names, but for the scenario's digest.
        private static func secrets(of report: RunReport) throws -> Set<String> {
            var found = Self.secrets(in: report.files.joined(separator: "\n"))
            for name in report.files { found.formUnion(Self.secrets(in: try report.text(name))) }
            let digest = try #require(
                try report.text("summary.json").firstMatch(of: /"sha256": ?"([0-9a-f]{64})"/),
                "the scenario has no digest")
            return found.subtracting([String(digest.1)])
        }

        @Test func `a token is found where there is one`() {
            let token = String(repeating: "0f", count: 32)
            #expect(Self.secrets(in: "{\"job\":\"\(token)\"}") == [token])
        }

        @Test func `a virtual run leaves no token in its files`() async throws {
            let scratch = try Scratch()
            let report = RunReport(folder: scratch.folder.appending(path: "report"))
            let plan = scratch.folder.appending(path: "plan.json")
            let outcome = try await Binary.run(
                ["simulate", "token-expiry", "--phones", "12", "--trace", "--quiet", "--output"]
                    + [report.folder.path, "--save-plan", plan.path])
            #expect(outcome.code == 0, "\(outcome)")
            let log = try report.log()
            #expect(log.contains { $0.isBackend("accepted") })
            let found = try Self.secrets(of: report)
            #expect(found == [])
            let inPlan = Self.secrets(in: String(decoding: try Data(contentsOf: plan), as: UTF8.self))
            #expect(inPlan == [] && Self.secrets(in: outcome.output).count <= 1)
        }

        @Test func `a live run leaves no token in its files`() async throws {
            let (outcome, process) = try await ShortRun.standard()
            #expect(outcome.code == 0)
            let log = try process.report.log()
            #expect(log.contains { $0.isBackend("accepted") })
            let found = try Self.secrets(of: process.report)
            #expect(found == [])
            #expect(Self.secrets(in: outcome.output + outcome.complaint).count <= 1)
        }
    }
}
