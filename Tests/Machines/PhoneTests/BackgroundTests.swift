import Phone
import SimBase
import Talaria
import Testing

/// The app leaves the screen, and comes back.
struct BackgroundTests {
    @Test func `on return the queue goes on and what was cleaned up is uploaded again`() {
        var phone = TestPhone()
        for scan: UInt32 in 1...3 { phone.captureToStream(scan, job: "job-\(scan)") }
        phone.handle(.suspended)
        #expect(phone.open.map(\.operation) == [.cleanup, .cleanup, .cleanup])
        for scan: UInt32 in 1...3 { phone.answer(.cleanup, 204, scan: scan) }
        phone.pass(.minutes(1))
        #expect(phone.open == [], "nothing is sent from the background")
        #expect(phone.waiting == ["1 suspended", "2 suspended", "3 suspended"])
        phone.handle(.resumed)
        #expect(phone.payloads.contains(.resumed))
        #expect(phone.open.map(\.scan.raw) == [1, 2, 3])
        #expect(phone.open.allSatisfy { $0.operation == .upload && $0.attempt == 2 })
        for scan: UInt32 in 1...3 {
            phone.accept(scan, job: "again-\(scan)")
            phone.openStream(scan)
            phone.stream(Wording.completed(job: "again-\(scan)", books: 2), scan)
            phone.answer(.cleanup, 204, scan: scan)
        }
        #expect(phone.store.books.count == 6)
        #expect(phone.store.booksDoubled == 0)
        #expect(phone.store.settled.count == 3)
        phone.pass(AppLimits.drainGrace)
        #expect(phone.app.isQuiescent)
    }

    @Test func `the farewell ends when the background time is over`() {
        var phone = TestPhone()
        phone.captureToStream(1)
        phone.captureToStream(2, job: "job-2")
        phone.stream(Wording.completed(job: "job-2", books: 1), 2)
        phone.handle(.suspended)
        #expect(phone.open.map(\.operation) == [.cleanup, .cleanup])
        #expect(phone.app.nextWake == Instant.zero + AppLimits.backgroundTime)
        phone.pass(AppLimits.backgroundTime)
        #expect(phone.open == [])
        #expect(phone.app.nextWake == nil)
        #expect(phone.app.isQuiescent)
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .waiting(.suspended))))
        #expect(
            !phone.payloads.contains(.jobAbandoned(job: "job-2", cause: .waiting(.suspended))),
            "the DELETE of a completed scan is only put off")
        phone.handle(.resumed)
        #expect(phone.open.map(\.operation) == [.cleanup, .upload])
        phone.answer(.cleanup, 204, scan: 2)
        #expect(phone.store.settled.map(\.scan.raw) == [2])
    }

    @Test func `a failed DELETE is not repeated past the background time`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        phone.handle(.suspended)
        phone.answer(.cleanup, 503, retryAfter: "60")
        phone.pass(.minutes(10))
        #expect(phone.open == [])
        #expect(phone.app.isQuiescent)
        phone.handle(.resumed)
        #expect(phone.open.map(\.operation) == [.cleanup])
    }

    @Test func `a quick return does not stop the farewell`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.handle(.suspended)
        phone.now = phone.now + .milliseconds(100)
        phone.handle(.resumed)
        #expect(phone.open.map(\.operation) == [.cleanup, .upload])
        phone.accept(1, job: "job-9")
        phone.answer(.cleanup, 204)
        phone.openStream()
        phone.stream(Wording.completed(job: "job-9", books: 2))
        #expect(phone.request(.cleanup)?.target.contains("job-9") == true)
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }

    @Test func `a return from the background is like a launch for what was parked`() {
        var phone = TestPhone()
        phone.capture(1)
        for _ in 0...ClientProfile.contract.token.uploadsMax {
            phone.accept()
            phone.answer(.stream, 401, Wording.problem(.tokenExpired))
        }
        phone.capture(2)
        phone.answer(.upload, 503, scan: 2)
        phone.pass(.minutes(1))
        phone.answer(.upload, 503, scan: 2)
        #expect(phone.waiting == ["1 token-expired", "2 server-error"])
        phone.handle(.suspended)
        phone.pass(.minutes(1))
        phone.handle(.resumed)
        #expect(phone.open.map(\.scan.raw) == [1, 2], "parked scans and backoffs get another try")
    }

    @Test func `a 429 is obeyed through the background`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 60_000))
        phone.handle(.suspended)
        phone.pass(.seconds(20))
        phone.handle(.resumed)
        phone.pass(.milliseconds(39_999))
        #expect(phone.open == [])
        phone.pass(.milliseconds(1))
        #expect(phone.open.map(\.operation) == [.upload])
    }

    @Test func `a path that goes while the app is away is gone when it is back`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.handle(.suspended)
        phone.answer(.cleanup, 204)
        phone.handle(.pathLost)
        phone.handle(.resumed)
        #expect(phone.open == [])
        phone.handle(.pathReturned)
        phone.pass(.milliseconds(500))
        #expect(phone.open.map(\.operation) == [.upload])
    }

    @Test func `without a path the job is kept, and followed on return`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.progress("4"))
        phone.handle(.pathLost)
        phone.handle(.suspended)
        phone.handle(.pathReturned)
        phone.pass(.minutes(1))
        #expect(phone.open == [])
        phone.handle(.resumed)
        #expect(phone.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "4")) == true)
    }

    @Test func `returning without having left changes nothing`() {
        var phone = TestPhone()
        phone.captureToStream()
        _ = phone.take()
        phone.handle(.resumed)
        #expect(phone.take() == [])
    }

    @Test func `a photo that was asked for before the background and after it is not taken from its upload`()
    {
        var phone = TestPhone()
        phone.preparesByItself = false
        phone.capture(1)
        phone.handle(.suspended)
        phone.handle(.resumed)
        let prepared = AppEvent.photoPrepared(scan: ScanNumber(1), bytes: 1, took: .zero)
        phone.handle(prepared)
        #expect(phone.open.map(\.operation) == [.upload])
        _ = phone.take()
        phone.handle(prepared)
        #expect(!phone.take().contains(.releasePhoto(ScanNumber(1))))
        phone.answer(.upload, 503)
        phone.pass(.seconds(1))
        #expect(phone.open.map(\.operation) == [.upload], "tried again with the photo that is there")
    }

    @Test func `there is no shutter in the background`() {
        var phone = TestPhone()
        phone.handle(.suspended)
        _ = phone.take()
        phone.capture(1)
        #expect(phone.take() == [])
        phone.handle(.resumed)
        phone.capture(1)
        #expect(phone.open.map(\.scan.raw) == [1])
    }
}
