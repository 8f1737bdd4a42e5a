package import SimBase
package import Talaria

/// An event or an action of a phone. Durations are by the phone's monotonic clock.
package enum PhoneObservation: Hashable, Sendable {
    // The app.
    /// The process started with this many unsettled scans in its durable store. Those whose books are all in the
    /// library, and that only await their DELETE, do not count.
    case launched(restored: Int)
    case killed
    /// Follows `killed` for each scan that has a durable record: the state that the next process finds.
    /// `decided`: the scan is completed or refused, and only its DELETE is left. Reported by the owner of the
    /// storage, not by the app.
    case recordKept(job: String?, lastEventID: String?, decided: Bool)
    /// The app was deleted and reinstalled: its storage with this many unsettled scans is lost, which is the
    /// user's own doing, and the next launch has a new device id.
    case reinstalled(discarded: Int)
    /// The app went to the background, or came back to it. The end of a run suspends every phone.
    case suspended, resumed
    case pathLost, pathReturned
    /// The network was changed: all data in flight on the old path is lost.
    case pathChanged
    /// Writes fail from here on, or succeed again.
    case storageFilled, storageFreed
    /// A scan that an earlier run had stored without settling it has no record: the state folder lost it.
    /// `books`: the number of its books in the library. Reported when the folder is read, before the phone
    /// starts.
    case lostFromStorage(books: Int)
    /// The phone's wall clock was set to run this far ahead of the true time; negative behind it.
    case clockSet(ahead: Interval)

    // The scan.
    /// The shutter: when it was due by the schedule (coordinated omission is avoided by counting from there).
    case captured(scheduled: Instant)
    /// Comes before `captured` for a region of a photo that the app segments: the number of the region, from 1, and of how
    /// many. `capture`: the scan of the first of them.
    case regionTaken(capture: UInt32, number: Int, of: Int)
    /// Follows `captured` for a scan of several photos, which are the parts of one upload.
    case photosTaken(Int)
    /// `took`: nil when the photo had been prepared for an earlier scan.
    case photoPrepared(took: Interval?, bytes: Int)
    /// Follows `photoPrepared` for a library file.
    case filePrepared(LibraryContent)
    /// The photo cannot be used. The scan is refused once that is durable.
    case photoRejected(reason: String)
    /// The scan has a durable record and waits.
    case queued(WaitingCause)
    /// A stream slot was taken or released.
    case slotTaken, slotGiven
    /// A book entered the library. Observed once it is durable: a kill must not be able to take it back.
    indirect case bookAdded(ordinal: Int, book: Book)
    /// A book that was already in the library came again and was not added. `ordinal`, here and above: its
    /// index in the answer, which can differ in the next answer. `book`: as it came; nil in the log of an
    /// older version.
    indirect case bookRepeated(ordinal: Int, book: Book?)
    /// All books of the scan are durable in the library.
    case completed(took: Interval)
    /// The user cancels the scan: the process gives up what is under way for it. A kill may come before that is durable.
    case cancelRequested
    /// The user has canceled the scan, and that is durable. `job`: the job that the phone follows, which it deletes.
    case canceled(job: String?)
    /// Shown to the user with this code. `cause`: what made the phone refuse it; nil in the log of an older version.
    indirect case refused(code: String, cause: RefusalCause?)

    // Requests.
    case requestSent(Operation, attempt: UInt32, job: String?, lastEventID: String?)
    /// An answer's head, of every request and whatever its status.
    case replied(Operation, attempt: UInt32, status: Int, took: Interval)
    case requestFailed(Operation, attempt: UInt32, TransportFailure, took: Interval)
    /// A response that does not follow the contract (wrong shape, wrong content type, too large).
    case badAnswer(Operation, attempt: UInt32, BadAnswer)
    /// Something in an answer or an event that the contract does not foresee. Comes before the outcome of the
    /// answer.
    indirect case found(ContractFinding)
    /// A 202 was decoded: `took` from the scheduled start of the upload, `service` from the actual send.
    case uploadAccepted(job: String, took: Interval, service: Interval)
    /// Follows `requestSent` of a look-up: the idempotency key that it has.
    case keySent(attempt: UInt32, key: String)
    /// A look-up was answered: with the book, or that no provider has it. `repeated`: the backend says that it is the answer
    /// to an earlier request. The times are those of `uploadAccepted`.
    case lookupAnswered(found: Bool, repeated: Bool, took: Interval, service: Interval)
    case rateLimited(Operation, retryAfter: Interval)
    case resultsDecoded(job: String, books: Int, took: Interval)
    /// Follows `resultsDecoded` of an import: what they say of its rows.
    indirect case rowsRead(job: String, RowCounts)
    /// Follows `rowsRead` where the results list the books of the rows.
    case booksListed(job: String, count: Int)
    case resultsGivenUp(job: String)
    /// The state of a job was requested and read.
    case statusDecoded(job: String, status: JobStatus, took: Interval)
    /// The state of a job will not be requested any more, and it has not ended.
    case statusGivenUp(job: String)
    /// The DELETE was answered (2xx and 404 are success).
    case cleanupAnswered(job: String, status: Int, took: Interval)
    /// Follows `cleanupAnswered` for the job of a canceled scan: `took` since the user canceled it or, in a later process, since
    /// that was launched.
    case cancelAnswered(job: String, took: Interval)
    /// The phone will not delete this job, with the reason.
    case jobAbandoned(job: String, cause: AbandonCause)

    // Streams.
    /// `after`: the Last-Event-ID that was sent.
    case streamOpened(job: String, attempt: UInt32, after: String?, took: Interval)
    case firstEvent(job: String, took: Interval)
    /// Every event that took effect, the terminal one included, but no pings.
    /// `latency`: since the backend handed it to the link, where the stream carries that stamp. `replayed`: the
    /// backend had emitted it before; `latency` is then since its first emission.
    case eventApplied(job: String, id: String?, kind: EventKind, latency: Interval?, replayed: Bool)
    /// An event that changes nothing: an unknown name, or data that does not follow the contract.
    case eventIgnored(job: String, id: String?, name: String, malformed: Bool)
    /// `id`: of a backend that gives pings one; a reader by the standard remembers it.
    case ping(id: String?, gap: Interval?)
    /// Follows the terminal event's `eventApplied`.
    case terminalApplied(job: String, kind: EventKind, inline: InlineBooksForm)
    /// Follows `terminalApplied` of a batch whose backend says that it has not found all books.
    case booksNotFound(job: String, BookFailures)
    /// The event at the end of a job says how many books it has found. Follows `terminalApplied`.
    case booksPromised(job: String, BooksPromise)
    /// `silence`: for `.silence`, how long nothing had come when it was noticed.
    case streamLost(job: String, attempt: UInt32, LossCause, silence: Interval?)
    /// A loss episode ended with a 200 head: `took` since the loss was noticed.
    case reconnected(job: String, LossCause, attempts: Int, resumed: Bool, took: Interval)
    /// A loss episode ended without a 200 head.
    case reconnectGivenUp(job: String, LossCause, attempts: Int)
    /// A loss episode ended because the server reported that the token or the job no longer exists, so that the scan
    /// is uploaded again; or because the client requests the status of the job instead.
    case reconnectSuperseded(job: String, LossCause, attempts: Int)
}

extension PhoneObservation {
    var level: ObservationLevel {
        switch self {
        case .ping: .routine
        case .eventApplied(_, _, let kind, let latency, let isReplayed):
            kind.level(isAsExpected: !isReplayed && (latency ?? .zero) >= .zero, otherwise: .limited)
        case .eventIgnored, .found: .limited
        default: .always
        }
    }

    func write(to fields: inout some FieldWriter & ~Copyable) {
        switch self {
        case .launched(let restored):
            fields.begin(.phone, "launched")
            fields.number("restored", restored)
        case .killed: fields.begin(.phone, "killed")
        case .recordKept(let job, let lastEventID, let decided):
            fields.begin(.phone, "record-kept")
            fields.text("job", job)
            fields.text("last_event_id", lastEventID)
            fields.flag("decided", decided)
        case .reinstalled(let discarded):
            fields.begin(.phone, "reinstalled")
            fields.number("discarded", discarded)
        case .suspended: fields.begin(.phone, "suspended")
        case .resumed: fields.begin(.phone, "resumed")
        case .pathLost: fields.begin(.phone, "path-lost")
        case .pathReturned: fields.begin(.phone, "path-returned")
        case .pathChanged: fields.begin(.phone, "path-changed")
        case .storageFilled: fields.begin(.phone, "storage-filled")
        case .storageFreed: fields.begin(.phone, "storage-freed")
        case .lostFromStorage(let books):
            fields.begin(.phone, "lost-from-storage")
            fields.number("books", books)
        case .clockSet(let ahead):
            fields.begin(.phone, "clock-set")
            fields.time("ahead_ns", ahead)
        case .captured(let scheduled):
            fields.begin(.phone, "captured")
            fields.number("scheduled_ns", scheduled.nanoseconds)
        case .regionTaken(let capture, let number, let regions):
            fields.begin(.phone, "region-taken")
            fields.number("capture", Int(capture))
            fields.number("number", number)
            fields.number("of", regions)
        case .photosTaken(let count):
            fields.begin(.phone, "photos-taken")
            fields.number("count", count)
        case .photoPrepared(let took, let bytes):
            fields.begin(.phone, "photo-prepared")
            fields.time("took_ns", took)
            fields.number("bytes", bytes)
        case .filePrepared(let file):
            fields.begin(.phone, "file-prepared")
            fields.number("rows", file.rows)
        case .photoRejected(let reason):
            fields.begin(.phone, "photo-rejected")
            fields.text("reason", reason)
        case .queued(let cause):
            fields.begin(.phone, "queued")
            fields.name("cause", cause)
        case .slotTaken: fields.begin(.phone, "slot-taken")
        case .slotGiven: fields.begin(.phone, "slot-given")
        case .bookAdded(let ordinal, let book):
            fields.begin(.phone, "book-added")
            fields.number("ordinal", ordinal)
            fields.book(book)
        case .bookRepeated(let ordinal, let book):
            fields.begin(.phone, "book-repeated")
            fields.number("ordinal", ordinal)
            if let book { fields.book(book) } else { fields.text("title", nil) }
        case .completed(let took):
            fields.begin(.phone, "completed")
            fields.time("took_ns", took)
        case .cancelRequested: fields.begin(.phone, "cancel-requested")
        case .canceled(let job):
            fields.begin(.phone, "canceled")
            fields.text("job", job)
        case .refused(let code, let cause):
            fields.begin(.phone, "refused")
            fields.text("code", code)
            if let cause { cause.write(to: &fields) } else { fields.name("cause", nil) }
        case .requestSent(let operation, let attempt, let job, let lastEventID):
            fields.begin(.phone, "request-sent")
            fields.exchange(operation, attempt)
            fields.text("job", job)
            fields.text("last_event_id", lastEventID)
        case .replied(let operation, let attempt, let status, let took):
            fields.begin(.phone, "replied")
            fields.exchange(operation, attempt)
            fields.number("status", status)
            fields.time("took_ns", took)
        case .requestFailed(let operation, let attempt, let failure, let took):
            fields.begin(.phone, "request-failed")
            fields.exchange(operation, attempt)
            fields.name("failure", failure)
            fields.time("took_ns", took)
        case .badAnswer(let operation, let attempt, let problem):
            fields.begin(.phone, "bad-answer")
            fields.exchange(operation, attempt)
            fields.name("problem", problem)
        case .found(let finding):
            fields.begin(.phone, "found")
            finding.write(to: &fields)
        case .uploadAccepted(let job, let took, let service):
            fields.begin(.phone, "upload-accepted")
            fields.job(job)
            fields.time("took_ns", took)
            fields.time("service_ns", service)
        case .keySent(let attempt, let key):
            fields.begin(.phone, "key-sent")
            fields.attempt(attempt)
            fields.text("key", key)
        case .lookupAnswered(let found, let repeated, let took, let service):
            fields.begin(.phone, "lookup-answered")
            fields.flag("found", found)
            fields.flag("repeated", repeated)
            fields.time("took_ns", took)
            fields.time("service_ns", service)
        case .rateLimited(let operation, let retryAfter):
            fields.begin(.phone, "rate-limited")
            fields.name("operation", operation.name)
            fields.time("retry_after_ns", retryAfter)
        case .resultsDecoded(let job, let books, let took):
            fields.begin(.phone, "results-decoded")
            fields.job(job)
            fields.number("books", books)
            fields.time("took_ns", took)
        case .rowsRead(let job, let rows):
            fields.begin(.phone, "rows-read")
            fields.job(job)
            fields.rows(rows)
        case .booksListed(let job, let count):
            fields.begin(.phone, "books-listed")
            fields.job(job)
            fields.number("count", count)
        case .resultsGivenUp(let job):
            fields.begin(.phone, "results-given-up")
            fields.job(job)
        case .statusDecoded(let job, let status, let took):
            fields.begin(.phone, "status-decoded")
            fields.job(job)
            fields.name("status", status)
            fields.time("took_ns", took)
        case .statusGivenUp(let job):
            fields.begin(.phone, "status-given-up")
            fields.job(job)
        case .cleanupAnswered(let job, let status, let took):
            fields.begin(.phone, "cleanup-answered")
            fields.job(job)
            fields.number("status", status)
            fields.time("took_ns", took)
        case .cancelAnswered(let job, let took):
            fields.begin(.phone, "cancel-answered")
            fields.job(job)
            fields.time("took_ns", took)
        case .jobAbandoned(let job, let cause):
            fields.begin(.phone, "job-abandoned")
            fields.job(job)
            fields.name("cause", cause.name)
        case .streamOpened(let job, let attempt, let after, let took):
            fields.begin(.phone, "stream-opened")
            fields.job(job)
            fields.attempt(attempt)
            fields.text("after", after)
            fields.time("took_ns", took)
        case .firstEvent(let job, let took):
            fields.begin(.phone, "first-event")
            fields.job(job)
            fields.time("took_ns", took)
        case .eventApplied(let job, let id, let kind, let latency, let replayed):
            fields.begin(.phone, "event-applied")
            fields.job(job)
            fields.text("id", id)
            fields.name("kind", kind)
            fields.time("latency_ns", latency)
            fields.flag("replayed", replayed)
        case .eventIgnored(let job, let id, let name, let malformed):
            fields.begin(.phone, "event-ignored")
            fields.job(job)
            fields.text("id", id)
            fields.text("name", name)
            fields.flag("malformed", malformed)
        case .ping(let id, let gap):
            fields.begin(.phone, "ping")
            fields.text("id", id)
            fields.time("gap_ns", gap)
        case .terminalApplied(let job, let kind, let inline):
            fields.begin(.phone, "terminal-applied")
            fields.job(job)
            fields.name("kind", kind)
            fields.name("inline", inline)
        case .booksPromised(let job, let promise):
            fields.begin(.phone, "books-promised")
            fields.job(job)
            fields.number("unique", promise.unique)
            fields.number("detected", promise.detected)
        case .booksNotFound(let job, let failures):
            fields.begin(.phone, "books-not-found")
            fields.job(job)
            fields.number("failed", failures.failed)
            fields.number("total", failures.total)
        case .streamLost(let job, let attempt, let cause, let silence):
            fields.begin(.phone, "stream-lost")
            fields.job(job)
            fields.attempt(attempt)
            fields.name("cause", cause)
            fields.time("silence_ns", silence)
        case .reconnected(let job, let cause, let attempts, let resumed, let took):
            fields.begin(.phone, "reconnected")
            fields.job(job)
            fields.name("cause", cause)
            fields.number("attempts", attempts)
            fields.flag("resumed", resumed)
            fields.time("took_ns", took)
        case .reconnectGivenUp(let job, let cause, let attempts):
            fields.begin(.phone, "reconnect-given-up")
            fields.job(job)
            fields.name("cause", cause)
            fields.number("attempts", attempts)
        case .reconnectSuperseded(let job, let cause, let attempts):
            fields.begin(.phone, "reconnect-superseded")
            fields.job(job)
            fields.name("cause", cause)
            fields.number("attempts", attempts)
        }
    }

    init(_ name: String, from fields: inout some FieldReader & ~Copyable) throws(MalformedObservation) {
        self =
            switch name {
            case "launched": .launched(restored: try fields.count("restored"))
            case "killed": .killed
            case "record-kept":
                .recordKept(
                    job: try fields.text("job"), lastEventID: try fields.text("last_event_id"),
                    decided: try fields.isTrue("decided"))
            case "reinstalled": .reinstalled(discarded: try fields.count("discarded"))
            case "suspended": .suspended
            case "resumed": .resumed
            case "path-lost": .pathLost
            case "path-returned": .pathReturned
            case "path-changed": .pathChanged
            case "storage-filled": .storageFilled
            case "storage-freed": .storageFreed
            case "lost-from-storage": .lostFromStorage(books: try fields.count("books"))
            case "clock-set": .clockSet(ahead: try fields.time("ahead_ns"))
            case "captured": .captured(scheduled: try fields.moment("scheduled_ns"))
            case "region-taken":
                .regionTaken(
                    capture: UInt32(clamping: try fields.count("capture")),
                    number: try fields.count("number"), of: try fields.count("of"))
            case "photos-taken": .photosTaken(try fields.count("count"))
            case "photo-prepared":
                .photoPrepared(took: try fields.optionalTime("took_ns"), bytes: try fields.count("bytes"))
            case "file-prepared": .filePrepared(LibraryContent(rows: try fields.optionalCount("rows")))
            case "photo-rejected": .photoRejected(reason: try fields.requiredText("reason"))
            case "queued": .queued(try fields.value("cause"))
            case "slot-taken": .slotTaken
            case "slot-given": .slotGiven
            case "book-added": .bookAdded(ordinal: try fields.count("ordinal"), book: try fields.book())
            case "book-repeated":
                .bookRepeated(ordinal: try fields.count("ordinal"), book: try fields.optionalBook())
            case "completed": .completed(took: try fields.time("took_ns"))
            case "cancel-requested": .cancelRequested
            case "canceled": .canceled(job: try fields.text("job"))
            case "refused":
                .refused(code: try fields.requiredText("code"), cause: try RefusalCause(from: &fields))
            case "request-sent":
                .requestSent(
                    try fields.operation(), attempt: try fields.attempt(), job: try fields.text("job"),
                    lastEventID: try fields.text("last_event_id"))
            case "replied":
                .replied(
                    try fields.operation(), attempt: try fields.attempt(), status: try fields.count("status"),
                    took: try fields.time("took_ns"))
            case "request-failed":
                .requestFailed(
                    try fields.operation(), attempt: try fields.attempt(), try fields.value("failure"),
                    took: try fields.time("took_ns"))
            case "bad-answer":
                .badAnswer(try fields.operation(), attempt: try fields.attempt(), try fields.value("problem"))
            case "found": .found(try ContractFinding(from: &fields))
            case "upload-accepted":
                .uploadAccepted(
                    job: try fields.job(), took: try fields.time("took_ns"),
                    service: try fields.time("service_ns"))
            case "key-sent":
                .keySent(attempt: try fields.attempt(), key: try fields.requiredText("key"))
            case "lookup-answered":
                .lookupAnswered(
                    found: try fields.isTrue("found"), repeated: try fields.isTrue("repeated"),
                    took: try fields.time("took_ns"), service: try fields.time("service_ns"))
            case "rate-limited":
                .rateLimited(try fields.operation(), retryAfter: try fields.time("retry_after_ns"))
            case "results-decoded":
                .resultsDecoded(
                    job: try fields.job(), books: try fields.count("books"), took: try fields.time("took_ns"))
            case "rows-read": .rowsRead(job: try fields.job(), try fields.rows())
            case "books-listed": .booksListed(job: try fields.job(), count: try fields.count("count"))
            case "results-given-up": .resultsGivenUp(job: try fields.job())
            case "status-decoded":
                .statusDecoded(
                    job: try fields.job(), status: try fields.value("status"),
                    took: try fields.time("took_ns"))
            case "status-given-up": .statusGivenUp(job: try fields.job())
            case "cleanup-answered":
                .cleanupAnswered(
                    job: try fields.job(), status: try fields.count("status"),
                    took: try fields.time("took_ns"))
            case "cancel-answered": .cancelAnswered(job: try fields.job(), took: try fields.time("took_ns"))
            case "job-abandoned":
                .jobAbandoned(job: try fields.job(), cause: try fields.abandonCause())
            case "stream-opened":
                .streamOpened(
                    job: try fields.job(), attempt: try fields.attempt(), after: try fields.text("after"),
                    took: try fields.time("took_ns"))
            case "first-event": .firstEvent(job: try fields.job(), took: try fields.time("took_ns"))
            case "event-applied":
                .eventApplied(
                    job: try fields.job(), id: try fields.text("id"), kind: try fields.value("kind"),
                    latency: try fields.optionalTime("latency_ns"), replayed: try fields.isTrue("replayed"))
            case "event-ignored":
                .eventIgnored(
                    job: try fields.job(), id: try fields.text("id"), name: try fields.requiredText("name"),
                    malformed: try fields.isTrue("malformed"))
            case "ping": .ping(id: try fields.text("id"), gap: try fields.optionalTime("gap_ns"))
            case "terminal-applied":
                .terminalApplied(
                    job: try fields.job(), kind: try fields.value("kind"),
                    inline: try fields.value("inline"))
            case "books-promised": .booksPromised(job: try fields.job(), try fields.promise())
            case "books-not-found":
                .booksNotFound(
                    job: try fields.job(),
                    BookFailures(failed: try fields.count("failed"), total: try fields.count("total")))
            case "stream-lost":
                .streamLost(
                    job: try fields.job(), attempt: try fields.attempt(), try fields.value("cause"),
                    silence: try fields.optionalTime("silence_ns"))
            case "reconnected":
                .reconnected(
                    job: try fields.job(), try fields.value("cause"), attempts: try fields.count("attempts"),
                    resumed: try fields.isTrue("resumed"), took: try fields.time("took_ns"))
            case "reconnect-given-up":
                .reconnectGivenUp(
                    job: try fields.job(), try fields.value("cause"), attempts: try fields.count("attempts"))
            case "reconnect-superseded":
                .reconnectSuperseded(
                    job: try fields.job(), try fields.value("cause"), attempts: try fields.count("attempts"))
            default: throw MalformedObservation()
            }
    }
}

extension RefusalCause {
    fileprivate func write(to fields: inout some FieldWriter & ~Copyable) {
        fields.name("cause", self.name)
        switch self {
        case .answer(let operation, let attempt, let status, let isRetryable):
            fields.exchange(operation, attempt)
            fields.number("status", status)
            fields.flag("retryable", isRetryable)
        case .event(let job, let isRetryable):
            fields.job(job)
            fields.flag("retryable", isRetryable)
        case .photo, .storage, .queue: break
        }
    }

    /// Reads an observation; nil for one of an older version.
    fileprivate init?(from fields: inout some FieldReader & ~Copyable) throws(MalformedObservation) {
        guard let name = try fields.name("cause") else { return nil }
        self =
            switch name {
            case "answer":
                .answer(
                    try fields.operation(), attempt: try fields.attempt(), status: try fields.count("status"),
                    retryable: try fields.flag("retryable"))
            case "event": .event(job: try fields.job(), retryable: try fields.flag("retryable"))
            case "photo": .photo
            case "storage": .storage
            case "queue": .queue
            default: throw MalformedObservation()
            }
    }
}

extension ContractFinding {
    func write(to fields: inout some FieldWriter & ~Copyable) {
        fields.name("operation", self.operation.name)
        fields.text("part", self.part)
        fields.text("path", self.path)
        fields.text("expected", self.expected)
        fields.text("seen", self.seen)
        fields.text("excerpt", self.excerpt)
        fields.flag("decisive", self.isDecisive)
        fields.number("count", self.count)
    }

    init(from fields: inout some FieldReader & ~Copyable) throws(MalformedObservation) {
        self.init(
            operation: try fields.operation(), part: try fields.requiredText("part"),
            path: try fields.requiredText("path"), expected: try fields.requiredText("expected"),
            seen: try fields.requiredText("seen"), excerpt: try fields.text("excerpt"),
            isDecisive: try fields.isTrue("decisive"), count: try fields.count("count"))
        guard self.count > 0 else { throw MalformedObservation() }
    }
}
