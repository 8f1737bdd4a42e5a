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

    fileprivate struct Phone: Sendable {
        /// The latest DELETE of each job, of the last few jobs.
        var deletes: [Delete] = []
        var isFull = false
        var freedAt = Instant.zero
        var suspendedAt: Instant?
    }

    fileprivate static let deletesMax = 32

    private var phones: [Phone] = []

    /// The number of entries for all phones together, for tests of its growth.
    var remembered: Int { self.phones.reduce(0) { $0 + $1.deletes.count } }

    /// - Returns: What is wrong with what is seen.
    mutating func record(_ payload: PhoneObservation, scan: ScanNumber, at: Instant, phoneIndex: Int)
        -> String?
    {
        while self.phones.count <= phoneIndex { self.phones.append(Phone()) }
        switch payload {
        case .requestSent(let operation, let attempt, let job?, _) where operation.isDelete:
            return self.phones[phoneIndex].sent(Digest.of(job), scan, attempt)
        case .replied(let operation, let attempt, let status, _) where operation.isDelete:
            let isFinal = (200...299).contains(status) || [401, 404, 410].contains(status)
            self.phones[phoneIndex].change(scan, attempt) { isFinal ? .heard : nil }
        case .requestFailed(let operation, let attempt, _, _) where operation.isDelete:
            self.phones[phoneIndex].change(scan, attempt) { nil }
        case .cleanupAnswered(let job, _, _), .jobAbandoned(let job, _):
            self.phones[phoneIndex].read(Digest.of(job), at: at)
        case .storageFilled: self.phones[phoneIndex].isFull = true
        case .storageFreed:
            self.phones[phoneIndex].isFull = false
            self.phones[phoneIndex].freedAt = at
        case .pathLost, .pathChanged: self.phones[phoneIndex].forgetUnderway()
        case .suspended: self.phones[phoneIndex].suspendedAt = at
        case .resumed:
            let left = self.phones[phoneIndex].suspendedAt
            self.phones[phoneIndex].suspendedAt = nil
            // It was frozen in between.
            guard let left, left + PendingCleanup.backgroundTime <= at else { return nil }
            self.phones[phoneIndex].forgetUnderway()
        case .killed: self.phones[phoneIndex].killed(at: at)
        case .reinstalled:
            let isFull = self.phones[phoneIndex].isFull
            self.phones[phoneIndex] = Phone()
            self.phones[phoneIndex].isFull = isFull
        default: break
        }
        return nil
    }
}

extension CleanupCheck.Phone {
    fileprivate mutating func sent(_ job: UInt64, _ scan: ScanNumber, _ attempt: UInt32) -> String? {
        let delete = CleanupCheck.Delete(job: job, scan: scan, attempt: attempt, state: .open)
        guard let index = self.deletes.firstIndex(where: { $0.job == job }) else {
            if self.deletes.count == CleanupCheck.deletesMax { self.deletes.removeFirst() }
            self.deletes.append(delete)
            return nil
        }
        let before = self.deletes[index]
        self.deletes[index] = delete
        switch before.state {
        case .open, .heard: return "DELETE \(attempt) sent while DELETE \(before.attempt) is open"
        case .answered: return "DELETE \(attempt) sent after DELETE \(before.attempt) had a final response"
        }
    }

    /// Nil: it may be sent again.
    fileprivate mutating func change(
        _ scan: ScanNumber, _ attempt: UInt32, _ state: () -> CleanupCheck.State?
    ) {
        guard
            let index = self.deletes.firstIndex(where: {
                $0.scan == scan && $0.attempt == attempt && !$0.isAnswered
            })
        else { return }
        if let state = state() {
            self.deletes[index].state = state
        } else {
            self.deletes.remove(at: index)
        }
    }

    fileprivate mutating func read(_ job: UInt64, at moment: Instant) {
        guard let index = self.deletes.firstIndex(where: { $0.job == job }) else { return }
        switch self.deletes[index].state {
        case .open: self.deletes.remove(at: index)  // Given up, without an answer.
        case .heard: self.deletes[index].state = .answered(at: moment)
        case .answered: break
        }
    }

    fileprivate mutating func forgetUnderway() { self.deletes.removeAll { !$0.isAnswered } }

    fileprivate mutating func killed(at moment: Instant) {
        self.suspendedAt = nil
        self.deletes.removeAll { delete in
            guard case .answered(let answered) = delete.state else { return true }
            return self.isFull || max(answered, self.freedAt) + LedgerSettings.recordTime >= moment
        }
    }
}

extension CleanupCheck.Delete {
    fileprivate var isAnswered: Bool { if case .answered = self.state { true } else { false } }
}
