import Observations
import SimBase
import Talaria

/// One line in the making: when and whose, who saw what, and its fields.
struct ObservationFields: ~Copyable {
    private(set) var line: JSONBytes
    /// The ids of the faults in the order of the scenario.
    private let faults: [String]

    init(line: consuming JSONBytes, faults: [String]) {
        self.line = line
        self.faults = faults
    }

    mutating func begin(at moment: Instant, device: DeviceNumber, scan: ScanNumber) {
        self.line.removeAll()
        self.line.literal("{\"t\":")
        self.line.number(moment.nanoseconds)
        self.line.literal(",\"device\":")
        self.line.number(device.raw)
        self.line.literal(",\"scan\":")
        if scan == .none { self.line.literal("null") } else { self.line.number(scan.raw) }
    }

    mutating func end() { self.line.literal("}\n") }

    mutating func write(_ sighting: PhoneSighting) {
        switch sighting {
        case .launched(let restored):
            self.phone("launched")
            self.field("restored", restored)
        case .killed: self.phone("killed")
        case .recordKept(let job, let lastEventID, let isDecided):
            self.phone("record-kept")
            self.text("job", job)
            self.text("last_event_id", lastEventID)
            self.field("decided", isDecided)
        case .reinstalled(let discarded):
            self.phone("reinstalled")
            self.field("discarded", discarded)
        case .suspended: self.phone("suspended")
        case .resumed: self.phone("resumed")
        case .pathLost: self.phone("path-lost")
        case .pathReturned: self.phone("path-returned")
        case .pathChanged: self.phone("path-changed")
        case .storageFilled: self.phone("storage-filled")
        case .storageFreed: self.phone("storage-freed")
        case .lostFromStorage(let books):
            self.phone("lost-from-storage")
            self.field("books", books)
        case .clockSet(let ahead):
            self.phone("clock-set")
            self.field("ahead_ns", ahead)
        case .captured(let scheduled):
            self.phone("captured")
            self.field("scheduled_ns", scheduled.nanoseconds)
        case .photoPrepared(let took, let bytes):
            self.phone("photo-prepared")
            self.field("took_ns", took)
            self.field("bytes", bytes)
        case .queued(let cause):
            self.phone("queued")
            self.name("cause", cause.rawValue)
        case .slotTaken: self.phone("slot-taken")
        case .slotGiven: self.phone("slot-given")
        case .bookAdded(let ordinal, let book):
            self.phone("book-added")
            self.field("ordinal", ordinal)
            self.field(book)
        case .bookRepeated(let ordinal):
            self.phone("book-repeated")
            self.field("ordinal", ordinal)
        case .completed(let took):
            self.phone("completed")
            self.field("took_ns", took)
        case .refused(let code, let cause):
            self.phone("refused")
            self.text("code", code)
            self.field(cause)
        case .requestSent(let operation, let attempt, let job, let lastEventID):
            self.phone("request-sent")
            self.exchange(operation, attempt)
            self.text("job", job)
            self.text("last_event_id", lastEventID)
        case .replied(let operation, let attempt, let status, let took):
            self.phone("replied")
            self.exchange(operation, attempt)
            self.field("status", status)
            self.field("took_ns", took)
        case .requestFailed(let operation, let attempt, let failure, let took):
            self.phone("request-failed")
            self.exchange(operation, attempt)
            self.name("failure", failure.rawValue)
            self.field("took_ns", took)
        case .badAnswer(let operation, let attempt, let problem):
            self.phone("bad-answer")
            self.exchange(operation, attempt)
            self.name("problem", problem.rawValue)
        case .found(let finding):
            self.phone("found")
            self.name("operation", finding.operation.name)
            self.text("part", finding.part)
            self.text("path", finding.path)
            self.text("expected", finding.expected)
            self.text("seen", finding.seen)
            self.text("excerpt", finding.excerpt)
            self.field("decisive", finding.isDecisive)
            self.field("count", finding.count)
        case .uploadAccepted(let job, let took, let service):
            self.phone("upload-accepted")
            self.text("job", job)
            self.field("took_ns", took)
            self.field("service_ns", service)
        case .rateLimited(let operation, let retryAfter):
            self.phone("rate-limited")
            self.name("operation", operation.name)
            self.field("retry_after_ns", retryAfter)
        case .resultsDecoded(let job, let books, let took):
            self.phone("results-decoded")
            self.text("job", job)
            self.field("books", books)
            self.field("took_ns", took)
        case .resultsGivenUp(let job):
            self.phone("results-given-up")
            self.text("job", job)
        case .cleanupAnswered(let job, let status, let took):
            self.phone("cleanup-answered")
            self.text("job", job)
            self.field("status", status)
            self.field("took_ns", took)
        case .jobAbandoned(let job, let cause):
            self.phone("job-abandoned")
            self.text("job", job)
            self.text("cause", cause)
        case .streamOpened(let job, let attempt, let after, let took):
            self.phone("stream-opened")
            self.text("job", job)
            self.field("attempt", attempt)
            self.text("after", after)
            self.field("took_ns", took)
        case .firstEvent(let job, let took):
            self.phone("first-event")
            self.text("job", job)
            self.field("took_ns", took)
        case .eventApplied(let job, let id, let kind, let latency, let replayed):
            self.phone("event-applied")
            self.text("job", job)
            self.text("id", id)
            self.name("kind", kind.rawValue)
            self.field("latency_ns", latency)
            self.field("replayed", replayed)
        case .eventIgnored(let job, let id, let name, let malformed):
            self.phone("event-ignored")
            self.text("job", job)
            self.text("id", id)
            self.text("name", name)
            self.field("malformed", malformed)
        case .ping(let id, let gap):
            self.phone("ping")
            self.text("id", id)
            self.field("gap_ns", gap)
        case .terminalApplied(let job, let kind, let inline):
            self.phone("terminal-applied")
            self.text("job", job)
            self.name("kind", kind.rawValue)
            self.text("inline", inline)
        case .streamLost(let job, let attempt, let cause, let silence):
            self.phone("stream-lost")
            self.text("job", job)
            self.field("attempt", attempt)
            self.name("cause", cause.rawValue)
            self.field("silence_ns", silence)
        case .reconnected(let job, let cause, let attempts, let resumed, let took):
            self.phone("reconnected")
            self.text("job", job)
            self.name("cause", cause.rawValue)
            self.field("attempts", attempts)
            self.field("resumed", resumed)
            self.field("took_ns", took)
        case .reconnectGivenUp(let job, let cause, let attempts):
            self.phone("reconnect-given-up")
            self.text("job", job)
            self.name("cause", cause.rawValue)
            self.field("attempts", attempts)
        case .reconnectSuperseded(let job, let cause, let attempts):
            self.phone("reconnect-superseded")
            self.text("job", job)
            self.name("cause", cause.rawValue)
            self.field("attempts", attempts)
        }
    }

    mutating func write(_ sighting: BackendSighting) {
        switch sighting {
        case .connected(let connection):
            self.backend("connected")
            self.field("connection", connection)
        case .requested(let operation, let attempt, let connection):
            self.backend("requested")
            self.exchange(operation, attempt)
            self.field("connection", connection)
        case .answered(let operation, let attempt, let status):
            self.backend("answered")
            self.exchange(operation, attempt)
            self.field("status", status)
        case .problem(let operation, let attempt, let status, let job, let retryable, let retryAfter):
            self.backend("problem")
            self.exchange(operation, attempt)
            self.field("status", status)
            self.text("job", job)
            self.field("retryable", retryable)
            self.field("retry_after_ns", retryAfter)
        case .accepted(let job, let books): self.backend("accepted", job, books: books)
        case .streamOpened(let job, let attempt, let after):
            self.backend("stream-opened", job)
            self.field("attempt", attempt)
            self.field("after", after)
        case .eventWritten(let job, let id, let position, let kind, let replayed):
            self.backend("event-written", job)
            self.text("id", id)
            self.field("position", position)
            self.name("kind", kind.rawValue)
            self.field("replayed", replayed)
        case .pingWritten(let job): self.backend("ping-written", job)
        case .streamEnded(let job, let attempt, let byPeer):
            self.backend("stream-ended", job)
            self.field("attempt", attempt)
            self.field("by_peer", byPeer)
        case .finished(let job, let kind, let books):
            self.backend("finished", job)
            self.name("kind", kind.rawValue)
            self.field("books", books)
        case .failed(let job, let code, let retryable):
            self.backend("failed", job)
            self.text("code", code)
            self.field("retryable", retryable)
        case .tokenRevoked(let job): self.backend("token-revoked", job)
        case .resultsServed(let job, let books): self.backend("results-served", job, books: books)
        case .cleaned(let job, let effective):
            self.backend("cleaned", job)
            self.field("effective", effective)
        case .canceled(let job): self.backend("canceled", job)
        case .expired(let job): self.backend("expired", job)
        case .vanished(let job): self.backend("vanished", job)
        }
    }

    mutating func write(_ sighting: NetworkSighting) {
        self.line.literal(",\"side\":\"network\",\"what\":\"measured\"")
        self.field("lookup_ns", sighting.lookup)
        self.field("connect_ns", sighting.connect)
        self.field("tls_ns", sighting.tls)
        self.field("first_byte_ns", sighting.firstByte)
    }

    mutating func write(_ sighting: FaultSighting) {
        switch sighting {
        case .decided(let fault, let operation, let attempt, let fires):
            self.fault("decided", fault)
            self.exchange(operation, attempt)
            self.field("fires", fires)
        case .fired(let fault, let operation, let attempt):
            self.fault("fired", fault)
            self.exchange(operation, attempt)
        case .began(let fault): self.fault("began", fault)
        case .ended(let fault): self.fault("ended", fault)
        }
    }
}

extension ObservationFields {
    private mutating func phone(_ what: StaticString) {
        self.line.literal(",\"side\":\"phone\",\"what\":\"")
        self.what(what)
    }

    private mutating func backend(_ what: StaticString) {
        self.line.literal(",\"side\":\"backend\",\"what\":\"")
        self.what(what)
    }

    private mutating func what(_ what: StaticString) {
        self.line.literal(what)
        self.line.literal("\"")
    }

    private mutating func backend(_ what: StaticString, _ job: String) {
        self.backend(what)
        self.text("job", job)
    }

    private mutating func backend(_ what: StaticString, _ job: String, books: Int) {
        self.backend(what, job)
        self.field("books", books)
    }

    private mutating func fault(_ what: StaticString, _ index: Int) {
        self.line.literal(",\"side\":\"fault\",\"what\":\"")
        self.what(what)
        self.text("fault", self.faults.indices.contains(index) ? self.faults[index] : "#\(index)")
    }

    private mutating func exchange(_ operation: Operation, _ attempt: UInt32) {
        self.name("operation", operation.name)
        self.field("attempt", attempt)
    }

    private mutating func field(_ cause: RefusalCause?) {
        guard let cause else { return self.text("cause", nil) }
        self.name("cause", cause.name)
        switch cause {
        case .answer(let operation, let attempt, let status, let retryable):
            self.exchange(operation, attempt)
            self.field("status", status)
            self.field("retryable", retryable)
        case .event(let job, let retryable):
            self.text("job", job)
            self.field("retryable", retryable)
        case .photo, .storage, .queue: break
        }
    }

    private mutating func field(_ book: Book) {
        self.text("title", book.title)
        self.text("author", book.author)
        self.text("isbn", book.isbn)
        self.text("enrichment", book.enrichmentStatus?.text)
    }

    private mutating func key(_ key: StaticString) {
        self.line.literal(",\"")
        self.line.literal(key)
        self.line.literal("\":")
    }

    private mutating func field(_ key: StaticString, _ value: some FixedWidthInteger) {
        self.key(key)
        self.line.number(value)
    }

    private mutating func field(_ key: StaticString, _ value: Int?) {
        self.key(key)
        if let value { self.line.number(value) } else { self.line.literal("null") }
    }

    private mutating func field(_ key: StaticString, _ value: Interval?) {
        self.key(key)
        if let value { self.line.number(value.nanoseconds) } else { self.line.literal("null") }
    }

    private mutating func field(_ key: StaticString, _ flag: Bool) {
        self.key(key)
        self.line.literal(flag ? "true" : "false")
    }

    private mutating func field(_ key: StaticString, _ flag: Bool?) {
        self.key(key)
        self.line.literal(flag.map { $0 ? "true" : "false" } ?? "null")
    }

    /// A name from a closed list of ours.
    private mutating func name(_ key: StaticString, _ name: String) {
        self.key(key)
        self.line.literal("\"")
        self.line.raw(name)
        self.line.literal("\"")
    }

    /// Whatever somebody else may have written.
    private mutating func text(_ key: StaticString, _ text: String?) {
        self.key(key)
        guard let text else { return self.line.literal("null") }
        self.line.string(Printable.bounded(text, bytesMax: ObservationLog.textBytesMax))
    }
}
