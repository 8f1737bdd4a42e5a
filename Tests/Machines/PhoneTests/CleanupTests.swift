import Observations
import Phone
import SimBase
import Talaria
import Testing

/// DELETE: one that takes effect, in as many requests as it needs.
struct CleanupTests {
    private func filed() -> TestPhone {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        phone.answerEnd(.stream)
        _ = phone.takeSightings()
        return phone
    }

    @Test(arguments: [200, 204, 299, 404, 410])
    func `done is done, by this request or before it`(status: Int) {
        var phone = filed()
        phone.answer(.cleanup, status)
        #expect(
            phone.takeSightings() == [
                .replied(.cleanup, attempt: 1, status: status, took: .zero),
                .cleanupAnswered(job: "job-1", status: status, took: .zero),
            ])
        #expect(phone.store.settled.map(\.outcome) == [.completed])
        #expect(phone.app.isQuiescent)
    }

    @Test(arguments: [
        (401, AbandonCause.waiting(.tokenExpired)), (403, .status(403)), (302, .status(302)),
        (400, .status(400)),
    ])
    func `a job that is not ours to delete is abandoned and not tried again`(
        status: Int, cause: AbandonCause
    ) {
        var phone = filed()
        phone.answer(.cleanup, status)
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: cause)))
        #expect(phone.store.settled.map(\.outcome) == [.completed])
        phone.pass(.hours(1))
        #expect(phone.open == [])
    }

    @Test(arguments: [
        (ProblemCode.tokenExpired, WaitingCause.tokenExpired), (.invalidToken, .tokenRefused),
    ]) func `the code of a 401 to a DELETE says why the job is abandoned`(
        code: ProblemCode, cause: WaitingCause
    ) {
        var phone = filed()
        phone.answer(.cleanup, 401, Wording.problem(code))
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .waiting(cause))))
    }

    @Test func `a failed DELETE is tried again by backoff, and the scan counts as completed all the while`() {
        var phone = filed()
        #expect(phone.store.scans.map(\.completed) == [true])
        phone.answer(.cleanup, 500)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.cleanup)?.attempt == 2)
        phone.fail(.cleanup, .reset)
        phone.pass(.seconds(1))
        #expect(phone.request(.cleanup)?.attempt == 3)
        #expect(phone.app.slotsTaken == 0)
        phone.answer(.cleanup, 404)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }

    @Test func `after a named number of requests the job is abandoned`() {
        var phone = filed()
        for request in 1...ClientProfile.contract.cleanup.requestsMax {
            #expect(phone.request(.cleanup)?.attempt == UInt32(request))
            phone.answer(.cleanup, 503)
            phone.pass(.seconds(30))
        }
        #expect(phone.open == [])
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .waiting(.serverError))))
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }

    @Test func `a time that the server names is waited out`() {
        var phone = filed()
        phone.answer(.cleanup, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 40_000))
        #expect(phone.payloads.contains(.rateLimited(.cleanup, retryAfter: .seconds(40))))
        phone.capture(2)
        #expect(phone.request(.upload, 2) != nil, "the gate before uploads is another")
        phone.pass(.milliseconds(39_999))
        #expect(phone.request(.cleanup) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.cleanup)?.attempt == 2)
    }

    @Test func `a slot is taken until the stream is over, also where the DELETE is answered before`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
        #expect(phone.app.slotsTaken == 1)
        phone.pass(AppLimits.drainGrace - .milliseconds(1))
        #expect(phone.app.slotsTaken == 1 && !phone.app.isQuiescent)
        phone.pass(.milliseconds(1))
        #expect(phone.app.slotsTaken == 0 && phone.app.isQuiescent)
        #expect(phone.payloads.last == .slotGiven)
        #expect(phone.payloads.count { $0 == .slotGiven } == 1)
    }

    @Test func `a scan that has its slot again does not wait for its last stream`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(rawBooks: nil))
        _ = phone.takeSightings()
        phone.answer(.results, 401, Wording.problem(.tokenExpired))
        #expect(
            phone.takeSightings().suffix(4) == [
                .queued(.tokenExpired), .slotGiven, .slotTaken,
                .requestSent(.upload, attempt: 2, job: nil, lastEventID: nil),
            ])
        #expect(phone.app.slotsTaken == 1)
        #expect(phone.request(.stream) == nil)
    }

    @Test func `a DELETE holds no slot, whether it is under way or waits to be repeated`() {
        var phone = TestPhone()
        for scan: UInt32 in 1...18 {
            phone.captureToStream(scan, job: "job-\(scan)")
            phone.stream(Wording.completed(job: "job-\(scan)", books: 1), scan)
            phone.answerEnd(.stream, scan: scan)
            #expect(phone.app.slotsTaken == 0)
            if scan.isMultiple(of: 2) { phone.answer(.cleanup, 503, scan: scan, retryAfter: "600") }
        }
        #expect(phone.payloads.count { if case .completed = $0 { true } else { false } } == 18)
        #expect(phone.payloads.count { $0 == .slotGiven } == 18)
        phone.capture(19)
        #expect(phone.request(.upload, 19) != nil)
    }

    @Test func `a bounded number of DELETEs is under way, and the others follow`() {
        var phone = TestPhone()
        let most = AppLimits.cleanupsSentMax
        for scan in 1...UInt32(most + 2) {
            phone.captureToStream(scan, job: "job-\(scan)")
            phone.stream(Wording.completed(job: "job-\(scan)", books: 1), scan)
            phone.answerEnd(.stream, scan: scan)
        }
        #expect(phone.open.map(\.scan.raw) == (1...most).map { UInt32($0) })
        phone.answer(.cleanup, 204, scan: 3)
        #expect(phone.open.last?.scan.raw == UInt32(most + 1))
        phone.answer(.cleanup, 204, scan: 4)
        #expect(phone.open.last?.scan.raw == UInt32(most + 2))
    }

    @Test func `without a path it waits, and that is no failure`() {
        var phone = filed()
        for _ in 0..<(2 * ClientProfile.contract.cleanup.requestsMax) {
            phone.handle(.pathLost)
            phone.pass(.seconds(60))
            #expect(phone.request(.cleanup) == nil)
            phone.handle(.pathReturned)
            phone.pass(.milliseconds(500))
            #expect(phone.request(.cleanup) != nil)
        }
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }
}
