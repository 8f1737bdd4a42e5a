import SimBase
import Testing

@testable import Phone

struct BackoffTests {
    private let policy = BackoffPolicy(base: .milliseconds(500), cap: .seconds(30))

    /// The longest and the shortest waits of a run of failures.
    private func waits(_ count: Int, draw: UInt64, raised: Interval? = nil) -> [Int64] {
        var backoff = Backoff()
        if let raised { backoff.raise(base: raised) }
        return (0..<count).map { _ in backoff.failed(policy, draw: draw).wholeMilliseconds }
    }

    @Test func `the ceiling doubles from the base to the cap and stays there`() {
        #expect(waits(9, draw: .max) == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
        #expect(waits(200, draw: .max).suffix(100).allSatisfy { $0 == 30_000 })
    }

    @Test func `the jitter is full`() {
        #expect(waits(9, draw: 0) == [0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(waits(3, draw: 1 << 63) == [250, 500, 1_000])
    }

    @Test func `success leads back to the base`() {
        var backoff = Backoff()
        for _ in 0..<5 { _ = backoff.failed(policy, draw: .max) }
        backoff.succeeded()
        #expect(backoff.failed(policy, draw: .max) == .milliseconds(500))
    }

    @Test func `a server's retry raises the base but not the cap, and never lowers it`() {
        #expect(waits(5, draw: .max, raised: .seconds(5)) == [5_000, 10_000, 20_000, 30_000, 30_000])
        #expect(waits(2, draw: .max, raised: .hours(1)) == [30_000, 30_000])
        #expect(waits(2, draw: .max, raised: .milliseconds(1)) == [500, 1_000])
    }

    @Test func `a base above the cap is the cap`() {
        var backoff = Backoff()
        let odd = BackoffPolicy(base: .seconds(40), cap: .seconds(30))
        #expect(backoff.failed(odd, draw: .max) == .seconds(30))
    }
}

struct DeviceIdentityTests {
    @Test func `an identity is a UUID of version 4, uppercase, and the same for the same seed and phone`() {
        var seen: Set<String> = []
        for seed: UInt64 in 0..<20 {
            for device: UInt32 in 0..<20 {
                let random = KeyedRandom(seed: seed)
                let text = DeviceIdentity.draw(random, DeviceNumber(device)).text
                #expect(text == DeviceIdentity.draw(random, DeviceNumber(device)).text)
                #expect(DeviceIdentity(text: text)?.text == text)
                #expect(text == text.uppercased())
                seen.insert(text)
            }
        }
        #expect(seen.count == 400)
    }

    @Test(arguments: [
        "", "not a uuid", "00000000-0000-4000-8000-00000000000", "00000000-0000-1000-8000-000000000000",
        "00000000-0000-4000-7000-000000000000", "0000000000004000800000000000000000000",
        "0000000-00000-4000-8000-000000000000", "g0000000-0000-4000-8000-000000000000",
    ])
    func `other text is no identity`(text: String) {
        #expect(DeviceIdentity(text: text) == nil)
    }

    @Test func `a lowercase identity from a state folder is raised`() {
        #expect(
            DeviceIdentity(text: "abcdef00-0000-4000-b000-00000000000f")?.text
                == "ABCDEF00-0000-4000-B000-00000000000F")
    }
}
