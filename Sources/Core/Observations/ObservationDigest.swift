import SimBase
import Talaria

/// A digest of observations in their order: the same in every process and on every machine, and another one when a single field
/// differs.
///
/// It lists every field once more. The codec of the backend's pipe knows only what a backend sees, and the fields of the log
/// are text, which would cost an allocation for each event; a run has millions. `ObservationDigestTests` changes every field.
package struct ObservationDigest: Hashable, Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    /// The number of observations so far.
    package private(set) var count: UInt64 = 0

    package init() {}

    /// The digest so far.
    package var value: UInt64 {
        let z = (self.state ^ self.count ^ (self.state >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        return z ^ (z >> 33)
    }

    package mutating func absorb(_ observation: borrowing Observation) {
        self.count += 1
        self.word(UInt64(bitPattern: observation.at.nanoseconds))
        self.word(UInt64(observation.device.raw) << 32 | UInt64(observation.scan.raw))
        switch observation.what {
        case .phone(let sighting): self.absorb(sighting)
        case .backend(let sighting): self.absorb(sighting)
        case .fault(let sighting): self.absorb(sighting)
        case .network(let sighting):
            self.tag(90)
            self.span(sighting.lookup)
            self.span(sighting.connect)
            self.span(sighting.tls)
            self.span(sighting.firstByte)
        }
    }

    // MARK: Sightings

    private mutating func absorb(_ sighting: PhoneSighting) {
        switch sighting {
        case .launched(let restored): self.tag(1, restored)
        case .killed: self.tag(2)
        case .reinstalled(let discarded): self.tag(3, discarded)
        case .suspended: self.tag(4)
        case .resumed: self.tag(5)
        case .pathLost: self.tag(6)
        case .pathReturned: self.tag(7)
        case .pathChanged: self.tag(8)
        case .storageFilled: self.tag(9)
        case .storageFreed: self.tag(10)
        case .lostFromStorage(let books): self.tag(11, books)
        case .clockSet(let ahead):
            self.tag(12)
            self.span(ahead)
        case .captured(let scheduled):
            self.tag(13)
            self.word(UInt64(bitPattern: scheduled.nanoseconds))
        case .photoPrepared(let took, let bytes):
            self.tag(14, bytes)
            self.span(took)
        case .queued(let cause):
            self.tag(15)
            self.text(cause.rawValue)
        case .slotTaken: self.tag(16)
        case .slotGiven: self.tag(17)
        case .bookAdded(let ordinal, let book):
            self.tag(18, ordinal)
            self.absorb(book)
        case .bookRepeated(let ordinal): self.tag(19, ordinal)
        case .completed(let took):
            self.tag(20)
            self.span(took)
        case .refused(let code, let cause):
            self.tag(21)
            self.text(code)
            self.absorb(cause)
        case .requestSent(let operation, let attempt, let job, let lastEventID):
            self.tag(22, operation, attempt)
            self.text(job)
            self.text(lastEventID)
        case .replied(let operation, let attempt, let status, let took):
            self.tag(23, operation, attempt)
            self.number(status)
            self.span(took)
        case .requestFailed(let operation, let attempt, let failure, let took):
            self.tag(24, operation, attempt)
            self.text(failure.rawValue)
            self.span(took)
        case .badAnswer(let operation, let attempt, let problem):
            self.tag(25, operation, attempt)
            self.text(problem.rawValue)
        case .found(let finding): self.absorb(finding)
        case .uploadAccepted(let job, let took, let service):
            self.tag(27)
            self.text(job)
            self.span(took)
            self.span(service)
        case .rateLimited(let operation, let retryAfter):
            self.tag(28, operation, 0)
            self.span(retryAfter)
        case .resultsDecoded(let job, let books, let took):
            self.tag(29, books)
            self.text(job)
            self.span(took)
        case .resultsGivenUp(let job):
            self.tag(30)
            self.text(job)
        case .cleanupAnswered(let job, let status, let took):
            self.tag(31, status)
            self.text(job)
            self.span(took)
        case .jobAbandoned(let job, let cause):
            self.tag(32)
            self.text(job)
            self.text(cause)
        case .recordKept(let job, let lastEventID, let isDecided):
            self.tag(43, isDecided ? 1 : 0)
            self.text(job)
            self.text(lastEventID)
        case .streamOpened, .firstEvent, .eventApplied, .eventIgnored, .ping, .terminalApplied, .streamLost,
            .reconnected, .reconnectGivenUp, .reconnectSuperseded:
            self.absorb(ofStream: sighting)
        }
    }

    private mutating func absorb(ofStream sighting: PhoneSighting) {
        switch sighting {
        case .streamOpened(let job, let attempt, let after, let took):
            self.tag(33, Int(attempt))
            self.text(job)
            self.text(after)
            self.span(took)
        case .firstEvent(let job, let took):
            self.tag(34)
            self.text(job)
            self.span(took)
        case .eventApplied(let job, let id, let kind, let latency, let replayed):
            self.tag(35, replayed ? 1 : 0)
            self.text(job)
            self.text(id)
            self.text(kind.rawValue)
            self.span(latency)
        case .eventIgnored(let job, let id, let name, let malformed):
            self.tag(36, malformed ? 1 : 0)
            self.text(job)
            self.text(id)
            self.text(name)
        case .ping(let id, let gap):
            self.tag(37)
            self.text(id)
            self.span(gap)
        case .terminalApplied(let job, let kind, let inline):
            self.tag(38)
            self.text(job)
            self.text(kind.rawValue)
            self.text(inline)
        case .streamLost(let job, let attempt, let cause, let silence):
            self.tag(39, Int(attempt))
            self.text(job)
            self.text(cause.rawValue)
            self.span(silence)
        case .reconnected(let job, let cause, let attempts, let resumed, let took):
            self.tag(40, attempts)
            self.text(job)
            self.text(cause.rawValue)
            self.word(resumed ? 1 : 0)
            self.span(took)
        case .reconnectGivenUp(let job, let cause, let attempts):
            self.tag(41, attempts)
            self.text(job)
            self.text(cause.rawValue)
        case .reconnectSuperseded(let job, let cause, let attempts):
            self.tag(42, attempts)
            self.text(job)
            self.text(cause.rawValue)
        case .launched, .killed, .reinstalled, .suspended, .resumed, .pathLost, .pathReturned, .pathChanged,
            .storageFilled, .storageFreed, .lostFromStorage, .clockSet, .captured, .photoPrepared, .queued,
            .slotTaken, .slotGiven, .bookAdded, .bookRepeated, .completed, .refused, .requestSent, .replied,
            .requestFailed, .badAnswer, .found, .uploadAccepted, .rateLimited, .resultsDecoded,
            .resultsGivenUp, .cleanupAnswered, .jobAbandoned, .recordKept:
            break  // Absorbed above.
        }
    }

    private mutating func absorb(_ sighting: BackendSighting) {
        switch sighting {
        case .connected(let connection):
            self.tag(50)
            self.word(connection)
        case .requested(let operation, let attempt, let connection):
            self.tag(51, operation, attempt)
            self.word(connection)
        case .answered(let operation, let attempt, let status):
            self.tag(52, operation, attempt)
            self.number(status)
        case .accepted(let job, let books):
            self.tag(53, books)
            self.text(job)
        case .problem(let operation, let attempt, let status, let job, let isRetryable, let retryAfter):
            self.tag(54, operation, attempt)
            self.number(status)
            self.text(job ?? "")
            self.word(isRetryable ? 1 : 0)
            self.span(retryAfter)
        case .streamOpened(let job, let attempt, let after):
            self.tag(55, Int(attempt))
            self.text(job)
            self.number(after ?? .min)
        case .eventWritten(let job, let id, let position, let kind, let replayed):
            self.tag(56, position)
            self.text(job)
            self.text(id)
            self.text(kind.rawValue)
            self.word(replayed ? 1 : 0)
        case .pingWritten(let job):
            self.tag(57)
            self.text(job)
        case .streamEnded(let job, let attempt, let byPeer):
            self.tag(58, Int(attempt))
            self.text(job)
            self.word(byPeer ? 1 : 0)
        case .finished(let job, let kind, let books):
            self.tag(59, books)
            self.text(job)
            self.text(kind.rawValue)
        case .tokenRevoked(let job):
            self.tag(60)
            self.text(job)
        case .resultsServed(let job, let books):
            self.tag(61, books)
            self.text(job)
        case .cleaned(let job, let effective):
            self.tag(62, effective ? 1 : 0)
            self.text(job)
        case .canceled(let job):
            self.tag(63)
            self.text(job)
        case .expired(let job):
            self.tag(64)
            self.text(job)
        case .vanished(let job):
            self.tag(65)
            self.text(job)
        case .failed(let job, let code, let isRetryable):
            self.tag(66, isRetryable ? 1 : 0)
            self.text(job)
            self.text(code)
        }
    }

    private mutating func absorb(_ cause: RefusalCause?) {
        switch cause {
        case nil: self.tag(80)
        case .answer(let operation, let attempt, let status, let isRetryable):
            self.tag(81, operation, attempt)
            self.number(status)
            self.absorb(isRetryable)
        case .event(let job, let isRetryable):
            self.tag(82)
            self.text(job)
            self.absorb(isRetryable)
        case .photo: self.tag(83)
        case .storage: self.tag(84)
        case .queue: self.tag(85)
        }
    }

    private mutating func absorb(_ flag: Bool?) { self.word(flag.map { $0 ? 1 : 0 } ?? 2) }

    private mutating func absorb(_ sighting: FaultSighting) {
        switch sighting {
        case .decided(let fault, let operation, let attempt, let fires):
            self.tag(fires ? 71 : 70, operation, attempt)
            self.number(fault)
        case .fired(let fault, let operation, let attempt):
            self.tag(72, operation, attempt)
            self.number(fault)
        case .began(let fault): self.tag(73, fault)
        case .ended(let fault): self.tag(74, fault)
        }
    }

    private mutating func absorb(_ book: Book) {
        self.text(book.title)
        self.text(book.author)
        self.text(book.isbn)
        self.word(book.confidence?.bitPattern ?? .max)
        self.text(book.enrichmentStatus?.text)
        self.text(book.coverUrl)
    }

    private mutating func absorb(_ finding: ContractFinding) {
        self.tag(26, finding.operation, finding.isDecisive ? 1 : 0)
        self.number(finding.count)
        self.text(finding.part)
        self.text(finding.path)
        self.text(finding.expected)
        self.text(finding.seen)
        self.text(finding.excerpt)
    }

    // MARK: Fields

    private mutating func word(_ word: UInt64) {
        let sum = (self.state ^ word) &* 0xBF58_476D_1CE4_E5B9
        self.state = sum ^ (sum >> 29)
    }

    private mutating func number(_ number: Int) { self.word(UInt64(bitPattern: Int64(number))) }

    private mutating func span(_ span: Interval?) {
        self.word(UInt64(bitPattern: span?.nanoseconds ?? .min))
    }

    private mutating func text(_ text: String) {
        let rest = text.eachWord { self.word($0) }
        let count = text.utf8.count
        self.word(UInt64(count) << UInt64(8 * (count % 8)) | rest)
    }

    /// A text's last word never has all of its bits set: this is no text.
    private mutating func text(_ text: String?) {
        if let text { self.text(text) } else { self.word(.max) }
    }

    /// Each sighting has a number of its own.
    private mutating func tag(_ tag: UInt64) { self.word(tag) }

    private mutating func tag(_ tag: UInt64, _ number: Int) {
        self.word(tag)
        self.number(number)
    }

    private mutating func tag(_ tag: UInt64, _ operation: Operation, _ attempt: UInt32) {
        self.word(tag << 40 | UInt64(operation.rawValue) << 32 | UInt64(attempt))
    }
}
