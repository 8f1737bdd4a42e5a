import Faults
import Plan
import RunJudge
import ScenarioFile
import SimBase
import SimTestSupport
import Testing

@testable import RunDriver

@Suite struct RunConditionsTests {
    private func conditions(_ name: String) throws -> RunConditions {
        let loaded = try LoadedScenario(
            path: "\(Checkout.root.path)/Scenarios/\(name).scenario", overrides: [], environment: [:])
        return RunConditions(RunPlan(loaded.scenario, target: .embedded))
    }

    @Test func `a tunnel is a phase without a link`() throws {
        let conditions = try self.conditions("train-tunnel")
        #expect(conditions.itineraries.map(\.groups) == [["passengers"]])
        let phases = conditions.itineraries.first?.phases ?? []
        #expect(phases.map(\.link) == ["lte", "edge-good", nil, "lte"])
        #expect(phases.map(\.window.from) == [0, 7, 9, 13].map { Instant.zero + .seconds(Int64($0)) })
        #expect(phases.last?.window.to == nil && phases[2].window.to == phases[3].window.from)
        #expect(conditions.faults.map(\.id) == ["handover-1"])
        // Each phone has its own time in 14s..16s, and 300 ms of it.
        let window = RunConditions.Window(
            from: .zero + .seconds(14), to: .zero + .milliseconds(16_300))
        #expect(conditions.faults[0].window == window)
    }

    @Test func `each fault has its sentence and its expected number`() throws {
        let conditions = try self.conditions("flaky-network")
        #expect(conditions.itineraries == [])
        let limit = conditions.faults[0]
        #expect(limit.id == "rate-limit-1" && limit.window == nil)
        #expect(limit.text.contains("429") && limit.text.contains("quota 1 per 4s"))
        #expect(conditions.faults.allSatisfy { ($0.expected ?? 0) > 0 })
    }

    /// As a Locust worker has it: the end of its scans is not known.
    @Test(.timeLimit(.minutes(1))) func `firings of a run without an end are not counted`() throws {
        let loaded = try LoadedScenario(
            path: "\(Checkout.root.path)/Scenarios/flaky-network.scenario", overrides: [], environment: [:])
        var scenario = loaded.scenario.endless
        #expect(RunConditions(RunPlan(scenario, target: .foreign)).faults.allSatisfy { $0.expected == nil })
        scenario.faults = []
        #expect(RunConditions(RunPlan(scenario, target: .foreign)).faults.isEmpty)
    }
}
