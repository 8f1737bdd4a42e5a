internal import SimBase

/// The requests of one caller that were admitted within a sliding window.
struct RequestWindow: Hashable, Sendable {
    /// Oldest first; at most as many as the quota.
    private var admitted: [Instant] = []

    /// Admits a request, or returns the time until one is admitted. A refused request does not count.
    mutating func wait(_ quota: Quota, at now: Instant) -> Interval? {
        self.admitted.removeAll { $0 + quota.window <= now }
        guard self.admitted.count < quota.requests else {
            return (self.admitted.first.map { $0 + quota.window } ?? now + quota.window) - now
        }
        self.admitted.append(now)
        return nil
    }

    func isIdle(_ quota: Quota, at now: Instant) -> Bool {
        self.admitted.last.map { $0 + quota.window <= now } ?? true
    }
}
