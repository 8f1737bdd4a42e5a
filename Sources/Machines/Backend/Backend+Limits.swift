internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria

extension Backend {
    /// Whether an upload may come now: first by the armed faults, in their order, then by the server's own
    /// limit. Success carries the headers with the remaining limit.
    mutating func limit(
        _ context: RequestContext, _ device: DeviceKey, into effects: inout [OriginEffect]
    ) -> Result<[HeaderField], Refusal> {
        if let refusal = self.faults.refusal(ofUpload: context, device: device, at: self.now, into: &effects)
        {
            return .failure(refusal)
        }
        guard let quota = self.configuration.rateLimit else { return .success([]) }
        switch self.limiter?.ask(device, at: self.now) {
        case .limited(let free):
            return .failure(
                .limited(
                    quota, until: free, retryAfter: free - self.now,
                    wallClockAtZero: self.configuration.wallClockAtZero))
        case .admitted(let remaining, let reset):
            return .success(self.limitHeaders(quota, remaining: remaining, reset: reset))
        case nil:
            return .success([])
        }
    }

    private func limitHeaders(_ quota: Quota, remaining: Int, reset: Instant) -> [HeaderField] {
        RateLimiter.headers(
            quota, remaining: remaining, reset: reset, wallClockAtZero: self.configuration.wallClockAtZero)
    }
}
