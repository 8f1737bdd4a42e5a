import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

/// A book that the phone has read by itself (seed 002): the look-up adds what the backend knows, and never costs the book.
@Suite struct TextTests {
    private static let scan = ScanNumber(1)

    private static func phone(
        restored: [DurableScan] = [], _ change: (inout ClientProfile) -> Void = { _ in }
    ) -> TestPhone {
        var profile = ClientProfile.contract
        profile.journey = .textEnrichment
        change(&profile)
        var phone = TestPhone(asleep: TestPhone.app(profile: profile))
        phone.preparesByItself = false
        phone.handle(.launched(restored: restored, pathAvailable: true))
        return phone
    }

    /// With a look-up on its way.
    private static func asked(_ change: (inout ClientProfile) -> Void = { _ in }) -> TestPhone {
        var phone = Self.phone(change)
        phone.capture(1)
        Self.read(&phone)
        return phone
    }

    private static func read(_ phone: inout TestPhone, _ reading: BookReading = TextSample.reading) {
        phone.now = phone.now + .milliseconds(500)
        phone.handle(.photoPrepared(scan: Self.scan, bytes: 60, took: nil, reading: reading))
    }

    private func books(_ phone: TestPhone) -> [Book] {
        phone.payloads.compactMap { if case .bookAdded(_, let book) = $0 { book } else { nil } }
    }

    private func kept(_ phone: TestPhone) -> [WaitingCause] {
        phone.payloads.compactMap { if case .readingKept(let cause) = $0 { cause } else { nil } }
    }

    @Test func `one request has what was read, and the answer is merged`() {
        var phone = Self.asked()
        let request = phone.request(.upload)
        #expect(request?.method == "POST" && request?.target == "/v3/jobs/enrich")
        #expect(request?.body == .text(Self.scan, TextRequest(TextSample.reading)))
        #expect(phone.payloads.contains(.bookRead(took: .milliseconds(500))))
        phone.now = phone.now + .milliseconds(80)
        TextSample.answer(&phone)
        let outcome = TextOutcome(title: .talaria, author: .foundationModels, discrepancies: 2)
        #expect(
            phone.payloads.contains(
                .enriched(outcome, took: .milliseconds(580), service: .milliseconds(80))))
        #expect(
            self.books(phone) == [
                Book(
                    title: "Moby-Dick; or the Whale", author: "Herman Melville", isbn: nil, confidence: 0.95,
                    enrichmentStatus: .success, coverUrl: "https://covers.example/1.jpg")
            ])
        #expect(phone.store.scans.isEmpty && phone.open.isEmpty)
    }

    @Test(arguments: [400, 409, 422]) func `a refusal leaves the book as it was read, and shows nothing`(
        status: Int
    ) {
        var phone = Self.asked()
        phone.answer(.upload, status, Wording.problem(.invalidRequest))
        #expect(self.books(phone) == [TextSample.reading.book] && self.kept(phone) == [.unexpectedStatus])
        #expect(!phone.payloads.contains { if case .refused = $0 { true } else { false } })
        #expect(phone.open.isEmpty && phone.store.scans.isEmpty)
    }

    @Test func `a failure is repeated three times, and a limit as often as it takes`() {
        var phone = Self.asked()
        for _ in 0..<3 {
            phone.answer(.upload, 503, Wording.problem(.internalError))
            #expect(self.books(phone).isEmpty)
            // Less than the time after which a request is given up.
            phone.pass(.seconds(10))
        }
        for _ in 0..<5 {
            phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 1_000))
            phone.pass(.seconds(2))
        }
        #expect(self.books(phone).isEmpty)
        phone.fail(.upload, .reset)
        #expect(self.books(phone) == [TextSample.reading.book] && self.kept(phone) == [.transport])
    }

    @Test
    func `a nested answer where the flat one is expected is a finding, and the book stays as it was read`() {
        var phone = Self.asked { $0.upload.enrichment = .flat }
        TextSample.answer(&phone)
        #expect(self.books(phone) == [TextSample.reading.book] && self.kept(phone) == [.unreadableAnswer])
        #expect(phone.findings.contains { $0.path == "verifiedTitle" && $0.isDecisive })
        var flat = Self.asked { $0.upload.enrichment = .flat }
        TextSample.answer(&flat, .flat)
        #expect(self.kept(flat).isEmpty && flat.findings.isEmpty)
    }

    @Test(arguments: [404, 405, 501])
    func `without the endpoint the photo goes up, and that of each further book`(
        status: Int
    ) throws {
        var phone = Self.asked()
        phone.answer(.upload, status, Wording.problem(.notFound))
        #expect(phone.payloads.contains(.photoInstead(.noEndpoint)))
        #expect(!phone.findings.contains { $0.expected == "a status of the contract" }, "this one is")
        #expect(phone.preparing == [Self.scan])
        phone.handle(.photoPrepared(scan: Self.scan, bytes: 9_000, took: nil))
        #expect(phone.request(.upload)?.target == "/v3/jobs/scans")
        #expect(phone.request(.upload)?.body == .photos(Self.scan, count: 1))
        #expect(phone.record?.journey == .scan)
        phone.accept()
        phone.openStream()
        phone.stream(Wording.completed(books: 1))
        #expect(self.books(phone) == [Wording.book(0)])
        phone.capture(2)
        phone.handle(.photoPrepared(scan: ScanNumber(2), bytes: 60, took: nil, reading: TextSample.reading))
        #expect(phone.preparing == [Self.scan, ScanNumber(2)])
        #expect(phone.payloads.filter { $0 == .photoInstead(.noEndpoint) }.count == 2)
    }

    @Test(arguments: [0, 90])
    func `a reading that comes in the background counts for nothing, and comes again`(photoBelow: Int) {
        var phone = Self.phone { $0.upload.photoBelow = photoBelow }
        phone.capture(1)
        phone.handle(.suspended)
        Self.read(&phone)
        let early = phone.payloads.contains { payload in
            switch payload {
            case .bookRead, .photoInstead: true
            default: false
            }
        }
        #expect(!early)
        phone.handle(.resumed)
        Self.read(&phone)
        let isPhoto = phone.payloads.contains(.photoInstead(.lowConfidence))
        #expect(isPhoto == (photoBelow > 80))
        #expect(phone.payloads.count { if case .bookRead = $0 { true } else { false } } == (isPhoto ? 0 : 1))
    }

    @Test func `a reading of little confidence leads to its photo`() {
        var sure = Self.asked { $0.upload.photoBelow = 80 }
        #expect(sure.request(.upload)?.target == "/v3/jobs/enrich" && sure.preparing.isEmpty)
        TextSample.answer(&sure)
        var unsure = Self.asked { $0.upload.photoBelow = 81 }
        #expect(unsure.request(.upload) == nil && unsure.preparing == [Self.scan])
        #expect(unsure.takeSightings().contains(.photoInstead(.lowConfidence)))
        unsure.handle(.photoPrepared(scan: Self.scan, bytes: 9_000, took: nil))
        #expect(unsure.request(.upload)?.target == "/v3/jobs/scans")
    }

    @Test func `without look-ups the book stays as it was read, and nothing is requested`() {
        let phone = Self.asked { $0.upload.enriches = false }
        #expect(
            phone.open.isEmpty && self.books(phone) == [TextSample.reading.book] && self.kept(phone).isEmpty)
    }

    @Test func `a book that a killed process has filed stays as it is, without another look-up`() {
        var second = Self.phone(restored: Self.killedWithItsBookFiled())
        Self.read(&second)
        self.expectFiled(second)
    }

    @Test func `a book that a killed process has filed is not uploaded as a photo`() {
        var restored = Self.killedWithItsBookFiled()
        var earlier = restored[0]
        earlier.scan = 2
        earlier.booksApplied = []
        earlier.capturedUnixMs -= 1_000
        restored.insert(earlier, at: 0)
        var second = Self.phone(restored: restored)
        second.handle(.photoPrepared(scan: ScanNumber(2), bytes: 60, took: nil, reading: TextSample.reading))
        second.answer(.upload, 404, Wording.problem(.notFound), scan: 2)
        #expect(second.payloads.contains(.photoInstead(.noEndpoint)))
        Self.read(&second)
        second.handle(.photoPrepared(scan: ScanNumber(2), bytes: 9_000, took: nil))
        second.accept(2)
        self.expectFiled(second)
    }

    /// The enriched book of the scan is durable, its completion is not.
    private static func killedWithItsBookFiled() -> [DurableScan] {
        var first = Self.asked()
        first.storesByItself = false
        TextSample.answer(&first)
        var state = DurableState()
        for change in first.written {
            state.apply(change)
            guard state.scans.allSatisfy({ $0.booksApplied.isEmpty }) else { break }
        }
        return state.scans
    }

    private func expectFiled(_ second: TestPhone) {
        #expect(self.books(second).isEmpty && second.request(.upload) == nil)
        #expect(second.payloads.contains { if case .bookRepeated = $0 { true } else { false } })
        #expect(!second.payloads.contains(.photoInstead(.lowConfidence)))
        #expect(!second.store.scans.contains { $0.scan == Self.scan.raw })
    }
}
