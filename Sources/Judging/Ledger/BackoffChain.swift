import SimBase
import Talaria

/// The waits of one operation for one scan, from its first failure to its next success.
struct BackoffChain: Sendable {
    let operation: Operation
    let scan: ScanNumber
    /// The job that a DELETE is for; nil for other operations.
    let job: String?
    private(set) var failures = 0
    /// The time of the last failed attempt; nil while one is open.
    var failedAt: Instant?
    /// The wait that the server requested with it.
    var asked: Interval?
    /// The time of failure is known exactly: the phone says nothing at the end of some answers.
    private(set) var isExact = true
    /// The answer was a 429: its wait is judged by limit.honoured.
    var isLimited = false
    /// A server's `retry:` has raised the base of the last wait, or may have.
    private(set) var raise = RetryFields.Raise.none
    /// The time since which something else has held back the next attempt.
    var heldAt: Instant?

    mutating func failed(at moment: Instant, isExact: Bool, isHeld: Bool, raise: RetryFields.Raise) {
        self.failures += 1
        self.failedAt = moment
        self.asked = nil
        self.isLimited = false
        self.isExact = isExact
        self.heldAt = isHeld ? moment : nil
        self.raise = raise
    }

    /// The bounds of its wait are known: neither is its beginning uncertain, nor its base one that a server may have raised.
    var isDrawnFreely: Bool { self.isExact && self.raise != .unsure }

    /// The maximum of the present wait. `retry`: the `retry:` of the server's streams, which raises the base.
    func ceiling(_ settings: SimulationInvariantSettings, retry: Interval?) -> Interval {
        var base = settings.backoffBase
        if self.raise != .none, let retry { base = max(base, min(retry, settings.backoffCap)) }
        return settings.backoffCeiling(failures: self.failures, base: base)
    }
}
