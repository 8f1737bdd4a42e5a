import SimBase
import Talaria

extension PhoneObservation: DescribedObservation {
    static var side: Side { .phone }

    func coded(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation) -> Self? {
        switch self {
        case .launched(let restored): try codec.row("launched", Self.launched, "restored", of: restored)
        case .killed: codec.row("killed", self)
        case .recordKept(let job, let lastEventID, let decided):
            try codec.row(
                "record-kept", Self.recordKept, "job", "last_event_id", "decided", of: job, lastEventID,
                decided)
        case .reinstalled(let discarded):
            try codec.row("reinstalled", Self.reinstalled, "discarded", of: discarded)
        case .suspended: codec.row("suspended", self)
        case .resumed: codec.row("resumed", self)
        case .pathLost: codec.row("path-lost", self)
        case .pathReturned: codec.row("path-returned", self)
        case .pathChanged: codec.row("path-changed", self)
        case .storageFilled: codec.row("storage-filled", self)
        case .storageFreed: codec.row("storage-freed", self)
        case .lostFromStorage(let books):
            try codec.row("lost-from-storage", Self.lostFromStorage, "books", of: books)
        case .clockSet(let ahead): try codec.row("clock-set", Self.clockSet, "ahead_ns", of: ahead)
        default: try self.codedScan(by: &codec)
        }
    }

    private func codedScan(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation)
        -> Self?
    {
        switch self {
        case .captured(let scheduled):
            try codec.row("captured", Self.captured, "scheduled_ns", of: scheduled)
        case .regionTaken(let capture, let number, let regions):
            try codec.row(
                "region-taken", Self.regionTaken, "capture", "number", "of", of: capture, number, regions)
        case .photosTaken(let count): try codec.row("photos-taken", Self.photosTaken, "count", of: count)
        case .photoPrepared(let took, let bytes):
            try codec.row("photo-prepared", Self.photoPrepared, "took_ns", "bytes", of: took, bytes)
        case .bookRead(let took): try codec.row("book-read", Self.bookRead, "took_ns", of: took)
        case .filePrepared(let file): try codec.row("file-prepared", Self.filePrepared, "rows", of: file)
        case .photoRejected(let reason):
            try codec.row("photo-rejected", Self.photoRejected, "reason", of: reason)
        case .queued(let cause): try codec.row("queued", Self.queued, "cause", of: cause)
        case .slotTaken: codec.row("slot-taken", self)
        case .slotGiven: codec.row("slot-given", self)
        case .bookShown(let job, let book):
            try codec.row("book-shown", Self.bookShown, "job", "", of: job, book)
        case .bookAdded(let ordinal, let book):
            try codec.row("book-added", Self.bookAdded, "ordinal", "", of: ordinal, book)
        case .bookRepeated(let ordinal, let book):
            try codec.row("book-repeated", Self.bookRepeated, "ordinal", "", of: ordinal, book)
        case .completed(let took): try codec.row("completed", Self.completed, "took_ns", of: took)
        case .cancelRequested: codec.row("cancel-requested", self)
        case .canceled(let job): try codec.row("canceled", Self.canceled, "job", of: job)
        case .refused(let code, let cause):
            try codec.row("refused", Self.refused, "code", "cause", of: code, cause)
        default: try self.codedReview(by: &codec)
        }
    }

    private func codedReview(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation)
        -> Self?
    {
        switch self {
        case .bookPending(let ordinal, let entry, let book):
            try codec.row(
                "book-pending", Self.bookPending, "ordinal", "entry", "", of: ordinal, entry, book)
        case .bookEdited(let entry, let title, let author):
            try codec.row(
                "book-edited", Self.bookEdited, "entry", "title", "author", of: entry, title, author)
        case .bookApproved(let entry, let book):
            try codec.row("book-approved", Self.bookApproved, "entry", "", of: entry, book)
        case .bookRejected(let entry): try codec.row("book-rejected", Self.bookRejected, "entry", of: entry)
        case .bookMerged(let entry, let scan, let into):
            try codec.row(
                "book-merged", Self.bookMerged, "entry", "into_scan", "into_entry", of: entry, scan, into)
        case .bookKept(let entry, let book):
            try codec.row("book-kept", Self.bookKept, "entry", "", of: entry, book)
        case .reviewRestored(let entries):
            try codec.row("review-restored", Self.reviewRestored, "entries", of: entries)
        default: try self.codedRequests(by: &codec)
        }
    }

    private func codedRequests(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation)
        -> Self?
    {
        switch self {
        case .armTaken(let arm, let share):
            try codec.row("arm-taken", Self.armTaken, "arm", "share_ppm", of: arm, share)
        case .requestSent(let operation, let attempt, let job, let lastEventID):
            try codec.row(
                "request-sent", Self.requestSent, "operation", "attempt", "job", "last_event_id",
                of: operation, attempt, job, lastEventID)
        case .replied(let operation, let attempt, let status, let took):
            try codec.row(
                "replied", Self.replied, "operation", "attempt", "status", "took_ns", of: operation, attempt,
                status, took)
        case .requestFailed(let operation, let attempt, let failure, let took):
            try codec.row(
                "request-failed", Self.requestFailed, "operation", "attempt", "failure", "took_ns",
                of: operation, attempt, failure, took)
        case .badAnswer(let operation, let attempt, let problem):
            try codec.row(
                "bad-answer", Self.badAnswer, "operation", "attempt", "problem", of: operation, attempt,
                problem)
        case .found(let finding): try codec.row("found", Self.found, "", of: finding)
        case .uploadAccepted(let job, let took, let service):
            try codec.row(
                "upload-accepted", Self.uploadAccepted, "job", "took_ns", "service_ns", of: job, took, service
            )
        case .keySent(let attempt, let key):
            try codec.row("key-sent", Self.keySent, "attempt", "key", of: attempt, key)
        case .lookupAnswered(let found, let repeated, let took, let service):
            try codec.row(
                "lookup-answered", Self.lookupAnswered, "found", "repeated", "took_ns", "service_ns",
                of: found, repeated, took, service)
        case .enriched(let outcome, let took, let service):
            try codec.row("enriched", Self.enriched, "", "took_ns", "service_ns", of: outcome, took, service)
        case .readingKept(let cause): try codec.row("reading-kept", Self.readingKept, "cause", of: cause)
        case .photoInstead(let reason):
            try codec.row("photo-instead", Self.photoInstead, "reason", of: reason)
        case .rateLimited(let operation, let retryAfter):
            try codec.row(
                "rate-limited", Self.rateLimited, "operation", "retry_after_ns", of: operation, retryAfter)
        default: try self.codedJobs(by: &codec)
        }
    }

    private func codedJobs(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation) -> Self?
    {
        switch self {
        case .resultsDecoded(let job, let books, let took):
            try codec.row(
                "results-decoded", Self.resultsDecoded, "job", "books", "took_ns", of: job, books, took)
        case .rowsRead(let job, let rows):
            try codec.row("rows-read", Self.rowsRead, "job", "", of: job, rows)
        case .booksListed(let job, let count):
            try codec.row("books-listed", Self.booksListed, "job", "count", of: job, count)
        case .resultsGivenUp(let job): try codec.row("results-given-up", Self.resultsGivenUp, "job", of: job)
        case .statusDecoded(let job, let status, let took):
            try codec.row(
                "status-decoded", Self.statusDecoded, "job", "status", "took_ns", of: job, status, took)
        case .statusGivenUp(let job): try codec.row("status-given-up", Self.statusGivenUp, "job", of: job)
        case .cleanupAnswered(let job, let status, let took):
            try codec.row(
                "cleanup-answered", Self.cleanupAnswered, "job", "status", "took_ns", of: job, status, took)
        case .cancelAnswered(let job, let took):
            try codec.row("cancel-answered", Self.cancelAnswered, "job", "took_ns", of: job, took)
        case .jobAbandoned(let job, let cause):
            try codec.row("job-abandoned", Self.jobAbandoned, "job", "cause", of: job, cause)
        case .tokenExchanged(let job, let took):
            try codec.row("token-exchanged", Self.tokenExchanged, "job", "took_ns", of: job, took)
        default: try self.codedStreams(by: &codec)
        }
    }

    private func codedStreams(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation)
        -> Self?
    {
        switch self {
        case .streamOpened(let job, let attempt, let after, let took):
            try codec.row(
                "stream-opened", Self.streamOpened, "job", "attempt", "after", "took_ns", of: job, attempt,
                after, took)
        case .firstEvent(let job, let took):
            try codec.row("first-event", Self.firstEvent, "job", "took_ns", of: job, took)
        case .eventApplied(let job, let id, let kind, let latency, let replayed):
            try codec.row(
                "event-applied", Self.eventApplied, "job", "id", "kind", "latency_ns", "replayed", of: job,
                id, kind, latency, replayed)
        case .eventIgnored(let job, let id, let name, let malformed):
            try codec.row(
                "event-ignored", Self.eventIgnored, "job", "id", "name", "malformed", of: job, id, name,
                malformed)
        case .ping(let id, let gap): try codec.row("ping", Self.ping, "id", "gap_ns", of: id, gap)
        case .jobFollowed(let job, let transport):
            try codec.row("job-followed", Self.jobFollowed, "job", "transport", of: job, transport)
        case .terminalApplied(let job, let kind, let inline):
            try codec.row(
                "terminal-applied", Self.terminalApplied, "job", "kind", "inline", of: job, kind, inline)
        case .booksPromised(let job, let promise):
            try codec.row("books-promised", Self.booksPromised, "job", "", of: job, promise)
        case .booksNotFound(let job, let failures):
            try codec.row("books-not-found", Self.booksNotFound, "job", "", of: job, failures)
        default: try self.codedReconnects(by: &codec)
        }
    }

    private func codedReconnects(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation)
        -> Self?
    {
        switch self {
        case .streamLost(let job, let attempt, let cause, let silence):
            try codec.row(
                "stream-lost", Self.streamLost, "job", "attempt", "cause", "silence_ns", of: job, attempt,
                cause, silence)
        case .reconnected(let job, let cause, let attempts, let resumed, let took):
            try codec.row(
                "reconnected", Self.reconnected, "job", "cause", "attempts", "resumed", "took_ns", of: job,
                cause, attempts, resumed, took)
        case .reconnectGivenUp(let job, let cause, let attempts):
            try codec.row(
                "reconnect-given-up", Self.reconnectGivenUp, "job", "cause", "attempts", of: job, cause,
                attempts)
        case .reconnectSuperseded(let job, let cause, let attempts):
            try codec.row(
                "reconnect-superseded", Self.reconnectSuperseded, "job", "cause", "attempts", of: job, cause,
                attempts)
        default: preconditionFailure("an observation without a description: \(self)")
        }
    }
}
