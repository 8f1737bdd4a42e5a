package import SimBase
package import Talaria

/// An event or an action of a phone. Durations are by the phone's monotonic clock.
package indirect enum PhoneObservation: Hashable, Sendable {
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
    /// Follows `photoPrepared` for a spine: the user sees the book as the phone has read it. `took`: since the scheduled
    /// capture.
    case bookRead(took: Interval)
    /// Follows `photoPrepared` for a library file.
    case filePrepared(LibraryContent)
    /// The photo cannot be used. The scan is refused once that is durable.
    case photoRejected(reason: String)
    /// The scan has a durable record and waits.
    case queued(WaitingCause)
    /// A stream slot was taken or released.
    case slotTaken, slotGiven
    /// Follows `eventApplied` of a `result` event whose book the user is shown before the job has ended.
    case bookShown(job: String, book: Book)
    /// A book entered the library. Observed once it is durable: a kill must not be able to take it back.
    case bookAdded(ordinal: Int, book: Book)
    /// A book that was already in the library came again and was not added. `ordinal`, here and above: its
    /// index in the answer, which can differ in the next answer. `book`: as it came; nil in the log of an
    /// older version.
    case bookRepeated(ordinal: Int, book: Book?)
    /// All books of the scan are durable in the library, or wait for their person in the review.
    case completed(took: Interval)
    /// The user cancels the scan: the process gives up what is under way for it. A kill may come before that is durable.
    case cancelRequested
    /// The user has canceled the scan, and that is durable. `job`: the job that the phone follows, which it deletes.
    case canceled(job: String?)
    /// Shown to the user with this code. `cause`: what made the phone refuse it; nil in the log of an older version.
    case refused(code: String, cause: RefusalCause?)

    // The review. `entry`: the number of the book among those that came for its scan, from 0. Observed once it is durable, where the
    // app stores it.
    /// A book came, and waits for its person. `ordinal`: as of `bookAdded`, in place of which it is observed.
    case bookPending(ordinal: Int, entry: Int, book: Book)
    /// The person has written this title or author.
    case bookEdited(entry: Int, title: String?, author: String?)
    /// The person has approved the book: it entered the library with these values.
    case bookApproved(entry: Int, book: Book)
    case bookRejected(entry: Int)
    /// The book is the same as another one, which the library has or which waits as well.
    case bookMerged(entry: Int, intoScan: UInt32, intoEntry: Int)
    /// Follows `killed` for each book that waits and is stored, with the values that it would enter the library with; and
    /// comes before the first launch for each that an earlier run left. Reported by the owner of the storage, not by the app.
    case bookKept(entry: Int, book: Book)
    /// Follows `launched` where books are reviewed: how many of them the process has found waiting.
    case reviewRestored(entries: Int)

    // Requests.
    /// Comes before `requestSent` of an upload in a rollout: the transport that follows its job, and the share of the new arm by
    /// the flag of the app.
    case armTaken(StreamTransport, share: Odds)
    case requestSent(Operation, attempt: UInt32, job: String?, lastEventID: String?)
    /// An answer's head, of every request and whatever its status.
    case replied(Operation, attempt: UInt32, status: Int, took: Interval)
    case requestFailed(Operation, attempt: UInt32, TransportFailure, took: Interval)
    /// A response that does not follow the contract (wrong shape, wrong content type, too large).
    case badAnswer(Operation, attempt: UInt32, BadAnswer)
    /// Something in an answer or an event that the contract does not foresee. Comes before the outcome of the
    /// answer.
    case found(ContractFinding)
    /// A 202 was decoded: `took` from the scheduled start of the upload, `service` from the actual send.
    case uploadAccepted(job: String, took: Interval, service: Interval)
    /// Follows `requestSent` of a look-up: the idempotency key that it has.
    case keySent(attempt: UInt32, key: String)
    /// A look-up was answered: with the book, or that no provider has it. `repeated`: the backend says that it is the answer
    /// to an earlier request. The times are those of `uploadAccepted`.
    case lookupAnswered(found: Bool, repeated: Bool, took: Interval, service: Interval)
    /// Follows `lookupAnswered` of a look-up by text: whose text the book has now. `took`: since the scheduled capture.
    /// `service`: since the actual send.
    case enriched(TextOutcome, took: Interval, service: Interval)
    /// The look-up by text has failed, and the book keeps what the phone has read.
    case readingKept(WaitingCause)
    /// A book that the phone has read is not looked up by its text: its photo is uploaded.
    case photoInstead(PhotoReason)
    case rateLimited(Operation, retryAfter: Interval)
    case resultsDecoded(job: String, books: Int, took: Interval)
    /// Follows `resultsDecoded` of an import: what they say of its rows.
    case rowsRead(job: String, RowCounts)
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

    /// The token of the job was exchanged for a new one.
    case tokenExchanged(job: String, took: Interval)

    // Streams.
    /// A job is followed by another transport than an event stream: by no id, a stream of it resumes.
    case jobFollowed(job: String, by: StreamTransport)
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
    static let byName = named([
        blank(launched), killed, blank(recordKept), blank(reinstalled), suspended, resumed, pathLost,
        pathReturned, pathChanged, storageFilled, storageFreed, blank(lostFromStorage), blank(clockSet),
        blank(captured), blank(regionTaken), blank(photosTaken), blank(photoPrepared), blank(bookRead),
        blank(filePrepared),
        blank(photoRejected), blank(queued), slotTaken, slotGiven, blank(bookShown), blank(bookAdded),
        blank(bookRepeated),
        blank(completed), cancelRequested, blank(canceled), blank(refused), blank(bookPending),
        blank(bookEdited), blank(bookApproved), blank(bookRejected), blank(bookMerged), blank(bookKept),
        blank(reviewRestored), blank(armTaken), blank(requestSent),
        blank(replied), blank(requestFailed), blank(badAnswer), blank(found), blank(uploadAccepted),
        blank(keySent), blank(lookupAnswered), blank(enriched), blank(readingKept), blank(photoInstead),
        blank(rateLimited), blank(resultsDecoded), blank(rowsRead),
        blank(booksListed), blank(resultsGivenUp), blank(statusDecoded), blank(statusGivenUp),
        blank(cleanupAnswered), blank(cancelAnswered), blank(jobAbandoned), blank(tokenExchanged),
        blank(jobFollowed),
        blank(streamOpened),
        blank(firstEvent), blank(eventApplied), blank(eventIgnored), blank(ping), blank(terminalApplied),
        blank(booksPromised), blank(booksNotFound), blank(streamLost), blank(reconnected),
        blank(reconnectGivenUp), blank(reconnectSuperseded),
    ])

    var level: ObservationLevel {
        switch self {
        case .ping: .routine
        case .eventApplied(_, _, let kind, let latency, let isReplayed):
            kind.level(isAsExpected: !isReplayed && (latency ?? .zero) >= .zero, otherwise: .limited)
        case .eventIgnored, .found: .limited
        default: .always
        }
    }
}

extension PhoneObservation {
    /// Whether an answer with this status is an error: no success, no redirect, and not the 101 that opens a WebSocket.
    package static func isError(status: Int) -> Bool { status != 101 && !(200..<400).contains(status) }
}
