import Observations
import Phone
import SimBase
import Talaria
import Testing

/// A job that is followed by requests for its status (Docs/contract.md section 1.4).
struct StatusTests {
    private static func profile(
        _ polling: StatusPolling, _ change: (inout StatusPolicy) -> Void = { _ in }
    ) -> ClientProfile {
        var profile = ClientProfile.contract
        profile.status.polling = polling
        change(&profile.status)
        return profile
    }

    /// A phone that has uploaded scan 1 and opens no stream for it.
    private static func accepted(_ change: (inout StatusPolicy) -> Void = { _ in }) -> TestPhone {
        var phone = TestPhone(profile: Self.profile(.always, change))
        phone.capture(1)
        phone.accept()
        return phone
    }

    /// The same, with its first request for the status under way.
    private static func asked(_ change: (inout StatusPolicy) -> Void = { _ in }) -> TestPhone {
        var phone = Self.accepted(change)
        phone.pass(.seconds(2))
        return phone
    }

    /// Lets time pass until the status is requested again.
    private func poll(_ phone: inout TestPhone) {
        for _ in 0..<400 where phone.request(.status) == nil { phone.pass(.milliseconds(100)) }
        #expect(phone.request(.status) != nil)
    }

    /// The number of requests for the status so far.
    private func requests(_ phone: TestPhone) -> UInt32 { phone.record?.attempts.status ?? 0 }

    // MARK: The app that polls

    @Test func `the app that polls opens no stream and deletes no job`() {
        var phone = TestPhone(profile: NamedProfile.swiftwingPolling.profile())
        phone.capture(1)
        phone.accept()
        phone.pass(.seconds(2))
        #expect(phone.request(.stream) == nil)
        phone.answer(.status, 200, Wording.status(.completed))
        phone.answer(.results, 200, Wording.results(books: 2))
        #expect(phone.request(.cleanup) == nil)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
        #expect(phone.app.isQuiescent)
    }

    @Test
    func `the app that polls tolerates four failures of its results, and keeps the scan after the fifth`() {
        for (profile, waits) in [(NamedProfile.swiftwingPolling, true), (.contract, false)] {
            var values = profile.profile()
            values.status.polling = .always
            var phone = TestPhone(profile: values)
            phone.capture(1)
            phone.accept()
            phone.pass(.seconds(2))
            phone.answer(.status, 200, Wording.status(.completed))
            for _ in 1...5 {
                for _ in 0..<400 where phone.request(.results) == nil { phone.pass(.milliseconds(100)) }
                phone.answer(.results, 503)
            }
            for _ in 0..<400 where phone.request(.results) == nil { phone.pass(.milliseconds(100)) }
            #expect((phone.request(.results) == nil) == waits)
            #expect(phone.record?.job != nil)
        }
    }

    // MARK: Instead of the stream

    @Test func `no stream is opened, and the status is requested after the interval`() {
        var phone = Self.accepted()
        #expect(phone.request(.stream) == nil)
        phone.pass(.milliseconds(1_999))
        #expect(phone.request(.status) == nil)
        phone.pass(.milliseconds(1))
        let request = phone.request(.status)
        #expect(request?.method == "GET")
        #expect(request?.target == "/v3/jobs/scans/job-1")
        #expect(request?.headers.map(\.name) == ["X-Device-ID", "Authorization", "traceparent"])
    }

    @Test(arguments: [JobStatus.initialized, .queued, .processing])
    func `a job that goes on is asked about again, an interval after the answer`(status: JobStatus) {
        var phone = Self.asked()
        phone.pass(.milliseconds(300))
        phone.answer(.status, 200, Wording.status(status))
        #expect(
            phone.payloads.contains(
                .statusDecoded(job: "job-1", status: status, took: .milliseconds(300))))
        phone.pass(.milliseconds(1_999))
        #expect(phone.request(.status) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.status) != nil)
        #expect(requests(phone) == 2)
    }

    @Test func `a completed job gives its results, and is deleted`() {
        var phone = Self.asked()
        phone.answer(.status, 200, Wording.status(.completed))
        #expect(phone.request(.results)?.target == "/v3/jobs/scans/job-1/results?format=lite")
        phone.answer(.results, 200, Wording.results(books: 2))
        #expect(phone.store.books.values == [Wording.book(0), Wording.book(1)])
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
        #expect(phone.app.isQuiescent)
    }

    @Test(arguments: [JobStatus.failed, .canceled])
    func `a job that has failed is uploaded once more, then its scan waits`(status: JobStatus) {
        var phone = Self.asked()
        phone.answer(.status, 200, Wording.status(status))
        phone.answer(.cleanup, 204)
        #expect(phone.waiting == ["1 retryable-error"])
        phone.pass(.seconds(2))
        phone.accept(job: "job-2")
        phone.pass(.seconds(2))
        phone.answer(.status, 200, Wording.status(status, job: "job-2"))
        phone.answer(.cleanup, 204)
        phone.pass(.seconds(600))
        #expect(phone.waiting == ["1 retryable-error"] && phone.request(.upload) == nil)
    }

    @Test(arguments: [(401, "token-expired"), (404, "job-gone"), (410, "job-gone")])
    func `a job that cannot be had any more is uploaded again`(status: Int, cause: String) {
        var phone = Self.asked()
        phone.preparesByItself = false
        phone.answer(.status, status)
        #expect(phone.payloads.contains { $0 == .queued(cause == "job-gone" ? .jobGone : .tokenExpired) })
        #expect(phone.request(.upload) != nil || phone.waiting == ["1 \(cause)"])
        #expect(phone.request(.status) == nil)
    }

    // MARK: Waits and budgets

    @Test(arguments: [(retryAfterMs: Int64(5_000), wait: Int64(5_000)), (500, 2_000)])
    func `a 429 is waited out, and never less than the interval`(retryAfterMs: Int64, wait: Int64) {
        var phone = Self.asked()
        phone.answer(.status, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: retryAfterMs))
        #expect(
            phone.payloads.contains(.rateLimited(.status, retryAfter: .milliseconds(retryAfterMs))))
        phone.pass(.milliseconds(wait - 1))
        #expect(phone.request(.status) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.status) != nil)
    }

    @Test func `a 429 is no failure`() {
        var phone = Self.asked()
        for _ in 0..<12 {
            phone.answer(.status, 429)
            poll(&phone)
        }
        #expect(phone.waiting.isEmpty)
    }

    @Test(arguments: [503, 500, 408])
    func `four failures in a row are tolerated, and the fifth ends the requests`(status: Int) {
        var phone = Self.asked()
        for failure in 1...4 {
            phone.answer(.status, status)
            #expect(phone.waiting.isEmpty, "after failure \(failure)")
            poll(&phone)
        }
        phone.answer(.status, status)
        #expect(phone.waiting == ["1 server-error"])
        #expect(phone.payloads.contains(.statusGivenUp(job: "job-1")))
        #expect(phone.record?.job?.jobId == "job-1", "the job is kept for the next launch")
        phone.pass(.seconds(3_600))
        #expect(phone.request(.status) == nil && phone.request(.upload) == nil)
    }

    @Test func `an answer begins the count of failures anew`() {
        var phone = Self.asked()
        for _ in 0..<3 {
            for _ in 0..<4 {
                phone.fail(.status, .reset)
                poll(&phone)
            }
            phone.answer(.status, 200, Wording.status(.processing))
            poll(&phone)
        }
        #expect(phone.waiting.isEmpty)
    }

    @Test(arguments: [
        "{", "{}", #"{"success":true,"data":{"status":"sleeping"}}"#,
        #"{"success":false,"data":{"status":"completed"}}"#,
        #"{"success":true,"data":{"jobId":"job-2","status":"completed"}}"#,
    ])
    func `an answer without the status of the job is a failure`(body: String) {
        var phone = Self.asked()
        phone.answer(.status, 200, Array(body.utf8))
        #expect(phone.request(.results) == nil)
        phone.pass(.seconds(2))
        #expect(phone.request(.status) != nil)
    }

    @Test func `the timeout of a request begins again with each byte of its answer`() throws {
        var phone = Self.asked()
        phone.pass(.seconds(29))
        phone.head(.status, 200)
        phone.pass(.seconds(29))
        let request = try #require(phone.request(.status))
        phone.handle(.replyBytes(request.id, Array("{".utf8)[...]))
        phone.pass(.milliseconds(29_999))
        #expect(phone.request(.status)?.id == request.id)
        phone.pass(.milliseconds(1))
        #expect(
            phone.payloads.contains(
                .requestFailed(.status, attempt: 1, .timedOut, took: .seconds(88))))
    }

    @Test func `a request without an answer is given up after its timeout`() {
        var phone = Self.asked()
        phone.pass(.seconds(30))
        #expect(
            phone.payloads.contains(
                .requestFailed(.status, attempt: 1, .timedOut, took: .seconds(30))))
        phone.pass(.seconds(2))
        #expect(requests(phone) == 2)
    }

    @Test func `a job that outlasts the budget leaves its scan waiting, with its job`() {
        var phone = Self.asked { $0.requestsMax = 3 }
        for _ in 0..<3 {
            phone.answer(.status, 200, Wording.status(.processing))
            phone.pass(.seconds(2))
        }
        #expect(phone.waiting == ["1 status-budget"])
        #expect(requests(phone) == 3)
        #expect(phone.record?.job?.jobId == "job-1")
        #expect(phone.app.isQuiescent)
    }

    @Test func `the next launch has a budget of its own`() throws {
        var phone = Self.asked { $0.requestsMax = 1 }
        phone.answer(.status, 200, Wording.status(.processing))
        phone.pass(.seconds(2))
        let record = try #require(phone.record)
        var next = TestPhone(profile: Self.profile(.always) { $0.requestsMax = 1 }, restored: [record])
        #expect(next.request(.status)?.attempt == 2)
        next.answer(.status, 200, Wording.status(.completed))
        next.answer(.results, 200, Wording.results(books: 1))
        #expect(next.store.books.count == 1)
    }

    @Test func `a profile that removes what has failed removes the scan`() {
        var profile = Self.profile(.always) { $0.requestsMax = 1 }
        profile.failedScans = .removed
        var phone = TestPhone(profile: profile)
        phone.capture(1)
        phone.accept()
        phone.pass(.seconds(2))
        phone.answer(.status, 200, Wording.status(.processing))
        phone.pass(.seconds(2))
        phone.answer(.cleanup, 204)
        #expect(phone.store.scans.isEmpty && phone.store.books.isEmpty)
    }

    // MARK: The phone around it

    @Test func `a path that is lost is no failure, and none is requested without it`() {
        var phone = Self.asked()
        for _ in 0..<8 {
            phone.handle(.pathLost)
            phone.pass(.seconds(60))
            #expect(phone.request(.status) == nil)
            phone.handle(.pathReturned)
            poll(&phone)
            #expect(phone.waiting.isEmpty)
            phone.answer(.status, 200, Wording.status(.processing))
            poll(&phone)
        }
    }

    @Test func `a path that returns does not shorten the interval`() {
        var phone = Self.asked()
        phone.answer(.status, 200, Wording.status(.processing))
        phone.handle(.pathLost)
        phone.pass(.milliseconds(100))
        phone.handle(.pathReturned)
        phone.pass(.milliseconds(1_899))
        #expect(phone.request(.status) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.status) != nil)
    }

    @Test(arguments: [true, false])
    func `the background deletes the job, and the scan waits`(isUnderWay: Bool) {
        var phone = isUnderWay ? Self.asked() : Self.accepted()
        phone.handle(.suspended)
        #expect(phone.request(.status) == nil && phone.request(.cleanup) != nil)
        #expect(phone.waiting == ["1 suspended"])
    }

    // MARK: After a loss

    @Test func `a lost stream is not opened again, and the status is requested`() {
        var phone = TestPhone(profile: Self.profile(.afterLoss))
        phone.captureToStream()
        phone.fail(.stream, .reset)
        #expect(phone.payloads.last == .reconnectSuperseded(job: "job-1", .reset, attempts: 0))
        phone.pass(.milliseconds(500))
        #expect(phone.request(.stream) == nil && phone.request(.status) != nil)
        phone.answer(.status, 200, Wording.status(.completed))
        phone.answer(.results, 200, Wording.results(books: 1))
        #expect(phone.store.books.count == 1)
    }

    @Test(arguments: [429, 503, 403])
    func `a stream that is refused is not requested again`(status: Int) {
        var phone = TestPhone(profile: Self.profile(.afterLoss))
        phone.capture(1)
        phone.accept()
        phone.answer(.stream, status)
        phone.pass(.seconds(1))
        #expect(phone.request(.stream) == nil && phone.request(.status) != nil)
    }

    @Test func `a stream on another server is not the end`() {
        var phone = TestPhone(profile: Self.profile(.afterLoss))
        phone.capture(1)
        phone.accept()
        phone.fail(.stream, .foreignURL)
        phone.pass(.seconds(1))
        #expect(phone.waiting.isEmpty && phone.request(.status) != nil)
    }

    @Test func `a stream that brings the end needs no status`() {
        var phone = TestPhone(profile: Self.profile(.afterLoss))
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        phone.pass(.seconds(10))
        #expect(requests(phone) == 0 && phone.store.books.count == 1)
    }

    @Test func `a phone that does not poll requests no status, whatever happens`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.fail(.stream, .reset)
        phone.pass(.seconds(60))
        #expect(phone.request(.status) == nil && phone.request(.stream) != nil)
    }
}
