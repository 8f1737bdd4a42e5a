import Observations
import SimBase
import Talaria

// DELETE, and the end of a scan.

extension App {
    /// A restored scan with only the DELETE left. Its outcome was observed by the process before.
    mutating func startFinishing(_ scan: Scan, at now: Instant, into effects: inout [PhoneEffect]) {
        var scan = scan
        if scan.record.isCanceled { scan.canceledAt = now }
        self.active.append(ActiveScan(scan: scan, stage: .cleaning(.given)))
        self.clean(self.active.count - 1, attempt: nil, due: now, at: now, into: &effects)
    }

    /// Cleans up after a scan whose outcome is durable: deletes its job, if it has one, then settles it.
    /// `attempt`: the number of the DELETE, if it is already reserved. `due`: not before this time.
    mutating func clean(
        _ index: Int, attempt: UInt32?, due: Instant, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let scan = self.active[index].number
        if self.deletes(after: self.active[index].scan.record), let job = self.active[index].scan.record.job,
            !self.isLeftToAnother(job, of: scan, at: now, into: &effects)
        {
            self.cleanups.append(
                Cleanup(
                    scan: scan, job: job, purpose: .settle,
                    cancels: self.active[index].scan.record.isCanceled
                        && self.profile.journey.version.hasOwnCancel,
                    state: .waiting(until: due, floor: due, attempt: attempt)))
        }
        self.settleIfClean(scan, at: now, into: &effects)
    }

    /// Deletes a job that its scan does not need any more, once the last write says so durably.
    mutating func discard(
        _ job: DurableJob, of scan: ScanNumber, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard self.profile.cleanup.isMade, self.profile.cleanup.isMadeAfterFailure,
            !self.isLeftToAnother(job, of: scan, at: now, into: &effects)
        else {
            return
        }
        self.cleanups.append(
            Cleanup(
                scan: scan, job: job, purpose: .discard, cancels: false,
                state: .blocked(WriteID(self.lastWriteID))))
    }

    /// Whether the job of a decided scan is deleted.
    func deletes(after record: DurableScan) -> Bool {
        record.isCanceled
            || self.profile.cleanup.isMade
                && (record.completed
                    ? self.profile.deletesCompletedJobs : self.profile.cleanup.isMadeAfterFailure)
    }

    /// Whether another scan has a job of the same id by now, which a DELETE would hit.
    private mutating func isLeftToAnother(
        _ job: DurableJob, of scan: ScanNumber, at now: Instant, into effects: inout [PhoneEffect]
    ) -> Bool {
        for index in self.active.indices
        where self.active[index].number != scan && self.active[index].scan.record.job?.jobId == job.jobId
            && !self.active[index].stage.isCleaning
        {
            self.observe(
                .jobAbandoned(job: job.jobId, cause: .jobIDReused), of: scan, at: now,
                into: &effects)
            return true
        }
        return false
    }

    mutating func sendDueCleanups(at now: Instant, into effects: inout [PhoneEffect]) {
        for index in self.cleanups.indices where self.cleanups[index].isDue(at: now) {
            guard self.maySendCleanup else { return }
            let cleanup = self.cleanups[index]
            let reserved = self.cleanups[index].send()
            let attempt = reserved ?? self.nextCleanupAttempt(cleanup.scan, into: &effects)
            let id = cleanup.job.jobId
            self.send(
                RequestPlan(
                    purpose: cleanup.cancels ? .cancel : .cleanup, scan: cleanup.scan, attempt: attempt,
                    method: "DELETE",
                    target: self.profile.journey.path(
                        cleanup.cancels ? .job(jobId: id) : .cleanup(jobId: id)),
                    job: cleanup.job, headers: [],
                    lastEventID: nil, body: .none, timeout: self.profile.timeout(of: .cleanup)),
                at: now, into: &effects)
        }
    }

    /// Whether one more DELETE may be under way: they need no slot, but not without a bound either.
    var maySendCleanup: Bool {
        var sent = 0
        for index in self.cleanups.indices where self.cleanups[index].state == .sent { sent += 1 }
        return sent < AppLimits.cleanupsSentMax
    }

    private mutating func nextCleanupAttempt(
        _ scan: ScanNumber, into effects: inout [PhoneEffect]
    ) -> UInt32 {
        let record = self.changeScan(scan) { scan in
            _ = scan.nextAttempt(.cleanup)
            return scan.record
        }
        guard let record else { preconditionFailure("a scan was settled before its jobs were cleaned up") }
        self.note(.put(record), into: &effects)
        return record.attempts.cleanup
    }

    mutating func cleanupAnswered(
        _ exchange: Exchange, _ answer: Answer, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        var answer = answer
        let judgement = CleanupJudgement.judge(&answer, exchange.purpose, job: exchange.job)
        if self.profile.journey.version.envelopesBodies { answer.noteCanceled() }
        self.observe(answer, exchange, at: now, into: &effects)
        switch judgement {
        case .done:
            guard let index = self.cleanupIndex(exchange) else { return }
            let cleanup = self.cleanups.remove(at: index)
            self.observe(
                .cleanupAnswered(
                    job: cleanup.job.jobId, status: answer.head.status, took: now - exchange.sentAt),
                of: cleanup.scan, at: now, into: &effects)
            self.observeCanceled(cleanup, at: now, into: &effects)
            self.isOver(cleanup, at: now, into: &effects)
        case .jobHadEnded:
            guard let index = self.cleanupIndex(exchange) else { return }
            self.cleanups[index].jobHadEnded(at: now)
        case .again(let asked):
            if answer.head.status == 429 {
                self.observe(
                    .rateLimited(exchange.operation, retryAfter: asked ?? .zero), of: exchange.scan, at: now,
                    into: &effects)
            }
            self.cleanupFailed(
                exchange, cause: .serverError, after: asked, at: now, into: &effects)
        case .abandoned(let cause):
            guard let index = self.cleanupIndex(exchange) else { return }
            self.abandon(index, cause: cause, at: now, into: &effects)
        }
    }

    mutating func cleanupFailed(
        _ exchange: Exchange, cause: WaitingCause, after asked: Interval?, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        guard let index = self.cleanupIndex(exchange) else { return }
        // A suspended phone has no time for a second try at what only helps the server.
        if self.phase.isAway, self.cleanups[index].purpose == .discard {
            self.abandon(index, cause: .waiting(cause), at: now, into: &effects)
            return
        }
        let action = self.cleanups[index].failed(
            at: now, after: asked, requestsMax: self.profile.cleanup.requestsMax,
            self.profile.backoffOfRequests,
            draw: self.jitter(.cleanup, exchange.scan, attempt: exchange.attempt))
        switch action {
        case .wait: break
        case .abandon: self.abandon(index, cause: .waiting(cause), at: now, into: &effects)
        }
    }

    private mutating func abandon(
        _ index: Int, cause: AbandonCause, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let cleanup = self.cleanups.remove(at: index)
        self.observe(
            .jobAbandoned(job: cleanup.job.jobId, cause: cause), of: cleanup.scan, at: now, into: &effects)
        self.isOver(cleanup, at: now, into: &effects)
    }

    /// A scan that still has other jobs to delete keeps its record: a later process must not find there the job whose DELETE
    /// is over.
    private mutating func isOver(
        _ cleanup: Cleanup, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.settleIfClean(cleanup.scan, at: now, into: &effects)
        guard cleanup.purpose == .settle, let index = self.activeIndex(cleanup.scan),
            self.active[index].scan.record.job?.jobId == cleanup.job.jobId
        else { return }
        self.active[index].scan.record.job = nil
        self.note(.put(self.active[index].scan.record), into: &effects)
    }

    /// Gives up every DELETE of a scan, including the open one.
    mutating func abandonCleanups(
        of scan: ScanNumber, cause: AbandonCause, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        for exchange in self.exchanges where exchange.purpose.isDelete && exchange.scan == scan {
            effects.append(.app(.abort(exchange.id)))
        }
        self.exchanges.removeAll { $0.purpose.isDelete && $0.scan == scan }
        while let index = self.cleanups.firstIndex(where: { $0.scan == scan }) {
            self.abandon(index, cause: cause, at: now, into: &effects)
        }
    }

    /// Gives up every DELETE of a job, including the open one.
    mutating func abandonCleanups(
        ofJob id: String, cause: AbandonCause, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        for exchange in self.exchanges where exchange.purpose.isDelete && exchange.job == id {
            effects.append(.app(.abort(exchange.id)))
        }
        self.exchanges.removeAll { $0.purpose.isDelete && $0.job == id }
        while let index = self.cleanups.firstIndex(where: { $0.job.jobId == id }) {
            self.abandon(index, cause: cause, at: now, into: &effects)
        }
    }

    /// Gives up every DELETE that only helps the server.
    mutating func abandonDiscards(cause: WaitingCause, at now: Instant, into effects: inout [PhoneEffect]) {
        while let index = self.cleanups.firstIndex(where: { $0.purpose == .discard }) {
            self.abandon(index, cause: .waiting(cause), at: now, into: &effects)
        }
    }

    private func cleanupIndex(_ exchange: Exchange) -> Int? {
        self.cleanups.firstIndex {
            $0.scan == exchange.scan && $0.state == .sent && $0.job.jobId == exchange.job
        }
    }

    /// A scan is settled when its outcome is durable and none of its jobs is left to clean up: then its record goes.
    private mutating func settleIfClean(
        _ scan: ScanNumber, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(scan), self.active[index].stage.isCleaning,
            !self.cleanups.contains(where: { $0.scan == scan })
        else { return }
        let done = self.active.remove(at: index)
        let hold = done.scan.record.completed ? self.profile.stream.slotHold ?? .zero : .zero
        if done.scan.isDrained { self.drainsAgainAt = max(self.drainsAgainAt, now + hold) }
        let outcome =
            done.scan.record.isCanceled
            ? SettledOutcome.canceled
            : done.scan.record.refusal.map { .refused(code: $0) } ?? .completed
        self.note(.settled(scan, outcome), into: &effects)
        guard done.stage.holdsSlot else { return }
        self.leaveSlot(of: scan, until: now + hold, at: now, into: &effects)
    }
}
