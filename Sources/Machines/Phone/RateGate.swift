import SimBase

/// The one gate before all uploads of a phone: a 429 shuts it for as long as the server asks.
struct RateGate: Hashable, Sendable {
    private(set) var opensAt: Instant

    /// A later 429 never shortens the wait: several uploads may be under way when the first is turned down.
    mutating func limited(for wait: Interval, at now: Instant) {
        self.opensAt = max(self.opensAt, now + wait)
    }

    /// Forgets the wait so far.
    mutating func reset() { self.opensAt = .zero }

    func isOpen(at now: Instant) -> Bool { self.opensAt <= now }
}
