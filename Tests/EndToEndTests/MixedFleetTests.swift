import Foundation
import Testing

extension SideBySide {
    /// Fleets with several clients: the figures of each group, and of each profile.
    @Suite struct MixedFleetTests {
        private static let scenario = Package.root.appending(path: "Scenarios/gaps/gap-5.scenario").path

        /// The begin of a row of a table by group.
        private static func row(_ name: String, _ group: String) -> String {
            "<td><span class=\"mono\">\(name)</span></td><td><span class=\"mono\">\(group)</span></td>"
        }

        @Test func `a report of one group is about its phones only`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "run").path
            let whole = try await Binary.run(
                ["simulate", Self.scenario, "--output", folder, "--quiet", "--no-color"])
            #expect(whole.code == 0, "\(whole)")
            #expect(whole.output.contains("20 phones") && whole.output.contains("2 broken as expected"))

            let old = try await Binary.run(["report", folder, "--group", "old", "--no-color"])
            #expect(old.code == 0 && old.output.contains("10 phones"), "\(old)")
            #expect(old.output.contains("2 broken as expected"))
            #expect(old.output.contains("20 captured = 20 completed"))
            #expect(old.output.contains("scans.lost"))

            let copy = scratch.folder.appending(path: "new").path
            let new = try await Binary.run(
                ["report", folder, "--group", "new", "--output", copy, "--no-color"])
            #expect(new.code == 0 && new.output.contains("10 phones"), "\(new)")
            #expect(!new.output.contains("broken as expected"))
            let page = try String(contentsOfFile: copy + "/report.html", encoding: .utf8)
            #expect(!page.contains("stream.id-monotone</code> 11"))
            #expect(page.contains("reset") && !page.contains("id=\"group-latencies\""))

            // The run's own page has both, next to each other.
            let both = try String(contentsOfFile: folder + "/report.html", encoding: .utf8)
            #expect(both.contains("id=\"group-latencies\"") && both.contains("id=\"group-invariants\""))
            #expect(both.contains(Self.row("stream.id-monotone", "old")))
            #expect(!both.contains(Self.row("stream.id-monotone", "new")))
        }

        @Test func `a group that the run does not have is an error with the nearest name`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "run").path
            _ = try await Binary.run(
                ["simulate", Self.scenario, "--output", folder, "--quiet", "--no-color"])
            let outcome = try await Binary.run(["report", folder, "--group", "odl"])
            #expect(outcome.code == 64, "\(outcome)")
            #expect(outcome.complaint.contains("unknown group 'odl'") && outcome.complaint.contains("'old'"))
        }

        @Test func `profiles run one after the other and are compared`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "profiles")
            let outcome = try await Binary.run(
                [
                    "simulate", "steady-load", "--phones", "10", "--profile", "contract,swiftwing-legacy",
                    "--output", folder.path, "--quiet", "--no-color",
                ])
            for profile in ["contract", "swiftwing-legacy"] {
                let resolved = try String(
                    contentsOf: folder.appending(path: "\(profile)/scenario.resolved"), encoding: .utf8)
                #expect(resolved.contains("profile: \(profile)"))
            }
            let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ") }
            let start = try #require(lines.firstIndex { $0 == ["Profiles"] })
            let table = lines[(start + 1)...]
            #expect(table.first == ["figure", "contract", "swiftwing-legacy"])
            // The old client always fetches the results.
            let results = try #require(table.first { $0.first == "results.attempts" })
            #expect(results[1] == "0" && Int(results[2]) ?? 0 > 0, "\(outcome)")
            // What is the same in both is left out.
            #expect(!table.contains { $0.first == "books.duplicated" })
        }

        @Test func `what belongs to one run is refused where there are several`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let outcome = try await Binary.run(
                [
                    "run", "steady-load", "--profile", "contract,swiftwing-legacy", "--state",
                    scratch.folder.path,
                ])
            #expect(
                outcome.code == 64 && outcome.complaint.contains("--state belongs to one run"), "\(outcome)")
            let unknown = try await Binary.run(["run", "steady-load", "--profile", "contrat"])
            #expect(unknown.code == 64 && unknown.complaint.contains("'contract'"), "\(unknown)")
        }
    }
}
