import Metrics
import SimBase
import Testing

@Suite struct TickLatenessTests {
    private static let interval = Interval.milliseconds(50)

    /// Ticks at their interval for 30 s, with one stall of this length.
    private static func late(_ stall: Interval) -> Interval? {
        var lateness = TickLateness(interval: Self.interval)
        var now = Instant.zero
        while now < .zero + .seconds(30) {
            let late = now == .zero + .seconds(10) ? stall : .zero
            now = now + Self.interval + late
            lateness.passed(to: now, late: late)
        }
        return lateness.histogram.value(at: .p99).map { .nanoseconds($0) }
    }

    @Test func `a tick in time is not late`() {
        #expect(Self.late(.zero) == .zero)
    }

    @Test func `the ticks that a stall left out are late as well`() throws {
        // 160 of 600 ticks, the last hundredth of which was 7.7 s late.
        let late = try #require(Self.late(.seconds(8)))
        #expect(late > .milliseconds(7_500) && late < .milliseconds(8_050), "\(late)")
    }

    @Test func `a stall of less than a hundredth of the time is none`() throws {
        #expect(try #require(Self.late(.milliseconds(250))) < .milliseconds(50))
    }

    @Test func `what was late before the start of the run does not count`() {
        var lateness = TickLateness(interval: Self.interval)
        lateness.passed(to: .zero - .milliseconds(10), late: .seconds(3))
        #expect(lateness.histogram.total == 0)
        lateness.passed(to: .zero + .milliseconds(40), late: .seconds(3))
        #expect(lateness.histogram.total == 1, "only the part of the run")
    }
}
