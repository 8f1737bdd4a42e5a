import SimBase

/// The DELETE that a phone owes for one job, and its state (Docs/design.md section 11.4).
///
/// An accident excuses the request that it hit, or the wait that it interrupted; afterwards, the DELETE is
/// due again.
struct PendingCleanup: Sendable {
    enum Reason: Hashable, Sendable {
        /// The scan's outcome is durable. Its record keeps the job until the DELETE is over, through a kill as well.
        case outcome
        /// The job is of no more use to its scan. Only the process knows that it owes the DELETE: a kill ends the debt.
        case discard
    }

    enum State: Hashable, Sendable {
        /// No DELETE is under way. The next one is sent by `due`, as long as nothing keeps the phone from it. Leaves to `open`
        /// or `over`.
        case waiting(due: Instant)
        /// Leaves to `waiting` or `over`.
        case open(attempt: UInt32)
        /// The phone does no more.
        case over(isExcused: Bool)
    }

    /// One request.
    struct Attempt: Hashable, Sendable {
        var number: UInt32
        /// An accident befell it.
        var isHit: Bool
        /// The status of the response.
        var status: Int?
        /// The wait that its response requested.
        var wait = Interval.zero

        /// Whether its response was final: no retry is of use.
        var isFinal: Bool {
            self.status.map { 400..<500 ~= $0 && ![404, 408, 410, 429].contains($0) } ?? false
        }
    }

    var reason: Reason
    var state: State
    /// The latest request.
    var last: Attempt?
    /// Requests of the present process that failed, or were asked to come again.
    private(set) var failures = 0
    /// The phone had the time for a DELETE, and made none.
    var isOverdue = false

    init(_ reason: Reason, due: Instant) {
        self.reason = reason
        self.state = .waiting(due: due)
    }

    /// Requests after which a phone leaves a job to its expiry (decision 0116).
    static let failuresMax = 8
    /// Requests of one phone that may be under way at once.
    static let openMax = 10
    /// The tolerance of a phone beyond the time at which it may act: for its disk, its timers and the jitter
    /// of a returning path.
    static let grace = Interval.seconds(2)
    /// The maximum time without a response to a DELETE.
    static let timeout = Interval.seconds(30)
    /// The time for which an app in the background continues.
    static let backgroundTime = Interval.seconds(5)
    private static let backoffBase = Interval.milliseconds(500)
    private static let backoffCap = Interval.seconds(30)

    var isOpen: Bool { if case .open = self.state { true } else { false } }
    var isOver: Bool { if case .over = self.state { true } else { false } }

    func isOpen(_ attempt: UInt32) -> Bool { self.state == .open(attempt: attempt) }

    /// The phone could have acted up to this time.
    mutating func passes(_ moment: Instant) {
        if case .waiting(let due) = self.state, due < moment { self.isOverdue = true }
    }

    /// Something that kept the phone from acting is over: it is not due before `time`.
    mutating func becomeDue(by moment: Instant) {
        if case .waiting(let due) = self.state { self.state = .waiting(due: max(due, moment)) }
    }

    mutating func sent(_ attempt: UInt32, isHit: Bool) {
        guard !self.isOver else { return }
        self.state = .open(attempt: attempt)
        self.last = Attempt(number: attempt, isHit: isHit)
        self.isOverdue = false
    }

    /// An accident befalls what is under way.
    mutating func hit() {
        if self.isOpen { self.last?.isHit = true }
    }

    mutating func hit(_ attempt: UInt32) {
        if self.last?.number == attempt { self.last?.isHit = true }
    }

    /// Records that the open DELETE failed, or must be repeated.
    mutating func failed(at moment: Instant) {
        guard self.isOpen, let last = self.last else { return }
        let shift = Int64(min(self.failures, 10))
        let ceiling = min(Self.backoffCap.nanoseconds, Self.backoffBase.nanoseconds << shift)
        self.failures += 1
        self.state = .waiting(
            due: moment + last.wait + .nanoseconds(ceiling) + Self.grace)
    }

    /// Records that the open DELETE was lost with its path or its process, which is not a failure.
    mutating func interrupted(at moment: Instant) {
        guard self.isOpen else { return }
        self.last?.isHit = true
        self.state = .waiting(due: moment + Self.grace)
    }

    /// The process is gone.
    mutating func killed(at moment: Instant) {
        self.interrupted(at: moment)
        self.failures = 0
        guard self.reason == .discard, !self.isOver else { return }
        self.state = .over(isExcused: !self.isOverdue)
    }

    /// Returns the complaint about a job that still existed at the end of the run; nil if there is none.
    ///
    /// `isAble`: the phone's app is in the foreground and has a path. `isForeign`: the server's problems are
    /// unknown; a phone that would have retried in time did enough.
    func complaint(isAble: Bool, isForeign: Bool) -> String? {
        if self.isOverdue {
            return self.last == nil ? "no DELETE was sent" : "its DELETE was not retried"
        }
        let ineffective = self.last == nil ? "no DELETE was sent" : "its DELETE had no effect"
        switch self.state {
        case .over(let isExcused): return isExcused ? nil : ineffective
        case .open: return self.last?.isHit == true || !isAble ? nil : ineffective
        case .waiting: return self.last?.isHit == false && !isForeign ? ineffective : nil
        }
    }
}
