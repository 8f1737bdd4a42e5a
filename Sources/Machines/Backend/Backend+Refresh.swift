import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

// The exchange of a token for a new one (Docs/contract.md section 2.5), which only clients of WebSocket need.

extension Backend {
    /// The job is named by the body alone, which is still to come.
    mutating func refreshRequested(_ context: RequestContext, into effects: inout [OriginEffect]) {
        if let (refusal, _) = self.faults.refusal(ofJobRequest: context, at: self.now, into: &effects) {
            return self.refuse(context, refusal, into: &effects)
        }
        self.refreshes[context.exchange] = context
        effects.append(.readUpload(context.exchange))
    }

    /// - Returns: Whether the body is that of a request for a new token. Nil bytes: it cannot be read.
    mutating func refreshUploaded(
        _ exchange: ExchangeID, _ bytes: [UInt8]?, into effects: inout [OriginEffect]
    ) -> Bool {
        guard !self.refreshes.isEmpty, let context = self.refreshes[exchange] else { return false }
        self.refreshes[exchange] = nil
        do throws(Refusal) {
            let new = try self.refreshed(bytes ?? [], into: &effects)
            self.reply(
                context,
                v2: { writer in
                    writer.member("expiresIn", new.life.nanoseconds / 1_000_000_000)
                    writer.member("token", new.secret.text)
                }, into: &effects)
        } catch {
            self.refuse(context, error, into: &effects)
        }
        return true
    }

    /// The token after a request with these bytes, and what is left of its life.
    ///
    /// The answer to a request may be lost. Who comes again with the token that was replaced, while it is still good, gets the one
    /// that replaced it.
    private mutating func refreshed(
        _ bytes: [UInt8], into effects: inout [OriginEffect]
    ) throws(Refusal) -> (secret: TokenSecret, life: Interval) {
        guard let request = TokenRefresh(bytes) else {
            throw Refusal(.invalidRequest, "The body must be {jobId, oldToken}.")
        }
        guard let key = JobKey(jobID: request.jobId), let job = self.jobs[key], !job.isCleaned,
            job.facts.id == request.jobId
        else { throw .unknownJob }
        let now = self.now
        let presented = Bearer(authorization: "Bearer " + request.oldToken)
        switch job.token.verdict(on: presented, at: now) {
        case .wrong: throw Refusal(.invalidToken, "The token is not this job's.")
        case .expired: throw .tokenExpired
        case .valid: break
        }
        guard presented == .secret(job.token.secret) else {
            return (job.token.secret, job.token.expires - now)
        }
        guard job.token.expires - now <= TokenRefresh.window else {
            throw Refusal(.invalidRequest, "The token is good for more than 30 minutes.")
        }
        let lifetime = self.configuration.tokenLifetime
        let (device, scan) = (UInt64(job.facts.owner.device.raw), UInt64(job.facts.owner.scan.raw))
        let count = UInt64(bitPattern: now.nanoseconds)
        let secret = TokenSecret { self.random.draw(.token, device, scan, count &* 4 &+ $0 &+ 1) }
        self.jobs.update(key) { job in
            job.token = job.token.replaced(by: secret, until: now + lifetime, at: now)
            job.socketUse = .none
        }
        effects.append(.observe(self.payload(job.facts.owner, .tokenExchanged(job: job.facts.id))))
        return (secret, lifetime)
    }
}
