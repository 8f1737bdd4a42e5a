import Foundation
import Testing

extension SideBySide {
    /// `Scenarios/gaps`: what each deviation of an old client costs, beside a client without it.
    @Suite struct GapScenarioTests {
        private static let folder = Package.root.appending(path: "Scenarios/gaps")
        private static let toggles =
            (1...14).map { "gap-\($0)" } + [1, 2, 3, 5].map { "inconsistency-\($0)" }
            + [1, 7, 13, 16, 20, 23].map { "quirk-\($0)" }

        @Test func `there is a scenario for each deviation that has one`() throws {
            let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            #expect(Set(files) == Set(Self.toggles.map { "\($0).scenario" }))
        }

        @Test(arguments: toggles) func `the old phone shows the damage, and the other does not`(
            toggle: String
        ) async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            func simulate(_ name: String, _ more: [String]) async throws -> (Outcome, Breaks) {
                let report = scratch.folder.appending(path: name)
                let outcome = try await Binary.run(
                    [
                        "simulate", Self.folder.appending(path: "\(toggle).scenario").path,
                        "--output", report.path, "--quiet", "--no-color",
                    ] + more)
                let summary = try Data(contentsOf: report.appending(path: "summary.json"))
                return (outcome, try JSONDecoder().decode(Breaks.self, from: summary))
            }
            let (damaged, broken) = try await simulate("on", [])
            #expect(damaged.code == 0, "\(damaged)")
            #expect(!broken.expected.isEmpty && broken.expected.allSatisfy(\.broken), "\(broken)")
            // Without the toggle, nothing that the scenario expects breaks, and nothing else does.
            let (sound, held) = try await simulate("off", ["--set", "fleet.old.\(toggle)=off"])
            #expect(sound.code == 97, "\(sound)")
            #expect(held.expected.map(\.name) == broken.expected.map(\.name))
            #expect(held.expected.allSatisfy { !$0.broken }, "\(held)")
            #expect(held.broken == [] && held.failed == [], "\(held)")
        }

        /// What broke in a run, by its `summary.json`.
        private struct Breaks: Decodable {
            struct Expected: Decodable {
                var name: String
                var broken: Bool
            }

            struct Invariant: Decodable {
                var id: String
                var violations: Int

                init(from decoder: any Decoder) throws {
                    let fields = try decoder.container(keyedBy: CodingKeys.self)
                    self.id = try fields.decode(String.self, forKey: .id)
                    self.violations = (try? fields.decode(Int.self, forKey: .violations)) ?? 0
                }

                private enum CodingKeys: CodingKey { case id, violations }
            }

            struct Objective: Decodable {
                var metric: String
                var passed: Bool?

                init(from decoder: any Decoder) throws {
                    let fields = try decoder.container(keyedBy: CodingKeys.self)
                    self.metric = try fields.decode(String.self, forKey: .metric)
                    self.passed = try? fields.decode(Bool.self, forKey: .passed)
                }

                private enum CodingKeys: CodingKey { case metric, passed }
            }

            var expected: [Expected]
            var invariants: [Invariant]
            var slos: [Objective]

            var broken: [String] { self.invariants.filter { $0.violations > 0 }.map(\.id) }
            var failed: [String] { self.slos.filter { $0.passed == false }.map(\.metric) }

            private enum CodingKeys: String, CodingKey {
                case expected = "expect_broken"
                case invariants, slos
            }
        }
    }
}
