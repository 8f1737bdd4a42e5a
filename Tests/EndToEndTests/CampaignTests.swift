import Foundation
import Testing

extension SideBySide {
    /// `simulate --seeds`: the search for failing seeds, and what it says of them.
    @Suite struct CampaignTests {
        /// A bug that a toggle plants in the contract client, and what the search must make of it.
        struct PlantedBug: Sendable, CustomTestStringConvertible {
            let toggle: String
            let invariant: String
            /// The number of seeds within which it must be found.
            let seeds: Int
            /// The size of its smallest plan.
            let scans: Int
            let faults: Int

            var testDescription: String { self.toggle }
        }

        /// The budgets leave the seeds that were needed a factor of two or more.
        private static let bugs = [
            PlantedBug(toggle: "quirk-1", invariant: "device.not-stuck", seeds: 1, scans: 1, faults: 0),
            PlantedBug(
                toggle: "quirk-5", invariant: "scan.refused-for-cause", seeds: 30, scans: 1, faults: 1),
            PlantedBug(
                toggle: "quirk-6", invariant: "scan.refused-for-cause", seeds: 30, scans: 1, faults: 1),
            PlantedBug(toggle: "quirk-8", invariant: "stream.no-gap", seeds: 50, scans: 1, faults: 1),
            PlantedBug(toggle: "quirk-10", invariant: "auth.no-stale-use", seeds: 100, scans: 1, faults: 1),
            PlantedBug(toggle: "quirk-12", invariant: "retry.budget", seeds: 100, scans: 1, faults: 1),
            PlantedBug(
                toggle: "quirk-14", invariant: "job.not-cleaned-early", seeds: 600, scans: 1, faults: 2),
            PlantedBug(toggle: "quirk-15", invariant: "request.well-formed", seeds: 10, scans: 1, faults: 0),
            PlantedBug(toggle: "quirk-16", invariant: "scan.custody", seeds: 30, scans: 1, faults: 1),
            // Waits without jitter show only where several phones wait.
            PlantedBug(toggle: "quirk-19", invariant: "retry.budget", seeds: 100, scans: 8, faults: 2),
            PlantedBug(toggle: "quirk-22", invariant: "stream.parse-robust", seeds: 60, scans: 1, faults: 1),
            PlantedBug(toggle: "quirk-23", invariant: "job.cleaned", seeds: 60, scans: 1, faults: 1),
            PlantedBug(toggle: "gap-1", invariant: "retry.budget", seeds: 60, scans: 1, faults: 1),
            PlantedBug(toggle: "gap-4", invariant: "scan.refused-for-cause", seeds: 100, scans: 1, faults: 1),
            PlantedBug(toggle: "gap-5", invariant: "stream.no-gap", seeds: 30, scans: 1, faults: 1),
            PlantedBug(toggle: "gap-6", invariant: "stream.parse-robust", seeds: 30, scans: 1, faults: 1),
            PlantedBug(toggle: "gap-7", invariant: "stream.parse-robust", seeds: 10, scans: 1, faults: 0),
            PlantedBug(toggle: "gap-8", invariant: "request.well-formed", seeds: 60, scans: 1, faults: 2),
            PlantedBug(toggle: "gap-10", invariant: "request.well-formed", seeds: 10, scans: 1, faults: 0),
            PlantedBug(toggle: "gap-11", invariant: "auth.no-stale-use", seeds: 100, scans: 1, faults: 1),
            PlantedBug(toggle: "gap-14", invariant: "book.faithful", seeds: 10, scans: 1, faults: 0),
            PlantedBug(
                toggle: "inconsistency-2", invariant: "book.never-lost", seeds: 60, scans: 1, faults: 2),
            PlantedBug(
                toggle: "inconsistency-3", invariant: "stream.parse-robust", seeds: 10, scans: 1, faults: 0),
            PlantedBug(toggle: "inconsistency-5", invariant: "stream.no-gap", seeds: 30, scans: 1, faults: 1),
        ]

        private struct Plan: Decodable {
            struct Scenario: Decodable { let faults: [Fault] }
            struct Fault: Decodable {}
            struct Capture: Decodable {}
            let scenario: Scenario
            let captures: [Capture]
        }

        private static func search(_ words: [String], in folder: URL) async throws -> Outcome {
            try await Subprocess.run(
                Binary.path,
                ["simulate", "flaky-network", "--faults", "swarm", "--quiet", "--output", folder.path]
                    + words,
                environment: Subprocess.environment, seconds: 120)
        }

        @Test(arguments: bugs) func `a planted bug is found and shrunk`(bug: PlantedBug) async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "search")
            let outcome = try await Self.search(
                [
                    "--seeds", "1..\(bug.seeds)", "--set", "fleet.commuters.\(bug.toggle)=on",
                ], in: folder)
            #expect(outcome.code == 97, "\(outcome)")
            let plans = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix(bug.invariant) && $0.hasSuffix(".plan.json")
            }
            let sizes = try plans.map { name in
                let plan = try JSONDecoder().decode(
                    Plan.self, from: try Data(contentsOf: folder.appending(path: name)))
                return (scans: plan.captures.count, faults: plan.scenario.faults.count)
            }
            #expect(
                sizes.contains { $0.scans <= bug.scans && $0.faults <= bug.faults },
                "\(sizes)\n\(outcome.output)")
        }

        @Test func `the contract client passes, with any number of processes the same`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            var digests: [String] = []
            for jobs in ["1", "3"] {
                let outcome = try await Self.search(
                    ["--seeds", "1..400", "--jobs", jobs], in: scratch.folder.appending(path: "search\(jobs)")
                )
                #expect(outcome.code == 0, "\(outcome)")
                #expect(outcome.output.contains("no failures"))
                let digest = try #require(
                    outcome.output.firstMatch(
                        of: /digest ([0-9a-f]{16}); (\d+) seeds run again alone, 0 with/))
                #expect(digest.2 == "20")
                digests.append(String(digest.1))
            }
            #expect(Set(digests).count == 1)
        }

        @Test func `the report of a failing seed is short, and its plan replays`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "search")
            let outcome = try await Self.search(
                ["--seeds", "9..9", "--set", "fleet.commuters.gap-5=on"], in: folder)
            #expect(outcome.code == 97, "\(outcome)")
            let text = try String(
                contentsOf: folder.appending(path: "stream.no-gap-9.txt"), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 45)
            #expect(
                lines.allSatisfy {
                    $0.count <= 100 || $0.contains("swiftwing-sim ") || $0.hasPrefix("Keep it")
                })
            #expect(lines[0].hasPrefix("FAIL  stream.no-gap, seed 9, client contract: phone "))
            #expect(text.contains("VIOLATION") && text.contains("server "))
            #expect(text.contains("the run passes"))
            let plan = folder.appending(path: "stream.no-gap-9.plan.json").path
            let again = try await Binary.run(
                ["replay", plan, "--quiet", "--output", scratch.folder.appending(path: "again").path])
            #expect(again.code == 97, "\(again)")
            #expect(!again.output.contains("does not reproduce"))
            let verified = try await Binary.run(["replay", plan, "--verify"])
            #expect(verified.code == 0, "\(verified)")
        }

        @Test(arguments: [
            (["--seeds", "5..4"], "--seeds expects a range"),
            (["--seeds", "1..2", "--faults", "all"], "--faults expects"),
            (["--seeds", "1..2", "--worker", "2/2"], "--worker expects"),
            (["--seeds", "1..2", "--jobs", "0"], "--jobs"),
            (["--seeds", "@no-such-commit+5"], "git does not know"),
            (["--seeds", "1..2", "--save-plan", "x"], "--save-plan belongs to one run"),
            (["--seeds", "1..2", "--seed", "3"], "--seed belongs to one run"),
            (["--seeds", "1..2", "--stays-broken", "50%"], "--stays-broken requires --settle"),
            (["--seeds", "1..2", "--profile", "contract,wingtip"], "--seeds belongs to one run"),
            (["--faults", "swarm"], "--faults requires --seeds"),
            (["--jobs", "2"], "--jobs requires --seeds"),
        ]) func `what cannot be searched is refused`(words: [String], complaint: String) async throws {
            let outcome = try await Binary.run(["simulate", "flaky-network"] + words)
            #expect(outcome.code == 64)
            #expect(outcome.complaint.contains(complaint), "\(outcome.complaint)")
        }

        @Test func `a search that reached too little is not trustworthy, and says why`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "search")
            let empty = try await Binary.run(
                [
                    "simulate", "flaky-network", "--quiet", "--output", folder.path, "--seeds", "1..3",
                    "--duration", "1ms",
                ])
            #expect(empty.code == 98, "\(empty)")
            #expect(empty.output.contains("not trustworthy: no scan was captured"))
            #expect(!empty.output.contains("no failures"))
            // One seed cannot come to all situations that the scenario names.
            let short = try await Self.search(["--seeds", "1..1"], in: folder)
            #expect(short.code == 98, "\(short)")
            #expect(short.output.contains("not trustworthy: no seed reached "))
        }

        @Test func `a folder that cannot be written is reported beside the failure`() async throws {
            let outcome = try await Self.search(
                ["--seeds", "9..9", "--set", "fleet.commuters.gap-5=on"],
                in: URL(filePath: "/proc/no-such-folder"))
            #expect(outcome.code == 74)
            #expect(outcome.output.contains("FAIL  stream.no-gap"))
            #expect(outcome.output.contains(#""captures": ["#), "the plan is printed")
            #expect(outcome.complaint.contains("cannot write"), "\(outcome.complaint)")
        }
    }
}
