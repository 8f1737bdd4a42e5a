import Metrics
import SimBase
import Talaria

// A job that is followed by requests for its status.

extension PhoneAccount {
    mutating func askedForStatus(
        _ scan: ScanNumber, job id: String, at: Instant, _ fleet: inout LedgerFleet
    ) {
        guard
            let index = self.jobInUse(id, scan: scan, for: "requested the status of", at: at, &fleet)
        else { return }
        self.takenUpAgain(job: index, at: at, &fleet)
        self.jobs[index].followed()
        self.judgeInterval(scan, at: at, &fleet)
    }

    /// The status is requested no sooner after an answer than the profile says. A process, and a path, do not know of the one
    /// before.
    private mutating func judgeInterval(_ scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet) {
        let interval = fleet.settings.fleet.value(of: self.device, in: fleet.settings.statusIntervals)
        guard let interval, let ended = self.index(of: scan).flatMap({ self.scans[$0].statusEndedAt }),
            ended > self.presenceChangedAt, at < ended + interval
        else { return }
        self.violate(
            .limitHonoured, scan, at: at, &fleet,
            "status requested \((at - ended).wholeMilliseconds) ms after the last answer, and not after \(interval.wholeMilliseconds) ms"
        )
    }

    /// A status that ends the job replaces its terminal event.
    mutating func statusDecoded(
        _ scan: ScanNumber, job id: String, _ status: JobStatus, at: Instant, _ fleet: inout LedgerFleet
    ) {
        guard status.isTerminal, let index = self.jobIndex(id, of: scan) else { return }
        let job = self.jobs[index]
        if fleet.settings.hasBackendView, !job.isInherited, !job.hasEnded {
            self.violate(
                .serverAgrees, scan, at: at, &fleet,
                "the phone read that job \(id.bounded) is \(status.rawValue), but the backend had not ended it"
            )
        }
        self.jobs[index].terminal = status == .completed ? .completed : .error
        guard status != .completed else { return }
        self.jobs[index].sawError = true
        self.oweAfterError(job: index, at: at)
    }
}
