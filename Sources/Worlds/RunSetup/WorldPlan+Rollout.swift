import Observations
import Plan
import RunControl
import RunMetrics
package import VirtualWorld

extension WorldPlan {
    /// Runs the plan without the rollback of its rollout, and returns how many people complain on the new arm; nil without a
    /// rollout, or if the world fails. Until the rollback, both runs are the same.
    package func harmedWithoutRollback() -> Int? {
        var scenario = self.run.scenario
        guard let rollout = scenario.rollout else { return nil }
        scenario.rollout?.triggers = []
        var plan = self
        plan.run = RunPlan(scenario, target: .embedded, shard: self.run.shard)
        var (world, account) = (World(plan), RolloutAccount(RolloutSettings(rollout)))
        var batch: [Observation] = []
        var isGoing = true
        while isGoing {
            guard let more = try? world.steps(Self.eventsPerBatch) else { return nil }
            isGoing = more
            world.take(&batch)
            for observation in batch { account.record(observation) }
        }
        return account.summary.harmed
    }

    private static let eventsPerBatch = 4_096
}

extension RolloutSettings {
    init(_ plan: RolloutPlan) { self.init(arms: plan.arms, patience: plan.patience) }
}
