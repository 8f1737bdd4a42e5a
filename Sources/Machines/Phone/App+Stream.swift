import Observations
import SimBase
import Talaria
import Wire

// The stream of a job: opened, lost, opened again. What it says is read in App+Events.

extension App {
    /// The record of a new job is durable.
    mutating func jobRecorded(_ scan: ScanNumber, at now: Instant, into effects: inout [PhoneEffect]) {
        guard let index = self.activeIndex(scan) else { preconditionFailure("a job without a scan") }
        self.observeTransport(index, at: now, into: &effects)
        if self.pollsFromUpload {
            let first = now + self.profile.status.interval
            self.active[index].stage = self.active[index].stage.followedByStatus(at: first)
        } else if self.pathAvailable {
            let attempt = self.active[index].scan.record.attempts.stream
            self.active[index].stage = self.active[index].stage.requested()
            self.requestStream(index, attempt: attempt, at: now, into: &effects)
        } else {
            self.streamLost(scan, .offline, after: nil, at: now, into: &effects)
        }
    }

    private mutating func observeTransport(_ index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        let job = self.active[index].job
        guard job.transport != .sse else { return }
        self.observe(
            .jobFollowed(job: job.jobId, by: job.transport), of: self.active[index].number, at: now,
            into: &effects)
    }

    /// A scan that was restored with a job: back to its stream.
    mutating func startFollowing(_ scan: Scan, at now: Instant, into effects: inout [PhoneEffect]) {
        var scan = scan
        scan.record.cause = WaitingCause.interrupted.rawValue
        guard !self.pollsFromUpload else {
            let pause = ActiveScan.Pause(until: now, floor: now)
            self.active.append(ActiveScan(scan: scan, stage: .unpolled(ActiveScan.StatusPoll(), pause)))
            self.followToken(self.active.count - 1)
            self.requestStatus(self.active.count - 1, at: now, into: &effects)
            return
        }
        self.active.append(ActiveScan(scan: scan, stage: .opening(ActiveScan.JobStream(), nil)))
        self.followToken(self.active.count - 1)
        self.observeTransport(self.active.count - 1, at: now, into: &effects)
        self.openStream(self.active.count - 1, at: now, into: &effects)
    }

    private mutating func openStream(_ index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        let attempt = self.active[index].scan.nextAttempt(.stream)
        self.note(.put(self.active[index].scan.record), into: &effects)
        self.requestStream(index, attempt: attempt, at: now, into: &effects)
    }

    private mutating func requestStream(
        _ index: Int, attempt: UInt32, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let job = self.active[index].job
        guard self.profile.stream.resolvesRelativeAddress || !ServerText.isPath(job.sseUrl) else {
            // Nothing is sent, and no later try could end otherwise.
            self.giveUp(
                self.active[index].number, .foreignURL, job: .deletedWithScan, at: now, into: &effects)
            return
        }
        let number = self.active[index].number
        var plan = RequestPlan(
            purpose: .stream, scan: number, attempt: attempt, method: "GET",
            target: self.streamTarget(job), job: job, headers: [], lastEventID: nil, body: .none,
            timeout: self.profile.stream.connectTimeout)
        switch job.transport {
        case .sse:
            plan.headers = [HeaderField("Accept", "text/event-stream")]
            plan.lastEventID =
                self.profile.stream.resumes && !job.lastEventID.isEmpty ? job.lastEventID : nil
        case .websocket:
            let handshake = self.handshake(of: job, scan: number, attempt: attempt)
            plan.target = self.socketTarget(plan.target, of: job, attempt: attempt)
            plan.headers = handshake.fields.fields
            plan.handshake = handshake
        }
        self.send(plan, at: now, into: &effects)
    }

    /// The address of a stream, with the token of the job where this client has it there.
    private func streamTarget(_ job: DurableJob) -> String {
        guard self.profile.token.stream == .query, let token = job.authToken else { return job.sseUrl }
        return job.sseUrl + (job.sseUrl.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + "token="
            + ServerText.queryValue(token)
    }

    /// The 200 head of an event stream came.
    mutating func streamOpened(_ exchange: Exchange, at now: Instant, into effects: inout [PhoneEffect]) {
        guard let index = self.activeIndex(exchange.scan) else {
            preconditionFailure("a stream without a scan")
        }
        let job = self.active[index].job.jobId
        let episode = self.active[index].stage.episode
        self.active[index].stage = self.active[index].stage.opened(
            resumed: exchange.lastEventID != nil, isSocket: exchange.handshake != nil, self.profile.stream,
            at: now)
        self.observe(
            .streamOpened(
                job: job, attempt: exchange.attempt, after: exchange.lastEventID, took: now - exchange.sentAt),
            of: exchange.scan, at: now, into: &effects)
        guard let episode else { return }
        self.observe(
            .reconnected(
                job: job, episode.cause, attempts: episode.attempts, resumed: exchange.lastEventID != nil,
                took: now - episode.noticedAt),
            of: exchange.scan, at: now, into: &effects)
    }

    /// Something other than an event stream was answered.
    mutating func streamAnswered(
        _ exchange: Exchange, _ answer: Answer, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        var answer = answer
        let judgement = StreamJudgement.judge(&answer, self.profile)
        self.observe(answer, exchange, at: now, into: &effects)
        switch judgement {
        case .jobEnded(.tokenExpired) where self.showedOldToken(exchange),
            .jobEnded(.tokenRefused) where self.showedOldToken(exchange):
            self.streamLost(exchange.scan, .refusedByStatus, after: nil, at: now, into: &effects)
        case .jobEnded(let end):
            self.jobEnded(exchange.scan, end, at: now, into: &effects)
        case .lost(let cause, let asked, let bad):
            self.observe(bad: bad, exchange, at: now, into: &effects)
            if answer.head.status == 429 {
                self.observe(
                    .rateLimited(.stream, retryAfter: asked ?? .zero), of: exchange.scan, at: now,
                    into: &effects)
            }
            self.streamLost(exchange.scan, cause, after: asked, at: now, into: &effects)
        case .refused(let asked):
            self.observe(bad: .unexpectedStatus, exchange, at: now, into: &effects)
            self.streamLost(exchange.scan, .refusedByStatus, after: asked, at: now, into: &effects)
            // Else it was the last loss that the profile allows, or the status of the job is requested instead.
            guard let index = self.activeIndex(exchange.scan),
                case .disconnected = self.active[index].stage
            else { return }
            self.active[index].stage = self.active[index].stage.refused()
            guard case .disconnected(let stream, _, _) = self.active[index].stage,
                stream.refusals >= self.profile.stream.attemptsMax ?? AppLimits.streamRefusalsMax
            else { return }
            self.giveUp(
                exchange.scan, .unexpectedStatus, job: .deletedWithScan, at: now, into: &effects)
        }
    }

    /// The request for a stream failed below HTTP.
    mutating func streamNotOpened(
        _ exchange: Exchange, _ failure: TransportFailure, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let cause: LossCause =
            switch failure {
            case .noPath: .offline
            case .timedOut: .noAnswer
            case .foreignURL: .foreignURL
            case .nameNotResolved, .connectRefused, .connectFailed, .connectTimedOut, .tls, .reset,
                .closedBeforeReply, .closedEarly, .descriptorsExhausted, .malformed, .other:
                .connectFailed
            }
        if cause == .foreignURL { self.observeForeignURL(exchange, at: now, into: &effects) }
        self.streamLost(exchange.scan, cause, after: nil, at: now, into: &effects)
        // No later try could end otherwise.
        guard cause == .foreignURL, let index = self.activeIndex(exchange.scan),
            case .disconnected = self.active[index].stage
        else { return }
        self.giveUp(exchange.scan, .foreignURL, job: .deletedWithScan, at: now, into: &effects)
    }

    /// Reports a foreign URL in the response to an upload. Only the driver that knows the target can detect
    /// it.
    private mutating func observeForeignURL(
        _ exchange: Exchange, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(exchange.scan) else { return }
        var notes = ContractNotes()
        notes.add(
            "data.sseUrl", expected: "a path, or a URL of the target", seen: "another server",
            excerpt: ServerText.shown(address: self.active[index].job.sseUrl), isDecisive: true)
        self.observe(notes, of: exchange.scan, .upload, "202", at: now, into: &effects)
    }

    /// A stream, or an attempt to open one, is over without a terminal event. Its request is out of our hands already.
    mutating func streamLost(
        _ scan: ScanNumber, _ cause: LossCause, after asked: Interval?, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(scan) else { preconditionFailure("a stream without a scan") }
        let attempt = self.active[index].scan.record.attempts.stream
        let silence = self.active[index].stage.lastByteAt.map { now - $0 }
        self.observe(
            .streamLost(
                job: self.active[index].job.jobId, attempt: attempt, cause,
                silence: cause == .silence ? silence : nil),
            of: scan, at: now, into: &effects)
        self.active[index].stage = self.active[index].stage.lost(
            cause, asked: asked, self.profile.streamBackoff,
            draw: self.jitter(.stream, scan, attempt: attempt), at: now)
        if self.pollsAfterLoss {
            self.pollAfterLoss(index, at: now, into: &effects)
        } else {
            self.giveUpAfterLoss(scan, cause, at: now, into: &effects)
        }
    }

    /// A client that does not reconnect, or not any more, has lost the scan with the stream.
    private mutating func giveUpAfterLoss(
        _ scan: ScanNumber, _ cause: LossCause, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        if let max = self.profile.stream.attemptsMax, let index = self.activeIndex(scan),
            case .disconnected(let stream, let episode, _) = self.active[index].stage, stream.losses >= max
        {
            self.giveUp(
                scan, episode.waitingCause ?? .transport, job: .deletedWithScan, at: now, into: &effects)
            return
        }
        switch cause {
        case .endWithoutTerminal:
            guard self.profile.stream.afterEnd == .finishes else { return }
            self.giveUp(scan, .interrupted, job: .left, at: now, into: &effects)
        case .connectFailed, .reset, .silence, .offline, .killed, .handover, .noAnswer, .foreignURL,
            .closedGoingAway, .closedProtocolError, .closedPolicyViolation, .closedMessageTooBig,
            .closedInternalError, .closedServiceRestart, .closedTryAgainLater, .closedOtherwise:
            switch self.profile.stream.afterLoss {
            case .reconnects: return
            case .fails: self.giveUp(scan, .transport, job: .deletedWithScan, at: now, into: &effects)
            case .reportsFailure:
                guard let index = self.activeIndex(scan) else { return }
                self.active[index].stage = self.active[index].stage.reportedFailure()
            }
        case .refusedByStatus, .badAnswer: break
        }
    }

    /// The token does not open the job any more, or the job is gone: a new upload of the same scan, as often as the
    /// profile allows, then it waits for the next launch. No DELETE: it would be rejected as well.
    mutating func jobEnded(
        _ scan: ScanNumber, _ end: JobEnd, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(scan) else { preconditionFailure("a job without a scan") }
        let job = self.active[index].job.jobId
        let retry = UploadRetry.jobEnded(
            end, before: self.active[index].scan.record.tokenExpiries, max: self.profile.token.uploadsMax)
        let wasFetching = if case .fetching = self.active[index].stage { true } else { false }
        self.giveUpEpisodes(
            index, isSuperseded: retry.isAutomatic, resultsToo: wasFetching, at: now, into: &effects)
        self.observe(
            .jobAbandoned(job: job, cause: .waiting(end.waitingCause)), of: scan, at: now, into: &effects)
        self.active[index].scan.record.job = nil
        self.active[index].scan.record.tokenExpiries += 1
        self.active[index].scan.record.uploadDueUnixNs =
            retry.isAutomatic ? self.unixNanoseconds(at: now) : nil
        self.uploadAgain(scan, retry, at: now, into: &effects)
    }

    /// The job will not be followed any further: whatever was still to succeed has failed. `isSuperseded`: the server has
    /// answered, and its answer leads to a new upload. The loss of the stream is over then, though no head came.
    mutating func giveUpEpisodes(
        _ index: Int, isSuperseded: Bool, resultsToo: Bool, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        let job = self.active[index].job.jobId
        let scan = self.active[index].number
        if let episode = self.active[index].stage.episode {
            self.observe(
                isSuperseded
                    ? .reconnectSuperseded(job: job, episode.cause, attempts: episode.attempts)
                    : .reconnectGivenUp(job: job, episode.cause, attempts: episode.attempts),
                of: scan, at: now, into: &effects)
        }
        if resultsToo {
            self.observe(.resultsGivenUp(job: job), of: scan, at: now, into: &effects)
        }
        if self.active[index].stage.statusFailures > 0 {
            self.observe(.statusGivenUp(job: job), of: scan, at: now, into: &effects)
        }
    }

    /// Opens the streams and requests the results and the statuses whose wait is over.
    mutating func returnToJobs(at now: Instant, into effects: inout [PhoneEffect]) {
        // Nearly always there is none, and no list is made.
        guard self.hasDueJob(at: now) else { return }
        for scan in self.active.indices.map({ self.active[$0].number }) {
            guard let index = self.activeIndex(scan) else { continue }
            switch self.active[index].stage {
            case .disconnected(_, _, let pause) where pause.end <= now:
                self.active[index].stage = self.active[index].stage.requested()
                self.openStream(index, at: now, into: &effects)
            case .unfetched(_, let pause) where pause.end <= now:
                self.requestResults(index, at: now, into: &effects)
            case .unpolled(_, let pause) where pause.end <= now:
                self.requestStatus(index, at: now, into: &effects)
            case .disconnected, .unpolled, .unfetched, .uploading, .recording, .opening, .streaming, .polling,
                .fetching, .filing, .cleaning:
                break
            }
        }
    }

    /// Whether the wait for a stream, for results or for a status is over.
    private func hasDueJob(at now: Instant) -> Bool {
        for index in self.active.indices {
            switch self.active[index].stage {
            case .disconnected(_, _, let pause), .unfetched(_, let pause), .unpolled(_, let pause):
                if pause.end <= now { return true }
            case .uploading, .recording, .opening, .streaming, .polling, .fetching, .filing, .cleaning: break
            }
        }
        return false
    }
}
