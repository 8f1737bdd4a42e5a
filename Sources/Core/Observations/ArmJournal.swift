package import SimBase
package import Talaria

/// What the observations of phones say of the arms of a rollout. Who steers the rollout and who reports on it read the same
/// events; what they make of them is their own.
package struct ArmJournal: Sendable {
    /// A scan from its capture to its end.
    private struct FollowedScan {
        /// The time at which its person complains.
        var due: Instant
        /// The arm of the last upload; nil before the first.
        var arm: StreamTransport?
        /// Whether its upload was accepted and its job has not ended.
        var hasJob = false
        var hasComplained = false
    }

    /// The time from the scheduled capture after which a person complains of a scan without books.
    private let patience: Interval
    private var scans: [ScanID: FollowedScan] = [:]
    private var deadlines = EventHeap<ScanID>()

    package init(patience: Interval) { self.patience = patience }

    /// The scans that are followed.
    package var followed: Int { self.scans.count }

    /// Appends what an observation says, and the complaints that were due before it. Observations come in the order of time.
    package mutating func record(_ observation: Observation, into events: inout [ArmEvent]) {
        self.complain(before: observation.at, into: &events)
        guard case .phone(let payload) = observation.what else { return }
        let id = ScanID(observation.device, observation.scan)
        if case .captured(let scheduled) = payload {
            let due = scheduled + self.patience
            self.scans[id] = FollowedScan(due: due)
            self.deadlines.insert(id, at: due)
            return
        }
        guard var scan = self.scans[id] else { return }
        let isOver = Self.record(payload, &scan, id, at: observation.at, into: &events)
        self.scans[id] = isOver ? nil : scan
    }

    private mutating func complain(before moment: Instant, into events: inout [ArmEvent]) {
        while let (due, id) = self.deadlines.popDue(at: moment) {
            guard var scan = self.scans[id], scan.due == due, let arm = scan.arm, !scan.hasComplained else {
                continue
            }
            scan.hasComplained = true
            self.scans[id] = scan
            events.append(ArmEvent(at: due, id, arm, .decided(complains: true)))
        }
    }

    /// Returns whether the scan is over.
    private static func record(
        _ payload: PhoneObservation, _ scan: inout FollowedScan, _ id: ScanID, at now: Instant,
        into events: inout [ArmEvent]
    ) -> Bool {
        func add(_ what: ArmEvent.What) {
            guard let arm = scan.arm else { return }
            events.append(ArmEvent(at: now, id, arm, what))
        }
        switch payload {
        case .armTaken(let arm, let share):
            // The job of the upload before is followed no more.
            if scan.hasJob { add(.jobEnded(failure: "uploaded-again")) }
            scan.hasJob = false
            scan.arm = arm
            add(.taken(share: share))
        case .uploadAccepted: scan.hasJob = true
        case .streamOpened: add(.connected(succeeded: true))
        case .requestFailed(.stream, _, let failure, _) where failure != .noPath:
            add(.connected(succeeded: false))
        case .replied(.stream, _, let status, _) where status >= 400 && status != 429:
            add(.connected(succeeded: false))
        case .queued(let cause):
            // The app repeats what failed, and its person sees a scan that waits: who complains does so later.
            if scan.hasJob, cause.isOfJob { add(.jobEnded(failure: cause.rawValue)) }
            scan.hasJob = false
        case .completed(let took):
            add(.jobEnded(failure: nil))
            add(.completed(took: took))
            if !scan.hasComplained { add(.decided(complains: now > scan.due)) }
            return true
        case .refused(let code, _):
            add(.jobEnded(failure: code))
            if !scan.hasComplained { add(.decided(complains: true)) }
            return true
        case .canceled: return true
        default: break
        }
        return false
    }
}

/// A scan of a fleet.
private struct ScanID: Hashable, Sendable {
    let device: DeviceNumber
    let scan: ScanNumber

    init(_ device: DeviceNumber, _ scan: ScanNumber) {
        self.device = device
        self.scan = scan
    }
}

/// What happened to a scan on one arm of a rollout.
package struct ArmEvent: Hashable, Sendable {
    package enum What: Hashable, Sendable {
        /// The phone looked at the flag, whose new arm had this share then.
        case taken(share: Odds)
        /// A request for the stream of a job was answered, or failed. Without a path and while the server asks to wait, it is
        /// neither.
        case connected(succeeded: Bool)
        /// The job was followed to its end, or not: the name of the cause.
        case jobEnded(failure: String?)
        /// Since the scheduled capture.
        case completed(took: Interval)
        /// Whether its person complains: the scan was refused, or took longer than the scenario says. Once for a scan.
        case decided(complains: Bool)
    }

    package let at: Instant
    package let device: DeviceNumber
    package let scan: ScanNumber
    package let arm: StreamTransport
    package let what: What

    package init(
        at: Instant, device: DeviceNumber, scan: ScanNumber, arm: StreamTransport, what: What
    ) {
        self.at = at
        self.device = device
        self.scan = scan
        self.arm = arm
        self.what = what
    }

    fileprivate init(at: Instant, _ id: ScanID, _ arm: StreamTransport, _ what: What) {
        self.init(at: at, device: id.device, scan: id.scan, arm: arm, what: what)
    }
}

extension ArmEvent {
    /// Whether a measure counts the event, of all that it is a share of; nil if it is none of these.
    package func isCounted(in measure: RolloutMeasure) -> Bool? {
        switch (measure, self.what) {
        case (.errors, .jobEnded(let failure)): failure != nil
        case (.connects, .connected(let succeeded)): succeeded
        case (.complaints, .decided(let complains)): complains
        case (.errors, _), (.connects, _), (.complaints, _): nil
        }
    }
}

extension WaitingCause {
    /// Whether it says that the job was not followed to its end. The others are of the phone: its path, its app, its user.
    fileprivate var isOfJob: Bool {
        switch self {
        case .captured, .offline, .rateLimited, .suspended, .interrupted: false
        case .serverError, .transport, .retryableError, .tokenExpired, .tokenRefused, .jobGone,
            .resultsUnavailable, .resultsExpired, .unreadableAnswer, .answerTooLarge, .noAnswer,
            .unexpectedStatus, .unauthorized, .foreignURL, .statusBudget:
            true
        }
    }
}
