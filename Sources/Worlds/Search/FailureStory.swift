import Faults
package import Ledger
package import Observations
import Plan
import SimBase
package import VirtualWorld

/// What a report says about a failing seed: the smallest plan, what happens in it on both sides, and what is different
/// without each of its faults.
package struct FailureStory: Sendable {
    /// How the run differs from one without a fault.
    package struct Difference: Sendable {
        /// The id of the fault.
        package var fault: String
        /// Whether the run passes without it.
        package var isNeeded: Bool
        /// The first observations that differ, with the fault and without it; nil where a run has ended.
        package var with: Observation?
        package var without: Observation?
    }

    package let kind: FailureKind
    package let plan: WorldPlan
    package let outcome: TrialOutcome
    /// What both sides observed, in the order of time, of the phone that the failure is about; of all phones if it is about
    /// none.
    package let observations: [Observation]
    package let differences: [Difference]
    package let likelihood: Likelihood
    /// Which deviations of the client it needs; nil for a client that has none.
    package let client: ClientBisection?

    /// - Parameter plan: A plan that fails in the way of `kind`.
    /// - Parameter isTold: Whether a report has words for an observation: runs are compared by those.
    package init(
        _ kind: FailureKind, _ plan: WorldPlan, _ outcome: TrialOutcome,
        isTold: (Observation) -> Bool = { _ in true }
    ) {
        self.kind = kind
        self.plan = plan
        self.outcome = outcome
        let device = outcome.violation(kind)?.device
        let seen = Self.observations(of: plan)
        self.observations = seen.filter { device == nil || $0.device == device }
        self.differences = plan.run.scenario.faults.map { fault in
            var other = plan
            other.changeScenario { $0.faults.removeAll { $0.id == fault.id } }
            let without = Self.observations(of: other).filter { !$0.isAboutFaults && isTold($0) }
            let with = seen.filter { !$0.isAboutFaults && isTold($0) }
            let same = zip(with, without).prefix { $0 == $1 }.count
            return Difference(
                fault: fault.id, isNeeded: Trial.outcome(of: other)?.fails(as: kind) == false,
                with: same < with.count ? with[same] : nil,
                without: same < without.count ? without[same] : nil)
        }
        // What comes behind the violation did not lead to it.
        let end = outcome.violation(kind).map { Likelihood.events(of: plan, until: $0.at) }
        self.likelihood = Likelihood(
            of: plan, kind, until: end ?? outcome.events, seed: plan.run.scenario.seed)
        self.client = ClientBisection.causes(behind: kind, in: plan)
    }

    private static func observations(of plan: WorldPlan) -> [Observation] {
        var observations: [Observation] = []
        _ = Trial.outcome(of: plan, observe: { observations.append($0) })
        return observations
    }

    /// The violation; nil if the simulation failed.
    package var violation: Violation? { self.outcome.violation(self.kind) }
}

extension Observation {
    fileprivate var isAboutFaults: Bool { self.side == .fault }
}
