/// A length of time in whole nanoseconds. Negative lengths are allowed (a clock may be ahead of another).
package struct Interval: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static let zero = Interval(nanoseconds: 0)

    @inlinable package static func nanoseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count) }
    @inlinable package static func microseconds(_ count: Int64) -> Interval {
        Interval(nanoseconds: count * 1_000)
    }
    @inlinable package static func milliseconds(_ count: Int64) -> Interval {
        Interval(nanoseconds: count * 1_000_000)
    }
    @inlinable package static func seconds(_ count: Int64) -> Interval {
        Interval(nanoseconds: count * 1_000_000_000)
    }
    @inlinable package static func minutes(_ count: Int64) -> Interval { .seconds(count * 60) }
    @inlinable package static func hours(_ count: Int64) -> Interval { .seconds(count * 3_600) }

    /// Whole milliseconds, rounded towards zero.
    @inlinable package var wholeMilliseconds: Int64 { self.nanoseconds / 1_000_000 }

    @inlinable package static func < (left: Interval, right: Interval) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
    @inlinable package static func + (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: left.nanoseconds + right.nanoseconds)
    }
    @inlinable package static func - (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: left.nanoseconds - right.nanoseconds)
    }
    @inlinable package static func * (left: Interval, right: Int64) -> Interval {
        Interval(nanoseconds: left.nanoseconds * right)
    }
    @inlinable package static func / (left: Interval, right: Int64) -> Interval {
        Interval(nanoseconds: left.nanoseconds / right)
    }
}

/// A moment, in nanoseconds since the start of the run. The core is told the time; it never asks.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The start of the run.
    package static let zero = Instant(nanoseconds: 0)
    package static let distantFuture = Instant(nanoseconds: .max)

    @inlinable package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
    @inlinable package static func + (left: Instant, right: Interval) -> Instant {
        Instant(nanoseconds: left.nanoseconds + right.nanoseconds)
    }
    @inlinable package static func - (left: Instant, right: Interval) -> Instant {
        Instant(nanoseconds: left.nanoseconds - right.nanoseconds)
    }
    @inlinable package static func - (left: Instant, right: Instant) -> Interval {
        Interval(nanoseconds: left.nanoseconds - right.nanoseconds)
    }
}
