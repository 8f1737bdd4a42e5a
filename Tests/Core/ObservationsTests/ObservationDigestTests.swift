import SimBase
import Talaria
import Testing

@testable import Observations

/// The example of the handbook: the digest and the codecs follow from the description of an observation.
@Suite struct ObservationDigestTests {
    // MARK: Every observation

    private func described<Case: DescribedObservation & Hashable>(_ side: [String: Case]) throws {
        for (name, blank) in side {
            var numbers = NumberedCodec()
            let observation = try #require(try blank.coded(by: &numbers))
            var writer = ObservationBytesWriter(appendingTo: [])
            _ = try observation.coded(by: &writer)
            var reader = ObservationBytesReader(writer.bytes[...])
            #expect(try reader.byte() == Case.side.ordinal && (try reader.text("", nil)) == name)
            #expect(try Case(name, from: &reader) == observation && reader.isAtEnd)

            var digests = Set<UInt64>()
            for altered in 0...numbers.count {
                var codec = AlteredCodec(altered: altered)
                _ = try observation.coded(by: &codec)
                digests.insert(codec.digest.value)
            }
            #expect(digests.count == numbers.count + 1, "a field of \(name) does not count")
        }
    }

    @Test func `every field of every observation comes back from the pipe and counts`() throws {
        try self.described(PhoneObservation.byName)
        try self.described(BackendObservation.byName)
        try self.described(FaultObservation.byName)
        try self.described(NetworkObservation.byName)
        try self.described(ControlObservation.byName)
    }

    @Test func `a field without a value is not an empty one`() {
        let requests: [PhoneObservation] = [
            .requestSent(.stream, attempt: 2, job: nil, lastEventID: nil),
            .requestSent(.stream, attempt: 2, job: "", lastEventID: nil),
            .requestSent(.stream, attempt: 2, job: nil, lastEventID: ""),
            .requestSent(.stream, attempt: 2, job: "j", lastEventID: "k"),
            .requestSent(.stream, attempt: 2, job: "jk", lastEventID: ""),
            .streamLost(job: "j", attempt: 2, .silence, silence: nil),
            .streamLost(job: "j", attempt: 2, .silence, silence: .zero),
            .refused(code: "B", cause: nil), .refused(code: "B", cause: .photo),
            .refused(code: "B", cause: .event(job: "j", retryable: nil)),
            .refused(code: "B", cause: .event(job: "j", retryable: false)),
            .refused(code: "B", cause: .answer(.upload, attempt: 1, status: 422, retryable: nil)),
            .refused(code: "B", cause: .answer(.upload, attempt: 1, status: 422, retryable: true)),
            .bookRepeated(ordinal: 2, book: nil),
        ]
        #expect(Set(requests.map { Self.digest([Self.seen(.phone($0))]) }).count == requests.count)
    }

    @Test func `a damaged pipe is rejected`() throws {
        var writer = ObservationBytesWriter(appendingTo: [])
        writer.observation(Self.seen(.phone(.streamLost(job: "j", attempt: 2, .reset, silence: .zero))))
        for count in 0..<writer.bytes.count {
            var reader = ObservationBytesReader(writer.bytes[..<count])
            #expect(throws: MalformedObservation.self) { try reader.observation() }
        }
    }

    // MARK: The digest

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

/// Reads another value for each field, except for names.
private struct NumberedCodec: FieldCodec {
    var isReader: Bool { true }
    private(set) var count = 0

    private mutating func next() -> Int {
        self.count += 1
        return self.count
    }

    func begin(_ side: Side, _ name: StaticString) {}
    mutating func number(_ key: StaticString, _ value: Int64?) -> Int64? { Int64(self.next()) }
    mutating func identifier(_ key: StaticString, _ value: UInt64) -> UInt64 { .max - UInt64(self.next()) }
    mutating func flag(_ key: StaticString, _ value: Bool?) -> Bool? { self.next() % 2 == 0 }
    mutating func text(_ key: StaticString, _ value: String?) -> String? { "text \(self.next())" }
    mutating func fault(_ index: Int) -> Int { self.next() }

    mutating func name(_ key: StaticString, _ value: String?) -> String? {
        _ = self.next()
        return value
    }

    mutating func details(of book: inout Book) {
        book.confidence = Double(self.next())
        book.coverUrl = "cover \(self.next())"
    }
}

/// The digest of an observation, of which one field has another value. The fields are numbered from 0.
private struct AlteredCodec: FieldCodec {
    var isReader: Bool { false }
    private(set) var digest = ObservationDigest()
    private let altered: Int
    private var count = 0

    init(altered: Int) { self.altered = altered }

    private mutating func isAltered() -> Bool {
        defer { self.count += 1 }
        return self.count == self.altered
    }

    mutating func begin(_ side: Side, _ name: StaticString) { self.digest.begin(side, name) }

    mutating func number(_ key: StaticString, _ value: Int64?) -> Int64? {
        _ = self.digest.number(key, self.isAltered() ? 1_000 : value)
        return value
    }

    mutating func identifier(_ key: StaticString, _ value: UInt64) -> UInt64 {
        _ = self.digest.identifier(key, self.isAltered() ? 1_000 : value)
        return value
    }

    mutating func flag(_ key: StaticString, _ value: Bool?) -> Bool? {
        _ = self.digest.flag(key, self.isAltered() ? nil : value)
        return value
    }

    mutating func text(_ key: StaticString, _ value: String?) -> String? {
        _ = self.digest.text(key, self.isAltered() ? "other" : value)
        return value
    }

    mutating func details(of book: inout Book) {
        if self.isAltered() { book.confidence = 0.5 }
        if self.isAltered() { book.coverUrl = "other" }
        self.digest.details(of: &book)
    }
}
