import Faults
import OriginServer
import SimBase
import Talaria
import Testing

@Suite struct RateLimiterTests {
    private static func key(_ number: Int) -> DeviceKey? {
        DeviceKey(header: "3f2504e0-4f89-41d3-9a0c-" + Hexadecimal.text(UInt64(number), digits: 12))
    }

    @Test func `the window slides`() throws {
        let device = try #require(Self.key(1))
        var limiter = RateLimiter(quota: Quota(requests: 2, window: .seconds(10)))
        func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }
        #expect(limiter.ask(.device(device), at: at(0)) == .admitted(remaining: 1, reset: at(10)))
        #expect(limiter.ask(.device(device), at: at(4)) == .admitted(remaining: 0, reset: at(10)))
        #expect(limiter.ask(.device(device), at: at(5)) == .limited(until: at(10)))
        #expect(limiter.ask(.device(device), at: at(10) - .nanoseconds(1)) == .limited(until: at(10)))
        #expect(limiter.ask(.device(device), at: at(10)) == .admitted(remaining: 0, reset: at(14)))
        #expect(limiter.ask(.device(device), at: at(10)) == .limited(until: at(14)))
        #expect(limiter.ask(.device(device), at: at(40)) == .admitted(remaining: 1, reset: at(50)))
    }

    @Test func `every device has a window of its own`() throws {
        var limiter = RateLimiter(quota: Quota(requests: 1, window: .seconds(10)))
        let (one, two) = (try #require(Self.key(1)), try #require(Self.key(2)))
        #expect(limiter.ask(.device(one), at: .zero) == .admitted(remaining: 0, reset: .zero + .seconds(10)))
        #expect(limiter.ask(.device(two), at: .zero) == .admitted(remaining: 0, reset: .zero + .seconds(10)))
        #expect(limiter.ask(.device(one), at: .zero) == .limited(until: .zero + .seconds(10)))
    }

    @Test func `a quota of nothing admits nothing`() throws {
        var limiter = RateLimiter(quota: Quota(requests: 0, window: .seconds(10)))
        #expect(
            limiter.ask(.device(try #require(Self.key(1))), at: .zero)
                == .limited(until: .zero + .seconds(10)))
    }

    @Test func `devices whose window is over are forgotten`() throws {
        var limiter = RateLimiter(quota: Quota(requests: 1, window: .seconds(1)))
        for number in 0..<10_000 {
            _ = limiter.ask(
                .device(try #require(Self.key(number))), at: .zero + .milliseconds(Int64(number) * 10))
        }
        #expect(limiter.devices <= 2_048)
    }
}
