import Metrics
import SimBase
import Talaria

// A job that is followed by requests for its status.

extension PhoneAccount {
    mutating func askedForStatus(
        _ scan: ScanNumber, job id: String, at: Instant, rules: Rules, into findings: inout Findings
    ) {
        guard
            let index = self.jobInUse(id, scan: scan, for: "requested the status of", at: at, into: &findings)
        else { return }
        self.takenUpAgain(job: index, at: at, rules: rules, into: &findings)
        self.jobs[index].followed()
        self.judgeInterval(scan, at: at, rules: rules, into: &findings)
    }

    /// The status is requested no sooner after an answer than the profile says. A process, and a path, do not know of the one
    /// before.
    private mutating func judgeInterval(
        _ scan: ScanNumber, at: Instant, rules: Rules, into findings: inout Findings
    ) {
        let interval = rules.settings.fleet.value(of: self.device, in: rules.settings.statusIntervals)
        guard let interval, let ended = self.index(of: scan).flatMap({ self.scans[$0].statusEndedAt }),
            ended > self.interruptedAt, at < ended + interval
        else { return }
        findings.violate(
            .limitHonoured, device: self.device, scan: scan, at: at,
            "status requested \((at - ended).wholeMilliseconds) ms after the last answer, and not after \(interval.wholeMilliseconds) ms"
        )
    }

    /// A status that ends the job replaces its terminal event.
    mutating func statusDecoded(
        _ scan: ScanNumber, job id: String, _ status: JobStatus, at: Instant, rules: Rules,
        into findings: inout Findings
    ) {
        guard status.isTerminal, let index = self.jobIndex(id, of: scan) else { return }
        let job = self.jobs[index]
        if rules.settings.hasBackendView, !job.isInherited, !job.hasEnded {
            findings.violate(
                .serverAgrees, device: self.device, scan: scan, at: at,
                "the phone read that job \(id.bounded) is \(status.rawValue), but the backend had not ended it"
            )
        }
        self.jobs[index].terminal = status == .completed ? .completed : .error
        guard status != .completed else { return }
        self.jobs[index].sawError = true
        self.oweAfterError(job: index, at: at)
    }
}
