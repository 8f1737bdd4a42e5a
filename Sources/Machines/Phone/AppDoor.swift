package import SimBase
package import Talaria

// The door of the phone: events come in, effects go out, nothing else (Docs/style.md rule 2). The driver owns
// sockets, files, pixels and clocks; `Device` owns every decision.

/// A request of the phone that is in the driver's hands; unique per phone process.
package struct RequestID: Hashable, Sendable {
    package let raw: UInt64
    package init(_ raw: UInt64) { self.raw = raw }
}

/// A photo of the run's corpus, by its place.
package struct PhotoReference: Hashable, Sendable {
    package let raw: Int
    package init(_ raw: Int) { self.raw = raw }
}

/// What happens to a phone.
package enum DeviceEvent: Sendable {
    /// The app's process started, for the first time or again: with everything that its durable store holds.
    case launched(restored: [DurableScan], pathAvailable: Bool)
    /// The shutter. `scheduled` is when the load model wanted it.
    case captured(scan: ScanNumber, photo: PhotoReference, scheduled: Instant)
    /// `took`: nil when the photo had been prepared for an earlier scan.
    case photoPrepared(scan: ScanNumber, bytes: Int, took: Interval?)
    /// The photo cannot be used; shown to the user.
    case photoRejected(scan: ScanNumber, reason: String)
    case pathLost
    case pathReturned
    /// The network changed under the phone: what was under way on the old path is lost without a goodbye. There is a
    /// new one at once, or `.pathReturned` tells when.
    case pathChanged(isAvailable: Bool)
    /// The app leaves the screen, or the run ends: clean up what runs, within `DeviceLimit.backgroundTime`; put
    /// unfinished scans back into the durable queue; start nothing.
    case suspended
    /// The app is on the screen again.
    case resumed
    /// The wall clock was set to run this far ahead of the true time.
    case clockSet(ahead: Interval)
    /// The head of the answer. A 1xx never comes here.
    case replyHead(RequestID, ReplyHead)
    /// Bytes of the body, in any split. The buffer is the driver's and is not to be kept.
    case replyBytes(RequestID, ArraySlice<UInt8>)
    /// The body is complete.
    case replyEnded(RequestID)
    case replyFailed(RequestID, TransportFailure)
    /// The moment that `nextWake` asked for has come, or another; early wake-ups are harmless.
    case woke
    /// Everything up to and including this ticket is durable. A driver that kills a phone hands out the tickets that
    /// are durable first and keeps nothing but the observations of what that causes: a book in the library has been
    /// seen there.
    case stored(StoreTicket)
    /// There is no room for this write. The driver keeps it, and all that follow, and writes them when there is; what
    /// was written before and is not durable yet becomes so.
    case storeFailed(StoreTicket)
}

/// The head of an answer, as far as a phone looks at it.
package struct ReplyHead: Hashable, Sendable {
    package var status: Int
    /// Lowercase type without parameters, empty when there is none.
    package var contentType: String
    /// The header `Retry-After` as it was sent.
    package var retryAfter: String?
    /// The body has a content coding, which no phone asks for: it cannot be read.
    package var isEncoded = false

    package init(status: Int, contentType: String, retryAfter: String?) {
        self.status = status
        self.contentType = contentType
        self.retryAfter = retryAfter
    }

    /// From header fields as they were sent: `Content-Type` with its parameters, `Content-Encoding`.
    package init(status: Int, contentType: String?, contentEncoding: String?, retryAfter: String?) {
        self.init(
            status: status, contentType: contentType.map { Self.type(of: $0) } ?? "", retryAfter: retryAfter)
        self.isEncoded = contentEncoding.map { !$0.isEmpty && $0.lowercased() != "identity" } ?? false
    }

    private static func type(of contentType: String) -> String {
        // Nearly always as it should be.
        let plain = contentType.utf8.prefix {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "/"), UInt8(ascii: "-"): true
            default: false
            }
        }
        if plain.endIndex == contentType.endIndex || contentType.utf8[plain.endIndex] == UInt8(ascii: ";"),
            !plain.isEmpty
        {
            return String(contentType[..<plain.endIndex])
        }
        let type = contentType.split(separator: ";").first.map { $0.lowercased() } ?? ""
        return String(type.filter { !$0.isWhitespace })
    }
}

/// A request to be made.
package struct DeviceRequest: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        case none
        /// Multipart with one part `photos[]`, the prepared photo of this scan.
        case photo(ScanNumber)
    }

    package var id: RequestID
    package var operation: Operation
    package var scan: ScanNumber
    package var attempt: UInt32
    package var method: String
    /// A path with its query on the target's base, or an absolute URL where the server sent one.
    package var target: String
    package var headers: [HeaderLine]
    package var body: Body

    package init(
        id: RequestID, operation: Operation, scan: ScanNumber, attempt: UInt32, method: String,
        target: String,
        headers: [HeaderLine], body: Body
    ) {
        self.id = id
        self.operation = operation
        self.scan = scan
        self.attempt = attempt
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}

/// A place in the order of a phone's durable writes.
package struct StoreTicket: Hashable, Comparable, Sendable {
    package let raw: UInt64
    package init(_ raw: UInt64) { self.raw = raw }
    package static func < (left: StoreTicket, right: StoreTicket) -> Bool { left.raw < right.raw }
}

/// The durable record of one unsettled scan: enough for a fresh process to go on from.
package struct DurableScan: Hashable, Sendable, Codable {
    package var scan: UInt32
    package var photo: Int
    /// When it was captured, by the run's wall clock, milliseconds since 1970: the order of the queue. Not by the phone's
    /// own clock, which may be wrong and jump.
    package var capturedUnixMs: Int64
    /// When its capture was due, by the same clock, nanoseconds since 1970: what its completion is measured from. Nil in
    /// a record of an older version: then it was captured when it was due.
    package var scheduledUnixNs: Int64?
    /// When its next upload is due, in the same way. Nil: when the app is opened, or the path returns.
    package var uploadDueUnixNs: Int64?
    /// The running job, if any, with what is needed to return to its stream.
    package var job: DurableJob?
    /// Ordinals of the books that are already in the library.
    package var booksApplied: [Int]
    /// Why it waits.
    package var cause: String
    /// Uploads of this scan so far; attempts never start over.
    package var attempts: DurableAttempts
    /// Answers so far that count towards a limit.
    package var tokenExpiries: Int
    package var retryableErrors: Int
    /// Set once every book is in the library and only the DELETE is left to do.
    package var completed: Bool
    /// Set, with the code that was shown, once the scan was refused and only the DELETE is left to do.
    package var refusal: String?

    package init(
        scan: UInt32, photo: Int, capturedUnixMs: Int64, scheduledUnixNs: Int64? = nil,
        uploadDueUnixNs: Int64? = nil, job: DurableJob?, booksApplied: [Int], cause: String,
        attempts: DurableAttempts, tokenExpiries: Int, retryableErrors: Int, completed: Bool, refusal: String?
    ) {
        self.scan = scan
        self.photo = photo
        self.capturedUnixMs = capturedUnixMs
        self.scheduledUnixNs = scheduledUnixNs
        self.uploadDueUnixNs = uploadDueUnixNs
        self.job = job
        self.booksApplied = booksApplied
        self.cause = cause
        self.attempts = attempts
        self.tokenExpiries = tokenExpiries
        self.retryableErrors = retryableErrors
        self.completed = completed
        self.refusal = refusal
    }
}

/// The durable half of a running job.
package struct DurableJob: Hashable, Sendable, Codable {
    package var jobId: String
    package var authToken: String?
    package var sseUrl: String
    package var lastEventID: String

    package init(jobId: String, authToken: String?, sseUrl: String, lastEventID: String) {
        self.jobId = jobId
        self.authToken = authToken
        self.sseUrl = sseUrl
        self.lastEventID = lastEventID
    }
}

/// Requests made, or about to be made, so far for a scan, by operation.
package struct DurableAttempts: Hashable, Sendable, Codable {
    package var upload: UInt32 = 0
    package var stream: UInt32 = 0
    package var results: UInt32 = 0
    package var cleanup: UInt32 = 0

    package init() {}
}

/// One durable write. The driver appends it to the phone's journal, in order. What is large is kept aside: most writes only
/// move an id, and each is handed on many times.
package enum StoreChange: Hashable, Sendable {
    /// Puts or replaces the record of a scan.
    indirect case put(DurableScan)
    /// Moves the last event id of a scan's job, without waiting for the disk.
    case lastEventID(ScanNumber, String)
    /// Adds a book to the library and its ordinal to the record's `booksApplied`, in one write (`DurableState`).
    indirect case book(ResultKey, Book)
    /// The scan is settled: its record goes, its number stays used.
    case settled(ScanNumber, SettledOutcome)
}

/// How a scan left the phone's care.
package enum SettledOutcome: Hashable, Sendable {
    case completed
    case refused(code: String)
}

/// What the phone wants done.
package enum DeviceEffect: Hashable, Sendable {
    case preparePhoto(ScanNumber, PhotoReference)
    /// The prepared photo is not needed any more.
    case releasePhoto(ScanNumber)
    case send(DeviceRequest)
    /// Gives up a request: nothing more is to be heard of it. Its connection is closed, or, without a path, left
    /// without a goodbye.
    case abort(RequestID)
    /// `ticket` is answered with `.stored` once the change and everything before it is durable.
    case store(StoreChange, StoreTicket)
    case observe(Observation)
}
