import CSV
import Faults
import JSON
import Observations
import OriginServer
import SimBase
import Talaria
import Testing

@testable import Backend

/// The enrichment of single books of v2.
@Suite struct EnrichmentTests {
    private static func ask(
        _ bench: inout Bench, _ body: String, caller: Caller = Bench.caller(),
        contentType: String? = "application/json", faults: [ArmedFault] = []
    ) throws -> (status: Int, body: JSONNode) {
        let bytes = Array(body.utf8)
        let (exchange, effects) = bench.ask(
            "POST", "/api/v2/books/enrich", device: nil, contentType: contentType, contentLength: bytes.count,
            caller: caller, faults: faults)
        var reply = effects.reply
        if effects.contains(.readUpload(exchange)) {
            let part = UploadPart(
                name: "", filename: nil, contentType: contentType, bytes: bytes.count, prefix: bytes)
            reply = bench.handle(.uploaded(exchange, [part])).reply
        }
        let answer = try #require(reply)
        return (answer.status, try #require(JSONNode(answer.body)))
    }

    private static func body(_ isbn: ISBN, key: String? = nil) -> String {
        let key = key.map { #","idempotencyKey":"\#($0)","preferProvider":"auto""# } ?? ""
        return #"{"barcode":"\#(isbn.digits)","vectorize":false\#(key)}"#
    }

    private static func bench() -> Bench { Bench { $0.enrichments.unknown = .never } }
    private static let emma = "9780141439587"

    @Test func `a barcode becomes a book, the same for everybody and in any form`() throws {
        var bench = Self.bench()
        let isbn = try #require(ISBN(Self.emma))
        let first = try Self.ask(&bench, Self.body(isbn))
        #expect(first.status == 200 && first.body["success"]?.flag == true)
        let book = try #require(first.body["data"])
        #expect(book["isbn"]?.text == Self.emma && book["title"]?.text?.isEmpty == false)
        #expect(first.body["metadata"]?["cached"]?.flag == false)
        let ten = try #require(isbn.tenDigits)
        let other = try Self.ask(&bench, #"{"isbn":"\#(ten)"}"#, caller: Bench.caller(device: 9))
        #expect(other.body["data"]?["title"]?.text == book["title"]?.text)
        #expect(other.body["data"]?["isbn"]?.text == Self.emma)
    }

    @Test func `a key is looked up once, and answered alike as long as it lives`() throws {
        var bench = Self.bench()
        let isbn = try #require(ISBN(Self.emma))
        let key = "scan_\(Self.emma)"
        let first = try Self.ask(&bench, Self.body(isbn, key: key))
        #expect(bench.backend.enrichments.lookups == 1)
        let again = try Self.ask(&bench, Self.body(isbn, key: key))
        #expect(bench.backend.enrichments.lookups == 1)
        #expect(again.body["metadata"]?["cached"]?.flag == true)
        #expect(again.body["data"]?["title"]?.text == first.body["data"]?["title"]?.text)
        // A key belongs to its device, and to its book.
        _ = try Self.ask(&bench, Self.body(isbn, key: key), caller: Bench.caller(device: 9))
        #expect(bench.backend.enrichments.lookups == 2)
        let wrong = try Self.ask(&bench, Self.body(ISBN(number: 5), key: key))
        #expect(wrong.status == 400 && bench.backend.enrichments.lookups == 2)
        bench.run(seconds: 86_400)
        _ = try Self.ask(&bench, Self.body(isbn, key: key))
        #expect(bench.backend.enrichments.lookups == 3)
    }

    @Test func `without a key each request is looked up`() throws {
        var bench = Self.bench()
        let isbn = try #require(ISBN(Self.emma))
        for _ in 0..<3 { _ = try Self.ask(&bench, Self.body(isbn)) }
        #expect(bench.backend.enrichments.lookups == 3)
    }

    @Test func `a book that no provider has is not found, and its key is not looked up again`() throws {
        var bench = Bench { $0.enrichments.unknown = .always }
        let isbn = try #require(ISBN(Self.emma))
        for _ in 0..<2 {
            let (status, body) = try Self.ask(&bench, Self.body(isbn, key: "k"))
            #expect(status == 404 && body["error"]?["code"]?.text == "NOT_FOUND")
        }
        #expect(bench.backend.enrichments.lookups == 1)
    }

    @Test func `keys are bounded, and the oldest goes first`() throws {
        var bench = Bench {
            $0.enrichments.unknown = .never
            $0.enrichments.keysMax = 2
        }
        let isbn = try #require(ISBN(Self.emma))
        for key in ["a", "b", "c", "b", "a"] {
            _ = try Self.ask(&bench, Self.body(isbn, key: key), caller: Bench.caller(device: 4))
            bench.run(seconds: 60)
        }
        #expect(bench.backend.enrichments.lookups == 4)  // The last one was gone, the one before was not.
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"barcode":""}"#, #"{"barcode":7}"#, #"{"barcode":"12345"}"#,
        #"{"barcode":"9780141439588"}"#, #"{"barcode":"97801414395870000000000"}"#,
        #"{"barcode":"9780141439587","vectorize":"yes"}"#, #"{"barcode":"9780141439587","idempotencyKey":1}"#,
    ])
    func `a body that is no request is refused`(body: String) throws {
        var bench = Self.bench()
        let (status, answer) = try Self.ask(&bench, body)
        #expect(status == 400 && answer["error"]?["code"]?.text == "INVALID_REQUEST")
        #expect(answer["error"]?["retryable"]?.flag == false && answer["success"]?.flag == false)
        #expect(bench.backend.enrichments.lookups == 0)
    }

    @Test func `look-ups have the limit of all uploads`() throws {
        var bench = Bench {
            $0.enrichments.unknown = .never
            $0.rateLimit = Quota(requests: 5, window: .minutes(1))
        }
        let isbn = try #require(ISBN(Self.emma))
        for _ in 0..<5 { #expect(try Self.ask(&bench, Self.body(isbn)).status == 200) }
        let (status, body) = try Self.ask(&bench, Self.body(isbn))
        #expect(status == 429 && body["retryAfter"]?.integer == 60)
        #expect(bench.backend.enrichments.lookups == 5)
        #expect(try Self.ask(&bench, Self.body(isbn), caller: Bench.caller(device: 8)).status == 200)
        bench.run(seconds: 60)
        #expect(try Self.ask(&bench, Self.body(isbn)).status == 200)
    }

    @Test func `a fault that refuses a look-up acts before a provider is asked`() throws {
        var bench = Self.bench()
        let error = HTTPFault(
            status: 502, code: "API_ERROR", retryable: nil, retryAfter: nil, retryAfterLocation: .both)
        let fault = ArmedFault(fault: 0, kind: .httpError(error), trigger: .atOnce, draw: 0)
        let isbn = try #require(ISBN(Self.emma))
        let (status, body) = try Self.ask(&bench, Self.body(isbn, key: "k"), faults: [fault])
        #expect(status == 502 && body["error"]?["code"]?.text == "API_ERROR")
        #expect(bench.backend.enrichments.lookups == 0)
        let again = try Self.ask(&bench, Self.body(isbn, key: "k"))
        #expect(again.status == 200 && again.body["metadata"]?["cached"]?.flag == false)
    }

    @Test func `what is asked, answered and billed is observed`() throws {
        var bench = Self.bench()
        let body = Self.body(try #require(ISBN(Self.emma)), key: "k")
        for _ in 0..<2 { _ = try Self.ask(&bench, body) }
        let seen = bench.effects.compactMap { effect -> BackendObservation? in
            guard case .observe(let observation) = effect, case .backend(let payload) = observation.what
            else { return nil }
            return payload
        }
        let attempt = Bench.caller().attempt
        func lookup(isBilled: Bool) -> [BackendObservation] {
            [
                .requested(.upload, attempt: attempt, connection: 1),
                .bookLookedUp(
                    BookLookup(key: "k", barcode: Self.emma, isFound: true, isBilled: isBilled)),
                .answered(.upload, attempt: attempt, status: 200),
            ]
        }
        #expect(seen == lookup(isBilled: true) + lookup(isBilled: false))
    }

    @Test func `the barcode of a simulated phone has the book of its shelf`() throws {
        var shelf = Shelf(seed: 7, booksMin: 3, booksMax: 3)
        shelf.exceptions = [Shelf.Exception(devices: 4...4, stock: .oneBarcode)]
        shelf.unknownBooks = .percent(50)
        var service = EnrichmentService(
            rules: LookupRules(), shelf: shelf, random: KeyedRandom(seed: 7))
        var found = 0
        for scan in (1...40).map({ ScanNumber($0) }) {
            let owner = Caller(device: DeviceNumber(4), scan: scan, attempt: 1)
            let isbn = try #require(
                shelf.barcode(device: owner.device, scan: scan).flatMap { ISBN($0) })
            let count = shelf.count(device: owner.device, scan: scan)
            let book = count == 0 ? nil : shelf.book(device: owner.device, scan: scan, ordinal: 0)
            #expect(
                service.outcome(of: isbn, key: nil, for: owner, at: .zero)
                    == .answered(book, isRepeated: false))
            #expect(book?.confidence == nil && book?.enrichmentStatus == nil)
            found += count
        }
        #expect((10...30).contains(found))
    }

    @Test func `a book that a user scans again is not paid for again within a day, and is the same after it`()
        throws
    {
        var shelf = Shelf(seed: 7, booksMin: 3, booksMax: 3)
        shelf.exceptions = [Shelf.Exception(devices: 4...4, stock: .oneBarcode, repeats: .always)]
        shelf.unknownBooks = .never
        var service = EnrichmentService(
            rules: LookupRules(), shelf: shelf, random: KeyedRandom(seed: 7))
        let barcode = try #require(shelf.barcode(device: DeviceNumber(4), scan: ScanNumber(1)))
        let isbn = try #require(ISBN(barcode))
        let book = shelf.book(device: DeviceNumber(4), scan: ScanNumber(1), ordinal: 0)
        for (scan, at, isRepeated) in [
            (1, Instant.zero, false), (2, .zero + .hours(23), true), (9, .zero + .hours(24), false),
            (3, .zero + .hours(25), true),
        ] as [(UInt32, Instant, Bool)] {
            #expect(shelf.barcode(device: DeviceNumber(4), scan: ScanNumber(scan)) == barcode)
            let owner = Caller(device: DeviceNumber(4), scan: ScanNumber(scan), attempt: 1)
            let key = EnrichmentRequest.key(barcode: barcode)
            #expect(
                service.outcome(of: isbn, key: key, for: owner, at: at)
                    == .answered(book, isRepeated: isRepeated))
        }
        #expect(service.lookups == 2)
    }

    @Test func `only JSON is taken, and only by POST`() throws {
        var bench = Self.bench()
        #expect(try Self.ask(&bench, "{}", contentType: "text/plain").status == 400)
        let get = bench.ask("GET", "/api/v2/books/enrich", device: nil).effects.reply
        #expect(get?.status == 405 && get?.headers.contains(HeaderField("Allow", "POST")) == true)
        let large = bench.ask(
            "POST", "/api/v2/books/enrich", device: nil, contentType: "application/json",
            contentLength: 65_537, caller: Bench.caller(device: 7)
        ).effects.reply
        #expect(large?.status == 413)
    }

    /// A connection that is lost takes its request with it: nothing was looked up, and the same key can be sent again.
    @Test func `a request that is cut off is not billed`() throws {
        var bench = Self.bench()
        let exchange = bench.ask(
            "POST", "/api/v2/books/enrich", device: nil, contentType: "application/json", contentLength: 60
        ).exchange
        bench.handle(.aborted(exchange))
        #expect(bench.backend.enrichments.lookups == 0 && bench.backend.uploadsOpen == 0)
    }
}
