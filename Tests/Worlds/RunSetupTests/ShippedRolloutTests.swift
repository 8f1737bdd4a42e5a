import Foundation
import Plan
import RunMetrics
import RunSetup
import ScenarioFile
import SimBase
import SimTestSupport
import Testing
import VirtualWorld

/// What the shipped rollouts come to, with fewer phones.
struct ShippedRolloutTests {
    /// Fewer than these may be too few for the triggers to judge by.
    private static let phones = 60

    private static func plan(_ name: String, set overrides: [String] = []) throws -> WorldPlan {
        let file = Checkout.root.appending(path: "Scenarios/\(name).scenario")
        let scenario = try ScenarioLoader.load(
            path: file.lastPathComponent, bytes: Array(Data(contentsOf: file)), overrides: overrides,
            environment: [:])
        return WorldPlan(RunPlan(scenario.scaled(devices: Self.phones), target: .embedded))
    }

    @Test func `a bad rollout is rolled back within the window of its trigger, and errors fall`() throws {
        let plan = try Self.plan("rollout-rolled-back")
        let summary = try RolloutSummary(of: plan)
        let rollback = try #require(summary.rollback)
        let trigger = try #require(
            plan.run.scenario.rollout?.triggers.first { $0.measure == rollback.measure })
        let began = Instant.zero + plan.run.scenario.faults[0].window.at
        #expect((began...(began + trigger.window)).contains(rollback.at))
        #expect(try #require(rollback.recovery) <= .minutes(5))
        #expect(summary.periods.map(\.stage) == [1, 2, nil])
        // What was under way by SSE has ended, and nothing new has begun.
        #expect(summary.periods[2].arms[1].scans == 0 && summary.periods[2].arms[1].jobs.total > 0)
        #expect(try #require(plan.harmedWithoutRollback()) > 10 * summary.harmed)
        #expect(summary.changes == 0)
    }

    @Test func `a good rollout comes to its last stage, and no phone changes its arm within one`() throws {
        let summary = try RolloutSummary(of: Self.plan("rollout-good"))
        #expect(summary.rollback == nil)
        #expect(summary.periods.map(\.stage) == [1, 2, 3, 4])
        #expect(summary.periods[3].arms.map(\.scans).first == 0)
        let phones = summary.periods.map { $0.arms[1].phones }
        #expect(phones == phones.sorted() && phones[0] > 0)
        #expect(summary.changes == 0 && summary.harmed == 0)
    }

    @Test func `without cohorts that stay, phones change their arms`() throws {
        let plan = try Self.plan("rollout-good", set: ["rollout.sticky=off"])
        let summary = try RolloutSummary(of: plan)
        #expect(summary.changedPhones > Self.phones / 2 && summary.changes > summary.changedPhones)
    }
}
