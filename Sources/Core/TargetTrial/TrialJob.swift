import SimBase
import Talaria
import Wire

/// An event of a job, as it came.
struct TrialEvent: Hashable, Sendable {
    let name: UInt64
    let data: UInt64
    /// Nil without an id of its own.
    let id: UInt64?
    let isTerminal: Bool
    /// One of several may have the same data: there are two copies of a book.
    let mayHaveTwin: Bool
    /// Gives the state of the job, and is not in a log (Docs/contract.md section 2.4).
    let isInitial: Bool
    /// The exchange on which it came first.
    let stream: UInt64
    let at: Instant
    /// The index of the event before it on that stream; nil for the first one.
    let previous: Int?

    init(_ event: SSEEvent, _ kind: EventKind?, stream: UInt64, after previous: Int?, at: Instant) {
        self.name = Digest.of(event.type)
        var digest = Digest()
        digest.absorbInWords(event.bytes)
        self.data = digest.value
        self.id = event.hasOwnID ? Digest.of(event.id) : nil
        self.isTerminal = kind?.isTerminal == true
        self.mayHaveTwin = kind == .result
        self.isInitial = event.isInitial
        self.stream = stream
        self.at = at
        self.previous = previous
    }

    /// By name and data: the id of an event that comes again may be another one (Docs/contract.md section 2.2).
    func isSame(as other: TrialEvent) -> Bool {
        self.name == other.name && self.data == other.data && (!self.mayHaveTwin || self.id == other.id)
    }
}

/// A job of a target, as far as its answers and streams show it.
struct TrialJob: Sendable {
    enum End: Hashable, Sendable {
        case completed, failed
    }

    /// Beyond these no event of the job is compared.
    static let eventsMax = 2_000

    let device: DeviceNumber
    let scan: ScanNumber
    /// When its 202 came; nil where that was not seen.
    var accepted: Instant?
    /// The digest of its token; nil without one.
    var token: UInt64?
    /// From when to when the token is good for sure.
    var tokenLife: Range<Instant>?
    /// Requests for a new token that had no whole answer: each may have taken the place of the token.
    var refreshes = 0
    private(set) var events: [TrialEvent] = []
    /// The target has sent an event twice on one stream: one that comes again after a resume proves nothing.
    private(set) var repeatsEvents = false
    private(set) var isWhole = true
    var end: (End, at: Instant)?
    /// When a status said that it was completed.
    var saidCompleted: Instant?
    var deleted: Instant?
    /// The other job of its photo, whose upload was repeated.
    var twin: String?
    /// What reads it, until its phone follows it.
    var credentials: TrialRequest.Credentials?
    /// The exchange of its second stream.
    var witness: UInt64?
    /// A DELETE is under way, or has been.
    var isDeleting = false
    /// When a cancel was acknowledged.
    var canceled: Instant?
    /// A message of a WebSocket said that some of it was done.
    var hasProgress = false
    /// Whether the target has opened a WebSocket of it. A client whose first one was refused may call the next one a return.
    var hadSocket = false
    /// WebSockets that the client has asked for.
    var socketTries = 0
    /// When bytes of the last one came.
    var socketHeard: Instant?
    /// Nothing removed the job before this time.
    var isThere: Bool { self.deleted == nil && self.canceled == nil && !self.isDeleting }
    /// The books of its `result` events, the first of them.
    var shown: TrialBooks?
    static let shownMax = 1_000
    /// The books of its terminal event, and of the last results.
    var inline: TrialBooks?
    /// The list of books of its terminal event was empty.
    var saidNoBooks = false
    var results: TrialBooks?

    /// Identifies the photo. Each scan of a phone of this program has one, also where it repeats the upload.
    var photo: UInt64 { UInt64(self.device.raw) << 32 | UInt64(self.scan.raw) }

    init(device: DeviceNumber, scan: ScanNumber) {
        self.device = device
        self.scan = scan
    }

    /// Returns the index of the event; nil if the events of the job are not known.
    @discardableResult
    mutating func record(_ event: TrialEvent) -> Int? {
        guard self.isWhole else { return nil }
        if let known = self.events.firstIndex(where: { $0.isSame(as: event) }) {
            if self.events[known].stream == event.stream { self.repeatsEvents = true }
            return known
        }
        guard self.events.count < Self.eventsMax else {
            self.isWhole = false
            self.events = []
            return nil
        }
        self.events.append(event)
        return self.events.count - 1
    }

    /// Whether an id is that of a terminal event.
    func hasTerminal(_ id: String?) -> Bool {
        guard let digest = id.map({ Digest.of($0) }) else { return false }
        return self.events.contains { $0.id == digest && $0.isTerminal }
    }

    /// Whether another stream has shown another event with this id, and has gone on.
    func hasPassed(_ event: TrialEvent) -> Bool {
        guard self.isWhole, let id = event.id, !event.isTerminal,
            !self.events.contains(where: { $0.isSame(as: event) }),
            let place = self.events.lastIndex(where: { $0.id == id && $0.name == event.name })
        else { return false }
        let stream = self.events[place].stream
        return stream != event.stream && self.events[(place + 1)...].contains { $0.stream == stream }
    }

    /// Returns the point after an event, if that is known and can still be sent again.
    func resume(after id: String, at now: Instant, within buffer: Interval) -> TrialResume? {
        let digest = Digest.of(id)
        guard self.isWhole, let place = self.events.lastIndex(where: { $0.id == digest }),
            now - self.events[place].at <= buffer
        else { return nil }
        return TrialResume(
            place: place,
            pending: self.events.indices[(place + 1)...].filter {
                !self.events[$0].isInitial && self.isKnown($0, after: place)
            })
    }

    /// Whether a stream has shown an event after another. Indexes are in the order in which events came on
    /// any stream, and one of two streams can be ahead.
    func isKnown(_ place: Int, after other: Int) -> Bool { self.isKnown(place, afterAny: { $0 == other }) }

    /// Whether a stream has shown an event behind one that this is true of.
    func isKnown(_ place: Int, afterAny isOther: (Int) -> Bool) -> Bool {
        var place = place
        while let previous = self.events[place].previous {
            if isOther(previous) { return true }
            place = previous
        }
        return false
    }

    /// Forgets what only a job that can be read needs.
    mutating func forget() {
        self.events = []
        self.isWhole = false
        self.shown = nil
        guard self.twin == nil else { return }
        self.inline = nil
        self.results = nil
    }
}

/// The jobs that were seen lately: beyond `jobsMax` the oldest is forgotten.
struct TrialJobs: Sendable {
    static let jobsMax = 50_000
    /// Ids of jobs that are remembered for longer, by their digests.
    static let idsMax = 1_000_000

    private var jobs = SlotMap<String, TrialJob>()
    private var order: [String] = []
    private var oldest = 0
    private var owners: [UInt64: UInt32] = [:]
    /// The books of the last photo of each device.
    private var books: [UInt32: (photo: UInt64, digest: UInt64)] = [:]
    private static let devicesMax = 200_000
    /// The last job of each scan of those jobs.
    private var scans: [UInt64: String] = [:]

    subscript(id: String) -> TrialJob? { self.jobs[id] }

    @discardableResult
    mutating func update<Result>(_ id: String, _ change: (inout TrialJob) -> Result) -> Result? {
        self.jobs.update(id, change)
    }

    mutating func insert(_ id: String, _ job: TrialJob) {
        if self.jobs[id] == nil { self.order.append(id) }
        self.jobs[id] = job
        guard self.jobs.count > Self.jobsMax, self.oldest < self.order.count else { return }
        self.forget(self.order[self.oldest])
        self.oldest += 1
        if self.oldest > Self.jobsMax {
            self.order.removeFirst(self.oldest)
            self.oldest = 0
        }
    }

    /// Remembers the books of a photo. Returns whether they are those of the device's photo before it.
    mutating func repeats(_ digest: UInt64, ofAnotherPhotoThan job: TrialJob) -> Bool {
        let device = job.device.raw
        guard let last = self.books[device] else {
            if self.books.count < Self.devicesMax { self.books[device] = (job.photo, digest) }
            return false
        }
        self.books[device] = (job.photo, digest)
        return last.photo != job.photo && last.digest == digest
    }

    private mutating func forget(_ id: String) {
        if let job = self.jobs[id], self.scans[job.photo] == id { self.scans[job.photo] = nil }
        self.jobs[id] = nil
    }

    /// Remembers the job of a photo, with the other one that the photo has if its upload was repeated.
    mutating func pair(_ id: String) {
        guard let photo = self.jobs[id]?.photo else { return }
        if let other = self.scans[photo], other != id {
            self.jobs.update(other) { $0.twin = id }
            self.jobs.update(id) { $0.twin = other }
        }
        self.scans[photo] = id
    }

    /// Remembers whose a job is. Returns the device that had its id before; nil if there is none.
    mutating func own(_ id: String, _ device: DeviceNumber) -> DeviceNumber? {
        let key = Digest.of(id)
        guard let owner = self.owners[key] else {
            if self.owners.count < Self.idsMax { self.owners[key] = device.raw }
            return nil
        }
        return DeviceNumber(owner)
    }
}
