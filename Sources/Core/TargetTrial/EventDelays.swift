import SimBase

/// How late events are, where the clocks of two machines differ: the delay above the least one of the last minute. A drift of the
/// clocks within a minute counts for nothing.
struct EventDelays: Sendable {
    private static let window = Interval.seconds(30)

    private var least: Int64?
    private var leastBefore: Int64?
    private var begun = Instant.zero

    /// `delay`: from the timestamp of an event to its arrival, in milliseconds, by two clocks.
    mutating func aboveLeast(_ delay: Int64, at now: Instant) -> Interval {
        if now - self.begun >= Self.window {
            self.leastBefore = now - self.begun < Self.window * 2 ? self.least : nil
            self.least = nil
            self.begun = now
        }
        self.least = min(self.least ?? delay, delay)
        let least = min(self.least ?? delay, self.leastBefore ?? delay)
        return .milliseconds(delay - least)
    }
}
