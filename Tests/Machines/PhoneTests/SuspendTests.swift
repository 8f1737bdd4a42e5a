import Phone
import SimBase
import Talaria
import Testing

/// The end of a run.
struct SuspendTests {
    @Test func `running jobs are deleted and their scans return to the queue`() {
        var phone = TestPhone()
        phone.captureToStream(1)
        phone.capture(2)
        phone.accept(2, job: "job-2")
        phone.capture(3)
        _ = phone.takeSightings()
        phone.handle(.suspended)
        #expect(phone.open.map(\.operation) == [.cleanup, .cleanup])
        #expect(phone.waiting == ["1 suspended", "2 suspended", "3 suspended"])
        #expect(phone.store.scans.allSatisfy { $0.job == nil && $0.cause == "suspended" })
        #expect(!phone.app.isQuiescent)
        phone.answer(.cleanup, 204, scan: 1)
        phone.fail(.cleanup, .reset, scan: 2)
        #expect(phone.app.isQuiescent)
        #expect(phone.app.nextWake == nil)
        #expect(phone.payloads.contains(.cleanupAnswered(job: "job-1", status: 204, took: .zero)))
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-2", cause: .waiting(.transport))))
        #expect(phone.app.slotsTaken == 0)
    }

    @Test func `nothing is started afterwards`() {
        var phone = TestPhone()
        phone.preparesByItself = false
        phone.capture(1)
        phone.handle(.suspended)
        _ = phone.take()
        phone.capture(2)
        #expect(phone.take() == [])
        phone.handle(.photoPrepared(scan: ScanNumber(1), bytes: 5, took: .zero))
        #expect(phone.take().contains(.releasePhoto(ScanNumber(1))))
        phone.handle(.pathLost)
        phone.handle(.pathReturned)
        phone.pass(.hours(1))
        #expect(phone.open == [])
        #expect(phone.store.scans.map(\.scan) == [1])
    }

    @Test func `a cause that says more is kept`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.capture(2)
        phone.answer(.upload, 503, scan: 1)
        phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 60_000), scan: 2)
        phone.handle(.pathLost)
        phone.capture(3)
        phone.handle(.suspended)
        #expect(phone.waiting == ["1 server-error", "2 rate-limited", "3 offline"])
        #expect(phone.app.isQuiescent)
    }

    @Test(arguments: [
        (TransportFailure.timedOut, "no-answer"), (.connectRefused, "transport"), (.reset, "transport"),
    ])
    func `a job whose stream was not opened waits for what kept it closed`(
        failure: TransportFailure, cause: String
    ) {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        phone.fail(.stream, failure)
        phone.handle(.suspended)
        #expect(phone.waiting == ["1 \(cause)"])
    }

    @Test func `a scan that never had its turn says why`() {
        var profile = ClientProfile.contract
        profile.stream.slots = 1
        var phone = TestPhone(profile: profile)
        phone.capture(1)
        phone.capture(2)
        phone.handle(.suspended)
        #expect(phone.waiting == ["1 suspended", "2 suspended"])
        #expect(phone.store.scans.map(\.cause) == ["suspended", "suspended"])
    }

    @Test func `a record that is not durable yet keeps the phone from being done`() {
        var phone = TestPhone()
        phone.storesByItself = false
        phone.capture(1)
        phone.handle(.suspended)
        #expect(!phone.app.isQuiescent)
        #expect(!phone.payloads.contains(.queued(.suspended)))
        phone.handle(.stored(phone.lastWriteID))
        #expect(phone.app.isQuiescent)
        #expect(phone.payloads.contains(.queued(.suspended)))
    }

    @Test func `a completed scan still finishes its DELETE, with as many requests as it needs`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        phone.handle(.suspended)
        #expect(phone.app.slotsTaken == 0)
        phone.answer(.cleanup, 500)
        #expect(!phone.app.isQuiescent)
        phone.pass(.seconds(1))
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
        #expect(phone.app.isQuiescent)
        #expect(phone.payloads.count { $0 == .slotGiven } == 1)
    }

    @Test func `books that are not durable yet become so, then their job is deleted`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.storesByItself = false
        phone.stream(Wording.completed(books: 1))
        phone.handle(.suspended)
        #expect(!phone.app.isQuiescent)
        phone.handle(.stored(phone.lastWriteID))
        #expect(phone.payloads.contains(.completed(took: .zero)))
        phone.answer(.cleanup, 204)
        #expect(phone.app.isQuiescent)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }

    @Test func `without a path the job stays in the record for the next launch`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.progress("4"))
        phone.handle(.pathLost)
        phone.handle(.suspended)
        #expect(phone.app.isQuiescent)
        #expect(phone.waiting == ["1 offline"])
        #expect(phone.payloads.contains(.reconnectGivenUp(job: "job-1", .offline, attempts: 0)))
        let next = TestPhone(restored: phone.store.scans)
        #expect(next.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "4")) == true)
    }

    @Test func `a failed job whose DELETE has no path is abandoned`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.error(retryable: true))
        phone.handle(.pathLost)
        phone.handle(.suspended)
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .waiting(.offline))))
        #expect(phone.waiting == ["1 retryable-error"])
        #expect(phone.app.isQuiescent)
    }

    @Test func `a path lost while the jobs are deleted abandons them`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.handle(.suspended)
        phone.handle(.pathLost)
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .waiting(.offline))))
        #expect(phone.app.isQuiescent)
    }

    @Test func `a completed scan whose DELETE has no path is left to the next launch`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        phone.handle(.pathLost)
        phone.handle(.suspended)
        #expect(phone.app.isQuiescent)
        #expect(phone.store.scans.map(\.completed) == [true])
        var next = TestPhone(restored: phone.store.scans)
        #expect(next.payloads.first == .launched(restored: 0))
        next.answer(.cleanup, 204)
        #expect(next.store.settled.map(\.outcome) == [.completed])
    }

    @Test func `a DELETE is not sent before the record says that the job is not needed`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.storesByItself = false
        phone.handle(.suspended)
        phone.handle(.stored(WriteID(phone.lastWriteID.raw - 1)))
        #expect(phone.open == [])
        phone.handle(.stored(phone.lastWriteID))
        #expect(phone.open.map(\.operation) == [.cleanup])
    }

    @Test func `suspended twice is suspended once`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.handle(.suspended)
        _ = phone.take()
        phone.handle(.suspended)
        #expect(phone.take() == [])
    }
}
