package import Observations
package import SimBase
package import Talaria

/// One line about an observation, for somebody who has not seen the code. Nil for what explains no failure.
package enum StoryText {
    /// `journey`: what the phone does. `faults`: the ids of the scenario's faults.
    package static func text(_ observation: Observation, _ journey: Journey, faults: [String]) -> String? {
        switch observation.what {
        case .phone(let payload): self.phone(payload, journey, WorkNoun(journey))
        case .backend(let payload): self.backend(payload, journey, WorkNoun(journey))
        case .fault(let payload): self.fault(payload, WorkNoun(journey), faults)
        case .network, .control: nil
        }
    }

    /// `phone 0` for what the phone did, `server` for what the backend did to it.
    package static func side(_ observation: Observation) -> String {
        switch observation.side {
        case .phone, .network: "phone \(observation.device.raw)"
        case .backend: "server"
        case .fault: "fault"
        case .control: "control"
        }
    }

    // MARK: The phone

    private static func phone(_ payload: PhoneObservation, _ journey: Journey, _ noun: WorkNoun) -> String? {
        switch payload {
        case .launched(let restored):
            "app started"
                + (restored > 0 ? ", \(Figures.count(restored, noun)) restored from its storage" : "")
        case .killed: "app killed; only its storage survives"
        case .recordKept(let job, let lastEventID, let decided):
            decided
                ? "in the storage: the outcome of the \(noun.one)"
                : Self.kept(job: job, lastEventID, journey, noun)
        case .reinstalled(let discarded): "app reinstalled, \(Figures.count(discarded, noun)) discarded"
        case .suspended: "app goes to the background"
        case .resumed: "app returns to the foreground"
        case .pathLost: "network lost"
        case .pathReturned: "network returned"
        case .pathChanged: "network changed"
        case .storageFilled: "storage full"
        case .storageFreed: "storage has room again"
        case .lostFromStorage(let books):
            "\(noun.one) missing from the storage"
                + (journey.findsBooks ? ", with \(Self.books(books))" : "")
        case .clockSet(let ahead): "wall clock set \(Self.time(ahead)) off"
        case .captured, .regionTaken, .photosTaken, .photoPrepared, .bookRead, .filePrepared, .photoRejected,
            .queued, .slotTaken, .slotGiven, .bookShown, .bookAdded, .bookRepeated, .completed,
            .cancelRequested, .canceled, .refused:
            self.scan(payload, journey, noun)
        case .bookPending, .bookEdited, .bookApproved, .bookRejected, .bookMerged, .bookKept,
            .reviewRestored:
            self.review(payload, noun)
        case .requestSent, .replied, .requestFailed, .badAnswer, .found, .uploadAccepted, .keySent,
            .lookupAnswered, .enriched, .readingKept, .photoInstead, .armTaken, .rateLimited, .resultsDecoded,
            .rowsRead, .booksListed, .resultsGivenUp, .statusDecoded, .statusGivenUp, .cleanupAnswered,
            .cancelAnswered, .jobAbandoned, .tokenExchanged, .jobFollowed:
            self.request(payload, journey, noun)
        case .streamOpened, .firstEvent, .eventApplied, .eventIgnored, .ping, .terminalApplied,
            .booksNotFound, .booksPromised, .streamLost, .reconnected, .reconnectGivenUp,
            .reconnectSuperseded:
            self.stream(payload, journey)
        }
    }

    /// The record of a scan that is not decided.
    private static func kept(job: String?, _ lastEventID: String?, _ journey: Journey, _ noun: WorkNoun)
        -> String
    {
        "in the storage: the \(journey.hasPhotos ? "photo" : noun.one)"
            + (job.map { ", job \(Self.short($0, journey))" } ?? ", no job")
            + (lastEventID.map { $0.isEmpty ? "" : ", last event \($0)" } ?? "")
    }

    private static func scan(_ payload: PhoneObservation, _ journey: Journey, _ noun: WorkNoun) -> String? {
        switch payload {
        case .captured: journey.takesPhotos ? "photo taken" : "\(noun.one) begun"
        case .photosTaken(let count): "\(count) photos for one \(noun.one)"
        case .regionTaken(let capture, let number, let regions):
            "region \(number) of \(regions) of capture \(capture)"
        case .bookRead(let took): "the book is shown as it was read, after \(Self.time(took))"
        case .filePrepared(.rows(let rows)): "made a file of \(rows == 1 ? "1 row" : "\(rows) rows")"
        case .filePrepared(.unreadable): "made a file that is no library"
        case .photoRejected(let reason): "photo rejected: \(reason)"
        case .queued(.captured): "\(noun.one) queued"
        case .queued(let cause): "\(noun.one) waits: \(cause.reason)"
        case .bookShown(_, let book): "shows a book: \(Printable.line(book.title))"
        case .bookAdded(let ordinal, let book):
            "book \(ordinal + 1) added to the library"
                + (journey == .textEnrichment ? " as \(Self.name(book))" : "")
        case .bookRepeated(let ordinal, _): "book \(ordinal + 1) recognized, not added again"
        case .completed: "\(noun.one) completed"
        case .cancelRequested: "the user cancels the \(noun.one)"
        case .canceled: "\(noun.one) canceled"
        case .refused(let code, _): "\(noun.one) refused for good: \(code)"
        default: nil  // Of no scan, or no news.
        }
    }

    private static func review(_ payload: PhoneObservation, _ noun: WorkNoun) -> String? {
        switch payload {
        case .bookPending(let ordinal, let entry, let book):
            "book \(ordinal + 1) waits for a review, as number \(entry + 1): \(Self.name(book))"
        case .bookEdited(let entry, let title, let author):
            "the user edits the \(title == nil ? "author" : author == nil ? "title" : "title and author") of book \(entry + 1)"
        case .bookApproved(let entry, let book):
            "the user approves book \(entry + 1): in the library as \(Self.name(book))"
        case .bookRejected(let entry): "the user rejects book \(entry + 1)"
        case .bookMerged(let entry, let scan, let into):
            "book \(entry + 1) is merged: it is book \(into + 1) of \(noun.one) \(scan)"
        case .bookKept(let entry, _): "in the storage: book \(entry + 1), which waits for a review"
        case .reviewRestored(let entries):
            entries > 0 ? "\(Self.books(entries)) wait for a review" : nil
        default: nil  // Of no review.
        }
    }

    private static func request(_ payload: PhoneObservation, _ journey: Journey, _ noun: WorkNoun) -> String?
    {
        switch payload {
        case .requestSent(let operation, let attempt, _, let lastEventID):
            "-> \(Self.request(operation, noun)), attempt \(attempt)"
                + self.position(operation, attempt, lastEventID)
        case .replied(let operation, _, let status, _): "<- \(status) to \(Self.request(operation, noun))"
        case .requestFailed(let operation, _, let failure, _):
            "\(Self.request(operation, noun)) failed: \(failure.rawValue)"
        case .badAnswer(let operation, _, let problem):
            "the answer to \(Self.request(operation, noun)) cannot be used: \(problem.rawValue)"
        case .found(let finding) where finding.isDecisive:
            "\(Self.request(finding.operation, noun)), \(finding.part): \(finding.path) is \(finding.seen), not \(finding.expected)"
        case .keySent(_, let key): "with the idempotency key \(key)"
        case .lookupAnswered(let found, let repeated, _, _):
            (found ? "the book was found" : "no provider has the book")
                + (repeated ? ", as answered before" : "")
        case .enriched(let outcome, _, _): Self.merged(outcome)
        case .armTaken(let arm, _): "the rollout chooses \(arm.name)"
        case .photoInstead(.lowConfidence): "not sure of what was read: the photo is uploaded"
        case .photoInstead(.noEndpoint): "the backend looks no texts up: the photo is uploaded"
        case .readingKept(let cause): "the look-up failed (\(cause.reason)): the book keeps what was read"
        case .rateLimited(let operation, let wait):
            "told to wait \(Self.time(wait)) before \(Self.request(operation, noun))"
        case .resultsDecoded(_, let books, _):
            journey.findsBooks ? "read \(Self.books(books)) from the results" : "read the results"
        case .rowsRead(_, let rows): "read what became of the rows: \(Self.rows(rows))"
        case .booksListed(_, let count): "the results list \(Self.books(count))"
        case .resultsGivenUp: "gave up on the results"
        case .statusDecoded(_, let status, _): "status of the job: \(status.rawValue)"
        case .statusGivenUp: "gave up on the status of the job"
        case .cancelAnswered(_, let took): "the cancel took \(Self.time(took))"
        case .jobAbandoned(_, let cause): "does not delete the job: \(cause.name)"
        case .tokenExchanged(_, let took): "has a new token, after \(Self.time(took))"
        case .jobFollowed(_, let transport): "follows the job by \(transport.name)"
        default: nil  // Of no request, or no news.
        }
    }

    private static func stream(_ payload: PhoneObservation, _ journey: Journey) -> String? {
        switch payload {
        case .eventApplied(_, let id, let kind, _, let replayed):
            "applied event \(Self.event(id, kind.rawValue))" + (replayed ? Self.replayed : "")
        case .eventIgnored(_, let id, let name, let malformed):
            "ignored event \(Self.event(id, name))" + (malformed ? ", which is malformed" : "")
        case .terminalApplied(_, let kind, let inline):
            "job ended: \(kind.rawValue)" + (journey.findsBooks ? ", \(Self.books(inline))" : "")
        case .booksNotFound(_, let failures):
            "the server says that it found all but \(failures.failed) of \(Self.books(failures.total))"
        case .booksPromised(_, let promise):
            if let unique = promise.unique {
                "the server says that it found \(Self.books(unique)), each counted once"
            } else {
                "the server says that it found \(Self.books(promise.detected ?? 0))"
            }
        case .streamLost(_, _, .silence, let silence?): "stream lost: no bytes for \(Self.time(silence))"
        case .streamLost(_, _, let cause, _): "stream lost: \(cause.rawValue)"
        case .reconnectGivenUp(_, let cause, let attempts):
            "gave up reconnecting after \(attempts) attempts: \(cause.rawValue)"
        default: nil  // Of no stream, or no news.
        }
    }

    private static func name(_ book: Book) -> String {
        "\"\(Printable.bounded(book.title))\" by \(Printable.bounded(book.author))"
    }

    private static func merged(_ outcome: TextOutcome) -> String {
        func whose(_ source: Reconciliation.Source) -> String {
            switch source {
            case .foundationModels: "as read"
            case .talaria: "as the backend says"
            }
        }
        return "enriched: title \(whose(outcome.title)), author \(whose(outcome.author))"
            + (outcome.discrepancies > 0
                ? "; \(Figures.count(outcome.discrepancies, "text", "texts")) differed" : "")
    }

    private static func rows(_ rows: RowCounts) -> String {
        "\(rows.created) created, \(rows.updated) updated, \(rows.skipped) skipped, \(rows.failed) failed"
            + (rows.pending > 0 ? ", \(rows.pending) pending" : "")
    }

    // MARK: The backend

    private static func backend(_ payload: BackendObservation, _ journey: Journey, _ noun: WorkNoun)
        -> String?
    {
        switch payload {
        case .answered(let operation, _, let status): "answers \(status) to \(Self.request(operation, noun))"
        case .accepted(let job, let books):
            "creates job \(Self.short(job, journey))"
                + (journey.findsBooks ? " with \(Self.books(books))" : "")
        case .photosReceived(_, let count): "received \(count) photos"
        case .streamOpened(_, _, let after):
            "opens the stream" + (after.map { ", to go on after its event \($0 + 1)" } ?? "")
        case .eventWritten(_, let id, _, let kind, let replayed):
            "sends event \(Self.event(id, kind.rawValue))" + (replayed ? Self.replayed : "")
        case .streamEnded(_, _, let byPeer): byPeer ? "sees the stream end" : "ends the stream"
        case .finished(_, let kind, let books):
            "job ends: \(kind.rawValue)" + (journey.findsBooks ? ", \(Self.books(books))" : "")
        case .rowsTaken(_, let rows): "ends the import: \(Self.rows(rows))"
        case .bookLookedUp(let lookup):
            (lookup.isBilled
                ? "asks a provider for \(lookup.barcode): " : "answers for \(lookup.barcode) as before: ")
                + (lookup.isFound ? "found" : "no provider has it")
        case .textLookedUp: "looks the text up"
        case .failed(_, let code, let retryable): "job fails: \(code)" + (retryable ? ", may be retried" : "")
        case .tokenRevoked: "revokes the job's token"
        case .tokenExchanged: "exchanges the job's token"
        case .resultsServed(_, let books): "serves \(journey.findsBooks ? Self.books(books) : "the results")"
        case .cleaned(_, let effective): effective ? "deletes the job" : "has nothing to delete"
        case .canceled: "cancels the job"
        case .expired: "job expires"
        case .vanished: "job vanishes"
        case .circuitOpened: "opens the circuit: for a while, no upload of v2 is taken"
        case .circuitClosed: "closes the circuit"
        case .upstreamFailed(let operation, _, let failure):
            "has no answer of the target to \(Self.request(operation, noun)): \(failure.rawValue)"
        case .targetBroke(let rule, _, let text): "breaks target.\(rule.rawValue): \(text)"
        case .connected, .requested, .problem, .pingWritten, .found, .targetTried, .targetProbed,
            .targetEvent:
            nil
        }
    }

    // MARK: Faults

    private static func fault(_ payload: FaultObservation, _ noun: WorkNoun, _ faults: [String]) -> String? {
        func id(_ index: Int) -> String { faults.indices.contains(index) ? faults[index] : String(index) }
        return switch payload {
        case .decided: nil
        case .fired(let fault, let operation, let attempt):
            "\(id(fault)) acts on \(Self.request(operation, noun)), attempt \(attempt)"
        case .passed(let fault, _, let events):
            "\(id(fault)) cuts the stream behind \(events) event\(events == 1 ? "" : "s")"
        case .began(let fault): "\(id(fault)) begins"
        case .ended(let fault): "\(id(fault)) ends"
        }
    }

    // MARK: Words

    private static let replayed = ", a replay"

    /// `1769947200043-progress`, with the kind only where the id does not say it.
    private static func event(_ id: String?, _ kind: String) -> String {
        guard let id else { return "\(kind), without id" }
        return id.hasSuffix(kind) ? id : "\(id) (\(kind))"
    }

    /// What a request for a stream says of the events before. A first one has none to speak of.
    private static func position(_ operation: Operation, _ attempt: UInt32, _ lastEventID: String?) -> String
    {
        if let lastEventID { return ", Last-Event-ID \(lastEventID)" }
        return operation == .stream && attempt > 1 ? ", without Last-Event-ID" : ""
    }

    private static func books(_ count: some BinaryInteger) -> String {
        Figures.count(count, "book", "books")
    }

    private static func books(_ form: InlineBooksForm) -> String {
        switch form {
        case .absent: "no list of books in it"
        case .null: "its list of books is null"
        case .empty: "its list of books is empty"
        case .undecodable: "its list of books cannot be read"
        case .books: "with its books"
        }
    }

    static func request(_ operation: Operation, _ noun: WorkNoun) -> String {
        switch operation {
        case .upload: "POST \(noun.many)"
        case .stream: "GET stream"
        case .results: "GET results"
        case .cleanup: "DELETE cleanup"
        case .status: "GET status"
        case .cancel: "DELETE job"
        case .refresh: "POST token"
        }
    }

    package static func time(_ interval: Interval) -> String {
        let milliseconds = interval.wholeMilliseconds
        return abs(milliseconds) < 1_000 ? "\(milliseconds) ms" : "\(Self.seconds(milliseconds)) s"
    }

    /// `12.345`.
    package static func seconds(_ milliseconds: Int64) -> String {
        let rest = String(abs(milliseconds) % 1_000)
        return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    /// The beginning of an id, behind what all ids of the journey begin with.
    private static func short(_ job: String, _ journey: Journey) -> String {
        let rest = job.hasPrefix(journey.jobPrefix) ? job.dropFirst(journey.jobPrefix.count) : job[...]
        return String(rest.prefix(8))
    }
}
