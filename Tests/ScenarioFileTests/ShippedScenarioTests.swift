import Foundation
import Plan
import SimBase
import Testing

@testable import ScenarioFile

/// What is in `Scenarios/` keeps its promises.
struct ShippedScenarioTests {
    private func scenarios() throws -> [Scenario] {
        try ScenarioFinder.all(in: [packageFolder + "/Scenarios"]).map { path in
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            return try ScenarioLoader.load(path: path, bytes: bytes, overrides: [], environment: [:])
        }
    }

    @Test func `every shipped scenario is valid and gives each fault at least ten firings`() throws {
        let scenarios = try scenarios()
        #expect(!scenarios.isEmpty)
        for scenario in scenarios {
            let firings = RunPlan(scenario, target: .embedded).expectedFirings
            for (fault, count) in zip(scenario.faults, firings) {
                #expect(count >= 10, "\(scenario.name): \(fault.id) is expected to fire \(count) times")
            }
        }
    }

    @Test func `flaky-network is 120 scans in about 20 seconds`() throws {
        let flaky = try #require(try scenarios().first { $0.name == "flaky-network" })
        let census = RunPlan(flaky, target: .embedded).census
        #expect(census.scans == 120)
        #expect((15...25).contains(census.lastArrival.nanoseconds / 1_000_000_000))
        #expect(flaky.slos.count == 8)
    }
}
