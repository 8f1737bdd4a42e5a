package import SimBase

/// A recent failure rate: over the last five seconds, or over the last twenty operations if those reach
/// further back.
///
/// The caller adds totals at times of its choice, which define the resolution. Its memory is bounded: steps
/// older than the span are kept only while they hold fewer than `operationsMin` operations, and each step has
/// at least one.
package struct RecentRate: Sendable {
    package static let span = Interval.seconds(5)
    /// The share is not judged before there are this many operations.
    package static let operationsMin = SLOResult.operationsToEndRun

    /// The operations that ended since the previous step.
    private struct Step: Sendable {
        var from: Instant
        var to: Instant
        var rate: FailureRate
    }

    private var steps: [Step] = []
    private var whole = FailureRate()
    private var lookedAt = Instant.zero

    package init() {}

    /// `whole`: of the run so far. Times must not go back.
    package mutating func look(at moment: Instant, whole: FailureRate) {
        let total = whole.total - self.whole.total
        let failed = whole.failed - self.whole.failed
        if total > 0, (0...total).contains(failed) {
            self.steps.append(
                Step(from: self.lookedAt, to: moment, rate: FailureRate(failed: failed, total: total)))
        }
        self.whole = whole
        self.lookedAt = moment
        var kept = self.rate.total
        let first = self.steps.firstIndex { step in
            guard moment - step.to >= Self.span, kept - step.rate.total >= Self.operationsMin else {
                return true
            }
            kept -= step.rate.total
            return false
        }
        self.steps.removeFirst(first ?? self.steps.count)
    }

    package var rate: FailureRate { self.steps.reduce(into: FailureRate()) { $0.add($1.rate) } }

    /// The time before the last step that `rate` covers.
    package var length: Interval { self.steps.first.map { self.lookedAt - $0.from } ?? .zero }

    /// Steps that are kept.
    package var remembered: Int { self.steps.count }
}
