import Phone
import SimBase
import Talaria
import Testing

/// No path, and its return.
struct PathTests {
    @Test func `losing the path gives up every request and returns uploads to the queue`() {
        var phone = TestPhone()
        phone.captureToStream(1)
        phone.capture(2)
        phone.captureToStream(3, job: "job-3")
        phone.stream(Wording.completed(rawBooks: nil, job: "job-3"), 3)
        _ = phone.takeSightings()
        phone.handle(.pathLost)
        #expect(phone.open == [])
        #expect(
            phone.takeSightings() == [
                .pathLost,
                .streamLost(job: "job-1", attempt: 1, .offline, silence: nil),
                .requestFailed(.upload, attempt: 1, .noPath, took: .zero), .queued(.offline), .slotGiven,
                .requestFailed(.results, attempt: 1, .noPath, took: .zero),
            ])
        #expect(phone.waiting == ["2 offline"])
        phone.capture(4)
        #expect(phone.waiting == ["2 offline", "4 offline"])
        phone.pass(.hours(1))
        #expect(phone.open == [], "without a path nothing is tried")
        #expect(phone.app.nextWake == nil)
    }

    @Test func `everything tries again within the jittered half second, the queue oldest first`() {
        var phone = TestPhone()
        phone.captureToStream(1)
        phone.stream(Wording.progress("1"), 1)
        phone.handle(.pathLost)
        for scan: UInt32 in 2...4 { phone.capture(scan) }
        phone.pass(.seconds(60))
        phone.handle(.pathReturned)
        phone.capture(5)  // Newer than those that waited: it does not slip past them.
        let start = phone.now
        var order: [UInt32] = []
        var moments: Set<Int64> = []
        while phone.now - start < .milliseconds(500) {
            let before = phone.open.count
            phone.pass(.milliseconds(1))
            if phone.open.count > before { moments.insert((phone.now - start).wholeMilliseconds) }
            order = phone.open.filter { $0.operation == .upload }.map(\.scan.raw)
        }
        #expect(order == [2, 3, 4, 5])
        #expect(phone.request(.stream, 1)?.headers.contains(HeaderField("Last-Event-ID", "1")) == true)
        #expect(moments.count == 2, "streams have their own moment")
    }

    @Test func `a path that returns ends a backoff, but not what a server asked for`() {
        var phone = TestPhone()
        phone.capture(1)
        for _ in 0..<9 {
            phone.answer(.upload, 500)
            phone.pass(.seconds(30))
        }
        phone.answer(.upload, 500)
        phone.capture(2)
        phone.answer(.upload, 500, scan: 2, retryAfter: "20")
        phone.captureToStream(3, job: "job-3")
        phone.fail(.stream, .reset, scan: 3)
        phone.pass(.seconds(1))
        phone.answer(.stream, 503, scan: 3, retryAfter: "20")
        phone.handle(.pathLost)
        phone.handle(.pathReturned)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.upload, 1) != nil)
        #expect(phone.request(.upload, 2) == nil)
        #expect(phone.request(.stream, 3) == nil)
        phone.pass(.seconds(20))
        #expect(phone.request(.upload, 2) != nil)
        #expect(phone.request(.stream, 3) != nil)
    }

    @Test func `the rate limit outlasts a lost path`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 5_000))
        phone.handle(.pathLost)
        phone.handle(.pathReturned)
        phone.pass(.milliseconds(4_999))
        #expect(phone.open == [])
        phone.pass(.milliseconds(1))
        #expect(phone.request(.upload) != nil)
    }

    @Test func `a job recorded while the path is away is followed when it returns`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.storesByItself = false
        phone.accept()
        phone.handle(.pathLost)
        phone.handle(.stored(phone.lastWriteID))
        #expect(phone.open == [])
        phone.handle(.pathReturned)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.stream) != nil)
        #expect(phone.payloads.contains(.streamLost(job: "job-1", attempt: 1, .offline, silence: nil)))
    }

    @Test func `a path lost or returned twice is nothing new`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.handle(.pathReturned)
        #expect(phone.request(.upload) != nil)
        phone.handle(.pathLost)
        _ = phone.take()
        phone.handle(.pathLost)
        #expect(phone.take() == [])
    }

    @Test func `the failure that the driver saw before the path was reported waits as offline`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.fail(.upload, .noPath)
        #expect(phone.waiting == ["1 offline"])
    }
}
