import SimBase
import Testing

/// Arithmetic on numbers that were read.
@Suite struct SaturatingTests {
    private static let edges: [Int64] = [.min, .min + 1, -3, -1, 0, 1, 3, .max - 1, .max]

    /// The number nearest to a result that need not fit.
    private static func nearest(_ wide: Int128) -> Int64 {
        Int64(max(Int128(Int64.min), min(Int128(Int64.max), wide)))
    }

    @Test func `every result is the nearest that fits`() {
        for left in Self.edges {
            for right in Self.edges {
                let (first, second) = (Int128(left), Int128(right))
                #expect(left.addingSaturating(right) == Self.nearest(first + second), "\(left) + \(right)")
                #expect(
                    left.subtractingSaturating(right) == Self.nearest(first - second), "\(left) - \(right)")
                #expect(
                    left.multipliedSaturating(by: right) == Self.nearest(first * second),
                    "\(left) * \(right)")
            }
        }
    }

    @Test func `moments and lengths end at the end of time`() {
        #expect(Instant.distantFuture + .nanoseconds(1) == .distantFuture)
        #expect(Instant.zero + .seconds(.max) == .distantFuture)
        #expect((Instant.distantFuture - Instant(nanoseconds: .min)).nanoseconds == .max)
        #expect(Interval.hours(.min) == Interval(nanoseconds: .min))
        #expect(Interval.milliseconds(.max) * 2 == Interval(nanoseconds: .max))
        #expect(Interval.seconds(2) - .seconds(3) == .seconds(-1))
    }
}
