import Metrics
import Observations
import SimBase
import Talaria

// cancel.final: what may still happen for a scan that its user has canceled. That its job is deleted is judged by job.cleaned.

/// A canceled scan, with the state of its job at the backend.
struct CanceledScan: Sendable {
    let scan: ScanNumber
    /// The job that the phone followed.
    let job: String?
    /// The backend has canceled or removed the job.
    var isJobOver = false
}

extension PhoneAccount {
    private static let cancelsMax = 64

    /// A user cancels at the time that the profile draws: not during an upload, nor while the app is away.
    func cancelRequested(_ scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet) {
        let times = fleet.settings.fleet.value(of: self.device, in: fleet.settings.cancelTimes)
        guard let times = times ?? nil, let index = self.index(of: scan), !self.scans[index].isInherited
        else { return }
        let account = self.scans[index]
        func violate(_ text: String) {
            self.violate(.cancelFinal, scan, at: at, &fleet, text)
        }
        if let sent = account.uploadSentAt, sent > self.presenceChangedAt {
            violate("canceled while its upload was under way")
        }
        guard let jobs = account.jobsCame else { return violate("canceled before its upload was accepted") }
        let waited = (at - jobs.lowerBound).wholeMilliseconds
        if at < jobs.lowerBound + times.lowerBound {
            violate(
                "canceled \(waited) ms after its first 202; its user waits \(times.lowerBound.wholeMilliseconds) ms at least"
            )
        }
        let free = max(self.presenceChangedAt, account.uploadEndedAt ?? .zero)
        if at > max(jobs.upperBound + times.upperBound, free) + fleet.settings.recordTime {
            violate(
                "canceled \(waited) ms after its first 202; its user waits \(times.upperBound.wholeMilliseconds) ms at most"
            )
        }
    }

    mutating func canceled(_ scan: ScanNumber, job id: String?, at: Instant, _ fleet: inout LedgerFleet) {
        let taken = self.take(scan, for: "canceled", at: at, &fleet)
        guard let index = taken, self.scans[index].state == .open else {
            guard self.isSettled(scan) else { return }
            self.violate(.scanCustody, scan, at: at, &fleet, "canceled after it was settled")
            return
        }
        fleet.count(in: self.group) { $0.scans.canceled += 1 }
        self.countRows(ofCanceled: index, &fleet)
        if let job = id.flatMap({ self.jobIndex($0, of: scan) }) {
            self.oweAfterOutcome(job: job, at: at)
        } else {
            self.oweAfterRefusal(of: scan, cause: nil, at: at)
        }
        self.settle(at: index, as: .canceled, &fleet)
        self.decide(scan, at: at)
        self.cancels.append(CanceledScan(scan: scan, job: id), max: Self.cancelsMax)
        self.dropIfDone(scan)
    }

    func isCanceled(_ scan: ScanNumber) -> Bool { self.cancels.contains { $0.scan == scan } }

    /// Judges what the phone does for a scan that was canceled.
    func judgeAfterCancel(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        guard !self.cancels.isEmpty, self.isCanceled(scan) else { return }
        switch payload {
        case .bookAdded(let ordinal, _):
            self.violateCancel("book \(ordinal) entered the library", scan, at: at, &fleet)
        case .bookApproved(let entry, _):
            self.violateCancel("book \(entry) entered the library", scan, at: at, &fleet)
        case .requestSent(let operation, let attempt, _, _) where !operation.isDelete:
            self.violateCancel("\(operation.name) \(attempt) was sent", scan, at: at, &fleet)
        default: break
        }
    }

    /// Judges what the backend does for a job after it has canceled it.
    mutating func judgeAfterCancel(_ payload: BackendObservation, at: Instant, _ fleet: inout LedgerFleet) {
        guard !self.cancels.isEmpty else { return }
        switch payload {
        case .canceled(let job), .cleaned(let job, effective: true):
            guard let index = self.cancels.lastIndex(where: { $0.job == job }) else { return }
            self.cancels[index].isJobOver = true
        case .resultsServed(let job, _):
            self.judge(job, "the backend served results of the job", at: at, &fleet)
        // A stream that was requested before the cancel may open after it, and gets the log.
        case .eventWritten(let job, _, _, let kind, replayed: false) where !kind.isTerminal:
            self.judge(job, "the backend wrote the event \(kind.rawValue)", at: at, &fleet)
        case .finished(let job, .completed, _):
            self.judge(job, "the backend completed the job", at: at, &fleet)
        default: break
        }
    }

    /// A backend that is not observed says that there is no job, though it ran and had not been deleted
    /// before: its outcome is unknown.
    func judgeCancel(ofJob index: Int, answered status: Int, at moment: Instant, _ fleet: inout LedgerFleet) {
        let job = self.jobs[index]
        guard !fleet.settings.hasBackendView, status == 404 || status == 410, self.isCanceled(job.scan),
            job.deletesSent == 1, job.terminal == nil, !job.isInherited, !job.isEndedByServer,
            !job.isTokenOver(at: moment, lifetime: fleet.settings.tokenLifetime),
            job.pendingCleanup?.last?.isHit != true
        else { return }
        self.violate(
            .cancelFinal, job.scan, at: moment, &fleet,
            "the first DELETE of job \(job.id.bounded) was answered with \(status), though the job had not ended: nobody knows whether it was canceled"
        )
    }

    private func judge(_ job: String, _ text: String, at: Instant, _ fleet: inout LedgerFleet) {
        guard let cancel = self.cancels.last(where: { $0.job == job && $0.isJobOver }) else { return }
        self.violateCancel(text, cancel.scan, at: at, &fleet)
    }

    private func violateCancel(_ text: String, _ scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet) {
        self.violate(.cancelFinal, scan, at: at, &fleet, "\(text) after the \(self.noun.one) was canceled")
    }
}
