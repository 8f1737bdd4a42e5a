import Observations
import SimBase
import Talaria

// job.cleaned: which job is owed a DELETE, since when, and what kept the phone from it.

extension PhoneAccount {
    // MARK: What a phone is able to do

    /// Returns the time up to which the phone could have sent a DELETE, seen at `time`; nil if it cannot send
    /// any.
    private func couldSend(_ reason: PendingCleanup.Reason, at moment: Instant) -> Instant? {
        guard self.isAlive, !self.isCutOff, self.faultsActive == 0 else { return nil }
        // A job is discarded only once a write says so durably.
        if reason == .discard, self.storage.isFull { return nil }
        guard self.isSuspended else { return moment }
        return min(moment, self.suspendedAt + PendingCleanup.backgroundTime)
    }

    /// Checks owed DELETEs before something interrupts or ends the phone's time.
    mutating func checkDebts(at moment: Instant) {
        for index in self.jobs.indices { self.checkDebt(ofJob: index, at: moment) }
    }

    mutating func checkDebt(ofJob index: Int, at moment: Instant) {
        guard let pendingCleanup = self.jobs[index].pendingCleanup,
            let until = self.couldSend(pendingCleanup.reason, at: moment)
        else {
            return
        }
        self.jobs[index].pendingCleanup?.passes(until)
    }

    /// Renews owed DELETEs afterwards: the phone gets a time for them.
    mutating func renewDebts(at moment: Instant) {
        let due = moment + PendingCleanup.grace
        for index in self.jobs.indices { self.jobs[index].pendingCleanup?.becomeDue(by: due) }
    }

    private mutating func hitOpenDeletes() {
        for index in self.jobs.indices { self.jobs[index].pendingCleanup?.hit() }
    }

    private var openDeletes: Int {
        var count = 0
        for index in self.jobs.indices where self.jobs[index].pendingCleanup?.isOpen == true { count += 1 }
        return count
    }

    // MARK: Accidents

    mutating func pathWasLost(at moment: Instant) {
        self.checkDebts(at: moment)
        self.isCutOff = true
        self.hitOpenDeletes()
    }

    mutating func pathWasChanged(at moment: Instant) {
        self.checkDebts(at: moment)
        self.hitOpenDeletes()
        self.renewDebts(at: moment)
    }

    mutating func pathHasReturned(at moment: Instant) {
        self.isCutOff = false
        self.renewDebts(at: moment)
    }

    mutating func storageChanged(_ payload: PhoneObservation, at moment: Instant) {
        if case .storageFilled = payload { self.checkDebts(at: moment) }
        self.storage.record(payload, at: moment)
        if !self.storage.isFull { self.renewDebts(at: moment) }
    }

    mutating func faultBegan(at moment: Instant) {
        self.checkDebts(at: moment)
        self.faultsActive += 1
        self.hitOpenDeletes()
    }

    mutating func faultEnded(at moment: Instant) {
        self.faultsActive = max(0, self.faultsActive - 1)
        self.renewDebts(at: moment)
    }

    /// The DELETE of this number is the one that the fault befalls, and no later one.
    mutating func faultFired(_ operation: Operation, scan: ScanNumber, attempt: UInt32) {
        guard operation.isDelete else { return }
        for index in self.jobs.indices where self.jobs[index].scan == scan {
            self.jobs[index].pendingCleanup?.hit(attempt)
        }
    }

    /// The app goes to the background: its running jobs are given up, unless there is not a path to say so.
    mutating func debtsOfTheSuspended(at moment: Instant) {
        guard !self.isCutOff else { return }
        for index in self.jobs.indices where self.isRunning(job: index) && self.jobs[index].terminal == nil {
            self.owe(job: index, .discard, due: moment + PendingCleanup.grace)
        }
    }

    mutating func debtsOfTheResumed(at moment: Instant) {
        self.checkDebts(at: moment)
        if self.suspendedAt + PendingCleanup.backgroundTime <= moment {
            // It was frozen in between.
            for index in self.jobs.indices { self.jobs[index].pendingCleanup?.interrupted(at: moment) }
        }
        self.renewDebts(at: moment)
    }

    // MARK: What is owed

    /// The phone follows the job, as far as can be seen.
    private func isRunning(job index: Int) -> Bool {
        let job = self.jobs[index]
        return job.isKnownToPhone && job.pendingCleanup == nil && !job.isAbandoned && !job.isGone
            && !job.isForgotten
            && !job.isParked && !self.isSettled(job.scan)
    }

    private mutating func owe(job index: Int, _ reason: PendingCleanup.Reason, due: Instant) {
        guard !self.jobs[index].isExpired else { return }
        guard self.jobs[index].pendingCleanup == nil else {
            guard reason == .outcome, self.jobs[index].pendingCleanup?.isOver == false else { return }
            self.jobs[index].pendingCleanup?.reason = .outcome
            return
        }
        self.jobs[index].pendingCleanup = PendingCleanup(
            reason, due: self.openDeletes < PendingCleanup.openMax ? due : due + PendingCleanup.timeout)
    }

    /// The scan's outcome is durable: the job that led to it is to be deleted at once.
    mutating func oweAfterOutcome(job index: Int, at moment: Instant) {
        guard !self.jobs[index].isAbandoned else { return }
        self.jobs[index].isForgotten = false
        self.owe(job: index, .outcome, due: moment)
    }

    /// A refusal: by an event of a job, which is to be deleted, or by something else while the scan had a job.
    mutating func oweAfterRefusal(of scan: ScanNumber, cause: RefusalCause?, at moment: Instant) {
        if case .event(let id, _) = cause, let index = self.jobIndex(id, of: scan) {
            self.oweAfterOutcome(job: index, at: moment)
        } else if let index = self.jobs.lastIndex(where: { $0.scan == scan && $0.isKnownToPhone }),
            self.jobs[index].pendingCleanup == nil, !self.jobs[index].isForgotten
        {
            self.oweAfterOutcome(job: index, at: moment)
        }
    }

    /// The job ended in an error: it is deleted as soon as that is durable.
    mutating func oweAfterError(job index: Int, at moment: Instant) {
        self.owe(job: index, .discard, due: moment + PendingCleanup.grace)
    }

    /// The scan has another job now: those before it are to be discarded.
    mutating func oweSuperseded(by id: String, scan: ScanNumber, at moment: Instant) {
        for index in self.jobs.indices where self.jobs[index].scan == scan && self.jobs[index].id != id {
            let job = self.jobs[index]
            guard job.isKnownToPhone, !job.isAbandoned, !job.isGone, !job.isForgotten else { continue }
            self.owe(job: index, .discard, due: moment + PendingCleanup.grace)
        }
    }

    /// A stream is requested of a job that was given up: until then its DELETE was owed.
    mutating func takenUpAgain(job index: Int, at moment: Instant, _ fleet: inout LedgerFleet) {
        guard let pendingCleanup = self.jobs[index].pendingCleanup, pendingCleanup.reason == .discard,
            !pendingCleanup.isOver
        else { return }
        self.checkDebt(ofJob: index, at: moment)
        if self.jobs[index].pendingCleanup?.isOverdue == true,
            let complaint = self.cleanupComplaint(job: index, fleet)
        {
            self.violate(
                .jobCleaned, self.jobs[index].scan, at: moment, &fleet,
                "job \(self.jobs[index].id.bounded) was abandoned, but is used again: \(complaint)")
        }
        self.jobs[index].pendingCleanup = nil
    }

    /// The scan waits again. Its job, if it still has one, is kept for later; unless the app has just went to the background.
    mutating func jobWaits(of scan: ScanNumber, at moment: Instant) {
        guard let index = self.jobs.lastIndex(where: { $0.scan == scan && $0.isKnownToPhone }),
            self.isRunning(job: index)
        else { return }
        if self.isSuspended, !self.isCutOff {
            self.owe(job: index, .discard, due: moment + PendingCleanup.grace)
        } else {
            self.jobs[index].isParked = true
            // Its results could not be had: whoever takes it up again has to hear of its end again.
            if self.jobs[index].terminal == .completed {
                self.jobs[index].terminal = nil
                self.jobs[index].stream.relaunched()
            }
            self.jobs[index].stream.laidAside()
        }
    }

    // MARK: What is paid

    mutating func deleteSent(
        _ scan: ScanNumber, job id: String, attempt: UInt32, at moment: Instant, _ fleet: inout LedgerFleet
    ) {
        guard let index = self.jobIndex(id, of: scan) else { return }
        self.jobs[index].deletesSent += 1
        self.jobs[index].stream.forgetLog()
        let isHit =
            self.isCutOff || self.faultsActive > 0
            || self.index(of: scan).map { self.scans[$0].wasFired(.cleanup, attempt: attempt) } == true
        self.jobs[index].pendingCleanup?.sent(attempt, isHit: isHit)
        let job = self.jobs[index]
        guard !job.isKept else {
            return self.violate(
                .jobNotCleanedEarly, scan, at: moment, &fleet,
                "DELETE sent of a completed job of v2, whose results are kept until they expire")
        }
        // A job from before this run may have been finished then.
        // Nor can one destroy anything that the backend has lost already.
        if job.pendingCleanup != nil || job.isInherited || job.hasVanished || self.isSettled(job.scan) {
            return
        }
        let state =
            job.terminal == nil ? "before its terminal event was applied" : "before its books were durable"
        self.violate(.jobNotCleanedEarly, scan, at: moment, &fleet, "DELETE sent \(state)")
    }

    private func openDelete(of scan: ScanNumber, attempt: UInt32) -> Int? {
        self.jobs.firstIndex { $0.scan == scan && $0.pendingCleanup?.isOpen(attempt) == true }
    }

    mutating func deleteFailed(
        _ scan: ScanNumber, attempt: UInt32, _ failure: TransportFailure, at moment: Instant,
        _ fleet: LedgerFleet
    ) {
        guard let index = self.openDelete(of: scan, attempt: attempt) else { return }
        let wasFull = self.openDeletes >= PendingCleanup.openMax
        if failure == .noPath {
            self.jobs[index].pendingCleanup?.interrupted(at: moment)
        } else {
            // The network of a foreign target is not known.
            if failure == .descriptorsExhausted || !fleet.settings.hasBackendView {
                self.jobs[index].pendingCleanup?.hit()
            }
            self.jobs[index].pendingCleanup?.failed(at: moment)
        }
        if wasFull { self.renewDebts(at: moment) }
    }

    /// The head of an answer to a DELETE.
    mutating func deleteReplied(
        _ scan: ScanNumber, attempt: UInt32, status: Int, at moment: Instant, _ fleet: LedgerFleet
    ) {
        if status == 401 { self.deleteTurnedAway(scan, at: moment, fleet) }
        guard let index = self.openDelete(of: scan, attempt: attempt) else { return }
        let wasFull = self.openDeletes >= PendingCleanup.openMax
        self.jobs[index].pendingCleanup?.last?.status = status
        // What affects a request to a foreign target is not known. One that keeps a completed job is reported
        // (decision 0116).
        if status >= 400, !fleet.settings.hasBackendView, self.jobs[index].pendingCleanup?.reason == .discard
        {
            self.jobs[index].pendingCleanup?.hit()
        }
        guard status == 408 || status == 429 || 500...599 ~= status else {
            return  // What the phone makes of it is seen next.
        }
        // How long a foreign target asks to wait after another status than 429 is not seen.
        let unknown = fleet.settings.hasBackendView || status == 429 ? Interval.zero : .hours(1)
        let problem = self.index(of: scan).flatMap { self.scans[$0].cleanupProblem(attempt: attempt) }
        self.jobs[index].pendingCleanup?.last?.wait = problem.map { $0.retryAfter ?? .zero } ?? unknown
        // A 429 is not over before `deleteLimited`: its body may never end, and the phone waits for it.
        guard status != 429 else { return }
        self.jobs[index].pendingCleanup?.failed(at: moment)
        if wasFull { self.renewDebts(at: moment) }
    }

    /// A 429 is whole, or as much of it as will come, and named a time by the phone's reading.
    mutating func deleteLimited(_ scan: ScanNumber, retryAfter: Interval, at moment: Instant) {
        let limited = self.jobs.firstIndex {
            $0.scan == scan && $0.pendingCleanup?.isOpen == true && $0.pendingCleanup?.last?.status == 429
        }
        if let limited {
            let wasFull = self.openDeletes >= PendingCleanup.openMax
            self.jobs[limited].pendingCleanup?.failed(at: moment)
            if wasFull { self.renewDebts(at: moment) }
        }
        let due = moment + retryAfter + PendingCleanup.grace
        for index in self.jobs.indices where self.jobs[index].scan == scan {
            self.jobs[index].pendingCleanup?.becomeDue(by: due)
        }
    }

    mutating func deleteAnswered(
        _ scan: ScanNumber, job id: String, status: Int, at: Instant, _ fleet: inout LedgerFleet
    ) {
        guard let index = self.jobIndex(id, of: scan) else { return }
        guard Self.isGone(status), !self.jobs[index].deleteAnswered else { return }
        self.judgeCancel(ofJob: index, answered: status, at: at, &fleet)
        let wasFull = self.openDeletes >= PendingCleanup.openMax
        self.jobs[index].deleteAnswered = true
        if !self.jobs[index].isExpired, let last = self.jobs[index].pendingCleanup?.last {
            self.jobs[index].pendingCleanup?.state = .over(
                isExcused: last.isHit || !fleet.settings.hasBackendView)
        }
        if wasFull { self.renewDebts(at: at) }
        if !fleet.settings.hasBackendView { fleet.count(in: self.group) { $0.jobs.cleaned += 1 } }
        self.dropIfClosed(job: index, at: at, &fleet)
    }

    /// A DELETE got 401. Only a token that is not valid any more makes that an answer to be content with.
    private mutating func deleteTurnedAway(_ scan: ScanNumber, at: Instant, _ fleet: LedgerFleet) {
        for index in self.jobs.indices where self.jobs[index].scan == scan {
            guard self.jobs[index].deleteSent, !self.jobs[index].deleteAnswered else { continue }
            self.jobs[index].isDeleteRefusedRightly = self.jobs[index].isTokenOver(
                at: at, lifetime: fleet.settings.tokenLifetime)
        }
    }

    /// Returns whether a DELETE gets this status if the job no longer exists.
    private static func isGone(_ status: Int) -> Bool {
        (200..<300).contains(status) || status == 404 || status == 410
    }

    // MARK: What is given up

    /// The stream or the results of a job were answered with a status that ends the job for its phone: it is gone, or its
    /// token does not open it any more. A 401 is believed only where the token was over, or a fault gave it.
    mutating func jobEnded(
        by operation: Operation, of scan: ScanNumber, attempt: UInt32, status: Int, at moment: Instant,
        _ fleet: LedgerFleet
    ) {
        guard operation == .stream || operation == .results || operation == .status,
            [401, 404, 410].contains(status),
            let index = self.jobs.lastIndex(where: { $0.scan == scan && $0.isKnownToPhone && !$0.isAbandoned }
            )
        else { return }
        let isFired =
            self.index(of: scan).map { self.scans[$0].wasFired(operation, attempt: attempt) } ?? false
        self.jobs[index].isEndedByServer =
            status != 401 || isFired || !fleet.settings.hasBackendView
            || self.jobs[index].isTokenOver(at: moment, lifetime: fleet.settings.tokenLifetime)
            || operation == .stream && self.jobs[index].socket.isOver(at: moment)
    }

    mutating func abandoned(
        _ scan: ScanNumber, job id: String, cause: AbandonCause, at: Instant, _ fleet: inout LedgerFleet
    ) {
        fleet.count(in: self.group) { $0.jobs.abandon(cause: cause) }
        guard let index = self.jobIndex(id, of: scan) else { return }
        self.checkDebt(ofJob: index, at: at)
        // A foreign server gave the id to another job as well: a DELETE would have hit that one.
        let isReused =
            !fleet.settings.hasBackendView
            && (cause == .jobIDReused && self.jobs[index].pendingCleanup?.reason == .discard
                && !self.isSettled(scan)
                || self.jobs.contains { $0.id == id && $0.scan != scan })
        let isExcused = isReused || self.mayAbandon(job: index, at: at, fleet)
        if isReused { self.jobs[index].pendingCleanup?.isOverdue = false }
        if self.jobs[index].pendingCleanup == nil {
            self.jobs[index].pendingCleanup = PendingCleanup(.discard, due: at)
        }
        if self.jobs[index].pendingCleanup?.isOver == false {
            self.jobs[index].pendingCleanup?.state = .over(isExcused: isExcused)
        }
        self.jobs[index].isAbandoned = true
        self.jobs[index].stream.forgetLog()
        self.dropIfClosed(job: index, at: at, &fleet)
    }

    private func mayAbandon(job index: Int, at moment: Instant, _ fleet: LedgerFleet) -> Bool {
        let job = self.jobs[index]
        guard let pendingCleanup = job.pendingCleanup else { return job.isEndedByServer }
        if pendingCleanup.isOverdue { return false }
        if job.isDeleteRefusedRightly { return true }
        let isAway = self.isSuspended || self.isCutOff
        guard let last = pendingCleanup.last else { return pendingCleanup.reason == .discard && isAway }
        // Of a foreign target's tokens its word is all there is.
        if last.status == 401, !fleet.settings.hasBackendView { return true }
        // What was under way may go with the screen or the path; an answer that came is one.
        guard last.isHit || pendingCleanup.isOpen && isAway && !last.isFinal else { return false }
        // A phone that is away has no second try for what only helps the server.
        return last.isFinal || pendingCleanup.failures >= PendingCleanup.failuresMax
            || pendingCleanup.reason == .discard && isAway
    }

    // MARK: The end

    /// The backend does not keep the job any longer. It need not be deleted from now on; the client that
    /// should have deleted it is named.
    mutating func debtExpires(ofJob index: Int, at moment: Instant) {
        self.checkDebt(ofJob: index, at: moment)
        guard let pendingCleanup = self.jobs[index].pendingCleanup, !pendingCleanup.isOver else { return }
        let isExcused = pendingCleanup.complaint(isAble: false, isForeign: false) == nil
        self.jobs[index].pendingCleanup?.state = .over(isExcused: isExcused)
    }

    /// Returns the complaint about a job that was not deleted; nil if there is none.
    func cleanupComplaint(job index: Int, _ fleet: LedgerFleet) -> String? {
        let job = self.jobs[index]
        guard let pendingCleanup = job.pendingCleanup, !job.isInherited, !job.isForgotten, !job.isDeleted,
            !job.hasVanished
        else { return nil }
        let isAble = self.isAlive && !self.isSuspended && !self.isCutOff
        let isForeign = !fleet.settings.hasBackendView
        return pendingCleanup.complaint(isAble: isAble, isForeign: isForeign)
    }
}
