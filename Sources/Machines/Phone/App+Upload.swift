import Observations
import SimBase
import Talaria

// From a prepared photo to a job with a durable record.

extension App {
    mutating func startUpload(_ scan: Scan, at now: Instant, into effects: inout [PhoneEffect]) {
        guard case .prepared(let bytes) = scan.photo else {
            preconditionFailure("an upload without its photo")
        }
        var scan = scan
        let attempt = scan.nextAttempt(.upload)
        // What a fresh process is to find if this one is killed.
        scan.record.cause = WaitingCause.interrupted.rawValue
        self.note(.put(scan.record), into: &effects)
        self.takeArm(of: &scan, attempt: attempt, at: now, into: &effects)
        self.active.append(ActiveScan(scan: scan, stage: .uploading))
        if let book = self.bookWithoutLookup(of: scan) {
            return self.file([book], promised: nil, self.active.count - 1, at: now, into: &effects)
        }
        let body = self.uploadBody(of: scan)
        let photos = scan.record.photos
        // In two steps, so that no size of a photo can overflow.
        let (whole, rest) = Int64(min(bytes, .max / photos) * photos).quotientAndRemainder(
            dividingBy: AppLimits.uploadBytesPerSecondMin)
        let transfer =
            Interval.seconds(min(whole, 86_400))
            + .nanoseconds(rest * 1_000_000_000 / AppLimits.uploadBytesPerSecondMin)
        self.send(
            RequestPlan(
                purpose: .upload, scan: scan.number, attempt: attempt, method: "POST",
                target: self.uploadPath(scan),
                job: nil, headers: [HeaderField("User-Agent", self.profile.upload.userAgent)],
                lastEventID: nil,
                body: body, timeout: self.profile.timeout(of: .upload) + transfer),
            at: now, into: &effects)
        guard case .lookup(_, let request) = body, let key = request.idempotencyKey else { return }
        self.observe(.keySent(attempt: attempt, key: key), of: scan.number, at: now, into: &effects)
    }

    private func uploadBody(of scan: Scan) -> AppRequest.Body {
        let journey = scan.record.journey
        if journey.hasPhotos { return .photos(scan.number, count: scan.record.photos) }
        if let reading = scan.reading { return .text(scan.number, TextRequest(reading)) }
        guard let barcode = scan.barcode else { return .document(scan.number, journey.payload) }
        return .lookup(
            scan.number, EnrichmentRequest(barcode: barcode, key: EnrichmentRequest.key(barcode: barcode)))
    }

    mutating func uploadAnswered(
        _ exchange: Exchange, _ answer: Answer, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let journey = self.journey(of: exchange.scan)
        guard journey.hasJobs else {
            return journey == .textEnrichment
                ? self.textAnswered(exchange, answer, at: now, into: &effects)
                : self.lookupAnswered(exchange, answer, at: now, into: &effects)
        }
        var answer = answer
        let judgement = UploadJudgement.judge(
            &answer, self.profile.journey.version.envelopesBodies ? .v2 : self.profile.upload.answer,
            obeysRetryable: self.profile.upload.obeysRetryable,
            transport: self.transport(of: exchange.scan),
            hasTokenInQuery: self.profile.token.stream == .query)
        self.observe(answer, exchange, at: now, into: &effects)
        if self.fallsBack(exchange.scan, answer.head.status) {
            let retry = UploadRetry(cause: .unexpectedStatus, wait: .none, atLeast: .zero)
            self.uploadAgain(exchange.scan, retry, at: now, into: &effects)
            return
        }
        self.act(on: judgement, exchange, answer, at: now, into: &effects)
    }

    mutating func act(
        on judgement: UploadJudgement, _ exchange: Exchange, _ answer: Answer, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        switch judgement {
        case .accepted(let job):
            self.accepted(exchange, job, at: now, into: &effects)
        case .limited(let asked):
            let wait = asked ?? self.profile.waits.rateLimitDefault
            if self.profile.waits.isSetAnew { self.gate.reset() }
            self.gate.limited(for: wait, at: now)
            self.observe(.rateLimited(.upload, retryAfter: wait), of: exchange.scan, at: now, into: &effects)
            guard self.profile.upload.repeatsLimited else {
                self.giveUp(exchange.scan, .rateLimited, job: .deletedWithScan, at: now, into: &effects)
                return
            }
            self.uploadAgain(exchange.scan, .limited(for: wait), at: now, into: &effects)
        case .again(let retry, let bad):
            self.observe(bad: bad, exchange, at: now, into: &effects)
            self.uploadFailed(exchange.scan, retry, at: now, into: &effects)
        case .refused(let code):
            let cause = RefusalCause.answer(
                .upload, attempt: exchange.attempt, status: answer.head.status,
                retryable: answer.problem.retryable)
            let shown = self.profile.upload.showsCode ? code : AppLimits.anyErrorCode
            self.refuse(exchange.scan, code: shown, cause: cause, at: now, into: &effects)
        }
    }

    // MARK: The other path

    private func uploadPath(_ scan: Scan) -> String {
        let journey = scan.record.journey
        return scan.usesOtherPath ? journey.otherUploadPath ?? journey.path(.upload) : journey.path(.upload)
    }

    /// Whether the answer says that there is nothing at the path, or nothing for the method, and there is another path to try.
    private mutating func fallsBack(_ scan: ScanNumber, _ status: Int) -> Bool {
        guard self.profile.upload.fallsBack, [404, 405, 426, 501].contains(status),
            self.profile.journey.otherUploadPath != nil, let index = self.activeIndex(scan),
            !self.active[index].scan.usesOtherPath
        else { return false }
        self.active[index].scan.usesOtherPath = true
        return true
    }

    private mutating func accepted(
        _ exchange: Exchange, _ job: DurableJob, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.record(job.jobId, exchange, at: now, into: &effects)
        self.noteKind(of: job.jobId, exchange, at: now, into: &effects)
        guard let index = self.activeIndex(exchange.scan) else {
            preconditionFailure("an upload without a scan")
        }
        self.observe(
            .uploadAccepted(
                job: job.jobId, took: now - self.uploadBegan(exchange, index),
                service: now - exchange.sentAt),
            of: exchange.scan, at: now, into: &effects)
        self.active[index].scan.uploadBackoff.succeeded()
        var job = job
        job.earlierStreams = self.active[index].scan.record.attempts.stream
        job.refreshDueUnixNs = self.refreshDue(of: job, at: now)
        self.active[index].scan.record.job = job
        self.followToken(index)
        self.drawCancel(index, at: now)
        // The number of the first stream request is reserved in the same write.
        if !self.pollsFromUpload { _ = self.active[index].scan.nextAttempt(.stream) }
        let writeID = self.store(.put(self.active[index].scan.record), into: &effects)
        self.active[index].stage = self.active[index].stage.accepted(writeID)
    }

    /// The scheduled start of an upload. A process that was started later does not wait for the delay of an
    /// automatic retry.
    func uploadBegan(_ exchange: Exchange, _ index: Int) -> Instant {
        min(self.uploadDue(self.active[index].scan.record) ?? exchange.sentAt, exchange.sentAt)
    }

    /// A server that gives one id to two jobs: a DELETE that is still to be made of the older would hit the newer one.
    private mutating func record(
        _ id: String, _ exchange: Exchange, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard self.recentJobs.record(id) else { return }
        var notes = ContractNotes()
        notes.add(
            "data.jobId", expected: "an id of its own", seen: "the id of an earlier job", excerpt: id)
        self.observe(notes, of: exchange.scan, .upload, "202", at: now, into: &effects)
        self.abandonCleanups(ofJob: id, cause: .jobIDReused, at: now, into: &effects)
    }

    /// The id of a job of v2 begins with the kind of the job, because all kinds share one DELETE.
    private mutating func noteKind(
        of id: String, _ exchange: Exchange, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let prefix = self.profile.journey.jobPrefix
        guard !id.hasPrefix(prefix) else { return }
        var notes = ContractNotes()
        notes.add(
            "data.jobId", expected: "an id that begins with \(prefix)", seen: "another one", excerpt: id)
        self.observe(notes, of: exchange.scan, .upload, "202", at: now, into: &effects)
    }

    /// The upload gave no job, by no fault of the scan.
    mutating func uploadFailed(
        _ scan: ScanNumber, _ retry: UploadRetry, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard self.profile.upload.isRepeated, self.mayRepeatUpload(scan) else {
            guard self.journey(of: scan) != .textEnrichment else {
                return self.keepReading(scan, retry.cause, at: now, into: &effects)
            }
            self.giveUp(scan, retry.cause, job: .deletedWithScan, at: now, into: &effects)
            return
        }
        self.uploadAgain(scan, retry, at: now, into: &effects)
    }

    private func mayRepeatUpload(_ scan: ScanNumber) -> Bool {
        let unlimited = self.journey(of: scan) == .textEnrichment ? AppLimits.textRetriesMax : nil
        guard let max = self.profile.upload.retriesMax ?? unlimited, let index = self.activeIndex(scan) else {
            return true
        }
        return self.active[index].scan.uploadBackoff.failures < max
    }

    /// Returns a scan to the queue, to be uploaded again by the rule.
    mutating func uploadAgain(
        _ scan: ScanNumber, _ retry: UploadRetry, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let hold: WaitingScan.Hold =
            switch retry.wait {
            case .none: .none
            case .backoff: .until(now + self.uploadBackoff(scan))
            case .nextPath: .nextPath
            case .nextLaunch: .nextLaunch
            }
        self.requeue(scan, retry.cause, hold, floor: now + retry.atLeast, at: now, into: &effects)
    }

    /// Returns the wait after another failed upload of the scan.
    private mutating func uploadBackoff(_ scan: ScanNumber) -> Interval {
        guard let index = self.activeIndex(scan) else { preconditionFailure("an upload without a scan") }
        let draw = self.jitter(.upload, scan, attempt: self.active[index].scan.record.attempts.upload)
        return self.active[index].scan.uploadBackoff.failed(self.profile.backoffOfRequests, draw: draw)
    }
}
