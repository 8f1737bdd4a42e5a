import Observations
import Phone
import SimBase
import Talaria
import Testing

/// What the answers to an upload lead to.
struct UploadTests {
    private static func photos(_ range: ClosedRange<Int>, seed: UInt64 = 1) -> TestPhone {
        var profile = ClientProfile.contract
        profile.upload.photos = range
        return TestPhone(profile: profile, seed: seed)
    }

    @Test(arguments: 1...5) func `all photos of a scan are parts of its upload`(count: Int) {
        var phone = Self.photos(count...count)
        phone.capture(1)
        #expect(phone.request(.upload)?.body == .photos(ScanNumber(1), count: count))
        #expect(phone.payloads.contains(.photosTaken(count)) == (count > 1))
        #expect(phone.record?.photos == count)
    }

    @Test func `a batch takes no photos, whatever its profile says`() {
        var profile = ClientProfile.contract
        profile.journey = .batchEnrichment
        profile.upload.photos = 3...3
        var phone = TestPhone(profile: profile, seed: 1)
        phone.capture(1)
        #expect(phone.store.scans.map(\.photos) == [1])
        #expect(!phone.payloads.contains(.photosTaken(3)))
    }

    @Test func `the number of photos is drawn for each scan, and stays`() throws {
        var phone = Self.photos(1...5)
        for scan in 1...40 { phone.capture(UInt32(scan)) }
        let drawn = phone.store.scans.map(\.photos)
        #expect(Set(drawn) == [1, 2, 3, 4, 5])
        var again = Self.photos(1...5)
        for scan in 1...40 { again.capture(UInt32(scan)) }
        #expect(again.store.scans.map(\.photos) == drawn)
        var other = Self.photos(1...5, seed: 2)
        for scan in 1...40 { other.capture(UInt32(scan)) }
        #expect(other.store.scans.map(\.photos) != drawn)
    }

    @Test func `an upload that is repeated has the same photos, also after a relaunch`() throws {
        var phone = Self.photos(4...4)
        phone.capture(1)
        phone.answer(.upload, 503)
        phone.pass(.seconds(1))
        #expect(phone.request(.upload)?.body == .photos(ScanNumber(1), count: 4))
        let record = try #require(phone.record)
        let next = TestPhone(restored: [record])
        #expect(next.request(.upload)?.body == .photos(ScanNumber(1), count: 4))
    }

    @Test func `the time of an upload grows with its photos`() {
        var phone = Self.photos(5...5)
        phone.capture(1)
        // 30 s, and five photos of 200,000 bytes at 8,000 bytes per second.
        phone.pass(.milliseconds(154_999))
        #expect(phone.request(.upload) != nil)
        phone.pass(.milliseconds(1))
        #expect(
            phone.payloads.contains(.requestFailed(.upload, attempt: 1, .timedOut, took: .seconds(155))))
    }

    private func uploading() -> TestPhone {
        var phone = TestPhone()
        phone.capture(1)
        _ = phone.takeSightings()
        return phone
    }

    @Test(arguments: [400, 409, 413, 415, 422, 451])
    func `a non-retryable answer refuses the scan with its code`(status: Int) {
        var phone = uploading()
        phone.answer(.upload, status, Wording.problem(.invalidFile))
        #expect(phone.store.settled.map(\.outcome) == [.refused(code: "INVALID_FILE")])
        #expect(
            phone.takeSightings() == [
                .replied(.upload, attempt: 1, status: status, took: .zero),
                .refused(
                    code: "INVALID_FILE",
                    cause: .answer(.upload, attempt: 1, status: status, retryable: false)),
                .slotGiven,
            ])
        #expect(phone.store.scans == [])
        #expect(phone.app.isQuiescent)
    }

    @Test func `a refusal without a readable code is named by its status`() {
        for body in [[], Array("<html>no</html>".utf8), Array(#"{"code":"a b\u0000<script>"}"#.utf8)] {
            var phone = uploading()
            phone.answer(.upload, 413, body, type: "text/html")
            #expect(phone.store.settled.map(\.outcome) == [.refused(code: "HTTP_413")])
        }
    }

    @Test func `a 4xx that calls itself retryable refuses nothing`() {
        var phone = uploading()
        phone.answer(.upload, 409, Array(#"{"code":"BUSY","retryable":true}"#.utf8))
        #expect(phone.waiting == ["1 server-error"])
        phone.pass(.milliseconds(500))
        #expect(phone.request(.upload)?.attempt == 2)
    }

    @Test(arguments: [
        (401, WaitingCause.unauthorized), (403, .unauthorized), (404, .unexpectedStatus),
        (410, .unexpectedStatus), (408, .serverError), (500, .serverError), (502, .serverError),
        (503, .serverError), (504, .serverError), (599, .serverError),
    ])
    func `what is not the scan's fault waits and is tried again`(status: Int, cause: WaitingCause) {
        var phone = uploading()
        phone.answer(.upload, status, Wording.problem(.internalError))
        #expect(
            phone.takeSightings() == [
                .replied(.upload, attempt: 1, status: status, took: .zero), .queued(cause), .slotGiven,
            ])
        #expect(phone.waiting == ["1 \(cause.rawValue)"])
        #expect(phone.record?.cause == cause.rawValue)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.upload)?.attempt == 2)
        #expect(phone.record?.attempts.upload == 2, "numbers go on in the store")
    }

    @Test(arguments: [201, 204, 206, 301, 302, 304, 600, 999, 0])
    func `a status that the contract does not have is a bad answer and refuses nothing`(status: Int) {
        var phone = uploading()
        phone.answer(.upload, status)
        #expect(phone.payloads.contains(.badAnswer(.upload, attempt: 1, .unexpectedStatus)))
        #expect(phone.waiting == ["1 unexpected-status"])
    }

    @Test(arguments: [
        ("<html>hello</html>", "text/html", BadAnswer.wrongContentType),
        ("{\"success\":", "application/json", .undecodable),
        ("", "application/json", .undecodable),
        ("[]", "", .undecodable),
        (#"{"success":true,"data":{"jobId":"j"}}"#, "application/json", .undecodable),
        (#"{"success":false,"data":{"jobId":"j","sseUrl":"/s"}}"#, "application/json", .notSuccess),
        (#"{"success":true,"data":{"jobId":"../x","sseUrl":"/s"}}"#, "application/json", .undecodable),
        (#"{"success":true,"data":{"jobId":"","sseUrl":"/s"}}"#, "application/json", .undecodable),
        (#"{"success":true,"data":{"jobId":"j","sseUrl":"s"}}"#, "application/json", .undecodable),
        (#"{"success":true,"data":{"jobId":"j","sseUrl":"//host/s"}}"#, "application/json", .undecodable),
        (#"{"success":true,"data":{"jobId":"j","sseUrl":"/s x"}}"#, "application/json", .undecodable),
        (#"{"success":true,"data":{"jobId":"j","sseUrl":"ftp://h/s"}}"#, "application/json", .undecodable),
        (
            #"{"success":true,"data":{"jobId":"j","sseUrl":"/s","authToken":"a\r\nX: y"}}"#,
            "application/json",
            .undecodable
        ),
    ])
    func `a 202 that is no job is a bad answer, and the scan waits`(
        body: String, type: String, bad: BadAnswer
    ) {
        var phone = uploading()
        phone.answer(.upload, 202, Array(body.utf8), type: type)
        #expect(phone.payloads.contains(.badAnswer(.upload, attempt: 1, bad)))
        #expect(phone.waiting == ["1 unreadable-answer"])
        #expect(phone.record?.job == nil)
    }

    @Test func `a 202 above its limit is cut off and is a bad answer`() {
        var phone = uploading()
        phone.head(.upload, 202)
        let id = RequestID(1)
        for _ in 0..<16 { phone.handle(.replyBytes(id, [UInt8](repeating: 0x20, count: 4_096)[...])) }
        #expect(phone.request(.upload) != nil)
        phone.handle(.replyBytes(id, [0x20][...]))
        #expect(phone.request(.upload) == nil)
        #expect(phone.effects.contains(.abort(id)))
        #expect(phone.payloads.filter { $0 == .badAnswer(.upload, attempt: 1, .tooLarge) }.count == 1)
        #expect(phone.waiting == ["1 answer-too-large"])
    }

    @Test(arguments: [TransportFailure.reset, .connectRefused, .closedEarly, .tls, .other, .malformed])
    func `a transport failure refuses nothing`(failure: TransportFailure) {
        var phone = uploading()
        phone.fail(.upload, failure)
        #expect(
            phone.takeSightings() == [
                .requestFailed(.upload, attempt: 1, failure, took: .zero), .queued(.transport), .slotGiven,
            ])
        #expect(phone.waiting == ["1 transport"])
    }

    @Test func `an upload that is never answered waits for an answer`() {
        var phone = uploading()
        phone.pass(.minutes(2))
        #expect(phone.payloads.contains(.queued(.noAnswer)))
        #expect(!phone.payloads.contains(.queued(.transport)))
    }

    @Test(arguments: [(9, "suspended"), (10, "no-answer")])
    func `an app that is closed knows how long it had waited`(seconds: Int64, cause: String) {
        var phone = uploading()
        phone.pass(.seconds(seconds))
        phone.handle(.suspended)
        #expect(phone.waiting == ["1 \(cause)"])
    }

    @Test func `a refusal whose body breaks off is a refusal still`() {
        var phone = uploading()
        phone.head(.upload, 400)
        phone.handle(.replyBytes(RequestID(1), Array(#"{"code":"#.utf8)[...]))
        phone.fail(.upload, .reset)
        #expect(phone.store.settled.map(\.outcome) == [.refused(code: "HTTP_400")])
    }

    @Test func `an acceptance whose body breaks off is a transport failure`() {
        var phone = uploading()
        phone.head(.upload, 202)
        phone.fail(.upload, .closedEarly)
        #expect(phone.waiting == ["1 transport"])
    }

    @Test func `a 503 that names a time is not tried again before it`() {
        var phone = uploading()
        phone.answer(.upload, 503, retryAfter: "7")
        phone.pass(.milliseconds(6_999))
        #expect(phone.request(.upload) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.upload)?.attempt == 2)
    }

    @Test func `uploads that keep failing back off to the cap and never give up`() {
        var phone = uploading()
        var waits: [Interval] = []
        for _ in 0..<40 {
            phone.answer(.upload, 500)
            guard let wake = phone.app.nextWake else { break }
            waits.append(wake - phone.now)
            phone.pass(wake - phone.now)
        }
        #expect(waits.count == 40)
        for (failures, wait) in waits.enumerated() {
            let ceiling = failures > 5 ? Interval.seconds(30) : .milliseconds(500 << Int64(failures))
            #expect(wait <= ceiling)
        }
        #expect(Set(waits).count > 30, "full jitter")
        #expect(waits.contains { $0 > .seconds(15) })
    }
}
