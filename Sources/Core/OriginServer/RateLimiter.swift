package import SimBase
import Talaria

/// The limits of numbers that a configuration or a fault may state.
package enum OriginLimits {
    /// The longest time of a configuration or a fault: ten years, so that adding a few to any time is safe.
    package static let intervalMax = Interval.hours(24 * 3_650)
}

/// A sliding window per caller: a request is admitted if fewer than `quota.requests` requests of the caller
/// were admitted in the window that ends now. A refused one does not count, so a device that waits for
/// exactly the requested time is admitted.
package struct RateLimiter: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// `remaining`: the number of requests that are still allowed. `reset`: the time at which the oldest
        /// counted one leaves the window.
        case admitted(remaining: Int, reset: Instant)
        /// The first time at which a slot is free.
        case limited(until: Instant)
    }

    /// Callers kept at a time. Beyond them a new caller is admitted and not counted: the limiter fails open
    /// (Docs/contract.md section 1.8).
    package static let devicesMax = 200_000
    private static let sweepMin = 1_024

    package let quota: Quota
    /// Admitted requests in the window, oldest first.
    private var admitted = SlotMap<LimitedCaller, [Instant]>()
    /// The number of callers at which those with an empty window are removed.
    private var sweepAt = RateLimiter.sweepMin

    package init(quota: Quota) {
        let window = min(max(.zero, quota.window), OriginLimits.intervalMax)
        self.quota = Quota(requests: quota.requests, window: window)
    }

    package var devices: Int { self.admitted.count }

    /// The first time at which a slot is free; nil if one is free now.
    package mutating func wait(of caller: LimitedCaller, at now: Instant) -> Instant? {
        let quota = self.quota
        guard quota.requests > 0 else { return now + quota.window }
        return self.admitted.update(caller) { moments -> Instant? in
            let gone = moments.prefix { $0 + quota.window <= now }.count
            if gone > 0 { moments.removeFirst(gone) }
            guard moments.count < quota.requests else { return (moments.first ?? now) + quota.window }
            return nil
        } ?? nil
    }

    package mutating func ask(_ caller: LimitedCaller, at now: Instant) -> Verdict {
        if let free = self.wait(of: caller, at: now) { return .limited(until: free) }
        let quota = self.quota
        let counted = self.admitted.update(caller) { moments in
            moments.append(now)
            return (moments.count, moments.first ?? now)
        }
        if let (count, oldest) = counted {
            return .admitted(remaining: quota.requests - count, reset: oldest + quota.window)
        }
        if self.admitted.count >= self.sweepAt { self.sweep(at: now) }
        if self.admitted.count < Self.devicesMax { self.admitted[caller] = [now] }
        return .admitted(remaining: quota.requests - 1, reset: now + quota.window)
    }

    private mutating func sweep(at now: Instant) {
        for (caller, moments) in self.admitted.entries
        where moments.last.map({ $0 + self.quota.window <= now }) ?? true {
            self.admitted[caller] = nil
        }
        self.sweepAt = max(Self.sweepMin, 2 * self.admitted.count)
    }
}

extension RateLimiter {
    /// The header fields, with B3's names. `Reset` is in seconds since 1970, rounded up.
    package static func headers(
        _ quota: Quota, remaining: Int, reset: Instant, wallClockAtZero: Int64
    ) -> [HeaderField] {
        let wall = wallClockAtZero + (reset - Instant.zero).wholeMilliseconds
        return [
            HeaderField("X-RateLimit-Limit", String(quota.requests)),
            HeaderField("X-RateLimit-Remaining", String(remaining)),
            HeaderField("X-RateLimit-Reset", String((wall + 999) / 1_000)),
        ]
    }
}
