import SimBase
import Talaria

/// One DELETE that has to take effect, in as many requests as that needs.
struct Cleanup: Sendable {
    let scan: ScanNumber
    var job: DurableJob
    let purpose: Purpose
    /// Whether it is the DELETE that cancels a job of v3. A job that has ended before cannot be canceled, and is cleaned up.
    private(set) var cancels: Bool
    private(set) var state: State
    /// Requests that failed or were asked to come again.
    private var failures = 0
    private var backoff = Backoff()

    enum Purpose: Hashable, Sendable {
        /// The scan's outcome is durable; it is settled when this is over.
        case settle
        /// The job is of no more use: the phone is suspended, or the job ended in an error worth another upload.
        case discard
    }

    enum State: Hashable, Sendable {
        /// The write that makes the job dispensable is not durable yet. Leaves to `waiting`.
        case blocked(WriteID)
        /// Waiting out a backoff, or for a path. `attempt` is set where the number is reserved already. Leaves to `sent`.
        case waiting(until: Instant, floor: Instant, attempt: UInt32?)
        /// Leaves to `waiting`, or is over.
        case sent
    }

    init(scan: ScanNumber, job: DurableJob, purpose: Purpose, cancels: Bool, state: State) {
        self.scan = scan
        self.job = job
        self.purpose = purpose
        self.cancels = cancels
        self.state = state
    }

    /// Whether it is its turn, given a path.
    func isDue(at now: Instant) -> Bool {
        self.dueAt.map { $0 <= now } ?? false
    }

    var dueAt: Instant? {
        switch self.state {
        case .waiting(let until, let floor, _): max(until, floor)
        case .blocked, .sent: nil
        }
    }

    mutating func stored(_ durable: WriteID, at now: Instant) {
        switch self.state {
        case .blocked(let writeID) where writeID <= durable:
            self.state = .waiting(until: now, floor: now, attempt: nil)
        case .blocked, .waiting, .sent:
            break
        }
    }

    /// - Returns: The reserved number of the attempt, if there is one.
    mutating func send() -> UInt32? {
        guard case .waiting(_, _, let attempt) = self.state else {
            preconditionFailure("a DELETE was sent out of turn")
        }
        self.state = .sent
        return attempt
    }

    /// The action after a failed attempt.
    enum FailedAction: Hashable, Sendable {
        case wait
        /// The limit of requests is reached.
        case abandon
    }

    mutating func failed(
        at now: Instant, after wait: Interval?, requestsMax: Int, _ policy: BackoffPolicy, draw: UInt64
    ) -> FailedAction {
        self.failures += 1
        guard self.failures < requestsMax else { return .abandon }
        self.state = .waiting(
            until: now + self.backoff.failed(policy, draw: draw), floor: now + (wait ?? .zero), attempt: nil)
        return .wait
    }

    /// The job had ended before it could be canceled.
    mutating func jobHadEnded(at now: Instant) {
        self.cancels = false
        self.state = .waiting(until: now, floor: now, attempt: nil)
    }

    /// The path went away: it does not count as a failure.
    mutating func interrupted(at now: Instant) {
        switch self.state {
        case .sent: self.state = .waiting(until: now, floor: now, attempt: nil)
        case .blocked, .waiting: break
        }
    }

    mutating func pathReturned(tryAt: Instant) {
        switch self.state {
        case .waiting(_, let floor, let attempt):
            self.state = .waiting(until: tryAt, floor: floor, attempt: attempt)
        case .blocked, .sent: break
        }
    }
}
