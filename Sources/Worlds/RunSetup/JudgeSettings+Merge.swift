import Ledger
package import Plan
package import RunJudge
import VirtualWorld

extension JudgeSettings {
    /// Creates the settings for merging the shards of a run. `plan`: of the whole fleet.
    package init(mergingShardsOf plan: RunPlan, world: WorldKind, hasBackendView: Bool) {
        self.init(plan, world: world, hasBackendView: hasBackendView)
        switch world {
        case .virtual:
            self.invariants = SimulationInvariantSettings(WorldPlan(plan))
            self.coverage = CoverageTable(
                plan.scenario, expected: plan.scenario.sometimes, slotsMax: self.ledger.slotsMax)
        case .live:
            if !plan.scenario.coverageGoals.isEmpty {
                self.coverage = CoverageTable(plan.scenario, expected: [], slotsMax: self.ledger.slotsMax)
            }
        }
    }
}
