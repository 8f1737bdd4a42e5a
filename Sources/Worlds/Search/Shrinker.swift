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
        guard let first = Trial.outcome(of: plan), first.kinds.contains(kind),
            Trial.outcome(of: plan) == first
        else { return nil }
        var shrinker = Shrinker(plan, first, kind: kind, trialsMax: trialsMax, isStopped: isStopped)
        return shrinker.shrunk()
    }

    private mutating func shrunk() -> Result {
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
            plan: self.plan, outcome: self.outcome, trials: self.trials, steps: self.steps,
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
        guard candidate != self.plan else { return false }
        self.trials += 1
        guard let outcome = Trial.outcome(of: candidate), outcome.kinds.contains(self.kind) else {
            return false
        }
        self.trials += 1
        guard Trial.outcome(of: candidate) == outcome else { return false }
        self.plan = candidate
        self.outcome = outcome
        self.steps.append(step)
        return true
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
