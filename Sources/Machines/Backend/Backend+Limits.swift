internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria

extension Backend {
    /// Whether an upload may come now: first by the armed faults, in their order, then by the server's own
    /// limits. Success carries the headers with the remaining limit.
    mutating func limit(
        _ context: RequestContext, _ device: DeviceKey, _ address: String?,
        into effects: inout [OriginEffect]
    ) -> Result<[HeaderField], Refusal> {
        if let refusal = self.faults.refusal(ofUpload: context, device: device, at: self.now, into: &effects)
        {
            return .failure(refusal)
        }
        return self.limit(context, device, address)
    }

    /// Whether a request is within each limit that counts it. One that exceeds a limit counts for none.
    mutating func limit(
        _ context: RequestContext, _ device: DeviceKey?, _ address: String?
    ) -> Result<[HeaderField], Refusal> {
        let (now, wallClockAtZero) = (self.now, self.configuration.wallClockAtZero)
        let asked = self.limits.indices.filter {
            self.limits[$0].rule.counts(context.operation, of: context.journey)
        }.map { ($0, self.caller(context, device, address, sharing: self.limits[$0].rule.scope)) }
        var longest: (rule: RateLimitRule, free: Instant)?
        for (index, caller) in asked {
            guard let free = self.limits[index].limiter.wait(of: caller, at: now),
                longest.map({ $0.free < free }) ?? true
            else { continue }
            longest = (self.limits[index].rule, free)
        }
        if let (rule, free) = longest {
            return .failure(
                .limited(
                    rule.quota, per: rule.scope, until: free, retryAfter: free - now,
                    wallClockAtZero: wallClockAtZero))
        }
        var tightest: (quota: Quota, remaining: Int, reset: Instant)?
        for (index, caller) in asked {
            guard case .admitted(let remaining, let reset) = self.limits[index].limiter.ask(caller, at: now),
                remaining < tightest?.remaining ?? .max
            else { continue }
            tightest = (self.limits[index].rule.quota, remaining, reset)
        }
        return .success(
            tightest.map {
                RateLimiter.headers(
                    $0.quota, remaining: $0.remaining, reset: $0.reset, wallClockAtZero: wallClockAtZero)
            } ?? [])
    }

    /// The caller as a limit of this scope counts it.
    private func caller(
        _ context: RequestContext, _ device: DeviceKey?, _ address: String?,
        sharing scope: RateLimitRule.Scope
    ) -> LimitedCaller {
        let caller = context.caller
        switch scope {
        case .all: return .everybody
        case .address where !caller.isForeign:
            return .phones(caller.device.raw / UInt32(clamping: self.configuration.phonesPerAddress))
        case .address: if let address { return .address(address) }
        case .device: break
        }
        return .device(device ?? DeviceKey(caller: caller.device))
    }
}
