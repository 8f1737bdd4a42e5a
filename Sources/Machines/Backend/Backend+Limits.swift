internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria

extension Backend {
    /// Whether an upload may come now: first by the armed faults, in their order, then by the server's own limit.
    /// Success carries the headers that tell how much is left.
    mutating func limit(
        _ context: RequestContext, _ device: DeviceKey, into effects: inout [OriginEffect]
    ) -> Result<[HeaderLine], Refusal> {
        for fault in context.faults {
            if case .httpError(let error) = fault.kind, fault.trigger == .atOnce {
                self.observeFired(fault.fault, context, into: &effects)
                return .failure(Refusal(error))
            }
            guard case .rateLimit(let quota, let retryAfter) = fault.kind else { continue }
            if self.faultLimiters[fault.fault] == nil {
                self.faultLimiters[fault.fault] = RateLimiter(quota: quota)
            }
            let now = self.now
            switch self.faultLimiters.update(fault.fault, { $0.ask(device, at: now) }) {
            case .limited(let free):
                self.observeFired(fault.fault, context, into: &effects)
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
