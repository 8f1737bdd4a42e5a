import Faults
package import Plan
package import SimBase
package import VirtualWorld

/// Where the faults of a search come from.
package enum FaultSource: String, CaseIterable, Hashable, Sendable {
    /// The scenario.
    case file
    /// Drawn from the seed, instead of those of the scenario.
    case swarm
    /// All faults and pairs of faults that can be tied to the events of one scan. Seeds are their numbers, from 1.
    case pairs
}

/// The plan of each seed of a search.
package struct SeedPlans: Sendable {
    package let scenario: Scenario
    package let source: FaultSource
    /// Changes of every plan; nil leaves what the source says.
    package var settle: Interval?
    package var staysOffline: Odds?
    package var shufflesTies: Bool?
    /// Whether what a profile is known to break counts as a failure.
    package var countsKnownBreaks = false
    /// Those of `pairs`.
    private let exhaustive: ExhaustivePlans?

    package init(_ scenario: Scenario, source: FaultSource) {
        self.scenario = scenario
        self.source = source
        self.exhaustive = source == .pairs ? ExhaustivePlans(scenario) : nil
    }

    /// The number of plans where they are numbered; nil where any seed has one.
    package var count: Int? { self.exhaustive?.count }

    package func plan(seed: UInt64) -> WorldPlan {
        var plan: WorldPlan
        switch self.source {
        case .pairs:
            guard let exhaustive = self.exhaustive else { preconditionFailure("there are no pairs") }
            plan = exhaustive.plan(number: seed)
        case .swarm: plan = SwarmPlans(self.scenario).plan(seed: seed)
        case .file:
            var scenario = self.scenario
            scenario.seed = seed
            plan = WorldPlan(RunPlan(scenario, target: .embedded))
        }
        plan.settle = self.settle ?? plan.settle
        plan.staysOffline = self.staysOffline ?? plan.staysOffline
        plan.shufflesTies = self.shufflesTies ?? plan.shufflesTies
        return plan
    }

    /// How the faults of a seed were drawn; nil for those of the scenario.
    package func recipe(of seed: UInt64) -> SwarmRecipe? {
        self.source == .swarm ? SwarmPlans.recipe(of: seed) : nil
    }

    /// Runs a seed; nil if it was stopped.
    package func result(of seed: UInt64, isStopped: () -> Bool = { false }) -> SeedResult? {
        let plan = self.plan(seed: seed)
        guard let outcome = Trial.outcome(of: plan, isStopped: isStopped) else { return nil }
        let faults = plan.run.scenario.faults
        let fired = Set(faults.indices.filter { outcome.firings[$0] > 0 }.map { faults[$0].kind.name })
        return SeedResult(
            seed: seed, digest: outcome.digest, events: outcome.events, scans: outcome.scans,
            kinds: self.countsKnownBreaks ? outcome.allKinds : outcome.kinds, failure: outcome.failure,
            reached: outcome.reached, fired: fired.sorted())
    }
}
