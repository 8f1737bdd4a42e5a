import Observations
import SimBase
import Talaria

// A job that is followed by requests for its status, from the upload on or after the first loss of its stream
// (Docs/contract.md section 1.4).

extension App {
    /// Whether the phone asks for the status of its jobs, and opens no stream.
    var pollsFromUpload: Bool { self.profile.status.polling == .always }

    /// Whether it does so once a stream is lost.
    var pollsAfterLoss: Bool { self.profile.status.polling == .afterLoss }

    /// A stream was lost, and its client requests the status of the job instead of opening it again.
    mutating func pollAfterLoss(_ index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        guard let episode = self.active[index].stage.episode else {
            preconditionFailure("a lost stream without a loss")
        }
        let scan = self.active[index].number
        self.observe(
            .reconnectSuperseded(
                job: self.active[index].jobID, episode.cause, attempts: episode.attempts),
            of: scan, at: now, into: &effects)
        self.active[index].stage = self.active[index].stage.followedByStatus(at: now)
    }

    mutating func requestStatus(_ index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        guard case .unpolled(let poll, _) = self.active[index].stage else {
            preconditionFailure("a status that is not awaited")
        }
        guard poll.requests < self.profile.status.requestsMax else {
            self.giveUp(
                self.active[index].number, .statusBudget, job: .deletedWithScan, at: now, into: &effects)
            return
        }
        let attempt = self.active[index].scan.nextAttempt(.status)
        self.note(.put(self.active[index].scan.record), into: &effects)
        self.active[index].stage = self.active[index].stage.polled()
        let job = self.active[index].job
        self.send(
            RequestPlan(
                purpose: .status, scan: self.active[index].number, attempt: attempt, method: "GET",
                target: self.profile.journey.path(.job(jobId: job.jobId)), job: job, headers: [],
                lastEventID: nil,
                body: .none, timeout: self.profile.timeout(of: .status)),
            at: now, into: &effects)
    }

    mutating func statusAnswered(
        _ exchange: Exchange, _ answer: Answer, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(exchange.scan) else {
            preconditionFailure("a status without a scan")
        }
        let job = self.active[index].jobID
        var answer = answer
        let judgement = StatusJudgement.judge(&answer, jobId: job, self.profile)
        self.observe(answer, exchange, at: now, into: &effects)
        switch judgement {
        case .status(let status):
            self.observe(
                .statusDecoded(job: job, status: status, took: now - exchange.sentAt), of: exchange.scan,
                at: now, into: &effects)
            self.jobIs(status, index, at: now, into: &effects)
        case .jobEnded(.tokenExpired) where self.showedOldToken(exchange),
            .jobEnded(.tokenRefused) where self.showedOldToken(exchange):
            self.statusMissed(exchange.scan, after: nil, isFailure: false, at: now)
        case .jobEnded(let end):
            self.jobEnded(exchange.scan, end, at: now, into: &effects)
        case .limited(let asked):
            self.observe(
                .rateLimited(.status, retryAfter: asked ?? .zero), of: exchange.scan, at: now,
                into: &effects)
            self.statusMissed(exchange.scan, after: asked, isFailure: false, at: now)
        case .again(let asked):
            self.statusFailed(exchange.scan, .serverError, after: asked, at: now, into: &effects)
        case .bad(let bad):
            self.observe(bad: bad, exchange, at: now, into: &effects)
            self.statusFailed(exchange.scan, bad.waitingCause, at: now, into: &effects)
        }
    }

    private mutating func jobIs(
        _ status: JobStatus, _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        switch status {
        case .initialized, .queued, .processing:
            let next = now + self.profile.status.interval
            self.active[index].stage = self.active[index].stage.running(next: next)
        case .completed:
            let fetch = ActiveScan.ResultsFetch(
                target: self.resultsTarget(nil, self.active[index].job), booksPromised: nil)
            self.active[index].stage = self.active[index].stage.completed(fetch, at: now)
            if self.pathAvailable { self.requestResults(index, at: now, into: &effects) }
        case .failed, .canceled:
            // The status does not say why, and nothing is refused without a reason.
            self.uploadAfterError(index, at: now, into: &effects)
        }
    }

    /// The status could not be had. `cause`: why the scan waits, if that was once too often.
    mutating func statusFailed(
        _ scan: ScanNumber, _ cause: WaitingCause, after asked: Interval? = nil, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        self.statusMissed(scan, after: asked, isFailure: true, at: now)
        guard let index = self.activeIndex(scan),
            self.active[index].stage.statusFailures > self.profile.status.failuresMax
        else { return }
        self.giveUp(scan, cause, job: .deletedWithScan, at: now, into: &effects)
    }

    /// Waits until the status may be requested again. The server may have answered a request whose answer was lost, so that
    /// the interval holds after each.
    mutating func statusMissed(
        _ scan: ScanNumber, after asked: Interval?, isFailure: Bool, at now: Instant
    ) {
        guard let index = self.activeIndex(scan) else { preconditionFailure("a status without a scan") }
        let attempt = self.active[index].scan.record.attempts.status
        self.active[index].stage = self.active[index].stage.missed(
            atLeast: max(asked ?? .zero, self.profile.status.interval), isFailure: isFailure,
            self.profile.backoffOfRequests, draw: self.jitter(.status, scan, attempt: attempt), at: now)
    }
}
