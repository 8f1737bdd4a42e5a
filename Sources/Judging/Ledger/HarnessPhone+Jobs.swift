import Observations
import SimBase
import Talaria

// Jobs as they were made, and as the backend serves them.

/// A job of the simulated backend, from its 202 until it is gone.
struct HarnessJob: Sendable {
    let id: String
    let scan: ScanNumber
    let books: Int
    let acceptedAt: Instant
    var finishedAt: Instant?
    var kind: EventKind?
    var isRevoked = false
    var isCanceled = false
    /// Its library file is none, or has no rows.
    var isUnreadable = false
    /// The last answer that had its status.
    var polledAt: Instant?
    var isDegraded = false
    /// Its log may have gaps when it is replayed: no event but the terminal one.
    var isForgetful = false
    /// A fault has made an event of it unreadable.
    var isGarbled = false
    /// The earliest moment at which it may complete.
    var slowUntil: Instant?

    // Its streams.
    var streams = 0
    var socket = SocketState()
    var token = TokenState()
    /// The attempt of the last opened stream.
    var attempt: UInt32 = 0
    /// The position that is due next on its one stream; nil if that is not known.
    var next: Int?
    var isReplaying = false
    var lastID: Int64 = .min
    var mutedAttempt: UInt32?
    /// The first writing of the latest events, with the times in their ids.
    var written: [(position: Int, milliseconds: Int64, at: Instant)] = []
    /// Terminal events that were written since it had no other stream, less the streams that ended behind one.
    var terminals = 0
    var pingDue: (attempt: UInt32, at: Instant)?

    func isTokenOver(at moment: Instant, _ server: SimulatedServer) -> Bool {
        self.isRevoked
            || self.token.isOver(at: moment, accepted: self.acceptedAt, lifetime: server.tokenLifetime)
    }

    /// `count`: how many new tokens the phone had got when it sent the request.
    func mayTokenBeOver(at moment: Instant, count: Int, _ server: SimulatedServer) -> Bool {
        self.isRevoked
            || self.token.mayBeOver(
                at: moment, count: count, accepted: self.acceptedAt, lifetime: server.tokenLifetime)
    }

    /// Whether its log still has an event that was never written: one after an event that is young enough, or after its 202.
    func keeps(_ position: Int, at moment: Instant, for time: Interval) -> Bool {
        let known = self.written.last { $0.position < position }?.at ?? self.acceptedAt
        return moment < max(known, self.acceptedAt) + time
    }

    /// An event was written for the first time.
    mutating func remember(_ position: Int, _ id: String, at moment: Instant) {
        self.written.append((position, HarnessPhone.milliseconds(id), moment), max: HarnessPhone.writtenKept)
    }

    func hasResults(at moment: Instant, _ server: SimulatedServer) -> Bool {
        guard self.kind == .completed, let finishedAt = self.finishedAt else { return false }
        return moment < finishedAt + server.resultsLifetime(of: APIVersion(jobID: self.id))
    }
}

extension HarnessPhone {
    mutating func backend(_ payload: BackendObservation, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        switch payload {
        case .requested(let operation, let attempt, _):
            self.requested(operation, attempt, scan, &fleet)
        case .answered(let operation, let attempt, let status):
            self.answered(operation, attempt, status, scan, &fleet)
        case .problem(.upload, let attempt, status: 429, _, _, let retryAfter?):
            if fleet.hasQuotas { self.uploadLimited(scan, attempt: attempt, retryAfter: retryAfter, &fleet) }
        case .streamEnded(let job, let attempt, let byPeer):
            self.streamEnded(job: job, attempt: attempt, byPeer: byPeer, scan, &fleet)
        case .rowsTaken(let job, let rows):
            self.rowsTaken(job, rows, scan, &fleet)
            guard rows.total == 0, let index = self.jobIndex(job) else { return }
            self.jobs[index].isUnreadable = true
        case .bookLookedUp(let lookup):
            self.lookedUp = (scan, fleet.now, lookup.isBilled)
        case .connected, .problem, .failed, .found, .textLookedUp, .upstreamFailed, .circuitOpened,
            .circuitClosed, .targetBroke, .targetTried, .targetProbed, .targetEvent:
            break
        case .accepted, .photosReceived, .streamOpened, .eventWritten, .pingWritten, .finished, .tokenRevoked,
            .tokenExchanged, .resultsServed, .cleaned, .canceled, .expired, .vanished:
            // A foreign backend's jobs are its own.
            if let server = fleet.server { self.ofJob(payload, scan, &fleet, server) }
        }
    }

    private mutating func ofJob(
        _ payload: BackendObservation, _ scan: ScanNumber, _ fleet: inout HarnessFleet,
        _ server: SimulatedServer
    ) {
        switch payload {
        case .accepted(let job, let books):
            fleet.jobsAlive += 1
            self.jobs.append(HarnessJob(id: job, scan: scan, books: books, acceptedAt: fleet.now))
            self.importBegan(job, scan, &fleet)
        case .streamOpened(let job, let attempt, let after):
            self.streamOpened(job: job, attempt, after: after)
            if after == nil { self.note(.startedOver, scan, &fleet, attempt: attempt) }
        case .eventWritten(let job, let id, let position, let kind, let replayed):
            self.eventWritten(job: job, id: id, position, kind, isReplayed: replayed, scan, &fleet, server)
        case .pingWritten(let job): self.pingWritten(job: job, scan, &fleet)
        case .finished(let job, let kind, let books):
            self.finished(job: job, kind, books: books, scan, &fleet, server)
        case .tokenRevoked(let job):
            if let index = self.jobIndex(job) { self.jobs[index].isRevoked = true }
            self.note(.tokenRevoked, scan, &fleet, needsFault: true)
        case .tokenExchanged(let job):
            guard let index = self.jobIndex(job) else { return }
            self.jobs[index].token.replaced(at: fleet.now)
            self.jobs[index].socket.tokenReplaced()
        case .resultsServed(let job, let books):
            self.resultsServed(job: job, books: books, scan, &fleet, server)
        case .cleaned(let job, let effective):
            self.cleaned(job: job, isEffective: effective, scan, &fleet, server)
        case .canceled(let job):
            if let index = self.jobIndex(job) { self.jobs[index].isCanceled = true }
        case .expired(let job): self.expired(job: job, scan, &fleet, server)
        case .vanished(let job):
            _ = self.remove(job, &fleet)
            self.note(.vanished, scan, &fleet, needsFault: true)
        case .photosReceived, .connected, .requested, .answered, .problem, .rowsTaken, .bookLookedUp,
            .textLookedUp, .failed,
            .streamEnded, .circuitOpened, .circuitClosed, .found, .upstreamFailed, .targetBroke, .targetTried,
            .targetProbed, .targetEvent:
            break
        }
    }

    private func jobIndex(_ id: String) -> Int? {
        self.jobs.lastIndex { $0.id == id }
    }

    private mutating func remove(_ id: String, _ fleet: inout HarnessFleet) -> HarnessJob? {
        guard let index = self.jobIndex(id) else { return nil }
        fleet.jobsAlive -= 1
        return self.jobs.remove(at: index)
    }

    private mutating func resultsServed(
        job id: String, books: Int, _ scan: ScanNumber, _ fleet: inout HarnessFleet, _ server: SimulatedServer
    ) {
        guard let index = self.jobIndex(id) else {
            return self.error("results of a job that does not exist were served", scan, &fleet)
        }
        let job = self.jobs[index]
        if !job.hasResults(at: fleet.now, server) {
            self.error("results were served that the job does not have", scan, &fleet)
        }
        if job.books != books {
            self.error("\(books) books were served for a job with \(job.books)", scan, &fleet)
        }
    }

    // MARK: Ends

    private mutating func finished(
        job id: String, _ kind: EventKind, books: Int, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet, _ server: SimulatedServer
    ) {
        guard let index = self.jobIndex(id) else {
            guard server.dialect.cleanupLeavesStreams else {
                return self.error("a job that does not exist ended", scan, &fleet)
            }
            if kind != .completed { self.note(.jobFailed, scan, &fleet, needsFault: false) }
            return
        }
        let job = self.jobs[index]
        self.jobs[index].finishedAt = fleet.now
        self.jobs[index].kind = kind
        if job.finishedAt != nil { self.error("a job ended twice", scan, &fleet) }
        guard kind == .completed else {
            self.note(.jobFailed, scan, &fleet, needsFault: !job.isCanceled && !job.isUnreadable)
            return
        }
        if job.books != books {
            self.error("a job with \(job.books) books ended with \(books)", scan, &fleet)
        }
        let early = job.slowUntil.map { $0 - fleet.now } ?? .zero
        if early > .zero {
            self.error("a fault slowed a job down, but it ended \(early.nanoseconds) ns early", scan, &fleet)
        }
    }

    private mutating func cleaned(
        job id: String, isEffective: Bool, _ scan: ScanNumber, _ fleet: inout HarnessFleet,
        _ server: SimulatedServer
    ) {
        let job = self.remove(id, &fleet)
        if isEffective, job == nil { self.error("a job that does not exist was deleted", scan, &fleet) }
        if !isEffective, job != nil { self.error("a DELETE had no effect on an existing job", scan, &fleet) }
        if let job, server.dialect.hasAuthorization, job.isTokenOver(at: fleet.now, server) {
            self.error("a job was deleted with a token that is no longer valid", scan, &fleet)
        }
    }

    private mutating func expired(
        job id: String, _ scan: ScanNumber, _ fleet: inout HarnessFleet, _ server: SimulatedServer
    ) {
        guard let job = self.remove(id, &fleet) else {
            return self.error("a job that does not exist expired", scan, &fleet)
        }
        let isUsed = !job.isTokenOver(at: fleet.now, server) || job.hasResults(at: fleet.now, server)
        // A kept job of v2 makes room for a new one.
        let isFull = fleet.jobsAlive + 1 + fleet.uploadsOpen >= server.jobsMax
        if isUsed, !job.isRevoked, !isFull { self.error("a job expired before its time", scan, &fleet) }
    }

    // MARK: Streams

    private mutating func streamOpened(job id: String, _ attempt: UInt32, after: Int?) {
        guard let index = self.jobIndex(id) else { return }
        if self.jobs[index].streams == 0 { self.jobs[index].terminals = 0 }
        self.jobs[index].streams += 1
        self.jobs[index].socket.opened()
        self.jobs[index].attempt = attempt
        self.jobs[index].next = after.map { $0 + 1 }
        self.jobs[index].isReplaying = true
        self.jobs[index].lastID = .min
    }

    private mutating func eventWritten(
        job id: String, id eventID: String, _ position: Int?, _ kind: EventKind, isReplayed: Bool,
        _ scan: ScanNumber, _ fleet: inout HarnessFleet, _ server: SimulatedServer
    ) {
        guard let index = self.jobIndex(id) else {
            return self.eventWrittenWithoutJob(kind, scan, &fleet, server)
        }
        if kind == .enrichmentDegraded {
            let needsFault = !self.jobs[index].isDegraded && !fleet.degradesWithoutFault
            self.note(.degraded, scan, &fleet, needsFault: needsFault)
        }
        if kind.isTerminal {
            self.note(.terminalWritten, scan, &fleet)
            self.jobs[index].terminals += 1
        }
        guard let position else { return }  // It says where the job stands, and is none of its events.
        if isReplayed { self.judgeReplay(ofJob: index, position, kind, scan, &fleet, server) }
        // Its time is that of the change, and the stream brought it later.
        let isPolled = server.v2IsPolled && APIVersion(jobID: id).mayPassChangesOver
        if !isReplayed, !isPolled, kind != .progress || self.isWatched {
            self.jobs[index].remember(position, eventID, at: fleet.now)
        }
        guard self.isWatched else { return }
        self.judgeOrder(
            ofJob: index, eventID, position, kind, isReplayed: isReplayed, isPolled: isPolled, scan,
            &fleet, server)
    }

    private mutating func eventWrittenWithoutJob(
        _ kind: EventKind, _ scan: ScanNumber, _ fleet: inout HarnessFleet, _ server: SimulatedServer
    ) {
        guard server.dialect.cleanupLeavesStreams else {
            return self.error("an event of a job that does not exist was written", scan, &fleet)
        }
        // The job runs on after its DELETE, and faults act on it.
        if kind == .enrichmentDegraded { self.note(.degraded, scan, &fleet, needsFault: false) }
        if kind.isTerminal { self.note(.terminalWritten, scan, &fleet) }
    }

    /// Positions follow one another, ids grow. With several streams open it is not known to which an event was written.
    private mutating func judgeOrder(
        ofJob index: Int, _ eventID: String, _ position: Int, _ kind: EventKind, isReplayed: Bool,
        isPolled: Bool, _ scan: ScanNumber, _ fleet: inout HarnessFleet, _ server: SimulatedServer
    ) {
        guard self.jobs[index].streams == 1 else {
            self.jobs[index].next = nil
            self.jobs[index].isReplaying = false
            self.jobs[index].lastID = .min
            return
        }
        let job = self.jobs[index]
        // A replay may begin anywhere after the index it resumes from: what is older than the buffer is gone.
        let isFirst = job.isReplaying && isReplayed
        if let next = job.next, position != next, !job.isForgetful, !(isFirst && position > next),
            !(isReplayed && kind.isTerminal), !(isPolled && position > next), server.dialect.completesOnce
        {
            self.error("event \(position) of a job was written instead of event \(next)", scan, &fleet)
        }
        let milliseconds = Self.milliseconds(eventID)
        if milliseconds <= job.lastID, server.dialect.hasIncreasingIDs {
            self.error("an event id does not increase", scan, &fleet)
        }
        self.jobs[index].next = position + 1
        self.jobs[index].isReplaying = false
        self.jobs[index].lastID = milliseconds
    }

    /// A stream that is resumed begins with the event that is due, as long as the log has it. A log that a fault has emptied has
    /// the terminal event only.
    private mutating func judgeReplay(
        ofJob index: Int, _ position: Int, _ kind: EventKind, _ scan: ScanNumber, _ fleet: inout HarnessFleet,
        _ server: SimulatedServer
    ) {
        let job = self.jobs[index]
        if job.isForgetful {
            guard !kind.isTerminal else { return }
            return self.error(
                "event \(position) of a job was replayed, but a fault had emptied its log", scan, &fleet)
        }
        guard job.isReplaying, let next = job.next, position > next, self.isWatched,
            server.dialect.completesOnce, server.dialect.hasIncreasingIDs, let time = server.replayTime,
            job.keeps(next, at: fleet.now, for: time)
        else { return }
        self.error(
            "a stream was resumed with event \(position) of a job, but event \(next) was due", scan,
            &fleet)
    }

    /// The number of latest events of a job that are remembered.
    static let writtenKept = 4
    /// The maximum difference between an event's timestamp and its first writing.
    static let writingTime = Interval.milliseconds(250)

    /// A replay says when its event was new.
    mutating func replayed(
        job id: String, id eventID: String, after latency: Interval, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet
    ) {
        guard fleet.server != nil, let index = self.jobIndex(id) else { return }
        let milliseconds = Self.milliseconds(eventID)
        guard
            let written = self.jobs[index].written.last(where: {
                $0.milliseconds == milliseconds
            })
        else { return }
        let due = fleet.now - written.at
        guard latency + Self.writingTime < due || due + Self.writingTime < latency else { return }
        self.error(
            "a replayed event is \(latency.wholeMilliseconds) ms old by its timestamp, but was first written \(due.wholeMilliseconds) ms ago",
            scan, &fleet)
    }

    /// Returns the timestamp at the beginning of an id.
    static func milliseconds(_ id: String) -> Int64 {
        var number: Int64 = 0
        for digit in id.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { break }
            number = number &* 10 &+ Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    private mutating func pingWritten(job id: String, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        guard let index = self.jobIndex(id) else { return }
        guard self.jobs[index].streams == 1 else {
            for exchange in self.exchanges.indices
            where self.exchanges[exchange].job == id {
                self.exchanges[exchange].pingsWritten = nil
            }
            return
        }
        let attempt = self.jobs[index].attempt
        // Nobody waits for a ping behind a terminal event.
        let isAwaited = self.jobs[index].finishedAt == nil
        // The stream of an earlier job of the scan may still be open, and have had as many attempts.
        if isAwaited, let exchange = self.exchangeIndex(.stream, scan, attempt),
            self.exchanges[exchange].job == id
        {
            self.exchanges[exchange].pingsWritten? += 1
        }
        if self.jobs[index].mutedAttempt == attempt {
            self.error("a ping was written to a stream for which a fault had disabled pings", scan, &fleet)
        }
        if let due = self.jobs[index].pingDue, due.attempt == attempt {
            self.jobs[index].pingDue = nil
            if fleet.now < due.at { self.error("a ping that a fault had delayed was on time", scan, &fleet) }
        }
    }

    /// A fault has changed how a job continues.
    mutating func change(_ id: String, by effect: FaultEffect, attempt: UInt32, _ fleet: inout HarnessFleet) {
        guard let index = self.jobIndex(id) else { return }
        switch effect {
        case .slowed(let by):
            let until = fleet.now + by
            let known = self.jobs[index].slowUntil ?? until
            self.jobs[index].slowUntil = max(known, until)
        case .noPings: self.jobs[index].mutedAttempt = attempt
        case .latePings(let by): self.jobs[index].pingDue = (attempt, fleet.now + by)
        case .eventsForgotten: self.jobs[index].isForgetful = true
        case .limit, .status, .tokenRevoked, .jobGone, .jobFailed, .degraded, .booksStripped,
            .resultsTruncated, .resultsReordered, .eventAdded, .eventGarbled, .secondTerminal, .noTerminal,
            .socketClosed,
            .replayFromStart,
            .cut, .delayed, .refused, .ofPhone, .unobserved:
            break
        }
    }

    mutating func degradedApplied(job id: String, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        guard fleet.server != nil, !fleet.degradesWithoutFault, let index = self.jobIndex(id),
            !self.jobs[index].isDegraded
        else { return }
        self.error("a book was degraded without a fault", scan, &fleet)
    }
}
