import Faults
import SimBase
import Testing

struct LinkTests {
    private let lte = LinkProfile(
        up: LinkDirection(delay: .milliseconds(65), bitsPerSecond: 10_000_000),
        down: LinkDirection(delay: .milliseconds(50), bitsPerSecond: 50_000_000))

    @Test func `a byte arrives after the time to send it and the delay`() {
        var queue = LinkQueue(lte.up, readyAt: .zero)
        // 250,000 bytes at 10 Mbps are 200 ms on the wire.
        #expect(queue.admit(bytes: 250_000, at: .zero) == Instant.zero + .milliseconds(265))
        #expect(queue.backlog(at: .zero + .milliseconds(50)) == .milliseconds(150))
        #expect(queue.backlog(at: seconds(9)) == .zero)
    }

    @Test func `what is handed over together is sent one after the other`() {
        var queue = LinkQueue(LinkDirection(delay: .milliseconds(10), bitsPerSecond: 8_000), readyAt: .zero)
        #expect(queue.admit(bytes: 1_000, at: .zero) == Instant.zero + .milliseconds(1_010))
        #expect(queue.admit(bytes: 500, at: .zero) == Instant.zero + .milliseconds(1_510))
        #expect(queue.admit(bytes: 1, at: seconds(5)) == Instant.zero + .milliseconds(5_011))
    }

    @Test func `order is kept whatever is handed over when`() {
        var queue = LinkQueue(lte.down, readyAt: .zero)
        let random = KeyedRandom(seed: 5)
        var now = Instant.zero
        var last = Instant.zero
        for step in UInt64(0)..<1_000 {
            now = now + .microseconds(Int64(random.below(300, .test, step)))
            let arrival = queue.admit(bytes: Int(random.below(3_000, .test, step, 1)), at: now)
            #expect(arrival >= last)
            #expect(arrival >= now + .milliseconds(50))
            last = arrival
        }
    }

    @Test func `a new connection is charged one round trip`() {
        var (up, down) = lte.connection(acceptedAt: seconds(1), random: KeyedRandom(seed: 1))
        #expect(up.admit(bytes: 0, at: seconds(1)) == seconds(1) + .milliseconds(115 + 65))
        #expect(down.admit(bytes: 0, at: seconds(2)) == seconds(2) + .milliseconds(50))
    }

    @Test func `a perfect link adds nothing`() {
        var (up, down) = LinkProfile.perfect.connection(acceptedAt: seconds(3), random: KeyedRandom(seed: 1))
        #expect(up.admit(bytes: 10_000_000, at: seconds(3)) == seconds(3))
        #expect(down.admit(bytes: 10_000_000, at: seconds(3)) == seconds(3))
    }

    @Test func `sending time is rounded up and saturates`() {
        let direction = LinkDirection(delay: .zero, bitsPerSecond: 3)
        #expect(direction.time(toSend: 1) == .nanoseconds(2_666_666_667))
        #expect(direction.time(toSend: 0) == .zero)
        #expect(
            LinkDirection(delay: .zero, bitsPerSecond: 1).time(toSend: .max) == Interval(nanoseconds: .max))
        var queue = LinkQueue(LinkDirection(delay: .hours(1), bitsPerSecond: 1), readyAt: .zero)
        #expect(queue.admit(bytes: .max, at: seconds(1)) == .distantFuture)
        #expect(queue.admit(bytes: .max, at: seconds(2)) == .distantFuture)
    }

    @Test func `presets are found by name, and lte has a round trip of 115 ms`() {
        #expect(LinkPreset.named("lte")?.profile == lte)
        #expect(lte.roundTrip == .milliseconds(115))
        #expect(
            LinkPreset.named("3g")?.profile.down
                == LinkDirection(delay: .milliseconds(100), bitsPerSecond: 780_000))
        #expect(
            LinkPreset.named("edge")?.profile.up
                == LinkDirection(delay: .milliseconds(440), bitsPerSecond: 200_000))
        #expect(LinkPreset.named("perfect")?.profile == .perfect)
        #expect(LinkPreset.named("5g") == nil)
        #expect(Set(LinkPreset.all.map(\.name)).count == LinkPreset.all.count)
        #expect(LinkPreset.all.allSatisfy { !$0.source.isEmpty })
    }

    @Test func `a slow resolver holds up what a new connection sends first, and nothing after`() throws {
        let link = try #require(LinkPreset.named("high-latency-dns")).profile
        var (up, _) = link.connection(acceptedAt: .zero, random: KeyedRandom(seed: 1))
        #expect(up.admit(bytes: 100, at: .zero) == .zero + .seconds(3))
        #expect(up.admit(bytes: 100, at: .zero + .seconds(5)) == .zero + .seconds(5))
    }
}
