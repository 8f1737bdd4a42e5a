import Foundation
import Testing

extension SideBySide {
    /// Backends of Tests/SickBackends with one bug each; `make backends` tries all of them.
    @Suite struct SickBackendTests {
        private struct Row: Decodable {
            var bug: String
            var code: Int?
            var named: [String]
            var objectives: [String]
        }

        /// Tries backends, and those that are healthy. `rules`: what must be named, by bug.
        private func name(_ rules: [String: String], _ words: [String], healthy: Int) async throws {
            let python = Package.root.appending(path: ".build/venv/bin/python")
            let file = FileManager.default.temporaryDirectory.appending(path: "sick-\(UUID()).json")
            defer { try? FileManager.default.removeItem(at: file) }
            let tool = Package.root.appending(path: "Tests/SickBackends/backends.py")
            let outcome = try await Subprocess.run(
                python,
                [
                    "-B", tool.path, "--binary", Binary.path.path, "--jobs", "4", "--json", file.path,
                    "--set", "duration=6s", "--set", "drain=12s",
                ] + words + rules.keys.sorted(), seconds: 300)
            let rows = try JSONDecoder().decode([Row].self, from: Data(contentsOf: file))
            #expect(rows.count == rules.count + healthy, "\(outcome.output)")
            for row in rows {
                guard let rule = rules[row.bug] else {
                    // A busy machine is late, which is not a finding about the backend.
                    let isLate = row.objectives.allSatisfy {
                        $0.hasSuffix(".time") || $0.hasPrefix("scans.waiting")
                    }
                    #expect(row.named == [] && ([0, 98].contains(row.code) || isLate), "\(outcome.output)")
                    continue
                }
                #expect(row.named.contains(rule) && row.code != 0, "\(row.bug): \(outcome.output)")
            }
        }

        @Test func `the bug of a sick backend is named, and a healthy one passes`() async throws {
            try await self.name(
                [
                    "resume-live-only": "target.resume", "resume-from-start": "target.resume",
                    "token-unchecked": "target.auth", "delete-results-stay": "target.cleanup",
                    "results-status-back": "target.results-agree", "load-token-swap": "target.auth",
                    "odd-mojibake": "target.text", "time-zone-lie": "target.times",
                    "id-shared-types": "target.ids",
                    "problem-retryable-wrong": "target.error-form",
                ], ["healthy"], healthy: 1)
        }

        @Test func `what the contract leaves open is named by the scenario that suits it`() async throws {
            try await self.name(
                [
                    "event-backwards": "stream target: note.falling-progress",
                    "event-open-after-end": "stream target: note.open-after-end",
                    "retry-doubles-books": "results target: note.other-books",
                    "problem-plain": "stream target: target.error-form",
                ], ["--chosen"], healthy: 3)
        }
    }
}
