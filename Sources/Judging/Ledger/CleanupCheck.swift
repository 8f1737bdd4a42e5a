import Observations
import SimBase
import Talaria

/// job.cleaned-once: checks whether a phone sends a DELETE of a job only while no other is open, and none
/// after a final response: 2xx, 404 or 410, or 401, which abandons the job (Docs/design.md section 6).
///
/// A request is open until its response was read, it failed, or it was lost with its process, its path or the
/// time that an app has in the background. A later process need not know of a response that could not be
/// recorded.
struct CleanupCheck: Sendable {
    fileprivate enum State: Sendable {
        /// Leaves to `heard`, or is forgotten.
        case open
        /// The head of an answer that is final once it is read. Leaves to `answered`, or is forgotten.
        case heard
        /// Nothing more is to be sent.
        case answered(at: Instant)
    }

    fileprivate struct Delete: Sendable {
        let job: UInt64
        let scan: ScanNumber
        var attempt: UInt32
        var state: State
    }

    private static let deletesMax = 32

    /// The latest DELETE of each job, of the last few jobs.
    private var deletes: [Delete] = []

    /// The number of entries, for tests of its growth.
    var remembered: Int { self.deletes.count }

    /// - Returns: What is wrong with what is seen.
    mutating func record(_ payload: PhoneObservation, _ now: PhoneMoment) -> String? {
        switch payload {
        case .requestSent(let operation, let attempt, let job?, _) where operation.isDelete:
            return self.sent(Digest.inWords(of: job), now.scan, attempt)
        case .replied(let operation, let attempt, let status, _) where operation.isDelete:
            let isFinal = (200...299).contains(status) || [401, 404, 410].contains(status)
            self.change(now.scan, attempt, to: isFinal ? .heard : nil)
        case .requestFailed(let operation, let attempt, _, _) where operation.isDelete:
            self.change(now.scan, attempt, to: nil)
        case .cleanupAnswered(let job, _, _), .jobAbandoned(let job, _):
            self.read(Digest.inWords(of: job), at: now.at)
        case .pathLost, .pathChanged: self.forgetUnderway()
        case .resumed:
            // It was frozen in between.
            guard let left = now.life.suspendedAt, left + PendingCleanup.backgroundTime <= now.at
            else { return nil }
            self.forgetUnderway()
        case .killed: self.killed(now)
        case .reinstalled: self.deletes = []
        default: break
        }
        return nil
    }

    private mutating func sent(_ job: UInt64, _ scan: ScanNumber, _ attempt: UInt32) -> String? {
        let delete = Delete(job: job, scan: scan, attempt: attempt, state: .open)
        guard let index = self.deletes.firstIndex(where: { $0.job == job }) else {
            self.deletes.append(delete, max: Self.deletesMax)
            return nil
        }
        let before = self.deletes[index]
        self.deletes[index] = delete
        switch before.state {
        case .open, .heard: return "DELETE \(attempt) sent while DELETE \(before.attempt) is open"
        case .answered: return "DELETE \(attempt) sent after DELETE \(before.attempt) had a final response"
        }
    }

    /// `state`: nil where the DELETE may be sent again.
    private mutating func change(_ scan: ScanNumber, _ attempt: UInt32, to state: State?) {
        let isMeant = { (delete: Delete) in
            delete.scan == scan && delete.attempt == attempt && !delete.isAnswered
        }
        guard let index = self.deletes.firstIndex(where: isMeant) else { return }
        if let state {
            self.deletes[index].state = state
        } else {
            self.deletes.remove(at: index)
        }
    }

    private mutating func read(_ job: UInt64, at moment: Instant) {
        guard let index = self.deletes.firstIndex(where: { $0.job == job }) else { return }
        switch self.deletes[index].state {
        case .open: self.deletes.remove(at: index)  // Given up, without an answer.
        case .heard: self.deletes[index].state = .answered(at: moment)
        case .answered: break
        }
    }

    private mutating func forgetUnderway() { self.deletes.removeAll { !$0.isAnswered } }

    private mutating func killed(_ now: PhoneMoment) {
        self.deletes.removeAll { delete in
            guard case .answered(let answered) = delete.state else { return true }
            return !now.life.storage.hasKept(answered, at: now.at, within: LedgerSettings.recordTime)
        }
    }
}

extension CleanupCheck.Delete {
    fileprivate var isAnswered: Bool { if case .answered = self.state { true } else { false } }
}
