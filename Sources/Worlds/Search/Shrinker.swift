import SimBase
package import VirtualWorld

/// Makes a failing plan smaller for as long as it fails in the same way (Docs/simulation.md section 10).
///
/// Every draw is keyed, so that what is removed changes nothing else, and a greedy search ends with few items. Fewer faults
/// matter more than fewer scans, fewer scans more than fewer phones, and these more than short times and round values.
package struct Shrinker {
    /// What was found.
    package struct Result: Sendable {
        package var plan: WorldPlan
        package var outcome: TrialOutcome
        /// Trials that were made.
        package var trials: Int
        /// Events of all these trials: what they cost, on any machine.
        package var events: Int
        /// The accepted steps in their order.
        package var steps: [String]
        /// Whether each remaining fault and capture was shown to be needed. False after a stop before the end.
        package var isConfirmed: Bool
    }

    /// Trials after which the search for a smaller plan ends.
    package static let trialsMax = 2_000
    private static let roundsMax = 6

    let kind: FailureKind
    private(set) var plan: WorldPlan
    private var outcome: TrialOutcome
    private var trials = 0
    private var events = 0
    /// What was given, for a second search if the first one is misled.
    private let start: (plan: WorldPlan, outcome: TrialOutcome)
    /// Whether the time to settle follows from what the plan consists of.
    private var scalesSettle = false
    private var steps: [String] = []
    private let trialsMax: Int
    private let isStopped: () -> Bool

    /// `outcome`: that of `plan`, which must fail in the way of `kind`.
    private init(
        _ plan: WorldPlan, _ outcome: TrialOutcome, kind: FailureKind, trialsMax: Int,
        isStopped: @escaping () -> Bool
    ) {
        self.kind = kind
        self.plan = plan
        self.outcome = outcome
        self.start = (plan, outcome)
        self.events = 2 * outcome.events
        self.trialsMax = trialsMax
        self.isStopped = isStopped
    }

    /// Returns the smallest plan found that fails like `plan`. Nil if `plan` does not fail that way twice alike.
    ///
    /// - Parameter isStopped: asked between trials; `true` ends the search with what was found so far.
    package static func shrink(
        _ plan: WorldPlan, failing kind: FailureKind, trialsMax: Int = Self.trialsMax,
        isStopped: @escaping () -> Bool = { false }
    ) -> Result? {
        guard let first = Trial.outcome(of: plan), first.fails(as: kind),
            Trial.outcome(of: plan) == first
        else { return nil }
        var shrinker = Shrinker(plan, first, kind: kind, trialsMax: trialsMax, isStopped: isStopped)
        return shrinker.shrunk()
    }

    /// A short time to settle makes trials of what never settles cheap. It must not be what fails: the result fails with the
    /// whole time, too, or the search is made again with it.
    private mutating func shrunk() -> Result {
        self.listCaptures()
        let settle = self.plan.settle
        if self.kind.isAboutTheEnd {
            self.scalesSettle = self.attempt("time to settle by what is left") {
                $0.settle = $0.settleInProportion
            }
        }
        let result = self.reduced()
        guard self.scalesSettle, !self.isStopped() else { return result }
        var whole = result.plan
        whole.settle = settle
        if self.outcome(of: whole)?.fails(as: self.kind) == true {
            var confirmed = result
            (confirmed.trials, confirmed.events) = (self.trials, self.events)
            return confirmed
        }
        self.scalesSettle = false
        (self.plan, self.outcome, self.steps) = (self.start.plan, self.start.outcome, [])
        return self.reduced()
    }

    private mutating func reduced() -> Result {
        self.listCaptures()
        var isConfirmed = false
        for _ in 0..<Self.roundsMax {
            let before = self.steps.count
            self.removeFaults()
            self.removePhones()
            self.removeCaptures()
            self.quieten()
            self.dropIdlePhones()
            self.simplifyFaults()
            self.simplifyTimes()
            self.anchorFaults()
            guard !self.isOver else { break }
            if self.steps.count == before {
                isConfirmed = true  // Each single removal was tried in this round, and did not fail.
                break
            }
        }
        return Result(
            plan: self.plan, outcome: self.outcome, trials: self.trials, events: self.events,
            steps: self.steps,
            isConfirmed: isConfirmed)
    }

    var isOver: Bool { self.trials >= self.trialsMax || self.isStopped() }

    /// Keeps a changed plan if it still fails in the same way, and alike when it is run again.
    @discardableResult
    mutating func attempt(_ step: String, _ change: (inout WorldPlan) -> Void) -> Bool {
        guard !self.isOver else { return false }
        var candidate = self.plan
        change(&candidate)
        candidate.fitLoads()
        if self.scalesSettle { candidate.settle = candidate.settleInProportion }
        guard candidate != self.plan else { return false }
        guard let outcome = self.outcome(of: candidate), outcome.fails(as: self.kind) else { return false }
        guard self.outcome(of: candidate) == outcome else { return false }
        self.plan = candidate
        self.outcome = outcome
        self.steps.append(step)
        return true
    }

    private mutating func outcome(of plan: WorldPlan) -> TrialOutcome? {
        self.trials += 1
        let outcome = Trial.outcome(of: plan)
        self.events += outcome?.events ?? 0
        return outcome
    }

    /// Removes as many of the items as possible: halves first, then quarters, down to single ones.
    ///
    /// - Parameter items: what may be removed, from the plan as it is.
    /// - Parameter remove: changes a plan so that it lacks these items.
    mutating func reduce<Item: Hashable>(
        _ step: String, _ items: [Item], remove: (inout WorldPlan, Set<Item>) -> Void
    ) {
        var items = items
        var size = max(1, (items.count + 1) / 2)
        while !items.isEmpty, !self.isOver {
            var start = 0
            while start < items.count {
                let chunk = items[start..<min(start + size, items.count)]
                let isRemoved = self.attempt("\(step): \(chunk.count) removed") { remove(&$0, Set(chunk)) }
                if isRemoved {
                    items.removeSubrange(chunk.indices)
                } else {
                    start += size
                }
            }
            guard size > 1 else { return }
            size = (size + 1) / 2
        }
    }
}
