internal import Faults
internal import SimBase
internal import Talaria

extension Backend {
    /// Whether an upload may come now: first by the armed faults, in their order, then by the server's own limit.
    /// Success carries the headers that tell how much is left.
    mutating func limit(
        _ asking: Asking, _ device: DeviceKey, into effects: inout [BackendEffect]
    ) -> Result<[HeaderLine], Refusal> {
        for fault in asking.faults {
            if case .httpError(let error) = fault.kind, fault.trigger == .atOnce {
                self.observeFired(fault.fault, asking, into: &effects)
                return .failure(Refusal(error))
            }
            guard case .rateLimit(let quota, let retryAfter) = fault.kind else { continue }
            if self.faultLimiters[fault.fault] == nil {
                self.faultLimiters[fault.fault] = RateLimiter(quota: quota)
            }
            let now = self.now
            switch self.faultLimiters.update(fault.fault, { $0.ask(device, at: now) }) {
            case .limited(let free):
                self.observeFired(fault.fault, asking, into: &effects)
                return .failure(self.limited(quota, until: free, retryAfter: retryAfter ?? free - now))
            case .admitted, nil: break
            }
        }
        guard let quota = self.configuration.rateLimit else { return .success([]) }
        switch self.limiter?.ask(device, at: self.now) {
        case .limited(let free):
            return .failure(self.limited(quota, until: free, retryAfter: free - self.now))
        case .admitted(let remaining, let reset):
            return .success(self.limitHeaders(quota, remaining: remaining, reset: reset))
        case nil:
            return .success([])
        }
    }

    private func limited(_ quota: Quota, until free: Instant, retryAfter: Interval) -> Refusal {
        .limited(
            quota, until: free, retryAfter: retryAfter, wallClockAtZero: self.configuration.wallClockAtZero)
    }

    private func limitHeaders(_ quota: Quota, remaining: Int, reset: Instant) -> [HeaderLine] {
        RateLimiter.headers(
            quota, remaining: remaining, reset: reset, wallClockAtZero: self.configuration.wallClockAtZero)
    }
}

extension Refusal {
    static func limited(
        _ quota: Quota, until free: Instant, retryAfter: Interval, wallClockAtZero: Int64
    ) -> Refusal {
        var refusal = Refusal(.rateLimitExceeded, "Too many requests from device")
        refusal.retryAfter = min(retryAfter, BackendConfiguration.intervalMax)
        refusal.headers = RateLimiter.headers(
            quota, remaining: 0, reset: free, wallClockAtZero: wallClockAtZero)
        return refusal
    }
}

extension RateLimiter {
    /// B3's header names. `Reset` is in seconds since 1970, rounded up.
    static func headers(
        _ quota: Quota, remaining: Int, reset: Instant, wallClockAtZero: Int64
    ) -> [HeaderLine] {
        let wall = wallClockAtZero + (reset - Instant.zero).wholeMilliseconds
        return [
            HeaderLine("X-RateLimit-Limit", String(quota.requests)),
            HeaderLine("X-RateLimit-Remaining", String(remaining)),
            HeaderLine("X-RateLimit-Reset", String((wall + 999) / 1_000)),
        ]
    }
}
