import Observations
import SimBase
import Talaria
import Testing

@Suite struct ObservationDigestTests {
    private static let second = Interval.seconds(1)
    private static let book = Book(
        title: "t", author: "a", isbn: "1", confidence: 0.5, enrichmentStatus: .pending, coverUrl: "u")
    private static let finding = ContractFinding(
        operation: .upload, part: "202", path: "p", expected: "e", seen: "s", excerpt: "x", isDecisive: false,
        count: 1)

    private static func book(_ change: (inout Book) -> Void) -> PhoneObservation {
        var book = Self.book
        change(&book)
        return .bookAdded(ordinal: 1, book: book)
    }

    private static func promise(_ unique: Int?, _ detected: Int?) -> BooksPromise {
        BooksPromise(unique: unique, detected: detected) ?? promise(0, 0)
    }

    private static func repeated(_ change: (inout Book) -> Void) -> PhoneObservation {
        var book = Self.book
        change(&book)
        return .bookRepeated(ordinal: 2, book: book)
    }

    private static func finding(_ change: (inout ContractFinding) -> Void) -> PhoneObservation {
        var finding = Self.finding
        change(&finding)
        return .found(finding)
    }

    private static func refused(_ code: String, _ cause: RefusalCause?) -> PhoneObservation {
        .refused(code: code, cause: cause)
    }

    /// Each differs from the one before it in its kind, or in one field.
    private static let ofPhone: [PhoneObservation] =
        [
            .launched(restored: 0), .launched(restored: 1), .killed, .reinstalled(discarded: 0),
            .reinstalled(discarded: 1), .suspended, .resumed, .pathLost, .pathReturned, .pathChanged,
            .storageFilled, .storageFreed, .lostFromStorage(books: 0), .lostFromStorage(books: 1),
            .clockSet(ahead: .zero), .clockSet(ahead: second), .captured(scheduled: .zero),
            .captured(scheduled: Instant(nanoseconds: 1)), .photoPrepared(took: nil, bytes: 0),
            .photoPrepared(took: .zero, bytes: 0), .photoPrepared(took: .zero, bytes: 1),
            .photoRejected(reason: ""), .photoRejected(reason: "too dark"),
            .slotTaken, .slotGiven, .bookAdded(ordinal: 1, book: book), .bookAdded(ordinal: 2, book: book),
            book { $0.title = "T" }, book { $0.author = "A" }, book { $0.isbn = nil }, book { $0.isbn = "" },
            book { $0.confidence = 0.51 }, book { $0.confidence = nil },
            book { $0.enrichmentStatus = .success },
            book { $0.enrichmentStatus = nil }, book { $0.coverUrl = nil },
            .bookRepeated(ordinal: 1, book: nil),
            .bookRepeated(ordinal: 2, book: nil), repeated { _ in }, repeated { $0.title = "T" },
            repeated { $0.isbn = nil }, .completed(took: .zero), .completed(took: second),
            .booksPromised(job: "j", promise(1, nil)), .booksPromised(job: "k", promise(1, nil)),
            .booksPromised(job: "k", promise(2, nil)), .booksPromised(job: "k", promise(2, 0)),
            .booksPromised(job: "k", promise(nil, 0)), refused("A", nil), refused("B", nil),
            refused("B", .photo), refused("B", .storage),
            refused("B", .queue), refused("B", .answer(.upload, attempt: 1, status: 422, retryable: nil)),
            refused("B", .answer(.stream, attempt: 1, status: 422, retryable: nil)),
            refused("B", .answer(.stream, attempt: 2, status: 422, retryable: nil)),
            refused("B", .answer(.stream, attempt: 2, status: 400, retryable: nil)),
            refused("B", .answer(.stream, attempt: 2, status: 400, retryable: false)),
            refused("B", .answer(.stream, attempt: 2, status: 400, retryable: true)),
            refused("B", .event(job: "j", retryable: nil)), refused("B", .event(job: "k", retryable: nil)),
            refused("B", .event(job: "k", retryable: false)),
            refused("B", .event(job: "k", retryable: true)),
            .recordKept(job: nil, lastEventID: nil, decided: false),
            .recordKept(job: "j", lastEventID: nil, decided: false),
            .recordKept(job: "j", lastEventID: "", decided: false),
            .recordKept(job: "j", lastEventID: "", decided: true),
            .requestSent(.upload, attempt: 1, job: nil, lastEventID: nil),
            .requestSent(.stream, attempt: 1, job: nil, lastEventID: nil),
            .requestSent(.stream, attempt: 2, job: nil, lastEventID: nil),
            .requestSent(.stream, attempt: 2, job: "", lastEventID: nil),
            .requestSent(.stream, attempt: 2, job: nil, lastEventID: ""),
            .requestSent(.stream, attempt: 2, job: "j", lastEventID: "k"),
            .requestSent(.stream, attempt: 2, job: "jk", lastEventID: ""),
            .replied(.upload, attempt: 1, status: 202, took: .zero),
            .replied(.upload, attempt: 1, status: 200, took: .zero),
            .replied(.upload, attempt: 1, status: 200, took: second),
            .requestFailed(.upload, attempt: 1, .reset, took: .zero),
            .requestFailed(.upload, attempt: 1, .tls, took: .zero),
            .badAnswer(.upload, attempt: 1, .tooLarge), .badAnswer(.upload, attempt: 1, .undecodable),
            .badAnswer(.results, attempt: 1, .undecodable), .found(finding),
            finding { $0.operation = .stream },
            finding { $0.part = "200" }, finding { $0.path = "" }, finding { $0.expected = "" },
            finding { $0.seen = "" }, finding { $0.excerpt = nil }, finding { $0.isDecisive = true },
            finding { $0.count = 2 }, .uploadAccepted(job: "j", took: .zero, service: .zero),
            .uploadAccepted(job: "k", took: .zero, service: .zero),
            .uploadAccepted(job: "k", took: second, service: .zero),
            .uploadAccepted(job: "k", took: .zero, service: second), .rateLimited(.upload, retryAfter: .zero),
            .rateLimited(.stream, retryAfter: .zero), .rateLimited(.stream, retryAfter: second),
            .resultsDecoded(job: "j", books: 1, took: .zero),
            .resultsDecoded(job: "k", books: 1, took: .zero),
            .resultsDecoded(job: "k", books: 2, took: .zero),
            .resultsDecoded(job: "k", books: 2, took: second),
            .resultsGivenUp(job: "j"), .resultsGivenUp(job: "k"),
            .cleanupAnswered(job: "j", status: 204, took: .zero),
            .cleanupAnswered(job: "k", status: 204, took: .zero),
            .cleanupAnswered(job: "k", status: 404, took: .zero),
            .cleanupAnswered(job: "k", status: 404, took: second),
            .jobAbandoned(job: "j", cause: .scanRefused),
            .jobAbandoned(job: "k", cause: .scanRefused), .jobAbandoned(job: "k", cause: .jobIDReused),
            .streamOpened(job: "j", attempt: 1, after: nil, took: .zero),
            .streamOpened(job: "k", attempt: 1, after: nil, took: .zero),
            .streamOpened(job: "k", attempt: 2, after: nil, took: .zero),
            .streamOpened(job: "k", attempt: 2, after: "1", took: .zero),
            .streamOpened(job: "k", attempt: 2, after: "1", took: second), .firstEvent(job: "j", took: .zero),
            .firstEvent(job: "k", took: .zero), .firstEvent(job: "k", took: second),
            .eventApplied(job: "j", id: nil, kind: .progress, latency: nil, replayed: false),
            .keySent(attempt: 1, key: "a"), .keySent(attempt: 2, key: "a"), .keySent(attempt: 1, key: "b"),
            .lookupAnswered(found: true, repeated: false, took: .zero, service: .zero),
            .lookupAnswered(found: false, repeated: false, took: .zero, service: .zero),
            .lookupAnswered(found: true, repeated: true, took: .zero, service: .zero),
            .lookupAnswered(found: true, repeated: false, took: second, service: .zero),
            .lookupAnswered(found: true, repeated: false, took: .zero, service: second),
            .eventApplied(job: "k", id: nil, kind: .progress, latency: nil, replayed: false),
            .eventApplied(job: "k", id: "1", kind: .progress, latency: nil, replayed: false),
            .eventApplied(job: "k", id: "1", kind: .completed, latency: nil, replayed: false),
            .eventApplied(job: "k", id: "1", kind: .completed, latency: .zero, replayed: false),
            .eventApplied(job: "k", id: "1", kind: .completed, latency: .zero, replayed: true),
            .eventIgnored(job: "j", id: nil, name: "x", malformed: false),
            .eventIgnored(job: "k", id: nil, name: "x", malformed: false),
            .eventIgnored(job: "k", id: "1", name: "x", malformed: false),
            .eventIgnored(job: "k", id: "1", name: "y", malformed: false),
            .eventIgnored(job: "k", id: "1", name: "y", malformed: true), .ping(id: nil, gap: nil),
            .ping(id: "", gap: nil), .ping(id: nil, gap: .zero),
            .terminalApplied(job: "j", kind: .completed, inline: .books),
            .terminalApplied(job: "k", kind: .completed, inline: .books),
            .terminalApplied(job: "k", kind: .error, inline: .books),
            .terminalApplied(job: "k", kind: .error, inline: .absent),
            .streamLost(job: "j", attempt: 1, .reset, silence: nil),
            .streamLost(job: "k", attempt: 1, .reset, silence: nil),
            .streamLost(job: "k", attempt: 2, .reset, silence: nil),
            .streamLost(job: "k", attempt: 2, .silence, silence: nil),
            .streamLost(job: "k", attempt: 2, .silence, silence: .zero),
            .reconnected(job: "j", .reset, attempts: 1, resumed: false, took: .zero),
            .reconnected(job: "k", .reset, attempts: 1, resumed: false, took: .zero),
            .reconnected(job: "k", .silence, attempts: 1, resumed: false, took: .zero),
            .reconnected(job: "k", .silence, attempts: 2, resumed: false, took: .zero),
            .reconnected(job: "k", .silence, attempts: 2, resumed: true, took: .zero),
            .reconnected(job: "k", .silence, attempts: 2, resumed: true, took: second),
            .reconnectGivenUp(job: "j", .reset, attempts: 1),
            .reconnectGivenUp(job: "k", .reset, attempts: 1),
            .reconnectGivenUp(job: "k", .silence, attempts: 1),
            .reconnectGivenUp(job: "k", .silence, attempts: 2),
            .reconnectSuperseded(job: "j", .reset, attempts: 1),
            .reconnectSuperseded(job: "k", .reset, attempts: 1),
            .reconnectSuperseded(job: "k", .silence, attempts: 1),
            .reconnectSuperseded(job: "k", .silence, attempts: 2),
        ] + WaitingCause.allCases.map { .queued($0) }

    private static let ofBackend: [BackendObservation] = [
        .connected(connection: 1), .connected(connection: 2),
        .requested(.upload, attempt: 1, connection: 1), .requested(.stream, attempt: 1, connection: 1),
        .requested(.stream, attempt: 2, connection: 1), .requested(.stream, attempt: 2, connection: 2),
        .answered(.upload, attempt: 1, status: 202), .answered(.stream, attempt: 1, status: 202),
        .answered(.stream, attempt: 2, status: 202), .answered(.stream, attempt: 2, status: 200),
        .accepted(job: "j", books: 1), .accepted(job: "k", books: 1), .accepted(job: "k", books: 2),
        .streamOpened(job: "j", attempt: 1, after: nil), .streamOpened(job: "k", attempt: 1, after: nil),
        .streamOpened(job: "k", attempt: 2, after: nil), .streamOpened(job: "k", attempt: 2, after: 0),
        .eventWritten(job: "j", id: "1", position: 1, kind: .progress, replayed: false),
        .eventWritten(job: "k", id: "1", position: 1, kind: .progress, replayed: false),
        .eventWritten(job: "k", id: "2", position: 1, kind: .progress, replayed: false),
        .eventWritten(job: "k", id: "2", position: 2, kind: .progress, replayed: false),
        .eventWritten(job: "k", id: "2", position: 2, kind: .error, replayed: false),
        .eventWritten(job: "k", id: "2", position: 2, kind: .error, replayed: true), .pingWritten(job: "j"),
        .pingWritten(job: "k"), .streamEnded(job: "j", attempt: 1, byPeer: false),
        .streamEnded(job: "k", attempt: 1, byPeer: false), .streamEnded(job: "k", attempt: 2, byPeer: false),
        .streamEnded(job: "k", attempt: 2, byPeer: true), .finished(job: "j", kind: .completed, books: 1),
        .finished(job: "k", kind: .completed, books: 1), .finished(job: "k", kind: .error, books: 1),
        .finished(job: "k", kind: .error, books: 2), .tokenRevoked(job: "j"), .tokenRevoked(job: "k"),
        .resultsServed(job: "j", books: 1), .resultsServed(job: "k", books: 1),
        .resultsServed(job: "k", books: 2), .cleaned(job: "j", effective: false),
        .cleaned(job: "k", effective: false), .cleaned(job: "k", effective: true), .canceled(job: "j"),
        .canceled(job: "k"), .expired(job: "j"), .expired(job: "k"), .vanished(job: "j"), .vanished(job: "k"),
        .problem(.upload, attempt: 1, status: 503, job: nil, retryable: true, retryAfter: nil),
        .problem(.cleanup, attempt: 1, status: 503, job: nil, retryable: true, retryAfter: nil),
        .problem(.cleanup, attempt: 1, status: 503, job: "j", retryable: true, retryAfter: nil),
        .problem(.cleanup, attempt: 2, status: 503, job: "j", retryable: true, retryAfter: nil),
        .problem(.cleanup, attempt: 2, status: 500, job: "j", retryable: true, retryAfter: nil),
        .problem(.cleanup, attempt: 2, status: 500, job: "j", retryable: false, retryAfter: nil),
        .problem(.cleanup, attempt: 2, status: 500, job: "j", retryable: false, retryAfter: .zero),
        .failed(job: "j", code: "A", retryable: false), .failed(job: "k", code: "A", retryable: false),
        .failed(job: "k", code: "B", retryable: false), .failed(job: "k", code: "B", retryable: true),
    ]

    private static let ofFaults: [FaultObservation] = [
        .decided(fault: 0, .upload, attempt: 1, fires: false),
        .decided(fault: 0, .upload, attempt: 1, fires: true),
        .decided(fault: 1, .upload, attempt: 1, fires: true),
        .decided(fault: 1, .stream, attempt: 1, fires: true),
        .decided(fault: 1, .stream, attempt: 2, fires: true), .fired(fault: 0, .upload, attempt: 1),
        .fired(fault: 1, .upload, attempt: 1), .fired(fault: 1, .stream, attempt: 1),
        .fired(fault: 1, .stream, attempt: 2), .began(fault: 0), .began(fault: 1), .ended(fault: 0),
        .ended(fault: 1),
    ]

    private static let ofNetwork: [NetworkObservation] = [
        NetworkObservation(lookup: nil, connect: nil, tls: nil, firstByte: nil),
        NetworkObservation(lookup: .zero, connect: nil, tls: nil, firstByte: nil),
        NetworkObservation(lookup: nil, connect: .zero, tls: nil, firstByte: nil),
        NetworkObservation(lookup: nil, connect: nil, tls: .zero, firstByte: nil),
        NetworkObservation(lookup: nil, connect: nil, tls: nil, firstByte: .zero),
    ]

    private static let ofControl: [ControlObservation] = [
        .stopped, .paused, .resumed, .phones(group: "a", active: 1, phones: 2),
        .phones(group: "b", active: 1, phones: 2), .phones(group: "b", active: 0, phones: 2),
        .phones(group: "b", active: 0, phones: 3), .fault(0), .fault(1), .offline(for: .zero),
        .offline(for: .seconds(1)),
    ]

    private static func digest(_ observations: [Observation]) -> UInt64 {
        var digest = ObservationDigest()
        for observation in observations { digest.absorb(observation) }
        return digest.value
    }

    private static func seen(
        _ what: ObservationPayload, at: Int64 = 5, device: UInt32 = 3, scan: UInt32 = 4
    ) -> Observation {
        Observation(
            at: Instant(nanoseconds: at), device: DeviceNumber(device), scan: ScanNumber(scan), what: what)
    }

    @Test func `every field of every observation counts`() {
        var payloads = Self.ofPhone.map { ObservationPayload.phone($0) }
        payloads += Self.ofBackend.map { .backend($0) }
        payloads += Self.ofFaults.map { .fault($0) }
        payloads += Self.ofNetwork.map { .network($0) }
        payloads += Self.ofControl.map { .control($0) }
        var known: [UInt64: ObservationPayload] = [:]
        for payload in payloads {
            let digest = Self.digest([Self.seen(payload)])
            #expect(known[digest] == nil, "the same as \(payload)")
            known[digest] = payload
        }
        #expect(known.count == Set(payloads).count && known.count == payloads.count)
    }

    @Test func `time, phone and scan count, and so does the order`() {
        let all = [
            [Self.seen(.phone(.killed))], [Self.seen(.phone(.killed), at: 6)],
            [Self.seen(.phone(.killed), device: 4)], [Self.seen(.phone(.killed), scan: 3)],
            [Self.seen(.phone(.killed), device: 4, scan: 3)], [],
            [Self.seen(.phone(.killed)), Self.seen(.phone(.suspended))],
            [Self.seen(.phone(.suspended)), Self.seen(.phone(.killed))],
            [Self.seen(.phone(.killed)), Self.seen(.phone(.killed))],
        ]
        #expect(Set(all.map(Self.digest)).count == all.count)
    }

    @Test func `the value is the same in every process and on every machine`() {
        let seen = Self.seen(.phone(.requestSent(.stream, attempt: 2, job: "job-1", lastEventID: "17-x")))
        #expect(Self.digest([seen]) == 4_583_474_406_279_215_628)
    }
}
