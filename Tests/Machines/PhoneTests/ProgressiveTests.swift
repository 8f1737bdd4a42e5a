import JSON
import Observations
import Phone
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Progressive results and the event of a canceled job (Docs/contract.md section 2.1).
struct ProgressiveTests {
    private static func phone(_ profile: ClientProfile = .contract) -> TestPhone {
        var phone = TestPhone(profile: profile)
        phone.captureToStream()
        _ = phone.takeSightings()
        phone.findings = []
        return phone
    }

    private static func result(_ ordinal: Int, id: String? = nil) -> String {
        Wording.event(
            "result", id: id ?? "\(ordinal)-result",
            String(decoding: JSON.encode(Wording.book(ordinal)), as: UTF8.self))
    }

    private static func segmented(books: Int, bytes: Int = 300) -> String {
        let image = Base64.text([0xFF, 0xD8, 0xFF] + Array(repeating: 0, count: bytes - 3))
        return Wording.event("segmented", id: "1-segmented", #"{"image":"\#(image)","totalBooks":\#(books)}"#)
    }

    @Test func `a book is shown at once, and enters the library once`() {
        var phone = Self.phone()
        phone.stream(Self.result(0))
        #expect(phone.takeSightings().last == .bookShown(job: "job-1", book: Wording.book(0)))
        #expect(phone.store.books.isEmpty && phone.findings.isEmpty)
        phone.stream(Self.result(1) + Wording.completed(books: 2))
        let seen = phone.takeSightings()
        #expect(seen.count { if case .bookShown = $0 { true } else { false } } == 1)
        #expect(seen.count { if case .bookAdded = $0 { true } else { false } } == 2)
        #expect(phone.store.books.count == 2 && phone.findings.isEmpty)
    }

    @Test func `an event that comes again shows no book again`() {
        var phone = Self.phone()
        phone.stream(Self.result(0) + Self.result(0))
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        #expect(phone.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "0-result")) == true)
        phone.openStream()
        phone.stream(Self.result(0))
        #expect(phone.payloads.count { if case .bookShown = $0 { true } else { false } } == 1)
    }

    @Test(arguments: [#"{"book":{"title":"T","author":"A"}}"#, #"{"title":"T"}"#, "[]"])
    func `any other result event is unknown`(_ data: String) {
        var phone = Self.phone()
        phone.stream(Wording.event("result", id: "1", data))
        #expect(
            phone.payloads.last == .eventIgnored(job: "job-1", id: "1", name: "result", malformed: false))
        #expect(phone.findings.map(\.path) == ["event"])
    }

    @Test func `a client that collects its books shows none before the end`() {
        var profile = ClientProfile.contract
        profile.events.result = .collected
        var phone = Self.phone(profile)
        phone.stream(Self.result(0))
        #expect(!phone.payloads.contains { if case .bookShown = $0 { true } else { false } })
    }

    @Test(arguments: [1, 2, 3]) func `a preview with another number of books is found`(_ books: Int) {
        var phone = Self.phone()
        phone.stream(Self.segmented(books: books))
        #expect(phone.app.previewBytes == 300)
        phone.stream(Wording.completed(books: 2))
        #expect(phone.app.previewBytes == 0)
        let seen = [1: "a lower number", 3: "a higher number"][books]
        #expect(
            phone.findings.map { "\($0.part) \($0.path): \($0.seen)" }
                == (seen.map { ["segmented totalBooks: \($0)"] } ?? []))
    }

    @Test func `the number of the preview is held against results that are fetched, too`() {
        var phone = Self.phone()
        phone.stream(Self.segmented(books: 3) + Wording.completed(rawBooks: nil))
        phone.answer(.results, 200, Wording.results(books: 2))
        #expect(phone.findings.map(\.path).contains("totalBooks"))
    }

    @Test func `the largest preview is read, and one that is larger is not`() {
        var phone = Self.phone()
        phone.stream(Self.segmented(books: 1, bytes: 1_000_000))
        #expect(phone.app.previewBytes == 1_000_000 && phone.findings.isEmpty)
        var other = Self.phone()
        other.stream(Self.segmented(books: 1, bytes: 1_000_001))
        #expect(other.app.previewBytes == 0 && other.findings.map(\.path) == ["image"])
    }

    @Test(arguments: ["{}", #"{"type":"canceled","jobId":"job-1"}"#, "not JSON"])
    func `a job that was canceled is over, and its scan too`(_ data: String) {
        var phone = Self.phone()
        phone.stream(Wording.event("canceled", id: "7-canceled", data))
        #expect(
            phone.payloads.contains(.terminalApplied(job: "job-1", kind: .error, inline: .absent)))
        #expect(
            phone.payloads.contains(
                .refused(code: "CANCELED", cause: .event(job: "job-1", retryable: false))))
        #expect(phone.request(.cleanup) != nil && phone.findings.isEmpty == (data != "not JSON"))
    }

    @Test func `nothing is given up for another job that was canceled`() {
        var phone = Self.phone()
        phone.stream(Wording.event("canceled", id: "7-canceled", #"{"jobId":"job-2"}"#))
        #expect(phone.request(.stream) != nil && phone.request(.cleanup) == nil)
    }
}
