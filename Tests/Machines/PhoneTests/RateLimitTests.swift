import SimBase
import Talaria
import Testing

@testable import Phone

/// 429 on upload: one gate before all uploads of the phone.
struct RateLimitTests {
    private func limited(_ milliseconds: Int64?, retryAfter: String? = nil) -> TestPhone {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(
            .upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: milliseconds),
            retryAfter: retryAfter)
        return phone
    }

    /// How long the phone keeps from uploading.
    private func wait(_ phone: TestPhone) -> Interval? {
        var phone = phone
        guard let wake = phone.app.nextWake else { return nil }
        let wait = wake - phone.now
        phone.pass(wait - .nanoseconds(1))
        #expect(phone.request(.upload) == nil)
        phone.pass(.nanoseconds(1))
        #expect(phone.request(.upload)?.attempt == 2)
        return wait
    }

    @Test func `retryAfterMs is obeyed to the millisecond, before the header`() {
        let phone = limited(1_234, retryAfter: "9")
        #expect(phone.payloads.contains(.rateLimited(.upload, retryAfter: .milliseconds(1_234))))
        #expect(phone.waiting == ["1 rate-limited"])
        #expect(phone.record?.cause == "rate-limited")
        #expect(wait(phone) == .milliseconds(1_234))
    }

    @Test func `a wait for a stream outlives the background where its job is kept`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        phone.answer(.stream, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 9_000))
        phone.handle(.pathLost)  // Without a path the job cannot be deleted.
        phone.handle(.suspended)
        phone.pass(.seconds(1))
        phone.handle(.resumed)
        phone.handle(.pathReturned)
        phone.pass(.seconds(8) - .nanoseconds(1))
        #expect(phone.request(.stream) == nil)
        phone.pass(.nanoseconds(1))
        #expect(phone.request(.stream) != nil)
    }

    @Test func `without it the header counts, in seconds`() {
        #expect(wait(limited(nil, retryAfter: "9")) == .seconds(9))
        #expect(wait(limited(nil, retryAfter: " 9 ")) == .seconds(9))
    }

    @Test func `or as a date, by the phone's own clock`() {
        // 1,700,000,000 s is Tue, 14 Nov 2023 22:13:20 GMT.
        #expect(wait(limited(nil, retryAfter: "Tue, 14 Nov 2023 22:13:50 GMT")) == .seconds(30))
        var phone = TestPhone()
        phone.now = .zero + .microseconds(1_500_300)
        phone.capture(1)
        phone.answer(.upload, 429, retryAfter: "Tue, 14 Nov 2023 22:13:50 GMT")
        #expect(wait(phone) == .microseconds(28_499_700))
    }

    @Test(arguments: ["Mon, 01 Jan 0001 00:00:00 GMT", "Sat, 01 Jan 1600 00:00:00 GMT"])
    func `a date of long ago, such as the zero time of Go, is no wait`(header: String) {
        #expect(wait(limited(nil, retryAfter: header)) == wait(limited(nil)))
    }

    @Test func `a date in the distant future is bounded as every wait is`() {
        let phone = limited(nil, retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(wait(phone) == AppLimits.serverWaitMax)
    }

    @Test(arguments: [
        nil, "", "soon", "-5", "1.5", "5 s", "Tue, 14 Nov 2023 22:13:10 GMT",
        "Tue, 99 Nov 2023 22:13:10 GMT",
    ])
    func `a wait that is none is the profile's`(header: String?) {
        #expect(wait(limited(nil, retryAfter: header)) == .seconds(60))
        #expect(wait(limited(-1, retryAfter: header)) == .seconds(60))
    }

    @Test func `a wait of zero adds nothing, and the backoff still applies`() {
        for phone in [limited(0), limited(0, retryAfter: "9"), limited(nil, retryAfter: "0")] {
            #expect(phone.payloads.contains(.rateLimited(.upload, retryAfter: .zero)))
            let pause = wait(phone) ?? .hours(1)
            #expect(.zero < pause && pause <= ClientProfile.contract.backoff.base)
        }
    }

    @Test func `a server that says now again and again is asked ever more rarely`() {
        var phone = limited(0)
        for _ in 0..<8 {
            phone.pass(.seconds(30))
            phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 0))
        }
        let pauses = (0..<20).map { _ -> Interval in
            let begin = phone.now
            while phone.request(.upload) == nil, let wake = phone.app.nextWake {
                phone.pass(wake - phone.now)
            }
            phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 0))
            return phone.now - begin
        }
        #expect(pauses.reduce(.zero, +) > .seconds(60), "twenty pauses of 15 s on average")
    }

    @Test func `an absurd wait is shortened to a year`() {
        #expect(wait(limited(.max)) == .hours(24 * 365))
        #expect(wait(limited(nil, retryAfter: "99999999999999999999")) == .hours(24 * 365))
        #expect(wait(limited(nil, retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT")) == .hours(24 * 365))
    }

    @Test func `a body that is not a problem still has its header`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 429, Array("<html>slow down</html>".utf8), type: "text/html", retryAfter: "3")
        #expect(wait(phone) == .seconds(3))
    }

    @Test func `a partial problem body still has its time`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 429, Array(#"{"retryAfterMs":777,"metadata":{"a":1}}"#.utf8))
        #expect(wait(phone) == .milliseconds(777))
    }

    @Test func `the gate holds every upload, and they go oldest first when it opens`() {
        var phone = TestPhone()
        for scan: UInt32 in 1...3 { phone.capture(scan) }
        phone.answer(
            .upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 2_000), scan: 2)
        phone.capture(4)  // While the gate is shut: it waits for the same reason.
        #expect(phone.waiting == ["2 rate-limited", "4 rate-limited"])
        #expect(phone.open.map(\.scan.raw) == [1, 3])
        phone.pass(.milliseconds(1_999))
        #expect(phone.open.map(\.scan.raw) == [1, 3])
        phone.pass(.milliseconds(1))
        #expect(phone.open.map(\.scan.raw) == [1, 3, 2, 4])
    }

    @Test func `a later 429 never shortens the wait`() {
        var phone = TestPhone()
        for scan: UInt32 in 1...2 { phone.capture(scan) }
        phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 9_000), scan: 1)
        phone.now = .zero + .seconds(1)
        phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 500), scan: 2)
        phone.pass(.milliseconds(7_999))
        #expect(phone.open == [])
        phone.pass(.milliseconds(1))
        #expect(phone.open.map(\.scan.raw) == [1, 2])
    }

    @Test func `a running stream does not care about the gate`() {
        var phone = TestPhone()
        phone.captureToStream(1)
        phone.capture(2)
        phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 60_000), scan: 2)
        phone.fail(.stream, .reset)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.stream, 1)?.attempt == 2)
    }

    @Test func `the gate remembers the latest opening`() {
        var gate = RateGate(opensAt: .zero)
        #expect(gate.isOpen(at: .zero))
        gate.limited(for: .seconds(5), at: .zero)
        gate.limited(for: .seconds(1), at: .zero + .seconds(2))
        #expect(gate.opensAt == .zero + .seconds(5))
        #expect(!gate.isOpen(at: .zero + .nanoseconds(4_999_999_999)))
        #expect(gate.isOpen(at: .zero + .seconds(5)))
        gate.limited(for: .seconds(4), at: .zero + .seconds(2))
        #expect(gate.opensAt == .zero + .seconds(6))
    }
}
