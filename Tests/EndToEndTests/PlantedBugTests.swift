import Foundation
import Testing

/// The bugs that toggles plant in the contract client: the search finds each, or the table says why it cannot.
enum PlantedBugs {
    /// The budgets leave the seeds that were needed a factor of two or more.
    static let bugs = [
        PlantedBug("quirk-1", "device.not-stuck", seeds: 1, faults: 0),
        PlantedBug("quirk-2", "scan.settles", seeds: 40),
        PlantedBug("quirk-4", "stream.parse-robust", seeds: 60),
        PlantedBug("quirk-5", "scan.refused-for-cause", seeds: 30),
        PlantedBug("quirk-6", "scan.refused-for-cause", seeds: 30),
        PlantedBug("quirk-8", "stream.no-gap", seeds: 50),
        PlantedBug("quirk-9", "scan.settles", seeds: 80),
        PlantedBug("quirk-10", "auth.no-stale-use", seeds: 100),
        PlantedBug("quirk-11", "scan.settles", seeds: 1, faults: 0),
        PlantedBug("quirk-12", "retry.budget", seeds: 100),
        PlantedBug("quirk-14", "job.not-cleaned-early", seeds: 600, faults: 2),
        PlantedBug("quirk-15", "request.well-formed", seeds: 10, faults: 0),
        PlantedBug("quirk-16", "scan.custody", seeds: 30),
        // Waits without jitter show only where several phones wait.
        PlantedBug("quirk-19", "retry.budget", seeds: 100, scans: 8, faults: 2),
        // The contract client gives a scan up after three 403 to its stream alone.
        PlantedBug("quirk-20", "scan.custody", seeds: 3000),
        PlantedBug("quirk-22", "stream.parse-robust", seeds: 150),
        PlantedBug("quirk-23", "job.cleaned", seeds: 60),
        PlantedBug("quirk-24", "retry.budget", seeds: 2000),
        PlantedBug("gap-1", "retry.budget", seeds: 60),
        PlantedBug("gap-2", "stream.parse-robust", seeds: 60),
        PlantedBug("gap-4", "scan.refused-for-cause", seeds: 100),
        PlantedBug("gap-5", "stream.no-gap", seeds: 30),
        PlantedBug("gap-6", "stream.parse-robust", seeds: 30),
        PlantedBug("gap-7", "stream.parse-robust", seeds: 10, faults: 0),
        PlantedBug("gap-8", "request.well-formed", seeds: 60),
        PlantedBug("gap-10", "request.well-formed", seeds: 10, faults: 0),
        PlantedBug("gap-11", "auth.no-stale-use", seeds: 100),
        PlantedBug("gap-12", "request.well-formed", seeds: 60),
        PlantedBug("gap-14", "book.faithful", seeds: 10, faults: 0),
        PlantedBug("inconsistency-1", "stream.parse-robust", seeds: 30),
        PlantedBug("inconsistency-2", "book.never-lost", seeds: 60),
        PlantedBug("inconsistency-3", "stream.parse-robust", seeds: 10, faults: 0),
        PlantedBug(
            "inconsistency-4", "request.well-formed", seeds: 60,
            values: ["journey=bookshelf-scan", "transport=websocket"]),
        PlantedBug("inconsistency-5", "stream.no-gap", seeds: 80),
    ]

    /// Those that break no invariant, and what shows them instead.
    static let harmless = [
        "quirk-7":
            "the backend of the contract sends no result event; Scenarios/quirks has one that does",
        "quirk-13": "it costs time alone: an objective of its scenario shows it",
        "quirk-17":
            "its scans wait like those of the contract client; only a client that removes scans (quirk-20) loses them",
        "quirk-21": "it changes a text that the user sees",
        "gap-3": "it costs requests alone: an objective of its scenario shows it",
        "gap-9": "nothing is different on the wire; the findings of its scenario show it",
        "gap-13": "nothing is different on the wire; the findings of its scenario show it",
    ]

    /// The bugs that `make test` searches for: each takes a second or two.
    static let quick = bugs.filter { $0.seeds <= 30 }
    static let slow = bugs.filter { $0.seeds > 30 }
}

struct PlantedBug: Sendable, CustomTestStringConvertible {
    let toggle: String
    let invariant: String
    /// The number of seeds within which it must be found.
    let seeds: Int
    /// The size of its smallest plan.
    let scans: Int
    let faults: Int
    /// Values of its group beside the toggle.
    let values: [String]

    init(
        _ toggle: String, _ invariant: String, seeds: Int, scans: Int = 1, faults: Int = 1,
        values: [String] = []
    ) {
        self.toggle = toggle
        self.invariant = invariant
        self.seeds = seeds
        self.scans = scans
        self.faults = faults
        self.values = values
    }

    var testDescription: String { self.toggle }

    func expectToBeFoundAndShrunk() async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let folder = scratch.folder.appending(path: "search")
        let outcome = try await CampaignSearch.run(
            ["--seeds", "1..\(self.seeds)"]
                + (["\(self.toggle)=on"] + self.values).flatMap { ["--set", "fleet.commuters.\($0)"] },
            in: folder)
        #expect(outcome.code == 97, "\(outcome)")
        let plans = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasPrefix(self.invariant) && $0.hasSuffix(".plan.json")
        }
        let sizes = try plans.map { name in
            let plan = try JSONDecoder().decode(
                Plan.self, from: try Data(contentsOf: folder.appending(path: name)))
            return (scans: plan.captures.count, faults: plan.scenario.faults.count)
        }
        #expect(
            sizes.contains { $0.scans <= self.scans && $0.faults <= self.faults },
            "\(sizes)\n\(outcome.output)")
    }

    private struct Plan: Decodable {
        struct Scenario: Decodable { let faults: [Fault] }
        struct Fault: Decodable {}
        struct Capture: Decodable {}
        let scenario: Scenario
        let captures: [Capture]
    }
}

extension SideBySide {
    @Suite struct PlantedBugTests {
        @Test func `every toggle is in one of the tables`() async throws {
            let outcome = try await Binary.run(["profiles"])
            let lines = outcome.output.matches(of: #/(?m)^ +((?:gap|quirk|inconsistency)-[0-9]+) /#)
            // Those that have no effect outside of the app are listed, and cannot be switched on.
            let hidden: Set = ["quirk-3", "quirk-18"]
            let toggles = Set(lines.map { String($0.1) }).subtracting(hidden)
            #expect(toggles.count > 30, "\(outcome)")
            #expect(Set(PlantedBugs.bugs.map(\.toggle)).union(PlantedBugs.harmless.keys) == toggles)
            #expect(Set(PlantedBugs.bugs.map(\.toggle)).isDisjoint(with: PlantedBugs.harmless.keys))
        }

        @Test(arguments: PlantedBugs.quick)
        func `a planted bug is found and shrunk`(bug: PlantedBug) async throws {
            try await bug.expectToBeFoundAndShrunk()
        }
    }
}

extension Searches {
    @Suite struct PlantedBugTests {
        @Test(arguments: PlantedBugs.slow)
        func `a planted bug is found and shrunk`(bug: PlantedBug) async throws {
            try await bug.expectToBeFoundAndShrunk()
        }

        /// Nothing may be found where there is nothing to be found.
        @Test(arguments: PlantedBugs.harmless.keys.sorted())
        func `a bug without an effect on scans, books and jobs fails nothing`(toggle: String) async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let outcome = try await CampaignSearch.run(
                ["--seeds", "1..200", "--set", "fleet.commuters.\(toggle)=on"],
                in: scratch.folder.appending(path: "search"))
            #expect(outcome.output.contains("\nno failures\n"), "\(outcome)")
        }
    }
}
