package import Observations
import SimBase
import Talaria

/// Reads lines of `events.ndjson` back: the counterpart of `ObservationFields`.
///
/// What the log does not hold is not made up: books come back without their confidence and cover.
package struct ObservationReader: Sendable {
    /// The ids of the faults in the order of the scenario.
    private let faults: [String]
    /// A moment beyond is none of ours, and sums of them could overflow: 30 years from the run's begin.
    static let moments =
        -Interval.hours(24 * 365 * 30).nanoseconds...Interval.hours(24 * 365 * 30).nanoseconds

    package init(faults: [String]) { self.faults = faults }

    /// Nil for what is no whole line of ours.
    package func observation(_ bytes: ArraySlice<UInt8>) -> Observation? {
        guard let line = FlatLine(bytes), let t = line.number("t"), Self.moments.contains(t),
            let device = line.number("device"),
            let device = UInt32(exactly: device), let side = line.text("side"),
            let what = line.text("what"), let scan = UInt32(exactly: line.number("scan") ?? 0),
            let sighting = self.sighting(side, what, line)
        else { return nil }
        return Observation(
            at: Instant(nanoseconds: t), device: DeviceNumber(device), scan: ScanNumber(scan), what: sighting)
    }

    private func sighting(_ side: String, _ what: String, _ line: FlatLine) -> Sighting? {
        switch side {
        case "phone": Self.phone(what, line).map { .phone($0) }
        case "backend": Self.backend(what, line).map { .backend($0) }
        case "fault": self.fault(what, line).map { .fault($0) }
        case "network":
            .network(
                NetworkSighting(
                    lookup: line.time("lookup_ns"), connect: line.time("connect_ns"),
                    tls: line.time("tls_ns"), firstByte: line.time("first_byte_ns")))
        default: nil
        }
    }

    private func fault(_ what: String, _ line: FlatLine) -> FaultSighting? {
        guard let id = line.text("fault"),
            let fault = self.faults.firstIndex(of: id) ?? UInt16(id.dropFirst()).map({ Int($0) })
        else { return nil }
        switch what {
        case "began": return .began(fault: fault)
        case "ended": return .ended(fault: fault)
        case "fired":
            guard let exchange = line.exchange else { return nil }
            return .fired(fault: fault, exchange.operation, attempt: exchange.attempt)
        case "decided":
            guard let exchange = line.exchange, let fires = line.flag("fires") else { return nil }
            return .decided(fault: fault, exchange.operation, attempt: exchange.attempt, fires: fires)
        default: return nil
        }
    }

    // MARK: The phone's side

    private static func phone(_ what: String, _ line: FlatLine) -> PhoneSighting? {
        switch what {
        case "killed": .killed
        case "suspended": .suspended
        case "resumed": .resumed
        case "path-lost": .pathLost
        case "path-returned": .pathReturned
        case "path-changed": .pathChanged
        case "storage-filled": .storageFilled
        case "storage-freed": .storageFreed
        case "slot-taken": .slotTaken
        case "slot-given": .slotGiven
        case "launched": line.count("restored").map { .launched(restored: $0) }
        case "reinstalled": line.count("discarded").map { .reinstalled(discarded: $0) }
        case "lost-from-storage": line.count("books").map { .lostFromStorage(books: $0) }
        case "clock-set": line.time("ahead_ns").map { .clockSet(ahead: $0) }
        case "captured":
            line.number("scheduled_ns").map { .captured(scheduled: Instant(nanoseconds: $0)) }
        case "photo-prepared":
            line.count("bytes").map { .photoPrepared(took: line.time("took_ns"), bytes: $0) }
        case "queued": line.text("cause").flatMap(WaitingCause.init).map { .queued($0) }
        case "book-repeated": line.count("ordinal").map { .bookRepeated(ordinal: $0) }
        case "book-added": Self.bookAdded(line)
        case "completed": line.time("took_ns").map { .completed(took: $0) }
        case "refused": line.text("code").map { .refused(code: $0, cause: Self.refusalCause(line)) }
        case "record-kept":
            line.flag("decided").map {
                .recordKept(job: line.text("job"), lastEventID: line.text("last_event_id"), decided: $0)
            }
        default: Self.request(what, line) ?? Self.stream(what, line)
        }
    }

    /// Nil in the log of an older version.
    private static func refusalCause(_ line: FlatLine) -> RefusalCause? {
        switch line.text("cause") {
        case "answer":
            guard let (operation, attempt) = line.exchange, let status = line.count("status") else {
                return nil
            }
            return .answer(operation, attempt: attempt, status: status, retryable: line.flag("retryable"))
        case "event": return line.text("job").map { .event(job: $0, retryable: line.flag("retryable")) }
        case "photo": return .photo
        case "storage": return .storage
        case "queue": return .queue
        default: return nil
        }
    }

    private static func bookAdded(_ line: FlatLine) -> PhoneSighting? {
        guard let ordinal = line.count("ordinal"), let title = line.text("title"),
            let author = line.text("author")
        else { return nil }
        return .bookAdded(
            ordinal: ordinal,
            book: Book(
                title: title, author: author, isbn: line.text("isbn"), confidence: nil,
                enrichmentStatus: line.text("enrichment").map { EnrichmentStatus(text: $0) }, coverUrl: nil))
    }

    private static func request(_ what: String, _ line: FlatLine) -> PhoneSighting? {
        switch what {
        case "rate-limited":
            guard let operation = line.operation, let wait = line.time("retry_after_ns") else { return nil }
            return .rateLimited(operation, retryAfter: wait)
        case "request-sent":
            guard let (operation, attempt) = line.exchange else { return nil }
            return .requestSent(
                operation, attempt: attempt, job: line.text("job"), lastEventID: line.text("last_event_id"))
        case "replied":
            guard let (operation, attempt) = line.exchange, let status = line.count("status"),
                let took = line.time("took_ns")
            else { return nil }
            return .replied(operation, attempt: attempt, status: status, took: took)
        case "request-failed":
            guard let (operation, attempt) = line.exchange, let took = line.time("took_ns"),
                let failure = line.text("failure").flatMap(TransportFailure.init)
            else { return nil }
            return .requestFailed(operation, attempt: attempt, failure, took: took)
        case "bad-answer":
            guard let (operation, attempt) = line.exchange,
                let problem = line.text("problem").flatMap(BadAnswer.init)
            else { return nil }
            return .badAnswer(operation, attempt: attempt, problem)
        case "found": return Self.finding(line).map { .found($0) }
        default: return Self.job(what, line)
        }
    }

    private static func finding(_ line: FlatLine) -> ContractFinding? {
        guard let operation = line.operation, let part = line.text("part"), let path = line.text("path"),
            let expected = line.text("expected"), let seen = line.text("seen"),
            let isDecisive = line.flag("decisive"), let count = line.count("count"), count > 0
        else { return nil }
        return ContractFinding(
            operation: operation, part: part, path: path, expected: expected, seen: seen,
            excerpt: line.text("excerpt"), isDecisive: isDecisive, count: count)
    }

    private static func job(_ what: String, _ line: FlatLine) -> PhoneSighting? {
        guard let job = line.text("job") else { return nil }
        switch what {
        case "upload-accepted":
            guard let took = line.time("took_ns"), let service = line.time("service_ns") else { return nil }
            return .uploadAccepted(job: job, took: took, service: service)
        case "results-decoded":
            guard let books = line.count("books"), let took = line.time("took_ns") else { return nil }
            return .resultsDecoded(job: job, books: books, took: took)
        case "results-given-up": return .resultsGivenUp(job: job)
        case "cleanup-answered":
            guard let status = line.count("status"), let took = line.time("took_ns") else { return nil }
            return .cleanupAnswered(job: job, status: status, took: took)
        case "job-abandoned": return line.text("cause").map { .jobAbandoned(job: job, cause: $0) }
        default: return nil
        }
    }

    private static func stream(_ what: String, _ line: FlatLine) -> PhoneSighting? {
        if what == "ping" { return .ping(id: line.text("id"), gap: line.time("gap_ns")) }
        guard let job = line.text("job") else { return nil }
        switch what {
        case "stream-opened":
            guard let attempt = line.attempt, let took = line.time("took_ns") else { return nil }
            return .streamOpened(job: job, attempt: attempt, after: line.text("after"), took: took)
        case "first-event": return line.time("took_ns").map { .firstEvent(job: job, took: $0) }
        case "event-applied":
            guard let kind = line.kind, let replayed = line.flag("replayed") else { return nil }
            return .eventApplied(
                job: job, id: line.text("id"), kind: kind, latency: line.time("latency_ns"),
                replayed: replayed)
        case "event-ignored":
            guard let name = line.text("name"), let malformed = line.flag("malformed") else { return nil }
            return .eventIgnored(job: job, id: line.text("id"), name: name, malformed: malformed)
        case "terminal-applied":
            guard let kind = line.kind, let inline = line.text("inline") else { return nil }
            return .terminalApplied(job: job, kind: kind, inline: inline)
        default: return Self.loss(what, job, line)
        }
    }

    private static func loss(_ what: String, _ job: String, _ line: FlatLine) -> PhoneSighting? {
        guard let cause = line.text("cause").flatMap(LossCause.init) else { return nil }
        if what == "stream-lost" {
            return line.attempt.map {
                .streamLost(job: job, attempt: $0, cause, silence: line.time("silence_ns"))
            }
        }
        guard let attempts = line.count("attempts") else { return nil }
        switch what {
        case "reconnected":
            guard let resumed = line.flag("resumed"), let took = line.time("took_ns") else { return nil }
            return .reconnected(job: job, cause, attempts: attempts, resumed: resumed, took: took)
        case "reconnect-given-up": return .reconnectGivenUp(job: job, cause, attempts: attempts)
        case "reconnect-superseded": return .reconnectSuperseded(job: job, cause, attempts: attempts)
        default: return nil
        }
    }

    // MARK: The backend's side

    /// An older version wrote only the wait, and only of uploads that were answered 429.
    private static func problem(_ what: String, _ line: FlatLine) -> BackendSighting? {
        let wait = line.time("retry_after_ns")
        if what == "limited" {
            return wait.map {
                .problem(.upload, attempt: 0, status: 429, job: nil, retryable: true, retryAfter: $0)
            }
        }
        guard let (operation, attempt) = line.exchange, let status = line.count("status"),
            let retryable = line.flag("retryable")
        else { return nil }
        return .problem(
            operation, attempt: attempt, status: status, job: line.text("job"), retryable: retryable,
            retryAfter: wait)
    }

    private static func backend(_ what: String, _ line: FlatLine) -> BackendSighting? {
        switch what {
        case "connected":
            return line.number("connection").map { .connected(connection: UInt64(bitPattern: $0)) }
        case "requested":
            guard let (operation, attempt) = line.exchange, let connection = line.number("connection")
            else { return nil }
            return .requested(operation, attempt: attempt, connection: UInt64(bitPattern: connection))
        case "answered":
            guard let (operation, attempt) = line.exchange, let status = line.count("status")
            else { return nil }
            return .answered(operation, attempt: attempt, status: status)
        case "problem", "limited": return Self.problem(what, line)
        default: break
        }
        guard let job = line.text("job") else { return nil }
        switch what {
        case "accepted": return line.count("books").map { .accepted(job: job, books: $0) }
        case "stream-opened":
            return line.attempt.map { .streamOpened(job: job, attempt: $0, after: line.count("after")) }
        case "event-written":
            guard let id = line.text("id"), let position = line.count("position"), let kind = line.kind,
                let replayed = line.flag("replayed")
            else { return nil }
            return .eventWritten(job: job, id: id, position: position, kind: kind, replayed: replayed)
        case "ping-written": return .pingWritten(job: job)
        case "stream-ended":
            guard let attempt = line.attempt, let byPeer = line.flag("by_peer") else { return nil }
            return .streamEnded(job: job, attempt: attempt, byPeer: byPeer)
        case "finished":
            guard let kind = line.kind, let books = line.count("books") else { return nil }
            return .finished(job: job, kind: kind, books: books)
        case "failed":
            guard let code = line.text("code"), let retryable = line.flag("retryable") else { return nil }
            return .failed(job: job, code: code, retryable: retryable)
        case "token-revoked": return .tokenRevoked(job: job)
        case "results-served": return line.count("books").map { .resultsServed(job: job, books: $0) }
        case "cleaned": return line.flag("effective").map { .cleaned(job: job, effective: $0) }
        case "canceled": return .canceled(job: job)
        case "expired": return .expired(job: job)
        case "vanished": return .vanished(job: job)
        default: return nil
        }
    }
}

extension FlatLine {
    /// No observation counts more; sums of as many lines as a log may have fit.
    private static let countMax: Int64 = 1 << 31

    fileprivate func count(_ key: String) -> Int? {
        self.number(key).flatMap { (0...Self.countMax).contains($0) ? Int($0) : nil }
    }

    fileprivate func time(_ key: String) -> Interval? {
        self.number(key).flatMap {
            ObservationReader.moments.contains($0) ? Interval(nanoseconds: $0) : nil
        }
    }

    fileprivate var attempt: UInt32? { self.number("attempt").flatMap { UInt32(exactly: $0) } }

    fileprivate var operation: Operation? {
        self.text("operation").flatMap { name in Operation.allCases.first { $0.name == name } }
    }

    fileprivate var exchange: (operation: Operation, attempt: UInt32)? {
        guard let operation = self.operation, let attempt = self.attempt else { return nil }
        return (operation, attempt)
    }

    fileprivate var kind: EventKind? { self.text("kind").flatMap { EventKind(rawValue: $0) } }
}
