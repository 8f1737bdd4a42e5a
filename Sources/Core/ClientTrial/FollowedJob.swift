import JSON
import SimBase
import Talaria
import Wire

/// A job of a client, as far as its requests and their answers show it.
struct FollowedJob: Sendable {
    /// The terminal event, as it was sent.
    struct Terminal: Sendable {
        let at: Instant
        let isError: Bool
        /// Whether its data can be read.
        let isReadable: Bool
        let books: BookList
        /// Whether its stream was cut so soon after it that the client may not have read it.
        var isCut = false

        /// Whether a client that reads its streams knows of it.
        var isKnown: Bool { self.isReadable && !self.isCut }
    }

    /// Whether a client can use the list of books of an answer or an event.
    enum BookList: Sendable {
        /// Nothing that is a list of books with title and author.
        case unusable
        case empty
        case usable

        init(_ array: JSONNode?) {
            guard let array, array.kind == .array else {
                self = .unusable
                return
            }
            let isNamed = array.elements.allSatisfy { book in
                let hasAuthor = book["author"]?.text != nil || book["authors"]?.kind == .array
                return book["title"]?.text != nil && hasAuthor
            }
            self = array.elements.isEmpty ? .empty : isNamed ? .usable : .unusable
        }
    }

    /// A stream that ended without a terminal event, and not by its client.
    struct Loss: Sendable {
        var at: Instant
        /// What was sent up to then has been read.
        var readUpTo: Instant
        var count: Int
        /// Whether the client has come back to the job since.
        var isAnswered: Bool
    }

    /// An id that was sent.
    private struct SentID: Sendable {
        let digest: UInt64
        let at: Instant
    }

    /// The client of its upload, or of its first request.
    let client: String
    let journey: Journey
    /// Nil for a job that was there before.
    let accepted: Instant?
    /// When a client could have known of its end.
    private(set) var endedAt: Instant?
    var token: UInt64?
    var photo: UInt64?

    private var ids: [SentID] = []
    private(set) var lastID: String?
    var loss: Loss?
    private(set) var terminal: Terminal?
    /// Books that came one by one, in `result` events.
    var booksCollected = 0
    var reopened = 0
    var openStreams = 0
    /// The client has closed a stream by itself before the terminal event.
    var hasLeft = false
    /// The last event that does not say how far the job is.
    var aside: (name: String, at: Instant)?
    /// The event after which the client closed its stream.
    var leftAfter: String?
    /// What was refused for good.
    var finals: [(operation: Talaria.Operation, status: Int, at: Instant)] = []
    /// Streams and statuses that were refused.
    var refusals = 0

    /// Whether anything was requested of it.
    var isRequested = false
    var polledAt: Instant?
    var saidCompleted = false
    var saidFailed = false
    var tokenRefusedAt: Instant?
    /// 404 or 410.
    var isGone = false
    var resultsAt: Instant?
    var areResultsRequested = false
    var resultsFailures = 0
    /// The waits that answers have asked for.
    var waits: [(operation: Talaria.Operation, until: Instant)] = []

    var isCancelSent = false
    /// By its user.
    var isCanceled = false
    var deletesUnderWay = 0
    var deletesFailed = 0
    /// When a DELETE may be expected again.
    var deleteDue: Instant?
    var deletedAt: Instant?

    init(client: String, journey: Journey, accepted: Instant?) {
        self.client = client
        self.journey = journey
        self.accepted = accepted
    }

    /// Whether it has not ended, and its client may read it.
    var isReadable: Bool {
        self.terminal == nil && self.endedAt == nil && !self.isGone && self.tokenRefusedAt == nil
            && self.deletedAt == nil && self.deletesUnderWay == 0 && !self.isCancelSent && self.refusals == 0
            && self.resultsFailures == 0 && !self.hasLeft
    }

    mutating func end(_ terminal: Terminal) {
        self.terminal = terminal
        if terminal.isReadable { self.ended(at: terminal.at) }
    }

    /// The stream of the terminal event was cut.
    mutating func terminalCut() { self.terminal?.isCut = true }

    mutating func ended(at now: Instant) { self.endedAt = self.endedAt ?? now }

    mutating func sentID(_ id: String, at now: Instant) {
        self.lastID = id
        guard self.ids.count < ClientTrialLimits.idsMax else { return }
        self.ids.append(SentID(digest: Digest.of(id), at: now))
    }

    /// Whether an id may have been sent.
    func knows(_ id: String) -> Bool {
        self.ids.count >= ClientTrialLimits.idsMax || self.hasSent(id)
    }

    /// Whether an event had this id before.
    func hasSent(_ id: String) -> Bool {
        let digest = Digest.of(id)
        return self.ids.contains { $0.digest == digest }
    }

    /// Returns what is wrong with the position from which a client continues; nil if nothing is.
    func flaw(ofResuming id: String, readUpTo: Instant) -> String? {
        guard self.ids.count < ClientTrialLimits.idsMax else { return nil }
        let digest = Digest.of(id)
        guard let place = self.ids.lastIndex(where: { $0.digest == digest }) else {
            return "Last-Event-ID “\(id.bounded)” is no id that was sent"
        }
        let newer = self.ids[(place + 1)...].count { $0.at <= readUpTo && $0.digest != digest }
        return newer == 0
            ? nil : "Last-Event-ID “\(id.bounded)” is older than \(newer) events that came before the loss"
    }

    /// Forgets what only an open job needs.
    mutating func forget() {
        self.ids = []
        self.waits = []
    }
}
