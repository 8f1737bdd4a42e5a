import Observations
import SimBase
import Talaria

// stream.id-monotone, stream.no-gap, stream.terminal-once.

extension PhoneAccount {
    mutating func askedForStream(
        _ scan: ScanNumber, job id: String, lastEventID: String?, at: Instant, rules: Rules,
        into findings: inout Findings
    ) {
        guard let index = self.jobInUse(id, scan: scan, for: "streamed", at: at, into: &findings) else {
            return
        }
        self.takenUpAgain(job: index, at: at, rules: rules, into: &findings)
        let isInherited = self.jobs[index].isInherited
        guard let wrong = self.jobs[index].stream.asked(after: lastEventID, isInherited: isInherited) else {
            return
        }
        findings.violate(.streamIDMonotone, device: self.device, scan: scan, at: at, wrong)
    }

    mutating func eventApplied(
        _ scan: ScanNumber, job id: String, event: String?, kind: EventKind, at: Instant, rules: Rules,
        into findings: inout Findings
    ) {
        guard let index = self.jobIndex(id, of: scan) else {
            guard rules.settings.hasBackendView else { return }
            findings.violate(
                .streamIDMonotone, device: self.device, scan: scan, at: at,
                "applied an event of a job that the backend never accepted or that no longer exists")
            return
        }
        if let terminal = self.jobs[index].terminal {
            findings.violate(
                .streamTerminalOnce, device: self.device, scan: scan, at: at,
                "\(kind.rawValue) applied after \(terminal.rawValue)")
        }
        // The position of an event without an id cannot be known, and it changes nothing that a reconnect sends.
        guard let event else { return }
        let endsAgain = kind.isTerminal && self.sawRelaunch && self.jobs[index].terminal == nil
        let step = self.jobs[index].stream.applied(
            id: event, isTerminal: kind.isTerminal, endsAgain: endsAgain, at: at)
        guard rules.settings.hasBackendView, !self.jobs[index].isInherited else { return }
        self.judge(step, event, of: scan, at: at, rules: rules, into: &findings)
    }

    private func judge(
        _ step: StreamAccount.Step, _ event: String, of scan: ScanNumber, at: Instant, rules: Rules,
        into findings: inout Findings
    ) {
        switch step {
        case .forward:
            break
        case .skipped(let positions):
            // What a stream that is dead by now was told, the next one passes over.
            guard !rules.settings.passesChangesOver || !self.journey.isV2 else { return }
            findings.violate(
                .streamNoGap, device: self.device, scan: scan, at: at,
                "events of the server's log skipped before \(event.bounded): positions \(positions.lowerBound) to \(positions.upperBound)"
            )
        case .backward(let position, let last):
            findings.violate(
                .streamIDMonotone, device: self.device, scan: scan, at: at,
                "applied position \(position) after \(last)")
        case .again:
            findings.violate(
                .streamIDMonotone, device: self.device, scan: scan, at: at,
                "applied \(event.bounded) a second time")
        case .unknown:
            findings.violate(
                .streamIDMonotone, device: self.device, scan: scan, at: at,
                "applied \(event.bounded), an event the backend never wrote")
        }
    }

    mutating func terminalApplied(
        _ scan: ScanNumber, job id: String, kind: EventKind, inline: InlineBooksForm, at: Instant,
        into findings: inout Findings
    ) {
        guard let index = self.jobIndex(id, of: scan) else {
            // The phone reads on in the stream of a job that it has deleted.
            guard kind == .error else { return }
            return self.updateScan(scan) {
                if $0.lastEndedJob?.id == id { $0.lastEndedJob?.isErrorSeen = true }
            }
        }
        if let terminal = self.jobs[index].terminal {
            findings.violate(
                .streamTerminalOnce, device: self.device, scan: scan, at: at,
                "\(kind.rawValue) ended a job that \(terminal.rawValue) had ended")
        }
        self.jobs[index].terminal = kind
        if kind == .error {
            self.jobs[index].sawError = true
            self.oweAfterError(job: index, at: at)
            let attempts = self.jobs[index].streamAttempts
            let isFinal = self.jobs[index].isErrorRetryable == false
            self.updateScan(scan) {
                $0.hasFailedForGood = isFinal && !$0.isStreamUnreadable
                $0.isRefusalExplained = attempts.map($0.isStreamRefused) ?? false
            }
        }
        if inline == .books { self.jobs[index].hadInlineBooks = true }
    }

    /// The scan is complete with this job's books. Where the server could not replay, they must have come whole.
    mutating func completedAcrossGap(job index: Int, at: Instant, into findings: inout Findings) {
        let job = self.jobs[index]
        guard job.stream.owesResults, !job.hadInlineBooks, !job.hadResults else { return }
        findings.violate(
            .streamNoGap, device: self.device, scan: job.scan, at: at,
            "events were lost that the server could not replay, and the results were not fetched")
    }
}
