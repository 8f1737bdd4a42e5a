import Observations
import SimBase
import Talaria

// The token of a job that is followed by WebSocket is exchanged for a new one before it expires (Docs/contract.md section 2.5).

extension App {
    /// When the token that a job has got now is to be exchanged, by the run's wall clock; nil if it is not.
    func refreshDue(of job: DurableJob, at now: Instant) -> Int64? {
        guard job.transport == .websocket, job.authToken != nil, let after = self.profile.token.refreshAfter
        else { return nil }
        return self.unixNanoseconds(at: now + after)
    }

    /// Notes the time in a scan that is worked on, from its record.
    mutating func followToken(_ index: Int) {
        let due = self.active[index].scan.record.job?.refreshDueUnixNs
        self.active[index].refreshDue = due.map { self.instant(ofUnixNanoseconds: $0) }
    }

    /// Nil while an exchange is under way, and for a job that needs no token any more or is not durable yet.
    func refreshWake(_ index: Int) -> Instant? {
        guard let due = self.active[index].refreshDue, self.active[index].stage.needsToken,
            self.refreshIndex(of: self.active[index].number) == nil
        else { return nil }
        return due
    }

    mutating func exchangeDueTokens(at now: Instant, into effects: inout [PhoneEffect]) {
        for index in self.active.indices {
            guard let due = self.refreshWake(index), due <= now else { continue }
            self.exchangeToken(index, at: now, into: &effects)
        }
    }

    private mutating func exchangeToken(_ index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        let job = self.active[index].job
        guard let token = job.authToken else { return }
        let attempt = self.active[index].scan.nextAttempt(.refresh)
        self.note(.put(self.active[index].scan.record), into: &effects)
        self.send(
            RequestPlan(
                purpose: .refresh, scan: self.active[index].number, attempt: attempt, method: "POST",
                target: self.profile.journey.path(.refresh), job: job, headers: [], lastEventID: nil,
                body: .token(TokenRefresh(jobId: job.jobId, oldToken: token)),
                timeout: self.profile.timeout(of: .refresh)),
            at: now, into: &effects)
    }

    private func refreshIndex(of scan: ScanNumber) -> Int? {
        for index in self.exchanges.indices
        where self.exchanges[index].purpose == .refresh && self.exchanges[index].scan == scan {
            return index
        }
        return nil
    }

    mutating func abortRefresh(of scan: ScanNumber, into effects: inout [PhoneEffect]) {
        guard let index = self.refreshIndex(of: scan) else { return }
        self.exchanges.remove(at: index).abort(into: &effects)
    }

    // MARK: Its answer

    /// The scan whose job a token was requested for, as long as it has that job.
    private func refreshed(_ exchange: Exchange) -> Int? {
        self.activeIndex(exchange.scan).flatMap { index in
            self.active[index].scan.record.job?.jobId == exchange.job ? index : nil
        }
    }

    /// Whether a request was sent with a token that was exchanged since: that it is refused says nothing of the new one.
    func showedOldToken(_ exchange: Exchange) -> Bool {
        self.refreshed(exchange).flatMap { self.active[$0].tokenSince }.map { exchange.sentAt < $0 } ?? false
    }

    mutating func refreshAnswered(
        _ exchange: Exchange, _ answer: Answer, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        var answer = answer
        let judgement = RefreshJudgement.judge(&answer)
        self.observe(answer, exchange, at: now, into: &effects)
        switch judgement {
        case .token(let new):
            self.replaceToken(by: new, exchange, at: now, into: &effects)
        case .again(let asked):
            if answer.head.status == 429 {
                self.observe(
                    .rateLimited(.refresh, retryAfter: asked ?? .zero), of: exchange.scan, at: now,
                    into: &effects)
            }
            self.refreshFailed(exchange, after: asked, at: now)
        case .bad(let bad):
            self.observe(bad: bad, exchange, at: now, into: &effects)
            // The old token is used to its end. If it has come, the next answer says so.
            if let index = self.refreshed(exchange) { self.active[index].refreshDue = nil }
        }
    }

    private mutating func replaceToken(
        by new: NewToken, _ exchange: Exchange, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let job = exchange.job else { preconditionFailure("a token without a job") }
        self.observe(
            .tokenExchanged(job: job, took: now - exchange.sentAt), of: exchange.scan, at: now,
            into: &effects)
        guard let index = self.refreshed(exchange) else { return }
        let left = new.life.map { $0 - TokenRefresh.window }.flatMap { $0 > .zero ? $0 : nil }
        let due = (left ?? self.profile.token.refreshAfter).map { self.unixNanoseconds(at: now + $0) }
        self.active[index].scan.record.job?.authToken = new.token
        self.active[index].tokenSince = now
        for cleanup in self.cleanups.indices where self.cleanups[cleanup].job.jobId == job {
            self.cleanups[cleanup].job.authToken = new.token
        }
        self.active[index].scan.record.job?.refreshDueUnixNs = due
        self.active[index].refreshBackoff.succeeded()
        self.note(.put(self.active[index].scan.record), into: &effects)
        self.followToken(index)
    }

    /// The token could not be had. After some failures the old one is used to its end.
    mutating func refreshFailed(_ exchange: Exchange, after asked: Interval?, at now: Instant) {
        guard let index = self.refreshed(exchange) else { return }
        let draw = self.jitter(.refresh, exchange.scan, attempt: exchange.attempt)
        let wait = self.active[index].refreshBackoff.failed(self.profile.backoffOfRequests, draw: draw)
        self.active[index].refreshDue =
            self.active[index].refreshBackoff.failures > AppLimits.refreshFailuresMax
            ? nil : now + max(wait, asked ?? .zero)
    }
}
