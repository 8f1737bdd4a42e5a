import Ledger
import Phone
import Plan
package import RunJudge
import SimBase
package import VirtualWorld

/// Whether the virtual world breaks what a live run broke.
///
/// The order of what happens at about the same time is not in a plan. It is tried as it is, and then with other draws and other
/// orders of simultaneous events.
package struct LiveCheck: Sendable {
    /// A failure of the live run that a simulated run shows.
    package struct Shown: Sendable {
        package var failure: LiveRecord.Failure
        package var kind: FailureKind
        package var plan: WorldPlan
    }

    /// The number of plans that are tried.
    package static let variations = 40

    /// The failures that were shown, each kind once; empty if none was.
    package private(set) var shown: [Shown] = []
    /// The first plan that fails in another way, and the kinds of these failures.
    package private(set) var others: (plan: WorldPlan, kinds: [FailureKind])?
    /// The number of runs.
    package private(set) var runs = 0
    /// The plan as it was first tried: with a settled end if the live run had nothing else than unfinished scans.
    package let plan: WorldPlan

    /// - Parameter isStopped: asked between runs; `true` ends the check with what was found so far.
    package init(_ plan: WorldPlan, _ live: LiveRecord, isStopped: () -> Bool = { false }) {
        let isAboutTheEnd = live.failures.allSatisfy(\.isAboutTheEnd)
        var first = plan
        if isAboutTheEnd, first.settle == nil {
            first.settle = SwarmPlans.settle(plan.run.scenario)
        }
        self.plan = first
        let everybody = (0..<UInt32(plan.run.devices)).map { DeviceNumber($0) }
        self.attempt(first, live, everybody)
        let (compact, phones) = first.withoutIdlePhones()
        let seed = plan.run.scenario.seed
        for number in 1..<Self.variations where self.shown.isEmpty && !isStopped() {
            var other = compact
            other.shufflesTies = number % 2 == 1
            other.changeScenario { $0.seed = seed &+ UInt64(number / 2) }
            self.attempt(other, live, phones)
        }
    }

    /// - Parameter phones: The number that each phone of the plan had in the live run.
    private mutating func attempt(_ plan: WorldPlan, _ live: LiveRecord, _ phones: [DeviceNumber]) {
        self.runs += 1
        guard let outcome = Trial.outcome(of: plan) else { return }
        for failure in live.failures {
            guard let kind = Self.kind(failure, in: outcome, phones),
                !self.shown.contains(where: { $0.kind == kind })
            else { continue }
            self.shown.append(Shown(failure: failure, kind: kind, plan: plan))
        }
        if self.shown.isEmpty, self.others == nil, outcome.isFailing { self.others = (plan, outcome.kinds) }
    }

    /// The kind of the simulated failure that is this one, of the same phone.
    private static func kind(
        _ failure: LiveRecord.Failure, in outcome: TrialOutcome, _ phones: [DeviceNumber]
    ) -> FailureKind? {
        outcome.breaks.first { found in
            guard !found.isExpected, case .invariant(let invariant, _) = found.kind,
                failure.invariants.contains(invariant)
            else { return false }
            return failure.device.map { device in
                found.phones.contains {
                    phones.indices.contains(Int($0.raw)) && phones[Int($0.raw)] == device
                }
            } ?? true
        }?.kind
    }
}

extension LiveRecord.Failure {
    /// The invariants that a settled simulation breaks if this failure is not an accident of its timing.
    fileprivate var invariants: [Invariant] {
        switch self.kind {
        case .broken(let invariant): [invariant]
        case .unfinished: [.deviceNotStuck, .scanSettles]
        }
    }

    /// Whether only a settled end shows it.
    fileprivate var isAboutTheEnd: Bool { self.invariants.contains(where: \.isAtRest) }
}
