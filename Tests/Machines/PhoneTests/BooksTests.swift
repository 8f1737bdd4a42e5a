import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

/// The books-v3 app (Docs/apps.md section 6.2): its defects one at a time, with each and without it, and its values.
struct BooksTests {
    /// The app with these defects only.
    private func phone(
        _ quirks: ProfileToggle..., journey: Journey = .bookshelfScan, named: NamedProfile = .books
    ) -> TestPhone {
        let settings = NamedProfile.books.toggles.map { ToggleSetting($0, isOn: quirks.contains($0)) }
        var profile = named.profile(with: named.toggles.isEmpty ? [] : settings)
        profile.journey = journey
        return TestPhone(profile: profile)
    }

    private static let progress = Wording.event(
        "processing", id: "1-progress",
        #"{"jobId":"scan_1","status":"processing","progress":0.5,"processedCount":1,"totalCount":2}"#)
    private static let completed = Wording.event(
        "completed", id: "9-final",
        #"{"jobId":"scan_1","type":"job_complete","pipeline":"ai_scan","summary":{}}"#)
    private static let dotted = Wording.event(
        "photoscan.completed", id: nil,
        #"{"jobId":"scan_1","status":"completed","resultsUrl":"/r","summary":{"totalDetected":1}}"#)

    private func captureToStream(_ phone: inout TestPhone, status: Int = 200) {
        phone.capture(1)
        phone.answer(.upload, 202, V2Wording.accepted("scan_1"))
        guard status == 200 else { return }
        phone.openStream()
    }

    private func end(_ phone: inout TestPhone) {
        guard let stream = phone.request(.stream) else { return }
        phone.open.removeAll { $0.id == stream.id }
        phone.handle(.replyEnded(stream.id))
    }

    private func lastEventID(_ request: AppRequest?) -> String? {
        request?.headers.first { $0.name == HeaderName.lastEventID }?.value
    }

    /// The time until the stream is requested again.
    private func wait(_ phone: inout TestPhone) -> Interval? {
        let from = phone.now
        while phone.request(.stream) == nil {
            guard let wake = phone.app.nextWake, wake < from + .minutes(10) else { return nil }
            phone.pass(wake - phone.now)
        }
        return phone.now - from
    }

    // MARK: Defects

    @Test func `B1: Last-Event-ID is never sent`() {
        for (quirks, id) in [([ProfileToggle.booksLastEventID], nil), ([], "1-progress")]
            as [([ProfileToggle], String?)]
        {
            var phone = quirks.isEmpty ? phone() : phone(.booksLastEventID)
            captureToStream(&phone)
            phone.stream(Self.progress)
            end(&phone)
            _ = wait(&phone)
            #expect(phone.request(.stream) != nil && lastEventID(phone.request(.stream)) == id)
        }
    }

    @Test func `B2 has no toggle: a stream that ends is opened again, fifty times`() {
        var phone = phone()
        captureToStream(&phone)
        for _ in 0..<50 {
            end(&phone)
            #expect(wait(&phone) != nil)
            phone.openStream()
        }
        phone.stream(Self.completed)
        #expect(phone.request(.results) != nil)
    }

    @Test func `B3: the waits of a stream are about 1, 2, 2 and 2 s`() throws {
        for (quirks, seconds) in [([ProfileToggle.booksBackoff], [1, 2, 2, 2, 2]), ([], [1, 2, 4, 8, 16])]
            as [([ProfileToggle], [Int64])]
        {
            var phone = quirks.isEmpty ? phone() : phone(.booksBackoff)
            captureToStream(&phone)
            for expected in seconds {
                end(&phone)
                let wait = try #require(self.wait(&phone))
                #expect(wait >= max(.seconds(1), .milliseconds(expected * 800)))
                #expect(wait <= .milliseconds(expected * 1_200))
                phone.openStream()
            }
        }
    }

    @Test(arguments: [401, 404, 410, 503]) func `B4: whatever the status, the stream is requested again`(
        status: Int
    ) {
        var phone = phone(.booksStreamStatuses)
        captureToStream(&phone, status: status)
        for _ in 0..<20 {
            phone.answer(.stream, status, V2Wording.error("UNAUTHORIZED"), type: "application/json")
            #expect(phone.request(.upload) == nil && wait(&phone) != nil)
        }
        var sound = self.phone()
        captureToStream(&sound, status: status)
        sound.answer(.stream, status, V2Wording.error("UNAUTHORIZED"), type: "application/json")
        #expect((sound.request(.upload) != nil) == (status < 500))
    }

    @Test func `B4: what comes under another content type is read`() {
        for quirks in [[ProfileToggle.booksStreamStatuses], []] {
            var phone = quirks.isEmpty ? phone() : phone(.booksStreamStatuses)
            captureToStream(&phone, status: 0)
            phone.head(.stream, 200, type: "application/json")
            if phone.request(.stream) != nil { phone.stream(Self.completed) }
            #expect((phone.request(.results) != nil) == !quirks.isEmpty)
        }
    }

    @Test func `B5: a reset is a failure, although the end of the job comes on the next stream`() {
        for quirks in [[ProfileToggle.transportErrors], []] {
            var phone = quirks.isEmpty ? phone() : phone(.transportErrors)
            captureToStream(&phone)
            phone.fail(.stream, .reset)
            #expect(wait(&phone) != nil)
            phone.openStream()
            phone.stream(Self.progress + Self.completed)
            #expect((phone.request(.results) != nil) == quirks.isEmpty)
            #expect(phone.waiting == (quirks.isEmpty ? [] : ["1 transport"]))
        }
    }

    @Test func `B5: an end without an error is none`() {
        var phone = phone(.transportErrors)
        captureToStream(&phone)
        end(&phone)
        _ = wait(&phone)
        phone.openStream()
        phone.stream(Self.completed)
        #expect(phone.request(.results) != nil)
    }

    @Test func `B7: behind an event with other characters than ASCII, as many are lost`() {
        let named = Wording.event("processing", id: nil, #"{"currentItem":"Café é"}"#)
        for quirks in [[ProfileToggle.remainder], []] {
            // Two characters of the next event are lost, and with them its name.
            var phone = quirks.isEmpty ? phone() : phone(.remainder)
            captureToStream(&phone)
            phone.stream(named + "event: completed\ndata: {\"jobId\":\"scan_1\"}\n\n")
            #expect((phone.request(.results) != nil) == quirks.isEmpty)
            // In a piece of its own nothing of it is lost.
            phone.stream(named)
            phone.stream("event: completed\ndata: {\"jobId\":\"scan_1\"}\n\n")
            #expect(phone.request(.results) != nil)
        }
    }

    @Test func `B8: events are known by dotted names, or by those of the contract`() {
        for quirks in [[ProfileToggle.dottedNames], []] {
            for (event, isDotted) in [(Self.dotted, true), (Self.completed, false)] {
                var phone = quirks.isEmpty ? phone() : phone(.dottedNames)
                captureToStream(&phone)
                phone.findings = []
                phone.stream(event)
                #expect((phone.request(.results) != nil) == (isDotted == !quirks.isEmpty))
                let isUnknown = phone.findings.contains { $0.path == "event" }
                #expect(isUnknown == (isDotted == quirks.isEmpty))
            }
        }
    }

    @Test(arguments: [
        (#"{"jobId":"scan_1","status":"failed","error":"no photo","retryable":false}"#, true),
        (#"{"jobId":"scan_1","status":"failed","error":{"code":"X","message":"no"}}"#, true),
        (#"{"jobId":"scan_1","status":"failed","error":"later","retryable":true}"#, false),
        (#"{"jobId":"scan_1","error":{"code":"X","retryable":true}}"#, false),
    ]) func `B8: a failure is final unless it says otherwise`(data: String, isFinal: Bool) {
        var phone = phone(.dottedNames)
        captureToStream(&phone)
        phone.stream(Wording.event("photoscan.progress", id: nil, "{}"))
        phone.stream(Wording.event("photoscan.failed", id: nil, data))
        let refused = phone.payloads.contains { if case .refused = $0 { true } else { false } }
        #expect(refused == isFinal)
    }

    @Test(arguments: [
        "photoscan.done", "import.completed", "completed", "photoscan", "photoscan.completed.now",
        ".completed",
    ]) func `B8: no other name is known`(name: String) {
        #expect(DottedEventName.kind(of: name) == nil)
    }

    // MARK: Values

    @Test func `a wait that the stream asks for is ignored`() throws {
        var phone = phone()
        captureToStream(&phone)
        phone.stream("retry: 5000\n\n")
        end(&phone)
        #expect(try #require(self.wait(&phone)) <= .milliseconds(1_200))
    }

    @Test func `each request has a time of its own`() {
        for (journey, seconds) in [
            (Journey.bookshelfScan, Int64(70)), (.batchEnrichment, 120), (.csvImport, 120),
        ] {
            let profile = phone(journey: journey).app.profile
            #expect(profile.timeout(of: .upload) == .seconds(seconds))
            #expect(profile.timeout(of: .results) == .seconds(30))
            #expect(profile.timeout(of: .status) == .seconds(10))
            #expect(profile.timeout(of: .cleanup) == .seconds(15))
            #expect(profile.timeoutMin == .seconds(10))
        }
        #expect(
            Operation.allCases.allSatisfy {
                $0 == .stream || ClientProfile.contract.timeout(of: $0) == .seconds(30)
            })
    }

    @Test func `an upload is made three times, after 1 and 2 s`() throws {
        var phone = phone()
        phone.capture(1)
        for (least, most) in [(1_000, 1_200), (1_600, 2_400)] as [(Int64, Int64)] {
            phone.answer(
                .upload, 503, V2Wording.error("INTERNAL_ERROR", retryable: true), type: "application/json")
            phone.pass(.milliseconds(least - 1))
            #expect(phone.request(.upload) == nil)
            phone.pass(.milliseconds(most - least + 1))
            #expect(phone.request(.upload) != nil)
        }
        phone.fail(.upload, .reset)
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 transport"])
    }

    @Test
    func
        `with aggressive retries an upload is made five times, after 0.5 s and half as long again each time`()
        throws
    {
        var profile = NamedProfile.books.profile()
        profile.use(.aggressive)
        var phone = TestPhone(profile: profile)
        phone.capture(1)
        for ceiling in [500, 750, 1_125, 1_687] as [Int64] {
            phone.answer(
                .upload, 503, V2Wording.error("INTERNAL_ERROR", retryable: true), type: "application/json")
            let least = max(500, ceiling * 4 / 5)
            phone.pass(.milliseconds(least - 1))
            #expect(phone.request(.upload) == nil)
            phone.pass(.milliseconds(ceiling * 6 / 5 + 2 - least))
            #expect(phone.request(.upload) != nil)
        }
        phone.fail(.upload, .reset)
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 transport"])
    }

    @Test func `requests of the older client do not wait as its streams do`() {
        var phone = phone(named: .booksOld)
        phone.capture(1)
        phone.fail(.upload, .reset)
        phone.pass(.milliseconds(1_200))
        #expect(phone.request(.upload) != nil)
    }

    @Test func `an answer that is not retryable is final`() {
        var phone = phone()
        phone.capture(1)
        phone.answer(.upload, 503, V2Wording.error("API_ERROR", retryable: false), type: "application/json")
        #expect(phone.payloads.contains { if case .refused("API_ERROR", _) = $0 { true } else { false } })
    }

    @Test func `after a 429 without a time the app waits for 5 s, and for an open circuit a minute`() {
        for (status, code, seconds) in [(429, "RATE_LIMIT_EXCEEDED", 5), (503, "CIRCUIT_OPEN", 60)]
            as [(Int, String, Int64)]
        {
            var phone = phone()
            phone.capture(1)
            phone.answer(.upload, status, V2Wording.error(code, retryable: true), type: "application/json")
            phone.pass(.milliseconds(seconds * 1_000 - 1))
            #expect(phone.request(.upload) == nil)
            phone.pass(.milliseconds(1))
            #expect(phone.request(.upload) != nil)
        }
    }

    @Test(arguments: [404, 405, 426, 501]) func `a batch is uploaded once more by the other path`(status: Int)
    {
        var phone = phone(journey: .batchEnrichment)
        phone.capture(1)
        #expect(phone.request(.upload)?.target == "/api/batch-enrich")
        phone.answer(.upload, status, V2Wording.error("NOT_FOUND"), type: "application/json")
        #expect(phone.request(.upload)?.target == "/v1/enrichment/batch")
        phone.answer(.upload, status, V2Wording.error("NOT_FOUND"), type: "application/json")
        #expect(phone.request(.upload) == nil)
        var other = self.phone(journey: .bookshelfScan)
        other.capture(1)
        other.answer(.upload, status, V2Wording.error("NOT_FOUND"), type: "application/json")
        #expect(other.request(.upload) == nil)
    }

    @Test func `the older client opens a stream three times with its last id, and takes an end for the end`()
    {
        var phone = phone(named: .booksOld)
        captureToStream(&phone)
        phone.stream(Self.progress)
        var ended = phone
        for _ in 0..<2 {
            phone.fail(.stream, .reset)
            #expect(wait(&phone) == .seconds(5) && lastEventID(phone.request(.stream)) == "1-progress")
        }
        phone.fail(.stream, .reset)
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 transport"])
        end(&ended)
        ended.pass(.minutes(5))
        #expect(ended.open.isEmpty && ended.waiting == ["1 interrupted"])
    }

    @Test func `the handler reconnects five times, and counts anew after a stream that opened`() {
        var phone = phone(named: .booksHandler)
        captureToStream(&phone)
        for second: Int64 in [1, 2, 4, 8, 16] {
            phone.fail(.stream, .reset)
            #expect(wait(&phone) == .seconds(second))
        }
        var lucky = phone
        phone.fail(.stream, .reset)
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 transport"])
        lucky.openStream()
        lucky.fail(.stream, .reset)
        #expect(wait(&lucky) == .seconds(1))
    }

    @Test(arguments: [404, 429, 503]) func `the app of the migration requests the results once`(status: Int) {
        var phone = phone(named: .booksMigrating)
        captureToStream(&phone)
        phone.stream(Self.completed)
        phone.answer(.results, status, V2Wording.error("NO", retryable: true), type: "application/json")
        phone.pass(.minutes(5))
        #expect(phone.request(.results) == nil && phone.waiting == ["1 results-unavailable"])
    }

    @Test func `the app of the migration does not request results that have expired by its clock`() {
        for (profile, year, isRequested) in [
            (NamedProfile.booksMigrating, 1970, false), (.booksMigrating, 2999, true),
            (.booksOld, 1970, true),
        ] {
            var phone = phone(named: profile)
            captureToStream(&phone)
            phone.stream(
                Wording.event(
                    "completed", id: "9-final",
                    #"{"jobId":"scan_1","type":"job_complete","expiresAt":"\#(year)-01-01T00:00:00.000Z","summary":{}}"#
                ))
            #expect((phone.request(.results) != nil) == isRequested, "\(profile.name) \(year)")
            if !isRequested { #expect(phone.waiting == ["1 results-expired"]) }
        }
    }
}

/// Bodies of v2.
enum V2Wording {
    static func accepted(_ job: String, folder: String = "/api/v2/scans") -> [UInt8] {
        Self.success(
            #""jobId":"\#(job)","authToken":"t","token":"t","sseUrl":"\#(folder)/\#(job)/stream","statusUrl":"\#(folder)/\#(job)""#
        )
    }

    static func success(_ members: String) -> [UInt8] {
        Array(
            #"{"success":true,"data":{\#(members)},"metadata":{"timestamp":"2026-01-01T00:00:00.000Z"}}"#.utf8
        )
    }

    static func error(_ code: String, retryable: Bool = false) -> [UInt8] {
        Array(
            #"{"success":false,"error":{"code":"\#(code)","message":"m","retryable":\#(retryable)}}"#.utf8)
    }
}
