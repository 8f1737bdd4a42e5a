import Backend
package import Faults
import Phone
package import Plan
import SimBase
package import VirtualWorld

/// All small plans of a scenario: one phone of its first group, one scan, and at most two faults, each tied to an event of that
/// scan (Docs/simulation.md section 7). They are numbered from 1.
///
/// The first has no fault. Then comes each kind of fault with each of its values, on each target and at each anchor, alone.
/// Then come the pairs, also of equal faults: each kind with its first values, on each target and at each anchor.
package struct ExhaustivePlans: Sendable {
    /// The lifetimes of tokens and results, where the scenario has longer ones. A phone settles long before.
    private static let lifetime = Interval.minutes(10)

    /// The plan without faults.
    private let base: WorldPlan
    /// What a plan may have as its only fault.
    package let singles: [FaultSpec]
    /// What a plan may have two of.
    package let halves: [FaultSpec]

    package init(_ scenario: Scenario) {
        let base = Self.base(scenario)
        let anchors = ScanAnchors(of: base)
        let faults = AnchoredFaults(anchors, fleet: base.run.scenario)
        self.base = base
        self.singles = faults.all
        self.halves = faults.representatives
    }

    /// The number of plans.
    package var count: Int {
        1 + self.singles.count + self.halves.count * (self.halves.count + 1) / 2
    }

    /// Returns the plan of a number from 1 to `count`.
    package func plan(number: UInt64) -> WorldPlan {
        precondition(number >= 1 && number <= UInt64(self.count), "there is no such plan")
        var plan = self.base
        let faults = self.faults(Int(number) - 1)
        plan.changeScenario { $0.faults = faults }
        return plan
    }

    private func faults(_ index: Int) -> [FaultSpec] {
        guard index > 0 else { return [] }
        guard index > self.singles.count else { return [self.singles[index - 1]] }
        // The pairs in rows: the first fault with itself, the second with the first and itself, and so on.
        let pair = index - self.singles.count - 1
        var row = 0
        while (row + 1) * (row + 2) / 2 <= pair { row += 1 }
        let first = self.halves[pair - row * (row + 1) / 2]
        var second = self.halves[row]
        if first.id == second.id { second = second.named("\(second.kind.name)-2") }
        return [first, second]
    }

    private static func base(_ scenario: Scenario) -> WorldPlan {
        var scenario = scenario
        scenario.seed = 1
        scenario.duration = nil
        scenario.slos = []
        scenario.faults = []
        scenario.groups.removeSubrange(1...)
        scenario.groups[0].devices = 1
        scenario.groups[0].scansPerDevice = 1
        scenario.groups[0].load = .open(SwarmPlans.noRate, .uniform)
        scenario.groups[0].network = .always(NamedLink(name: "perfect", profile: .perfect))
        // A kill between two books of a result needs two.
        scenario.server.books = 2...2
        // A job that no phone knows of costs its lifetime.
        let backend = scenario.server.backend
        scenario.server.backend.tokenLifetime = min(backend.tokenLifetime, Self.lifetime)
        scenario.server.backend.resultsLifetime = min(backend.resultsLifetime, Self.lifetime)
        scenario.server.backend.v2.resultsLifetime = backend.v2.resultsLifetime.map {
            min($0, Self.lifetime)
        }
        var plan = WorldPlan(RunPlan(scenario, target: .embedded))
        plan.captures = [
            Arrival(scheduled: .zero, device: DeviceNumber(0), ordinal: 1, photo: 0, of: 8)
        ]
        plan.settle = SwarmPlans.settle(scenario)
        plan.fitLoads()
        return plan
    }
}

extension FaultSpec {
    fileprivate func named(_ id: String) -> FaultSpec {
        var spec = self
        spec.id = id
        spec.key = FaultSpec.key(id: id)
        return spec
    }
}
