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
        self.isRevoked || moment >= self.acceptedAt + server.tokenLifetime
    }

    /// Whether its log still has an event that was never written: one after an event that is young enough, or after its 202.
    func keeps(_ position: Int, at moment: Instant, for time: Interval) -> Bool {
        let known = self.written.last { $0.position < position }?.at ?? self.acceptedAt
        return moment < max(known, self.acceptedAt) + time
    }

    /// An event was written for the first time.
    mutating func remember(_ position: Int, _ id: String, at moment: Instant) {
        if self.written.count == HarnessChecks.writtenKept { self.written.removeFirst() }
        self.written.append((position, HarnessChecks.milliseconds(id), moment))
    }

    func hasResults(at moment: Instant, _ server: SimulatedServer) -> Bool {
        guard self.kind == .completed, let finishedAt = self.finishedAt else { return false }
        let lifetime = Journey.isV2(jobID: self.id) ? server.v2ResultsLifetime : server.resultsLifetime
        return moment < finishedAt + lifetime
    }
}

extension HarnessChecks {
    mutating func backend(_ payload: BackendObservation, _ scan: ScanNumber, _ phoneIndex: Int) {
        switch payload {
        case .requested(let operation, let attempt, _):
            self.requested(operation, attempt, scan, phoneIndex)
        case .answered(let operation, let attempt, let status):
            self.answered(operation, attempt, status, scan, phoneIndex)
        case .problem(.upload, let attempt, status: 429, _, _, let retryAfter?):
            if self.hasQuotas {
                self.uploadLimited(scan, attempt: attempt, retryAfter: retryAfter, phoneIndex)
            }
        case .streamEnded(let job, let attempt, let byPeer):
            self.streamEnded(job: job, attempt: attempt, byPeer: byPeer, scan, phoneIndex)
        case .rowsTaken(let job, let rows):
            self.rowsTaken(job, rows, scan, phoneIndex)
            guard rows.total == 0, let index = self.jobIndex(job, phoneIndex) else { return }
            self.phones[phoneIndex].jobs[index].isUnreadable = true
        case .bookLookedUp(let lookup):
            self.phones[phoneIndex].lookedUp = (scan, self.now, lookup.isBilled)
        case .connected, .problem, .failed, .found, .upstreamFailed, .circuitOpened,
            .circuitClosed, .targetBroke, .targetTried, .targetProbed, .targetEvent:
            break
        case .accepted, .photosReceived, .streamOpened, .eventWritten, .pingWritten, .finished, .tokenRevoked,
            .resultsServed, .cleaned, .canceled, .expired, .vanished:
            // A foreign backend's jobs are its own.
            if let server = self.server { self.ofJob(payload, scan, phoneIndex, server) }
        }
    }

    private mutating func ofJob(
        _ payload: BackendObservation, _ scan: ScanNumber, _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        switch payload {
        case .accepted(let job, let books):
            self.jobsAlive += 1
            self.phones[phoneIndex].jobs.append(
                HarnessJob(id: job, scan: scan, books: books, acceptedAt: self.now))
            self.importBegan(job, scan, phoneIndex)
        case .streamOpened(let job, let attempt, let after):
            self.streamOpened(job: job, attempt, after: after, phoneIndex)
            if after == nil { self.note(.startedOver, scan, phoneIndex, attempt: attempt) }
        case .eventWritten(let job, let id, let position, let kind, let replayed):
            self.eventWritten(
                job: job, id: id, position, kind, isReplayed: replayed, scan, phoneIndex, server)
        case .pingWritten(let job): self.pingWritten(job: job, scan, phoneIndex)
        case .finished(let job, let kind, let books):
            self.finished(job: job, kind, books: books, scan, phoneIndex, server)
        case .tokenRevoked(let job):
            if let index = self.jobIndex(job, phoneIndex) {
                self.phones[phoneIndex].jobs[index].isRevoked = true
            }
            self.note(.tokenRevoked, scan, phoneIndex, needsFault: true)
        case .resultsServed(let job, let books):
            self.resultsServed(job: job, books: books, scan, phoneIndex, server)
        case .cleaned(let job, let effective):
            self.cleaned(job: job, isEffective: effective, scan, phoneIndex, server)
        case .canceled(let job):
            if let index = self.jobIndex(job, phoneIndex) {
                self.phones[phoneIndex].jobs[index].isCanceled = true
            }
        case .expired(let job): self.expired(job: job, scan, phoneIndex, server)
        case .vanished(let job):
            _ = self.remove(job, phoneIndex)
            self.note(.vanished, scan, phoneIndex, needsFault: true)
        case .photosReceived, .connected, .requested, .answered, .problem, .rowsTaken, .bookLookedUp, .failed,
            .streamEnded, .circuitOpened, .circuitClosed, .found, .upstreamFailed, .targetBroke, .targetTried,
            .targetProbed, .targetEvent:
            break
        }
    }

    private func jobIndex(_ id: String, _ phoneIndex: Int) -> Int? {
        self.phones[phoneIndex].jobs.lastIndex { $0.id == id }
    }

    private mutating func remove(_ id: String, _ phoneIndex: Int) -> HarnessJob? {
        guard let index = self.jobIndex(id, phoneIndex) else { return nil }
        self.jobsAlive -= 1
        return self.phones[phoneIndex].jobs.remove(at: index)
    }

    private mutating func resultsServed(
        job id: String, books: Int, _ scan: ScanNumber, _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        guard let index = self.jobIndex(id, phoneIndex) else {
            return self.error("results of a job that does not exist were served", scan, phoneIndex)
        }
        let job = self.phones[phoneIndex].jobs[index]
        if !job.hasResults(at: self.now, server) {
            self.error("results were served that the job does not have", scan, phoneIndex)
        }
        if job.books != books {
            self.error("\(books) books were served for a job with \(job.books)", scan, phoneIndex)
        }
    }

    // MARK: Ends

    private mutating func finished(
        job id: String, _ kind: EventKind, books: Int, _ scan: ScanNumber,
        _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        guard let index = self.jobIndex(id, phoneIndex) else {
            guard server.dialect.cleanupLeavesStreams else {
                return self.error("a job that does not exist ended", scan, phoneIndex)
            }
            if kind != .completed { self.note(.jobFailed, scan, phoneIndex, needsFault: false) }
            return
        }
        let job = self.phones[phoneIndex].jobs[index]
        self.phones[phoneIndex].jobs[index].finishedAt = self.now
        self.phones[phoneIndex].jobs[index].kind = kind
        if job.finishedAt != nil { self.error("a job ended twice", scan, phoneIndex) }
        guard kind == .completed else {
            self.note(
                .jobFailed, scan, phoneIndex, needsFault: !job.isCanceled && !job.isUnreadable)
            return
        }
        if job.books != books {
            self.error("a job with \(job.books) books ended with \(books)", scan, phoneIndex)
        }
        let early = job.slowUntil.map { $0 - self.now } ?? .zero
        if early > .zero {
            self.error(
                "a fault slowed a job down, but it ended \(early.nanoseconds) ns early", scan, phoneIndex)
        }
    }

    private mutating func cleaned(
        job id: String, isEffective: Bool, _ scan: ScanNumber, _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        let job = self.remove(id, phoneIndex)
        if isEffective, job == nil { self.error("a job that does not exist was deleted", scan, phoneIndex) }
        if !isEffective, job != nil {
            self.error("a DELETE had no effect on an existing job", scan, phoneIndex)
        }
        if let job, server.dialect.hasAuthorization, job.isTokenOver(at: self.now, server) {
            self.error("a job was deleted with a token that is no longer valid", scan, phoneIndex)
        }
    }

    private mutating func expired(
        job id: String, _ scan: ScanNumber, _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        guard let job = self.remove(id, phoneIndex) else {
            return self.error("a job that does not exist expired", scan, phoneIndex)
        }
        let isUsed = !job.isTokenOver(at: self.now, server) || job.hasResults(at: self.now, server)
        // A kept job of v2 makes room for a new one.
        let isFull = self.jobsAlive + 1 + self.uploadsOpen >= server.jobsMax
        if isUsed, !job.isRevoked, !isFull {
            self.error("a job expired before its time", scan, phoneIndex)
        }
    }

    // MARK: Streams

    private mutating func streamOpened(job id: String, _ attempt: UInt32, after: Int?, _ phoneIndex: Int) {
        guard let index = self.jobIndex(id, phoneIndex) else { return }
        if self.phones[phoneIndex].jobs[index].streams == 0 {
            self.phones[phoneIndex].jobs[index].terminals = 0
        }
        self.phones[phoneIndex].jobs[index].streams += 1
        self.phones[phoneIndex].jobs[index].attempt = attempt
        self.phones[phoneIndex].jobs[index].next = after.map { $0 + 1 }
        self.phones[phoneIndex].jobs[index].isReplaying = true
        self.phones[phoneIndex].jobs[index].lastID = .min
    }

    private mutating func eventWritten(
        job id: String, id eventID: String, _ position: Int?, _ kind: EventKind, isReplayed: Bool,
        _ scan: ScanNumber, _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        guard let index = self.jobIndex(id, phoneIndex) else {
            return self.eventWrittenWithoutJob(kind, scan, phoneIndex, server)
        }
        if kind == .enrichmentDegraded {
            self.note(
                .degraded, scan, phoneIndex, needsFault: !self.phones[phoneIndex].jobs[index].isDegraded)
        }
        if kind.isTerminal {
            self.note(.terminalWritten, scan, phoneIndex)
            self.phones[phoneIndex].jobs[index].terminals += 1
        }
        guard let position else { return }  // It says where the job stands, and is none of its events.
        if isReplayed { self.judgeReplay(ofJob: index, position, kind, scan, phoneIndex, server) }
        // Its time is that of the change, and the stream brought it later.
        let isPolled = server.v2IsPolled && Journey.isV2(jobID: id)
        if !isReplayed, !isPolled, kind != .progress || self.watches(phoneIndex) {
            self.phones[phoneIndex].jobs[index].remember(position, eventID, at: self.now)
        }
        guard self.watches(phoneIndex) else { return }
        self.judgeOrder(
            ofJob: index, eventID, position, kind, isReplayed: isReplayed, isPolled: isPolled, scan,
            phoneIndex, server)
    }

    private mutating func eventWrittenWithoutJob(
        _ kind: EventKind, _ scan: ScanNumber, _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        guard server.dialect.cleanupLeavesStreams else {
            return self.error("an event of a job that does not exist was written", scan, phoneIndex)
        }
        // The job runs on after its DELETE, and faults act on it.
        if kind == .enrichmentDegraded { self.note(.degraded, scan, phoneIndex, needsFault: false) }
        if kind.isTerminal { self.note(.terminalWritten, scan, phoneIndex) }
    }

    /// Positions follow one another, ids grow. With several streams open it is not known to which an event was written.
    private mutating func judgeOrder(
        ofJob index: Int, _ eventID: String, _ position: Int, _ kind: EventKind, isReplayed: Bool,
        isPolled: Bool, _ scan: ScanNumber, _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        guard self.phones[phoneIndex].jobs[index].streams == 1 else {
            self.phones[phoneIndex].jobs[index].next = nil
            self.phones[phoneIndex].jobs[index].isReplaying = false
            self.phones[phoneIndex].jobs[index].lastID = .min
            return
        }
        let job = self.phones[phoneIndex].jobs[index]
        // A replay may begin anywhere after the index it resumes from: what is older than the buffer is gone.
        let isFirst = job.isReplaying && isReplayed
        if let next = job.next, position != next, !job.isForgetful, !(isFirst && position > next),
            !(isReplayed && kind.isTerminal), !(isPolled && position > next), server.dialect.completesOnce
        {
            self.error("event \(position) of a job was written instead of event \(next)", scan, phoneIndex)
        }
        let milliseconds = Self.milliseconds(eventID)
        if milliseconds <= job.lastID, server.dialect.hasIncreasingIDs {
            self.error("an event id does not increase", scan, phoneIndex)
        }
        self.phones[phoneIndex].jobs[index].next = position + 1
        self.phones[phoneIndex].jobs[index].isReplaying = false
        self.phones[phoneIndex].jobs[index].lastID = milliseconds
    }

    /// A stream that is resumed begins with the event that is due, as long as the log has it. A log that a fault has emptied has
    /// the terminal event only.
    private mutating func judgeReplay(
        ofJob index: Int, _ position: Int, _ kind: EventKind, _ scan: ScanNumber, _ phoneIndex: Int,
        _ server: SimulatedServer
    ) {
        let job = self.phones[phoneIndex].jobs[index]
        if job.isForgetful {
            guard !kind.isTerminal else { return }
            return self.error(
                "event \(position) of a job was replayed, but a fault had emptied its log", scan, phoneIndex)
        }
        guard job.isReplaying, let next = job.next, position > next, self.watches(phoneIndex),
            server.dialect.completesOnce, server.dialect.hasIncreasingIDs, let time = server.replayTime,
            job.keeps(next, at: self.now, for: time)
        else { return }
        self.error(
            "a stream was resumed with event \(position) of a job, but event \(next) was due", scan,
            phoneIndex)
    }

    /// The number of latest events of a job that are remembered.
    static let writtenKept = 4
    /// The maximum difference between an event's timestamp and its first writing.
    static let writingTime = Interval.milliseconds(250)

    /// A replay says when its event was new.
    mutating func replayed(
        job id: String, id eventID: String, after latency: Interval, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard self.server != nil, let index = self.jobIndex(id, phoneIndex) else { return }
        let milliseconds = Self.milliseconds(eventID)
        guard
            let written = self.phones[phoneIndex].jobs[index].written.last(where: {
                $0.milliseconds == milliseconds
            })
        else { return }
        let due = self.now - written.at
        guard latency + Self.writingTime < due || due + Self.writingTime < latency else { return }
        self.error(
            "a replayed event is \(latency.wholeMilliseconds) ms old by its timestamp, but was first written \(due.wholeMilliseconds) ms ago",
            scan, phoneIndex)
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

    private mutating func pingWritten(job id: String, _ scan: ScanNumber, _ phoneIndex: Int) {
        guard let index = self.jobIndex(id, phoneIndex) else { return }
        guard self.phones[phoneIndex].jobs[index].streams == 1 else {
            for exchange in self.phones[phoneIndex].exchanges.indices
            where self.phones[phoneIndex].exchanges[exchange].job == id {
                self.phones[phoneIndex].exchanges[exchange].pingsWritten = nil
            }
            return
        }
        let attempt = self.phones[phoneIndex].jobs[index].attempt
        // Nobody waits for a ping behind a terminal event.
        let isAwaited = self.phones[phoneIndex].jobs[index].finishedAt == nil
        if isAwaited, let exchange = self.exchangeIndex(.stream, scan, attempt, phoneIndex) {
            self.phones[phoneIndex].exchanges[exchange].pingsWritten? += 1
        }
        if self.phones[phoneIndex].jobs[index].mutedAttempt == attempt {
            self.error(
                "a ping was written to a stream for which a fault had disabled pings", scan, phoneIndex)
        }
        if let due = self.phones[phoneIndex].jobs[index].pingDue, due.attempt == attempt {
            self.phones[phoneIndex].jobs[index].pingDue = nil
            if self.now < due.at {
                self.error("a ping that a fault had delayed was on time", scan, phoneIndex)
            }
        }
    }

    /// A fault has changed how a job continues.
    mutating func change(_ id: String, by effect: FaultEffect, attempt: UInt32, _ phoneIndex: Int) {
        guard let index = self.jobIndex(id, phoneIndex) else { return }
        switch effect {
        case .slowed(let by):
            let until = self.now + by
            let known = self.phones[phoneIndex].jobs[index].slowUntil ?? until
            self.phones[phoneIndex].jobs[index].slowUntil = max(known, until)
        case .noPings: self.phones[phoneIndex].jobs[index].mutedAttempt = attempt
        case .latePings(let by): self.phones[phoneIndex].jobs[index].pingDue = (attempt, self.now + by)
        case .eventsForgotten: self.phones[phoneIndex].jobs[index].isForgetful = true
        case .limit, .status, .tokenRevoked, .jobGone, .jobFailed, .degraded, .booksStripped,
            .resultsTruncated, .resultsReordered, .eventAdded, .eventGarbled, .secondTerminal, .noTerminal,
            .replayFromStart,
            .cut, .delayed, .refused, .ofPhone, .unobserved:
            break
        }
    }

    mutating func degradedApplied(job id: String, _ scan: ScanNumber, _ phoneIndex: Int) {
        guard self.server != nil, let index = self.jobIndex(id, phoneIndex),
            !self.phones[phoneIndex].jobs[index].isDegraded
        else { return }
        self.error("a book was degraded without a fault", scan, phoneIndex)
    }
}
