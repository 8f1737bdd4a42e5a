import SimBase

/// Failures in a row of one operation, and how long to wait after the next: full jitter under a ceiling that doubles.
struct Backoff: Hashable, Sendable {
    private(set) var failures = 0
    /// The server's `retry:`; it raises the base, within the cap.
    private var raisedBase = Interval.zero

    init() {}

    /// Back to base.
    mutating func succeeded() {
        self.failures = 0
    }

    mutating func raise(base: Interval) {
        self.raisedBase = base
    }

    /// Returns the wait after another failure: uniform from 0 to min(cap, base x 2^failures), both included; the latter
    /// without jitter.
    mutating func failed(_ policy: BackoffPolicy, draw: UInt64) -> Interval {
        let ceiling = self.ceiling(policy)
        self.failures = min(self.failures + 1, 62)
        guard policy.hasJitter else { return ceiling }
        return .nanoseconds(Int64(draw.multipliedFullWidth(by: UInt64(ceiling.nanoseconds) + 1).high))
    }

    private func ceiling(_ policy: BackoffPolicy) -> Interval {
        let base = max(policy.base, min(self.raisedBase, policy.cap))
        guard base.nanoseconds <= policy.cap.nanoseconds >> Int64(self.failures) else { return policy.cap }
        return .nanoseconds(base.nanoseconds << Int64(self.failures))
    }
}
