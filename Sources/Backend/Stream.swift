internal import Faults
internal import SimBase

/// One open stream of a job.
struct Stream: Sendable {
    struct Fault: Hashable, Sendable {
        let armed: ArmedFault
        /// Of a fault that lasts as long as the stream: its first effect was observed.
        var hasFired = false
    }

    let job: JobKey
    let attempt: UInt32
    /// Who asked for it; the faults count it by this.
    let caller: Caller
    let opened: Instant
    /// Faults that may still do something to it, in the order of the scenario's list.
    private(set) var faults: [Fault]
    var nextPing: Instant
    /// The ping at `nextPing` was put off already.
    var isPingLate = false
    /// The next moment at which a fault acts by itself.
    var alarm: Instant?
    /// Events written that were not replayed.
    var newEvents = 0
    /// Bytes written, without what the driver adds.
    var bytes = 0

    init(
        job: JobKey, attempt: UInt32, caller: Caller, opened: Instant, faults: [ArmedFault],
        nextPing: Instant
    ) {
        self.job = job
        self.attempt = attempt
        self.caller = caller
        self.opened = opened
        self.faults = faults.filter(\.concernsOpenStream).map { Fault(armed: $0) }
        self.nextPing = nextPing
    }

    /// Uses up the first fault whose trigger has been reached and to which this applies.
    mutating func take(at now: Instant, where applies: (ArmedFault) -> Bool) -> ArmedFault? {
        guard let index = self.index(at: now, where: applies) else { return nil }
        return self.faults.remove(at: index).armed
    }

    /// The first such fault, which stays; and whether this is the first time.
    mutating func meet(at now: Instant, where applies: (ArmedFault) -> Bool) -> (ArmedFault, isFirst: Bool)? {
        guard let index = self.index(at: now, where: applies) else { return nil }
        defer { self.faults[index].hasFired = true }
        return (self.faults[index].armed, !self.faults[index].hasFired)
    }

    private func index(at now: Instant, where applies: (ArmedFault) -> Bool) -> Int? {
        self.faults.firstIndex { applies($0.armed) && self.hasReached($0.armed.trigger, at: now) }
    }

    private func hasReached(_ trigger: ArmedTrigger, at now: Instant) -> Bool {
        switch trigger {
        case .atOnce: true
        case .afterTime(let time): now - self.opened >= time
        case .afterEvents(let count): self.newEvents >= count
        case .afterBytes(let count): self.bytes >= count
        }
    }

    /// When the first of the faults that act by themselves and wait for a time will do so.
    func nextAlarm(after now: Instant) -> Instant? {
        self.faults.compactMap { fault -> Instant? in
            guard fault.armed.kind.actsByItself, case .afterTime(let time) = fault.armed.trigger else {
                return nil
            }
            let at = self.opened + min(max(.zero, time), BackendConfiguration.intervalMax)
            return at > now ? at : nil
        }.min()
    }
}

extension ArmedFault {
    /// Whether it may do anything to a stream that is open. The others have acted before, or are for other operations,
    /// the link's or the phone's.
    fileprivate var concernsOpenStream: Bool {
        switch self.kind {
        case .stripBooks, .expireToken, .retryableError, .finalError, .degraded, .slowStage, .unknownEvent,
            .badJSON, .noMessage, .latePing, .noPing, .twoTerminals, .endWithoutTerminal, .forgetEvents:
            true
        case .jobGone:
            // At once, the request itself was its victim.
            self.trigger != .atOnce
        default:
            false
        }
    }
}

extension FaultKind {
    /// Whether it does something as soon as its trigger is reached. The others change what is written then or later.
    var actsByItself: Bool {
        switch self {
        case .expireToken, .jobGone, .retryableError, .finalError, .slowStage, .forgetEvents: true
        default: false
        }
    }
}
