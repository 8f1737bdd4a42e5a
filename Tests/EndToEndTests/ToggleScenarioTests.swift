import Foundation
import Testing

extension SideBySide {
    /// What each deviation of a client costs, compared with a client without it: the scenarios of the
    /// toggles.
    @Suite struct ToggleScenarioTests {
        /// Toggles that have scenarios of their own in one folder, each for the phones of one group.
        private struct Folder {
            var name: String
            var group: String
            var soundGroup: String
            var toggles: [String]
        }

        private static let folders = [
            Folder(
                name: "gaps", group: "old", soundGroup: "new",
                toggles: (1...14).map { "gap-\($0)" } + (1...5).map { "inconsistency-\($0)" }),
            Folder(
                name: "quirks", group: "quirk", soundGroup: "contract",
                toggles: [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 22, 23, 24].map {
                    "quirk-\($0)"
                }),
        ]

        @Test func `there is a scenario for each toggle`() throws {
            for folder in Self.folders {
                let url = Package.root.appending(path: "Scenarios/\(folder.name)")
                let files = try FileManager.default.contentsOfDirectory(atPath: url.path)
                #expect(Set(files) == Set(folder.toggles.map { "\($0).scenario" }), "\(folder.name)")
            }
        }

        @Test(arguments: folders.flatMap(\.toggles))
        func `the phones with the toggle show the damage, and the others do not`(toggle: String) async throws
        {
            let folder = try #require(Self.folders.first { $0.toggles.contains(toggle) })
            let scenario = Package.root.appending(path: "Scenarios/\(folder.name)/\(toggle).scenario")
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            func simulate(_ name: String, _ more: [String]) async throws -> (Outcome, Breaks) {
                let report = scratch.folder.appending(path: name)
                let outcome = try await Binary.run(
                    [
                        "simulate", scenario.path, "--output", report.path, "--quiet", "--no-color",
                    ] + more)
                let summary = try Data(contentsOf: report.appending(path: "summary.json"))
                return (outcome, try JSONDecoder().decode(Breaks.self, from: summary))
            }
            let (damaged, broken) = try await simulate("on", [])
            #expect(damaged.code == 0, "\(damaged)")
            #expect(!broken.expected.isEmpty && broken.expected.allSatisfy(\.broken), "\(broken)")
            // Without the toggle, nothing that the scenario expects breaks, and nothing else does.
            let (sound, held) = try await simulate("off", ["--set", "fleet.\(folder.group).\(toggle)=off"])
            #expect(sound.code == 97, "\(sound)")
            #expect(held.expected.map(\.name) == broken.expected.map(\.name))
            #expect(held.expected.allSatisfy { !$0.broken }, "\(held)")
            #expect(held.broken == [] && held.failed == [], "\(held)")
        }

        /// An expected failure belongs to its group: the same damage in the sound group is none that is expected, in a run and, if
        /// an invariant shows it, in a search.
        @Test(arguments: folders.flatMap(\.toggles))
        func `the same damage in the sound group is found`(toggle: String) async throws {
            let folder = try #require(Self.folders.first { $0.toggles.contains(toggle) })
            let scenario = Package.root.appending(path: "Scenarios/\(folder.name)/\(toggle).scenario")
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let both = ["--set", "fleet.\(folder.soundGroup).\(toggle)=on"]
            let report = scratch.folder.appending(path: "both")
            let run = try await Binary.run(
                ["simulate", scenario.path, "--output", report.path, "--quiet", "--no-color"] + both)
            #expect(run.code == 97, "\(run)")
            let summary = try Data(contentsOf: report.appending(path: "summary.json"))
            let breaks = try JSONDecoder().decode(Breaks.self, from: summary)
            let seed = try #require(
                String(contentsOf: scenario, encoding: .utf8).firstMatch(of: /\nseed: (\d+)\n/)
            ).1
            // What a search shrinks takes minutes: this is one process of it, with a line for each seed and what breaks.
            let search = try await Binary.run(
                ["simulate", scenario.path, "--seeds", "\(seed)..\(seed)", "--worker", "0/1"] + both)
            let found = search.output.split(separator: "\t", omittingEmptySubsequences: false)
            let isSeenBySearch = breaks.expected.contains { expected in
                breaks.invariants.contains { expected.name.hasPrefix($0.id + "{") }
            }
            #expect(search.code == 0 && found.count > 4, "\(search)")
            #expect(found.count > 4 && found[4].isEmpty != isSeenBySearch, "\(search)")
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
