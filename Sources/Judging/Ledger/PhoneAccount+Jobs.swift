import SimBase
import Talaria

// job.cleaned, job.not-cleaned-early, server.agrees, and the life of a job's record.

extension PhoneAccount {
    func jobIndex(_ id: String) -> Int? { self.jobs.lastIndex { $0.id == id } }

    /// The job of a phone's scan: a server may give the id of one job to another scan.
    func jobIndex(_ id: String, of scan: ScanNumber) -> Int? {
        self.jobs.lastIndex { $0.id == id && $0.scan == scan } ?? self.jobIndex(id)
    }

    private mutating func jobIndex(_ id: String, orNewOf scan: ScanNumber) -> Int {
        if let index = self.jobIndex(id, of: scan) { return index }
        self.jobs.append(JobAccount(id: id, scan: scan, isInherited: false))
        return self.jobs.count - 1
    }

    /// The record of a job that the phone makes a request for. One from before this run is followed from now on.
    mutating func jobInUse(
        _ id: String, scan: ScanNumber, for deed: String, at: Instant, _ fleet: inout LedgerFleet
    ) -> Int? {
        if let index = self.jobIndex(id, of: scan) { return index }
        guard let index = self.index(of: scan), self.scans[index].isInherited else {
            self.violate(
                .serverAgrees, scan, at: at, &fleet,
                "\(deed) a job that was never accepted or no longer exists")
            return nil
        }
        self.jobs.append(JobAccount(id: id, scan: scan, isInherited: true))
        self.jobs[self.jobs.count - 1].isKnownToPhone = true
        return self.jobs.count - 1
    }

    // MARK: The backend's side

    mutating func accepted(_ scan: ScanNumber, job id: String, at: Instant, _ fleet: inout LedgerFleet) {
        let index = self.jobIndex(id, orNewOf: scan)
        guard !self.jobs[index].isAcceptedByBackend else { return }
        self.jobs[index].isAcceptedByBackend = true
        self.jobs[index].acceptedAt = at
        fleet.count(in: self.group) { $0.jobs.accepted += 1 }
    }

    mutating func eventWritten(job id: String, event: String, position: Int?, kind: EventKind) {
        guard let index = self.jobIndex(id) else { return }
        if kind == .enrichmentDegraded { self.updateScan(self.jobs[index].scan) { $0.isDegraded = true } }
        // It will not be applied.
        guard !self.jobs[index].deleteSent, !self.isSettled(self.jobs[index].scan) else { return }
        if let position {
            self.jobs[index].stream.written(id: event, position: position)
        } else {
            self.jobs[index].stream.writtenBesideLog(id: event)
        }
    }

    mutating func finished(
        _ scan: ScanNumber, job id: String, kind: EventKind, books: Int, at: Instant,
        _ fleet: inout LedgerFleet
    ) {
        guard let index = self.jobIndex(id) else { return }
        self.jobs[index].hasEnded = true
        guard kind == .completed else { return }
        let scan = self.jobs[index].scan
        self.updateScan(scan) { $0.isFound = true }
        let count = fleet.shelf.count(device: self.device, scan: scan)
        guard books != count else { return }
        self.violate(
            .serverAgrees, scan, at: at, &fleet,
            "books found by the backend: \(books); books on the shelf: \(count)")
    }

    mutating func deleted(job id: String, at: Instant, _ fleet: inout LedgerFleet) {
        guard let index = self.jobIndex(id), !self.jobs[index].isDeleted else { return }
        self.endKeeping(job: index, &fleet)
        self.jobs[index].isDeleted = true
        fleet.count(in: self.group) { $0.jobs.cleaned += 1 }
        self.dropIfClosed(job: index, at: at, &fleet)
    }

    mutating func expired(job id: String, at: Instant, _ fleet: inout LedgerFleet) {
        guard let index = self.jobIndex(id), !self.jobs[index].isExpired else { return }
        self.debtExpires(ofJob: index, at: at)
        self.endKeeping(job: index, &fleet)
        self.jobs[index].isExpired = true
        fleet.count(in: self.group) { $0.jobs.expired += 1 }
        self.dropIfClosed(job: index, at: at, &fleet)
    }

    /// A named fault took the job: there is nothing left to delete.
    mutating func vanished(job id: String, at: Instant, _ fleet: inout LedgerFleet) {
        guard let index = self.jobIndex(id), !self.jobs[index].hasVanished else { return }
        self.endKeeping(job: index, &fleet)
        self.jobs[index].hasVanished = true
        self.dropIfClosed(job: index, at: at, &fleet)
    }

    /// The backend is about to lose a job that it may have kept so far.
    private func endKeeping(job index: Int, _ fleet: inout LedgerFleet) {
        guard self.jobs[index].isKept, !self.jobs[index].isGone else { return }
        fleet.count(in: self.group) { $0.jobs.kept -= 1 }
    }

    /// A named fault took the token of the job: a 401 is right from now on.
    mutating func tokenRevoked(job id: String) {
        guard let index = self.jobIndex(id) else { return }
        self.jobs[index].isTokenRevoked = true
    }

    // MARK: The phone's side

    mutating func uploadAccepted(
        _ scan: ScanNumber, job id: String, at: Instant, _ fleet: inout LedgerFleet
    ) {
        self.requireOpen(scan, for: "accepted", at: at, &fleet)
        if !fleet.settings.hasBackendView { self.forgetNamesake(of: id, scan: scan) }
        let index = self.jobIndex(id, orNewOf: scan)
        self.oweSuperseded(by: id, scan: scan, at: at)
        guard !self.jobs[index].isKnownToPhone else { return }
        self.jobs[index].isKnownToPhone = true
        self.jobs[index].knownAt = at
        if self.jobs[index].acceptedAt == nil { self.jobs[index].acceptedAt = at }
        if fleet.settings.hasBackendView { self.comparePhotos(ofJob: index, at: at, &fleet) }
        guard !fleet.settings.hasBackendView else { return }
        fleet.count(in: self.group) { $0.jobs.accepted += 1 }
        guard self.journey == .batchEnrichment,
            !fleet.findings.jobOwners.record(id, device: self.device, scan: scan)
        else { return }
        self.violate(
            .bookAnswered, scan, at: at, &fleet,
            "the batch has the id \(id.bounded), which is that of another one")
    }

    /// Every photo that was taken must have reached the backend.
    private func comparePhotos(ofJob index: Int, at: Instant, _ fleet: inout LedgerFleet) {
        let job = self.jobs[index]
        guard let taken = self.index(of: job.scan).map({ self.scans[$0] }), !taken.isInherited,
            taken.photos != job.photos
        else { return }
        self.violate(
            .serverAgrees, job.scan, at: at, &fleet,
            "the backend received \(job.photos) photos of a scan with \(taken.photos)")
    }

    /// A foreign server gave an id that it had given before: what is known of the older job says nothing of the new one.
    private mutating func forgetNamesake(of id: String, scan: ScanNumber) {
        guard let index = self.jobIndex(id, of: scan), self.jobs[index].isKnownToPhone else { return }
        if self.jobs[index].scan == scan {
            self.jobs[index] = JobAccount(id: id, scan: scan, isInherited: false)
        } else {
            self.jobs.append(JobAccount(id: id, scan: scan, isInherited: false))
        }
    }

    // MARK: The end of a job

    mutating func dropIfClosed(job index: Int, at: Instant, _ fleet: inout LedgerFleet) {
        guard self.jobs[index].isClosed(hasBackendView: fleet.settings.hasBackendView) else { return }
        self.finishJob(at: index, at: at, &fleet)
        let scan = self.jobs[index].scan
        self.jobs.remove(at: index)
        self.dropIfDone(scan)
    }

    /// Judges a job after its last observation.
    mutating func finishJob(at index: Int, at: Instant, _ fleet: inout LedgerFleet) {
        let job = self.jobs[index]
        self.updateScan(job.scan) {
            $0.lastEndedJob = job.ended
            $0.lastEndedAt = at
        }
        if job.carriedBooks, !job.isKept, !job.isCleanupFinished, !job.isForgotten {
            fleet.count(in: self.group) { $0.jobs.unfinishedCleanups += 1 }
        }
        guard !job.isInherited else { return }
        if let complaint = self.cleanupComplaint(job: index, fleet) {
            self.violate(
                .jobCleaned, job.scan, at: at, &fleet, "job \(job.id.bounded) was not deleted: \(complaint)")
        }
        guard fleet.settings.hasBackendView else { return }
        if job.isAcceptedByBackend, !job.isKnownToPhone {
            fleet.count(in: self.group) { $0.jobs.orphaned += 1 }
        }
        if job.isKnownToPhone, !job.isAcceptedByBackend {
            self.violate(
                .serverAgrees, job.scan, at: at, &fleet,
                "the phone knows job \(job.id.bounded), but the backend never accepted it")
        }
    }
}
