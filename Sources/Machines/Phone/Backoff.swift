import SimBase

/// Failures in a row of one operation, and how long to wait after the next: jitter under a ceiling that grows. A wait that the server
/// asks for (`Answer.serverWait`) is a floor under it (`ActiveScan.Pause.end`, `ScanQueue.readyAt`).
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

    /// Returns the wait after another failure: drawn below min(cap, base x growth^failures), or around it; without jitter
    /// it is just that.
    mutating func failed(_ policy: BackoffPolicy, draw: UInt64) -> Interval {
        let ceiling = self.ceiling(policy)
        self.failures = min(self.failures + 1, 62)
        guard policy.hasJitter else { return ceiling }
        guard policy.spread == .fifth else { return Self.share(of: ceiling, draw) }
        let fifth = Interval.nanoseconds(ceiling.nanoseconds / 5)
        return max(policy.base, ceiling - fifth + Self.share(of: fifth + fifth, draw))
    }

    /// Uniform from 0 to a time, both included.
    private static func share(of ceiling: Interval, _ draw: UInt64) -> Interval {
        return .nanoseconds(Int64(draw.multipliedFullWidth(by: UInt64(ceiling.nanoseconds) + 1).high))
    }

    private func ceiling(_ policy: BackoffPolicy) -> Interval {
        let base = max(policy.base, min(self.raisedBase, policy.cap))
        guard policy.growth == 2_000 else { return self.ceiling(from: base, policy) }
        guard base.nanoseconds <= policy.cap.nanoseconds >> Int64(self.failures) else { return policy.cap }
        return .nanoseconds(base.nanoseconds << Int64(self.failures))
    }

    private func ceiling(from base: Interval, _ policy: BackoffPolicy) -> Interval {
        var ceiling = base
        for _ in 0..<self.failures where ceiling < policy.cap {
            ceiling = .nanoseconds(ceiling.nanoseconds / 1_000 * policy.growth)
        }
        return min(ceiling, policy.cap)
    }
}
