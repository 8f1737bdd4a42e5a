package import SimBase

/// A failure rate as it was lately: over the last five seconds, or over the last twenty operations where those reach further
/// back.
///
/// It is told totals at moments of the caller's choosing, and is as fine as these are close. Its memory is bounded: steps
/// older than the span are kept only while they hold fewer than `operationsMin` operations, and each step holds at least one.
package struct RecentRate: Sendable {
    package static let span = Interval.seconds(5)
    /// The share is not judged before there are this many operations.
    package static let operationsMin = SLOResult.operationsToEndRun

    /// What ended from the look before it to this moment.
    private struct Step: Sendable {
        var from: Instant
        var to: Instant
        var rate: FailureRate
    }

    private var steps: [Step] = []
    private var whole = FailureRate()
    private var lookedAt = Instant.zero

    package init() {}

    /// `whole`: of the run so far. Moments must not go back.
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

    /// How far back `rate` reaches from the last look.
    package var length: Interval { self.steps.first.map { self.lookedAt - $0.from } ?? .zero }

    /// Steps that are kept.
    package var remembered: Int { self.steps.count }
}
