package import SimBase
package import Talaria

/// One thing that one side saw: whose, which scan, what and when.
///
/// Histograms, counters, the ledger, the timeline and the report are all made from these and from nothing else, in
/// both worlds.
package struct Observation: Hashable, Sendable {
    package var at: Instant
    package var device: DeviceNumber
    /// `ScanNumber.none` where it speaks of no scan.
    package var scan: ScanNumber
    package let what: Sighting
    /// A ping, or a `progress` event under way as it should be: half of all there is. Known from the start, for those whom
    /// it does not concern: to look into `what` copies it.
    package let isRoutine: Bool
    /// Who saw it, for the same reason.
    package let side: Side

    package init(at: Instant, device: DeviceNumber, scan: ScanNumber, what: Sighting) {
        self.at = at
        self.device = device
        self.scan = scan
        self.isRoutine = what.isRoutine
        self.side = what.side
        self.what = what
    }

    /// What stands where an observation was taken from.
    package static var nothing: Observation {
        let unmeasured = NetworkSighting(lookup: nil, connect: nil, tls: nil, firstByte: nil)
        return Observation(at: .zero, device: DeviceNumber(0), scan: .none, what: .network(unmeasured))
    }
}

/// Who saw something.
package enum Side: Hashable, Sendable { case phone, backend, fault, network }

/// What who saw.
package enum Sighting: Hashable, Sendable {
    case phone(PhoneSighting)
    case backend(BackendSighting)
    case fault(FaultSighting)
    case network(NetworkSighting)

    fileprivate var side: Side {
        switch self {
        case .phone: .phone
        case .backend: .backend
        case .fault: .fault
        case .network: .network
        }
    }

    fileprivate var isRoutine: Bool {
        switch self {
        case .phone(.ping), .backend(.pingWritten): true
        case .phone(.eventApplied(_, _, .progress, let latency, replayed: false)):
            latency.map { $0 >= .zero } ?? true
        case .backend(.eventWritten(_, _, _, .progress, replayed: false)): true
        case .phone, .backend, .fault, .network: false
        }
    }
}

/// What the HTTP client measured of the network below one request, so that a slow handshake is not taken for a slow
/// backend. Nil: there was no such step, as on a connection that was used again.
package struct NetworkSighting: Hashable, Sendable {
    /// The host's name to its addresses.
    package var lookup: Interval?
    /// SYN to the connection.
    package var connect: Interval?
    /// The connection to the end of the TLS handshake.
    package var tls: Interval?
    /// The request sent to the first byte of its answer.
    package var firstByte: Interval?

    package init(lookup: Interval?, connect: Interval?, tls: Interval?, firstByte: Interval?) {
        self.lookup = lookup
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
    }
}

/// What a phone sees and does. Durations are by the phone's monotonic clock.
package enum PhoneSighting: Hashable, Sendable {
    // The app.
    /// The process started with this many unsettled scans in its durable store. Those whose books are all in the
    /// library, and that only await their DELETE, do not count.
    case launched(restored: Int)
    case killed
    /// Follows `killed` for each scan that has a durable record: what the next process finds of it. `decided`: it is
    /// completed or refused, and only its DELETE is left. Seen by whoever owns the storage, not by the app.
    case recordKept(job: String?, lastEventID: String?, decided: Bool)
    /// The app was deleted and installed anew: its storage is gone with this many unsettled scans, whose loss is the
    /// user's own doing, and the next launch has a new device id.
    case reinstalled(discarded: Int)
    /// The app left the screen, or came back to it. The end of a run suspends every phone.
    case suspended, resumed
    case pathLost, pathReturned
    /// The network was changed under the phone: whatever was under way on the old path is lost.
    case pathChanged
    /// Writes fail from here on, or succeed again.
    case storageFilled, storageFreed
    /// A scan that an earlier run had stored and nobody settled has no record any more: the state folder lost it. `books`:
    /// how many of its books the library holds. Seen when the folder is read, before the phone starts.
    case lostFromStorage(books: Int)
    /// The phone's wall clock was set to run this far ahead of the true time; negative behind it.
    case clockSet(ahead: Interval)

    // The scan.
    /// The shutter: when it was due by the schedule (coordinated omission is avoided by counting from there).
    case captured(scheduled: Instant)
    /// `took`: nil when the photo had been prepared for an earlier scan.
    case photoPrepared(took: Interval?, bytes: Int)
    /// The scan has a durable record and waits.
    case queued(WaitingCause)
    /// One of the five stream slots.
    case slotTaken, slotGiven
    /// A book entered the library. Observed once it is durable: a kill must not be able to take it back.
    indirect case bookAdded(ordinal: Int, book: Book)
    /// A book that was already in the library came again and was not added.
    case bookRepeated(ordinal: Int)
    /// All books of the scan are durable in the library.
    case completed(took: Interval)
    /// Shown to the user with this code. `cause`: what made the phone refuse it; nil in the log of an older version.
    indirect case refused(code: String, cause: RefusalCause?)

    // Requests.
    case requestSent(Operation, attempt: UInt32, job: String?, lastEventID: String?)
    /// An answer's head, of every request and whatever its status.
    case replied(Operation, attempt: UInt32, status: Int, took: Interval)
    case requestFailed(Operation, attempt: UInt32, TransportFailure, took: Interval)
    /// An answer that is not what the contract says (wrong shape, wrong content type, too large).
    case badAnswer(Operation, attempt: UInt32, BadAnswer)
    /// Something in an answer or an event that the contract does not foresee. Comes before what became of the answer.
    indirect case found(ContractFinding)
    /// A 202 was decoded: `took` from the scheduled start of the upload, `service` from the actual send.
    case uploadAccepted(job: String, took: Interval, service: Interval)
    case rateLimited(Operation, retryAfter: Interval)
    case resultsDecoded(job: String, books: Int, took: Interval)
    case resultsGivenUp(job: String)
    /// The DELETE was answered (2xx and 404 are success).
    case cleanupAnswered(job: String, status: Int, took: Interval)
    /// The phone will not clean this job up any more, and why.
    case jobAbandoned(job: String, cause: String)

    // Streams.
    /// `after`: the Last-Event-ID that was sent.
    case streamOpened(job: String, attempt: UInt32, after: String?, took: Interval)
    case firstEvent(job: String, took: Interval)
    /// Every event that took effect, the terminal one included, but no pings.
    /// `latency`: since the backend handed it to the link, where the stream carries that stamp. `replayed`: the
    /// backend had emitted it before; `latency` is then since its first emission.
    case eventApplied(job: String, id: String?, kind: EventKind, latency: Interval?, replayed: Bool)
    /// An event that changes nothing: an unknown name, or data that is not what the contract says.
    case eventIgnored(job: String, id: String?, name: String, malformed: Bool)
    /// `id`: of a backend that gives pings one; a reader by the standard remembers it.
    case ping(id: String?, gap: Interval?)
    /// Follows the terminal event's `eventApplied`. `inline`: `books` when the event carried books that can be used, else
    /// `absent`, `null`, `empty` or `undecodable`.
    case terminalApplied(job: String, kind: EventKind, inline: String)
    /// `silence`: for `.silence`, how long nothing had come when it was noticed.
    case streamLost(job: String, attempt: UInt32, LossCause, silence: Interval?)
    /// A loss episode ended with a 200 head: `took` since the loss was noticed.
    case reconnected(job: String, LossCause, attempts: Int, resumed: Bool, took: Interval)
    /// A loss episode ended without a 200 head.
    case reconnectGivenUp(job: String, LossCause, attempts: Int)
    /// A loss episode ended with the server's word that the token or the job is gone, and the scan is uploaded again:
    /// the way back was there, what it led to was not.
    case reconnectSuperseded(job: String, LossCause, attempts: Int)
}

/// What made a phone refuse a scan. `retryable`: what the answer or the event said of another try, nil when it said
/// nothing that could be read.
package enum RefusalCause: Hashable, Sendable {
    case answer(Operation, attempt: UInt32, status: Int, retryable: Bool?)
    /// An `error` event of the job's stream.
    case event(job: String, retryable: Bool?)
    /// The photo could not be read.
    case photo
    /// There was no room for the scan's record.
    case storage
    /// As many scans were unsettled as a phone may have.
    case queue

    /// The name in text.
    package var name: String {
        switch self {
        case .answer: "answer"
        case .event: "event"
        case .photo: "photo"
        case .storage: "storage"
        case .queue: "queue"
        }
    }
}

/// Why a scan waits in the durable queue.
package enum WaitingCause: String, CaseIterable, Hashable, Sendable {
    case captured
    case offline
    case rateLimited = "rate-limited"
    case serverError = "server-error"
    case transport
    case retryableError = "retryable-error"
    case tokenExpired = "token-expired"
    case jobGone = "job-gone"
    case resultsUnavailable = "results-unavailable"
    case suspended
    case interrupted
    /// A whole answer came and could not be used; a `ContractFinding` says why.
    case unreadableAnswer = "unreadable-answer"
    case answerTooLarge = "answer-too-large"
    /// No answer came within the time that a phone waits for one.
    case noAnswer = "no-answer"
    /// A status that the contract does not name for the operation.
    case unexpectedStatus = "unexpected-status"
    /// An upload was answered with 401 or 403.
    case unauthorized
    /// The server sent the phone to another server, which it does not follow.
    case foreignURL = "foreign-url"
}

/// Why a stream, or an attempt to open one, was lost.
package enum LossCause: String, CaseIterable, Hashable, Sendable {
    case connectFailed = "connect-failed"
    case refusedByStatus = "refused-by-status"
    case reset
    /// A clean end of the body without a terminal event.
    case endWithoutTerminal = "end-without-terminal"
    /// Nothing came for longer than the idle timeout: a half-open connection.
    case silence
    case offline
    case badAnswer = "bad-answer"
    case killed
    /// The network was changed under the phone.
    case handover
    /// No head came within the time that a phone waits for one.
    case noAnswer = "no-answer"
    /// The stream's address is on another server and was not asked.
    case foreignURL = "foreign-url"
}

/// How an answer failed above HTTP.
package enum BadAnswer: String, CaseIterable, Hashable, Sendable {
    case undecodable
    /// Another type, or a content coding that was not asked for.
    case wrongContentType = "wrong-content-type"
    case tooLarge = "too-large"
    case notSuccess = "not-success"
    case unexpectedStatus = "unexpected-status"
    /// A line or an event of a stream beyond its limit.
    case overlongStream = "overlong-stream"
}

/// What the simulated backend sees and does.
package enum BackendSighting: Hashable, Sendable {
    /// A connection carried its first request; ids are unique within a run.
    case connected(connection: UInt64)
    case requested(Operation, attempt: UInt32, connection: UInt64)
    case answered(Operation, attempt: UInt32, status: Int)
    /// Follows `answered` for an answer with a problem document: what it says of another try, and how long it asks to
    /// wait before that, in whatever place and before it is rounded up there. `job`: that was asked for, nil for an
    /// upload.
    case problem(
        Operation, attempt: UInt32, status: Int, job: String?, retryable: Bool, retryAfter: Interval?)
    case accepted(job: String, books: Int)
    /// `after`: the position of the event that the stream goes on behind, nil without a usable Last-Event-ID.
    case streamOpened(job: String, attempt: UInt32, after: Int?)
    /// `position`: the event's place in the job's log, from 0.
    case eventWritten(job: String, id: String, position: Int, kind: EventKind, replayed: Bool)
    case pingWritten(job: String)
    case streamEnded(job: String, attempt: UInt32, byPeer: Bool)
    /// The job reached its terminal event with this many books.
    case finished(job: String, kind: EventKind, books: Int)
    /// The job ends with an `error` event that says this of another try.
    case failed(job: String, code: String, retryable: Bool)
    case tokenRevoked(job: String)
    case resultsServed(job: String, books: Int)
    /// `effective`: this DELETE removed the job; otherwise it was gone already.
    case cleaned(job: String, effective: Bool)
    case canceled(job: String)
    case expired(job: String)
    /// A fault took the job away, with all that it had.
    case vanished(job: String)
}

/// What the fault layer decides and does. `fault` is the place of the fault in the scenario's list, from 0.
package enum FaultSighting: Hashable, Sendable {
    /// The keyed draw for one exchange: equal in every run of the seed that reaches this key.
    case decided(fault: Int, Operation, attempt: UInt32, fires: Bool)
    case fired(fault: Int, Operation, attempt: UInt32)
    /// A fault of the phone or its link (`offline`), which belongs to no exchange.
    case began(fault: Int)
    case ended(fault: Int)
}
