import Foundation
import Ledger
import Observations
import Plan
import ScenarioFile
import SimBase
import SimTestSupport
import Talaria
import Testing
import VirtualWorld

/// A scenario that is shipped, and how it is run in the virtual world.
struct ShippedScenario: Hashable, Sendable {
    let name: String
    /// All trouble ends with it, and phones settle what they have.
    var isSettled = false
    /// A quarter of the phones is left without a path.
    var leavesPhonesBroken = false

    /// The words that run it.
    var command: String {
        "\(self.name)\(self.isSettled ? " --settle 10m" : "")\(self.leavesPhonesBroken ? " --stays-broken 25%" : "")"
    }

    /// Counts what each of the invariants speaks of, and ends when it has come to all of them. A run that settles goes on to
    /// its end.
    func run(upTo invariants: [Invariant]) throws -> InvariantSubjects {
        let file = Checkout.root.appending(path: "Scenarios/\(self.name).scenario")
        let scenario = try ScenarioLoader.load(
            path: file.lastPathComponent, bytes: Array(Data(contentsOf: file)), overrides: [],
            environment: [:])
        var plan = WorldPlan(RunPlan(scenario, target: .embedded))
        plan.settle = self.isSettled ? .minutes(10) : nil
        plan.staysOffline = self.leavesPhonesBroken ? .percent(25) : .never
        var world = World(plan)
        var subjects = InvariantSubjects()
        var batch: [Observation] = []
        while try world.steps(1_024) {
            world.take(&batch)
            for observation in batch { subjects.record(observation) }
            if !self.isSettled, invariants.allSatisfy({ subjects.count(of: $0) > 0 }) { return subjects }
        }
        world.take(&batch)
        for observation in batch { subjects.record(observation) }
        if self.isSettled {
            subjects.ended(settled: plan.run.devices, broken: world.phonesToStayBroken.count)
        }
        return subjects
    }
}
