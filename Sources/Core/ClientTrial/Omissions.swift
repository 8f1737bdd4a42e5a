import SimBase
import Talaria

// The rules about requests that a client omits. A client that was killed cannot send them, so an omission is judged after a later
// upload of the client, or `ClientTrialTimes.settled` later (Docs/design.md section 11.13).

extension FollowedJob {
    /// What a client that deletes the job now has not received; nil if it has received everything.
    var whatIsMissing: String? {
        guard self.resultsAt == nil, !self.isGone, !self.saidFailed, self.tokenRefusedAt == nil else {
            return nil
        }
        guard let terminal = self.terminal else {
            if let name = self.leftAfter, !self.isCanceled {
                return "the stream was closed after the event “\(name)”, which ends no job"
            }
            if self.isCanceled || self.hasLeft && self.openStreams == 0 { return nil }
            // After a loss or a refusal, the client may have given up.
            if self.loss != nil || self.refusals > 0 { return nil }
            if self.saidCompleted { return self.missingResults }
            return self.openStreams > 0
                ? "the stream is open, and has brought no terminal event" : "the job has not ended"
        }
        guard terminal.isReadable, !terminal.isError, self.booksCollected == 0 else { return nil }
        switch terminal.books {
        case .usable, .empty: return nil
        case .unusable: return self.missingResults
        }
    }

    /// The failed requests for results after which a client may give up.
    private static let resultsFailuresMax = 3

    private var missingResults: String? {
        guard self.resultsFailures < Self.resultsFailuresMax else { return nil }
        return self.resultsFailures == 0
            ? "the job is complete, and neither its event nor results have brought the books"
            : "its results have failed \(self.resultsFailures) times"
    }

    /// Whether its books have been sent, or an answer that it has none.
    private var isRead: Bool {
        if self.resultsAt != nil || self.saidFailed || self.booksCollected > 0 { return true }
        guard let terminal = self.terminal, terminal.isReadable else { return false }
        switch terminal.books {
        case .usable, .empty: return true
        case .unusable: return terminal.isError
        }
    }

    private var needsResults: Bool {
        guard let terminal = self.terminal, terminal.isReadable, !terminal.isError, self.booksCollected == 0
        else { return false }
        if case .unusable = terminal.books { return true }
        return false
    }

    /// Whether a client can still use the job.
    private var isUsable: Bool {
        !self.isGone && !self.isCanceled && self.tokenRefusedAt == nil && self.deletedAt == nil
            && self.accepted != nil && self.journey.version.isJudgedInDetail
    }

    /// The rules about omissions that apply to the job.
    var occasions: [ClientRule] {
        guard self.accepted != nil, self.journey.version.isJudgedInDetail else { return [] }
        var rules: [ClientRule] = []
        if self.endedAt != nil { rules.append(.jobDeleted) }
        if self.loss != nil { rules.append(.streamResumed) }
        if self.needsResults { rules.append(.resultsFetched) }
        if self.deletesFailed > 0 { rules.append(.deleteRepeated) }
        return rules
    }
}

extension ClientTrial {
    /// After more consecutive losses, the waits of a client are long.
    private static let shortLossesMax = 2

    /// Returns the rules that the client of a job has broken by now, with a description for people.
    func omissions(of job: FollowedJob, at now: Instant) -> [(ClientRule, String)] {
        guard job.accepted != nil, job.journey.version.isJudgedInDetail else { return [] }
        return [
            self.missingDelete(job, at: now), self.missingResults(job, at: now),
            self.missingResume(job, at: now), self.needlessUpload(job, at: now),
            Self.missingRepetition(job, at: now),
        ].compactMap { $0 }
    }

    /// Whether the client has gone on since `moment`, so that it will not react to it.
    private func isSettled(_ job: FollowedJob, since moment: Instant, at now: Instant) -> Bool {
        if now - moment >= ClientTrialTimes.settled { return true }
        let upload = self.clients.with(job.client) { $0.lastUpload } ?? nil
        return upload.map { $0 - moment >= ClientTrialTimes.goneOn } ?? false
    }

    private func missingDelete(_ job: FollowedJob, at now: Instant) -> (ClientRule, String)? {
        guard let ended = job.endedAt, job.isToBeDeleted, self.isSettled(job, since: ended, at: now) else {
            return nil
        }
        return (.jobDeleted, "no DELETE \(milliseconds: now - ended) ms after the end of the job")
    }

    private func missingResults(_ job: FollowedJob, at now: Instant) -> (ClientRule, String)? {
        guard let ended = job.endedAt, job.lacksResults, self.isSettled(job, since: ended, at: now) else {
            return nil
        }
        return (
            .resultsFetched,
            "no request \(milliseconds: now - ended) ms after a completed event without books"
        )
    }

    private func missingResume(_ job: FollowedJob, at now: Instant) -> (ClientRule, String)? {
        guard let loss = job.loss, job.isLost else { return nil }
        let patience =
            loss.count <= Self.shortLossesMax ? ClientTrialTimes.settled : ClientTrialTimes.buffer
        let last = self.clients.with(job.client) { $0.last } ?? loss.at
        let isAlive = loss.count <= Self.shortLossesMax && last - loss.at >= ClientTrialTimes.patience
        guard isAlive || now - loss.at >= patience else { return nil }
        return (.streamResumed, "not opened again \(milliseconds: now - loss.at) ms after the loss")
    }

    /// Finds a photo that was uploaded several times while nothing was requested of its jobs.
    private func needlessUpload(_ job: FollowedJob, at now: Instant) -> (ClientRule, String)? {
        guard let photo = job.photo, let accepted = job.accepted, now - accepted >= ClientTrialTimes.settled,
            let known = self.clients.with(job.client, { $0.photo(photo) }) ?? nil, known.needless == 1
        else { return nil }
        let jobs = known.jobs.compactMap { self.jobs[$0] }
        guard jobs.last?.accepted == job.accepted, !jobs.contains(where: \.isRequested) else { return nil }
        return (.uploadOnce, "the photo has become \(jobs.count) jobs, and nothing was requested of them")
    }

    private static func missingRepetition(_ job: FollowedJob, at now: Instant) -> (ClientRule, String)? {
        guard let due = job.deleteDue, job.deletesFailed == 1, job.deletesUnderWay == 0,
            job.deletedAt == nil, now >= due
        else { return nil }
        return (.deleteRepeated, "one DELETE failed, and none came after it")
    }
}

extension FollowedJob {
    fileprivate var isToBeDeleted: Bool {
        self.isUsable && self.isRead && self.deletesUnderWay == 0 && self.deletesFailed == 0
    }

    fileprivate var lacksResults: Bool {
        self.isUsable && self.needsResults && !self.areResultsRequested && self.deletesFailed == 0
    }

    fileprivate var isLost: Bool {
        self.isUsable && self.loss?.isAnswered == false && self.terminal == nil && self.resultsAt == nil
            && !self.saidFailed && self.deletesUnderWay == 0
    }
}
