import SimBase
import Testing

@testable import Phone

/// What a phone holds when it has nothing left to do: thousands of them are idle at any time.
struct RoomTests {
    @Test func `a phone that is done gives back the room of its journeys, requests and cleanups`() {
        var phone = TestPhone()
        for scan in 1...3 as ClosedRange<UInt32> { phone.captureToStream(scan, job: "job-\(scan)") }
        #expect(phone.app.active.capacity > 0 && phone.app.exchanges.capacity > 0)
        for scan in 1...3 as ClosedRange<UInt32> {
            phone.stream(Wording.completed(job: "job-\(scan)", books: 1), scan)
            phone.answer(.cleanup, 204, scan: scan)
        }
        phone.pass(.seconds(1))
        #expect(phone.app.isQuiescent)
        #expect(phone.app.active.capacity == 0)
        #expect(phone.app.exchanges.capacity == 0)
        #expect(phone.app.cleanups.capacity == 0)
    }
}
