import JSON
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

// The exchange of a token for a new one (Docs/contract.md section 2.5), which only clients of WebSocket need.

extension Backend {
    mutating func refreshRequested(_ exchange: ExchangeID, method: String, into effects: inout [OriginEffect])
    {
        guard method == "POST" else {
            let allow = HeaderField("Allow", "POST")
            return self.refuseUnrouted(
                exchange, .methodNotAllowed, "This path does not take this method.", [allow],
                path: TokenRefresh.path, into: &effects)
        }
        self.refreshes[exchange] = true
        effects.append(.readUpload(exchange))
    }

    /// - Returns: Whether the body is that of a request for a new token. Nil bytes: it cannot be read.
    mutating func refreshUploaded(
        _ exchange: ExchangeID, _ bytes: [UInt8]?, into effects: inout [OriginEffect]
    ) -> Bool {
        guard !self.refreshes.isEmpty, self.refreshes[exchange] != nil else { return false }
        self.refreshes[exchange] = nil
        do throws(Refusal) {
            let body = try self.refreshed(bytes ?? [])
            effects.append(
                .reply(
                    exchange,
                    OriginReply(
                        status: 200, headers: [HeaderField("Content-Type", Contract.jsonType)], body: body)))
        } catch {
            effects.append(
                .reply(
                    exchange,
                    self.problem(exchange, error.coded(in: .v2), instance: TokenRefresh.path, .v2)))
        }
        return true
    }

    /// The body of the answer to a request with these bytes.
    private mutating func refreshed(_ bytes: [UInt8]) throws(Refusal) -> [UInt8] {
        guard let request = TokenRefresh(bytes) else {
            throw Refusal(.invalidRequest, "The body must be {jobId, oldToken}.")
        }
        guard let key = JobKey(jobID: request.jobId), let job = self.jobs[key], job.facts.id == request.jobId
        else { throw .unknownJob }
        let now = self.now
        switch job.token.verdict(on: Bearer(authorization: "Bearer " + request.oldToken), at: now) {
        case .wrong: throw Refusal(.invalidToken, "The token is not this job's.")
        case .expired: throw .tokenExpired
        case .valid: break
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
        return V2Envelope.success(timestamp: self.wall) { writer in
            writer.member("expiresIn", lifetime.nanoseconds / 1_000_000_000)
            writer.member("token", secret.text)
        }
    }
}
