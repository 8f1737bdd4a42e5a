import Faults
import Metrics
import Observations
import Phone
import Plan
import RunControl
import RunMetrics
import RunSetup
import SimBase
import Talaria
import Testing
import VirtualWorld

/// What a rollout would have come to without its rollback.
struct RolloutRepetitionTests {
    /// Half of 40 phones move to event streams after 10 s, whose endpoint refuses every job.
    private static func plan(hasRollback: Bool) throws -> WorldPlan {
        var profile = ClientProfile.contract
        profile.journey = .bookshelfScan
        let group = FleetGroup(
            name: "all", devices: 40, profile: profile, idleTimeout: .automatic,
            network: .always(NamedLink(name: "test", profile: .perfect)), scansPerDevice: 10,
            load: .open(.constant(ArrivalRate(arrivals: 4, per: .seconds(1))), .uniform),
            photos: .folder("none"), preprocess: .once)
        var fault = FaultSpec(
            id: "refused",
            kind: .httpError(
                HTTPFault(
                    status: 403, code: nil, retryable: nil, retryAfter: nil, retryAfterLocation: .both)),
            target: .stream, chance: .always,
            window: FaultWindow(at: .zero, length: .hours(1)), trigger: .atOnce, count: .eachAttempt,
            scope: .everyone)
        fault.transport = .sse
        var scenario = Scenario(
            name: "test", description: "", seed: 3, groups: [group], server: .contract, faults: [fault],
            slos: [], drain: .seconds(30), duration: nil)
        var rollout = RolloutPlan()
        rollout.stages = [
            .init(share: .never, length: .seconds(10)), .init(share: .percent(50), length: .seconds(90)),
        ]
        rollout.patience = .seconds(30)
        if hasRollback {
            let condition = try SLOCondition(
                parsing: "rate < 95% over 10s", for: RolloutMeasure.connects.kind)
            rollout.triggers = [try #require(RolloutTrigger(.connects, condition))]
        }
        scenario.rollout = rollout
        return WorldPlan(RunPlan(scenario, target: .embedded))
    }

    @Test func `a rollback spares people, and the repetition without it says how many`() throws {
        let plan = try Self.plan(hasRollback: true)
        let summary = try RolloutSummary(of: plan)
        let without = try #require(plan.harmedWithoutRollback())
        #expect(summary.rollback != nil)
        #expect(summary.harmed > 0 && without > summary.harmed)
        #expect(try without == RolloutSummary(of: Self.plan(hasRollback: false)).harmed)
    }

    @Test func `a plan without a rollout has nothing to repeat`() throws {
        var plan = try Self.plan(hasRollback: true)
        var scenario = plan.run.scenario
        scenario.rollout = nil
        plan.run = RunPlan(scenario, target: .embedded)
        #expect(plan.harmedWithoutRollback() == nil)
    }
}

extension RolloutSummary {
    /// Runs a plan to its end.
    init(of plan: WorldPlan) throws {
        let rollout = try #require(plan.run.scenario.rollout)
        var (world, account) = (
            World(plan), RolloutAccount(RolloutSettings(arms: rollout.arms, patience: rollout.patience))
        )
        var batch: [Observation] = []
        while try world.step() {
            world.take(&batch)
            for observation in batch { account.record(observation) }
        }
        self = account.summary
    }
}
