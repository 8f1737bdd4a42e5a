internal import CSV
internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria

/// One accepted upload and all that came of it (Docs/machines/job.md).
struct Job: Sendable {
    /// The constant facts: a class, so that passing them on counts one reference.
    final class Facts: Sendable {
        let key: JobKey
        /// `jobId` on the wire.
        let id: String
        /// The caller of the upload: whose scan it is.
        let owner: Caller
        let device: DeviceKey
        /// The name by which its phone addresses the server, for links.
        let host: String?
        let accepted: Instant
        let script: JobScript
        /// The form of what the job says: that of its journey.
        let dialect: Dialect
        let journey: Journey
        /// What was found of what the job was given to look up; nil for the books on the shelf of its scan.
        let books: [Book]?
        init(
            key: JobKey, id: String, owner: Caller, device: DeviceKey, host: String?, accepted: Instant,
            script: JobScript, dialect: Dialect, journey: Journey, books: [Book]?
        ) {
            self.key = key
            self.id = id
            self.owner = owner
            self.device = device
            self.host = host
            self.accepted = accepted
            self.script = script
            self.dialect = dialect
            self.journey = journey
            self.books = books
        }
    }

    enum Phase: Hashable, Sendable {
        /// Events are still to come. Leaves to `ending` or `finished`.
        case running
        /// The first of two terminal events is in the log (Docs/contract.md section 7, C40). Leaves to `finished` with the
        /// second.
        case ending(JobStatus, at: Instant)
        /// The terminal event is in the log. Leaves to `settled` when the buffer is over.
        case finished(JobStatus, at: Instant)
        /// Only the terminal event of the log is left, without books. Leaves by expiry.
        case settled(JobStatus, at: Instant)
    }

    /// A stage that takes longer than its script says.
    struct Delay: Hashable, Sendable {
        /// The first step that is late, as is everything after it.
        let from: Int
        let by: Interval
    }

    let facts: Facts
    var token: Token
    var socketUse = SocketUse.none
    var phase = Phase.running
    /// The next step of the script. Its index in the log may be another: faults bring events of their own.
    var step = 0
    var delays: [Delay] = []
    var degradation: Degradation?
    /// A DELETE has taken it away, and its open streams go on (`Dialect.cleanupLeavesStreams`).
    var isCleaned = false
    /// Indexes on the shelf of the books that could not be looked up, in order.
    var degradedBooks: [Int] = []
    var log: EventLog
    /// The outcomes of the rows of an import; nil for other jobs.
    var rows: ImportAccount?
    /// Bytes of its document, or of what is left of it, that are held.
    var documentBytes = 0
    /// Its results were served, and nothing needs it any more but a client that asks again.
    var isServed = false
    /// Open streams, in the order of their heads.
    var streams: [ExchangeID] = []
    /// The job's one live deadline.
    var due: Instant
    /// The last request for its status that was answered with it.
    var polledAt: Instant?

    /// The status in the response of the status endpoint. `first`: before the first photo.
    func status(first: JobStatus) -> JobStatus {
        switch self.phase {
        case .running: self.step <= 1 ? first : .processing
        case .ending(let status, at: _), .finished(let status, at: _), .settled(let status, at: _): status
        }
    }

    /// Whether an open stream would get another event.
    var hasMoreToSend: Bool {
        switch self.phase {
        case .running, .ending: !self.streams.isEmpty
        case .finished, .settled: false
        }
    }

    /// Returns the time until the status may be requested again; zero if it may be now, which counts as such a request.
    mutating func waitBeforePoll(at now: Instant) -> Interval {
        let free = self.polledAt.map { $0 + ContractLimit.statusPollMin } ?? now
        guard free <= now else { return free - now }
        self.polledAt = now
        return .zero
    }

    /// The time at which the next step is due.
    var nextStepDue: Instant {
        self.delays.reduce(self.facts.accepted + self.facts.script.offset(at: self.step)) {
            self.step < $1.from ? $0 : $0 + $1.by
        }
    }
}

/// The way in which a job ends.
enum JobEnding: Hashable, Sendable {
    case completed, canceled
    case failed(code: String, retryable: Bool)
    /// The library file is none.
    case unreadable(CSVError)

    var status: JobStatus {
        switch self {
        case .completed: .completed
        case .canceled: .canceled
        case .failed, .unreadable: .failed
        }
    }
}
