import Metrics
import Observations
import SimBase
import Talaria

// What a kill or a new installation excuses, and what the storage must have kept all the same (`PhoneStorage`). A check that has an
// account of its own excuses there what it judges: a DELETE in `PendingCleanup` and `CleanupCheck`, a stream in `StreamAccount`, a
// scan whose record may not have been written in `ScanAccount.mayBeGone`, a review in `ReviewAccount`, a token in `TokenState`.

extension PhoneAccount {
    mutating func killed(at: Instant) {
        self.regionDue = nil
        self.debtsOfTheKilled(at: at)
        self.startOver()
        self.review.killed(at: at)
        for index in self.scans.indices where self.scans[index].state == .open {
            if !self.scans[index].isRecorded { self.scans[index].isInDoubt = true }
        }
    }

    private mutating func debtsOfTheKilled(at moment: Instant) {
        self.checkDebts(at: moment)
        self.isAlive = false
        for index in self.jobs.indices {
            self.jobs[index].isAtRisk = self.jobs[index].pendingCleanup == nil
            self.jobs[index].pendingCleanup?.killed(at: moment)
        }
    }

    // MARK: What the storage has

    /// Checks that the record after a kill is at most one write behind the state of its process.
    mutating func judgeKept(
        _ scan: ScanNumber, job id: String?, lastEventID: String?, isDecided: Bool, at moment: Instant,
        _ fleet: inout LedgerFleet
    ) {
        guard !isDecided else { return }
        if let index = self.decided.firstIndex(where: { $0.scan == scan }), let at = self.decided[index].at {
            if self.hasKept(at, at: moment, fleet) {
                self.violate(
                    .scanCustody, scan, at: moment, &fleet,
                    "the record after a kill is still open, \((moment - at).wholeMilliseconds) ms after the \(self.noun.one) was settled"
                )
            }
            self.decided[index].at = nil
        }
        guard !self.isSettled(scan) else { return }
        self.followAgain(id, of: scan, at: moment, fleet)
        if let job = self.jobs.last(where: { $0.scan == scan && $0.isInRecord }), job.id != id,
            let at = job.knownAt, self.hasKept(at, at: moment, fleet)
        {
            self.violate(
                .scanCustody, scan, at: moment, &fleet,
                "the record after a kill does not name job \(job.id.bounded), accepted \((moment - at).wholeMilliseconds) ms earlier"
            )
        }
        guard let id, let index = self.jobIndex(id, of: scan), self.jobs[index].scan == scan,
            !self.jobs[index].isInherited, fleet.settings.hasBackendView,
            let wrong = self.jobs[index].stream.complaint(
                keeping: lastEventID, isWritten: { self.hasKept($0, at: moment, fleet) })
        else { return }
        self.violate(.streamIDMonotone, scan, at: moment, &fleet, wrong)
    }

    /// Records the state that the next process finds for a scan.
    mutating func recordKept(_ scan: ScanNumber, job id: String?, lastEventID: String?, isDecided: Bool) {
        self.updateScan(scan) { $0.isKeptUndecided = !isDecided }
        guard let id, let index = self.jobIndex(id, of: scan), self.jobs[index].scan == scan else { return }
        self.jobs[index].isAtRisk = false
        self.jobs[index].stream.kept(lastID: lastEventID)
        // What made it dispensable was not durable: the next process continues with it.
        if !isDecided, self.jobs[index].pendingCleanup?.reason == .discard {
            self.jobs[index].pendingCleanup = nil
            self.jobs[index].isAbandoned = false
        }
    }

    /// The job was over, and that was not durable when the process was killed: the next one goes on with it.
    private mutating func followAgain(
        _ id: String?, of scan: ScanNumber, at moment: Instant, _ fleet: LedgerFleet
    ) {
        guard let id, self.jobIndex(id) == nil, let index = self.index(of: scan),
            self.scans[index].lastEndedJob?.id == id,
            !self.hasKept(self.scans[index].lastEndedAt, at: moment, fleet)
        else { return }
        // Of what is sent to it from now on, nothing has to come.
        var job = JobAccount(id: id, scan: scan, isInherited: true)
        job.isKnownToPhone = true
        self.jobs.append(job)
    }

    private func hasKept(_ learned: Instant, at moment: Instant, _ fleet: LedgerFleet) -> Bool {
        self.storage.hasKept(learned, at: moment, within: fleet.settings.recordTime)
    }

    // MARK: The next process

    mutating func launched(restored: Int, at: Instant, _ fleet: inout LedgerFleet) {
        let restored = min(max(0, restored), Self.restoredMax)
        var open = self.inheritedUnnamed
        var inDoubt = 0
        for index in self.scans.indices where self.scans[index].state == .open {
            open += 1
            if self.scans[index].mayBeGone { inDoubt += 1 }
            self.scans[index].sawRelaunch = self.hasLaunched
            self.scans[index].hasFailedForGood = false  // It may not have been durable.
            self.scans[index].isPrepared = false  // Its photo is prepared again.
        }
        if self.hasLaunched {
            self.sawRelaunch = true
            if restored < open - inDoubt {
                self.violate(
                    .scanCustody, .none, at: at, &fleet,
                    "the app was started again and found \(restored) of \(open - inDoubt) unsettled \(self.noun.many)"
                )
            }
        } else {
            let inherited = max(0, restored - open)
            self.hasLaunched = true
            self.inheritedUnnamed = inherited
            fleet.count(in: self.group) {
                $0.scans.restored += inherited
                $0.scans.open += inherited
            }
        }
        self.settleReview(at: at, &fleet)
        self.startOver()
        self.presenceChangedAt = at
        self.debtsOfTheLaunched(at: at)
        for index in self.jobs.indices { self.jobs[index].relaunched() }
    }

    private mutating func debtsOfTheLaunched(at moment: Instant) {
        self.isAlive = true
        self.isCutOff = false  // Or that it has no path is seen next.
        for index in self.jobs.indices where self.jobs[index].isAtRisk {
            // Its record was not durable: no phone knows of it.
            self.jobs[index].isAtRisk = false
            self.jobs[index].isForgotten = true
        }
        self.renewDebts(at: moment)
    }

    /// Clears the state that a process keeps only in memory.
    private mutating func startOver() {
        self.isSuspended = false
        self.slots = 0
        self.limits = RateLimitAccount()
        self.lacksTexts = false
    }

    // MARK: A new installation

    /// Whatever the phone had is gone, and a scan that was not settled has a named end.
    mutating func reinstalled(at: Instant, _ fleet: inout LedgerFleet) {
        self.settleReview(at: at, &fleet)
        self.killed(at: at)
        self.discardReview(&fleet)
        for index in self.jobs.indices { self.jobs[index].isForgotten = true }
        for index in self.scans.indices where self.scans[index].state == .open {
            self.discard(at: index, .reinstalled, &fleet)
        }
        let unnamed = self.inheritedUnnamed
        self.inheritedUnnamed = 0
        fleet.count(in: self.group) {
            $0.scans.open -= unnamed
            for _ in 0..<unnamed { $0.scans.discardedByCause[.reinstalled] += 1 }
        }
        for scan in self.scans.map(\.number) { self.dropIfDone(scan) }
    }
}

extension JobAccount {
    fileprivate mutating func relaunched() {
        self.stream.relaunched()
        // What was not durable is done over.
        self.terminal = nil
    }
}
