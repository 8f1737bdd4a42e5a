import JSON
import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

/// The look-up of one barcode: a request whose answer ends the scan.
@Suite struct LookupTests {
    private static let barcode = "9780141439587"
    private static let key = "scan_9780141439587"
    private static let scan = ScanNumber(1)

    private static func phone(restored: [DurableScan] = []) -> TestPhone {
        var profile = ClientProfile.contract
        profile.journey = .bookEnrichment
        var phone = TestPhone(asleep: TestPhone.app(profile: profile))
        phone.preparesByItself = false
        phone.handle(.launched(restored: restored, pathAvailable: true))
        return phone
    }

    /// With a barcode that is about to be looked up.
    private static func asked() -> TestPhone {
        var phone = Self.phone()
        phone.capture(1)
        phone.handle(.photoPrepared(scan: Self.scan, bytes: 13, took: nil, barcode: Self.barcode))
        return phone
    }

    private static func book(cached: Bool = false) -> [UInt8] {
        V2Envelope.success(timestamp: 0, cached: cached, source: "auto") { writer in
            writer.member("author", "Jane Austen")
            writer.member("isbn", Self.barcode)
            writer.member("title", "Emma")
        }
    }

    private static func failure(_ code: String, retryable: Bool = false) -> [UInt8] {
        V2Envelope.failure(
            code: code, "", isRetryable: retryable, retryAfterSeconds: nil, retryAfterMilliseconds: nil)
    }

    private func answer(_ phone: inout TestPhone, _ status: Int, _ body: [UInt8]) {
        phone.answer(.upload, status, body, type: "application/json")
    }

    /// What a phone asked for with its last request.
    private func request(_ phone: TestPhone) -> EnrichmentRequest? {
        guard case .lookup(Self.scan, let request) = phone.request(.upload)?.body else { return nil }
        return request
    }

    @Test func `a barcode is looked up, and its book is filed without a job`() {
        var phone = Self.asked()
        let request = phone.request(.upload)
        #expect(request?.method == "POST" && request?.target == EnrichmentRequest.path)
        #expect(self.request(phone) == EnrichmentRequest(barcode: Self.barcode, key: Self.key))
        #expect(phone.payloads.contains(.keySent(attempt: 1, key: Self.key)))
        phone.payloads = []
        phone.pass(.milliseconds(40))
        self.answer(&phone, 200, Self.book())
        #expect(
            phone.payloads == [
                .replied(.upload, attempt: 1, status: 200, took: .milliseconds(40)),
                .lookupAnswered(
                    found: true, repeated: false, took: .milliseconds(40), service: .milliseconds(40)),
                .bookAdded(
                    ordinal: 0,
                    book: Book(
                        title: "Emma", author: "Jane Austen", isbn: Self.barcode, confidence: nil,
                        enrichmentStatus: nil, coverUrl: nil)),
                .completed(took: .milliseconds(40)), .slotGiven,
            ])
        #expect(phone.open.isEmpty && phone.findings.isEmpty && phone.app.isQuiescent)
        #expect(phone.store.scans.isEmpty)
    }

    @Test func `a retry has the same key, also of a fresh process`() {
        var phone = Self.asked()
        phone.fail(.upload, .reset)
        phone.handle(.photoPrepared(scan: Self.scan, bytes: 13, took: nil, barcode: Self.barcode))
        phone.pass(.seconds(2))
        #expect(self.request(phone)?.idempotencyKey == Self.key)
        var fresh = Self.phone(restored: phone.store.scans)
        fresh.handle(.photoPrepared(scan: Self.scan, bytes: 13, took: nil, barcode: Self.barcode))
        #expect(self.request(fresh)?.idempotencyKey == Self.key)
        #expect(fresh.payloads.contains(.keySent(attempt: 3, key: Self.key)))
        // What was answered before is the book as well.
        self.answer(&fresh, 200, Self.book(cached: true))
        #expect(fresh.payloads.contains { if case .bookAdded = $0 { true } else { false } })
        #expect(
            fresh.payloads.contains {
                if case .lookupAnswered(found: true, repeated: true, _, _) = $0 { true } else { false }
            })
    }

    /// Whether the library has a book already is for the reader to see: it is one of two scans.
    @Test func `a barcode that is scanned again has the same key, and its book is filed again`() {
        var phone = Self.asked()
        self.answer(&phone, 200, Self.book())
        phone.capture(2)
        phone.handle(.photoPrepared(scan: ScanNumber(2), bytes: 13, took: nil, barcode: Self.barcode))
        #expect(phone.payloads.count { $0 == .keySent(attempt: 1, key: Self.key) } == 2)
        phone.answer(.upload, 200, Self.book(cached: true), scan: 2, type: "application/json")
        #expect(phone.payloads.count { if case .bookAdded = $0 { true } else { false } } == 2)
        #expect(phone.store.scans.isEmpty && phone.app.isQuiescent && phone.findings.isEmpty)
    }

    @Test func `a book that no provider has is refused, and shown`() {
        var phone = Self.asked()
        self.answer(&phone, 404, Self.failure("NOT_FOUND"))
        #expect(
            phone.payloads.contains(
                .refused(
                    code: "NOT_FOUND",
                    cause: .answer(.upload, attempt: 1, status: 404, retryable: false))))
        #expect(phone.store.scans.isEmpty && phone.app.isQuiescent && phone.findings.isEmpty)
    }

    @Test(arguments: [
        (404, "", WaitingCause.unexpectedStatus), (404, "GONE", .unexpectedStatus),
        (502, "API_ERROR", .serverError), (503, "CIRCUIT_OPEN", .serverError),
        (202, "", .unexpectedStatus), (200, "", .unreadableAnswer), (401, "UNAUTHORIZED", .unauthorized),
    ])
    func `what is no word about the book is tried again`(status: Int, code: String, cause: WaitingCause) {
        var phone = Self.asked()
        self.answer(&phone, status, code.isEmpty ? [] : Self.failure(code))
        #expect(phone.waiting == ["1 \(cause.rawValue)"])
    }

    @Test func `a 404 that may be retried says nothing of the book`() {
        var phone = Self.asked()
        self.answer(&phone, 404, Self.failure("NOT_FOUND", retryable: true))
        #expect(phone.waiting == ["1 unexpected-status"])
    }

    @Test func `success that is none is not believed`() {
        var phone = Self.asked()
        let text = String(decoding: Self.book(), as: UTF8.self)
        self.answer(
            &phone, 200, Array(text.replacing(#""success":true"#, with: #""success":false"#).utf8))
        #expect(phone.payloads.contains(.badAnswer(.upload, attempt: 1, .notSuccess)))
        #expect(phone.waiting == ["1 unreadable-answer"])
    }

    @Test func `an answer that breaks off is no book`() {
        var phone = Self.asked()
        let half = Self.book().prefix(20)
        phone.head(.upload, 200, type: "application/json")
        if let id = phone.request(.upload)?.id { phone.handle(.replyBytes(id, half)) }
        phone.fail(.upload, .closedEarly)
        #expect(phone.waiting == ["1 transport"])
    }

    @Test func `a 404 whose body broke off is legal, says nothing of the book, and is no finding`() {
        var phone = Self.asked()
        phone.head(.upload, 404, type: "application/json")
        if let id = phone.request(.upload)?.id {
            phone.handle(.replyBytes(id, Self.failure("NOT_FOUND").prefix(20)))
        }
        phone.fail(.upload, .closedEarly)
        #expect(phone.waiting == ["1 transport"])
        #expect(phone.findings == [])
    }

    @Test func `a request that cannot be right is refused`() {
        var phone = Self.asked()
        self.answer(&phone, 400, Self.failure("INVALID_REQUEST"))
        #expect(
            phone.payloads.contains(
                .refused(
                    code: "INVALID_REQUEST",
                    cause: .answer(.upload, attempt: 1, status: 400, retryable: false))))
    }
}
