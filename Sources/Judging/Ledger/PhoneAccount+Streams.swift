import Observations
import SimBase
import Talaria

// stream.id-monotone, stream.no-gap, stream.terminal-once.

extension PhoneAccount {
    mutating func askedForStream(
        _ scan: ScanNumber, job id: String, lastEventID: String?, at: Instant, _ fleet: inout LedgerFleet
    ) {
        guard let index = self.jobInUse(id, scan: scan, for: "streamed", at: at, &fleet) else {
            return
        }
        self.takenUpAgain(job: index, at: at, &fleet)
        let isInherited = self.jobs[index].isInherited
        guard let wrong = self.jobs[index].stream.asked(after: lastEventID, isInherited: isInherited) else {
            return
        }
        self.violate(.streamIDMonotone, scan, at: at, &fleet, wrong)
    }

    mutating func eventApplied(
        _ scan: ScanNumber, job id: String, event: String?, kind: EventKind, at: Instant,
        _ fleet: inout LedgerFleet
    ) {
        guard let index = self.jobIndex(id, of: scan) else {
            guard fleet.settings.hasBackendView else { return }
            self.violate(
                .streamIDMonotone, scan, at: at, &fleet,
                "applied an event of a job that the backend never accepted or that no longer exists")
            return
        }
        if let terminal = self.jobs[index].terminal {
            self.violate(
                .streamTerminalOnce, scan, at: at, &fleet,
                "\(kind.rawValue) applied after \(terminal.rawValue)")
        }
        // The position of an event without an id cannot be known, and it changes nothing that a reconnect sends.
        guard let event else { return }
        let endsAgain = kind.isTerminal && self.sawRelaunch && self.jobs[index].terminal == nil
        let step = self.jobs[index].stream.applied(
            id: event, isTerminal: kind.isTerminal, endsAgain: endsAgain, at: at)
        guard fleet.settings.hasBackendView, !self.jobs[index].isInherited else { return }
        self.judge(step, event, of: scan, at: at, &fleet)
    }

    private func judge(
        _ step: StreamAccount.Step, _ event: String, of scan: ScanNumber, at: Instant,
        _ fleet: inout LedgerFleet
    ) {
        switch step {
        case .forward:
            break
        case .skipped(let positions):
            // What a stream that is dead by now was told, the next one passes over.
            guard !fleet.settings.passesChangesOver || !self.journey.version.mayPassChangesOver else {
                return
            }
            self.violate(
                .streamNoGap, scan, at: at, &fleet,
                "events of the server's log skipped before \(event.bounded): positions \(positions.lowerBound) to \(positions.upperBound)"
            )
        case .backward(let position, let last):
            self.violate(
                .streamIDMonotone, scan, at: at, &fleet, "applied position \(position) after \(last)")
        case .again:
            self.violate(.streamIDMonotone, scan, at: at, &fleet, "applied \(event.bounded) a second time")
        case .unknown:
            self.violate(
                .streamIDMonotone, scan, at: at, &fleet,
                "applied \(event.bounded), an event the backend never wrote")
        }
    }

    mutating func terminalApplied(
        _ scan: ScanNumber, job id: String, kind: EventKind, inline: InlineBooksForm, at: Instant,
        _ fleet: inout LedgerFleet
    ) {
        guard let index = self.jobIndex(id, of: scan) else {
            // The phone reads on in the stream of a job that it has deleted.
            guard kind == .error else { return }
            return self.updateScan(scan) {
                if $0.lastEndedJob?.id == id { $0.lastEndedJob?.isErrorSeen = true }
            }
        }
        if let terminal = self.jobs[index].terminal {
            self.violate(
                .streamTerminalOnce, scan, at: at, &fleet,
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
    mutating func completedAcrossGap(job index: Int, at: Instant, _ fleet: inout LedgerFleet) {
        let job = self.jobs[index]
        guard job.stream.owesResults, !job.hadInlineBooks, !job.hadResults else { return }
        self.violate(
            .streamNoGap, job.scan, at: at, &fleet,
            "events were lost that the server could not replay, and the results were not fetched")
    }
}
