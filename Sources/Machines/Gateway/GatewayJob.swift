internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria

/// A foreign backend's job as far as the gateway has seen it, and what faults have made of it for the phones.
struct ProxiedJob: Sendable {
    enum State: Hashable, Sendable {
        case open
        /// Its terminal event has passed.
        case finished
        /// A DELETE of it was answered with success.
        case cleaned
        /// The token is revoked for the phones.
        case revoked
        /// The job is removed for the phones, with this status.
        case gone(Int)
        /// The job has failed for the phones, with this event.
        case failed(id: String, name: String, data: [UInt8])
    }

    /// Ids of events that are remembered of one job.
    private static let idsMax = 2_000

    let id: String
    let journey: Journey
    let owner: Caller
    let accepted: Instant
    var state = State.open
    var streams: [ExchangeID] = []
    var streamsOpened: UInt32 = 0
    /// The buffer of its events is lost to whoever comes again.
    var isForgetful = false
    var degradation: Degradation?
    /// The data of the last progress event of a job of v2.
    var lastProgress: [UInt8] = []
    /// What its events are about, where they have dotted names.
    var subject: DottedEventName.Subject?
    /// The stream on which each event passed first.
    private var passed: [String: UInt32] = [:]
    /// Ids that the gateway made up, each with the upstream's behind which a stream continues; nil is the start.
    private var aliases: [(id: String, upstream: String?)] = []

    init(id: String, journey: Journey, owner: Caller, accepted: Instant) {
        self.id = id
        self.journey = journey
        self.owner = owner
        self.accepted = accepted
    }

    /// Whether an event that comes on a stream now passed on an earlier one.
    mutating func isReplay(_ id: String, on stream: UInt32) -> Bool {
        if let first = self.passed[id] { return first < stream }
        if self.passed.count >= Self.idsMax { self.passed.removeAll() }
        self.passed[id] = stream
        return false
    }

    mutating func alias(_ id: String, behind upstream: String?) {
        if self.aliases.count >= Self.idsMax { self.aliases.removeAll() }
        self.aliases.append((id, upstream))
    }

    /// Nil for an id that is the upstream's own.
    func meaning(of id: String) -> ResumePoint? {
        guard let alias = self.aliases.last(where: { $0.id == id }) else { return nil }
        return alias.upstream.map { .replaced($0) } ?? .removed
    }

    /// Forgets the events: only the outcome of the job is still needed.
    mutating func forgetEvents() {
        self.passed = [:]
        self.aliases = []
        self.lastProgress = []
    }
}

/// The jobs that were seen lately: beyond `jobsMax` the oldest is forgotten.
struct RelayedJobs: Sendable {
    static let jobsMax = 50_000

    private var jobs = SlotMap<String, ProxiedJob>()
    /// The jobs in the order of their arrival, from `oldest` on. May contain jobs that were seen again since.
    private var order: [String] = []
    private var oldest = 0

    subscript(id: String) -> ProxiedJob? { self.jobs[id] }

    var all: [ProxiedJob] { self.jobs.values }

    @discardableResult
    mutating func update<Result>(_ id: String, _ change: (inout ProxiedJob) -> Result) -> Result? {
        self.jobs.update(id, change)
    }

    /// Answers the job that had to make room.
    mutating func insert(_ job: ProxiedJob) -> ProxiedJob? {
        if self.jobs[job.id] == nil { self.order.append(job.id) }
        self.jobs[job.id] = job
        guard self.jobs.count > Self.jobsMax, self.oldest < self.order.count else { return nil }
        let id = self.order[self.oldest]
        self.oldest += 1
        if self.oldest > Self.jobsMax {
            self.order.removeFirst(self.oldest)
            self.oldest = 0
        }
        defer { self.jobs[id] = nil }
        return self.jobs[id]
    }
}
