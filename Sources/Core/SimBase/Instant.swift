/// A length of time in whole nanoseconds. Negative lengths are allowed (a clock may be ahead of another).
///
/// Arithmetic on lengths and times saturates: 292 years are as good as for ever, and a length that was read
/// may be any.
public struct Interval: Hashable, Comparable, Sendable {
    /// The number of nanoseconds.
    public var nanoseconds: Int64

    /// Creates a time from nanoseconds.
    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The interval of length zero.
    public static let zero = Interval(nanoseconds: 0)

    /// Returns an interval of nanoseconds.
    @inlinable public static func nanoseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count) }
    /// Returns an interval of microseconds.
    @inlinable public static func microseconds(_ count: Int64) -> Interval {
        Interval(nanoseconds: count.multipliedSaturating(by: 1_000))
    }
    /// Returns an interval of milliseconds.
    @inlinable public static func milliseconds(_ count: Int64) -> Interval {
        Interval(nanoseconds: count.multipliedSaturating(by: 1_000_000))
    }
    /// Returns an interval of seconds.
    @inlinable public static func seconds(_ count: Int64) -> Interval {
        Interval(nanoseconds: count.multipliedSaturating(by: 1_000_000_000))
    }
    /// Returns an interval of minutes.
    @inlinable public static func minutes(_ count: Int64) -> Interval {
        .seconds(count.multipliedSaturating(by: 60))
    }
    /// Returns an interval of hours.
    @inlinable public static func hours(_ count: Int64) -> Interval {
        .seconds(count.multipliedSaturating(by: 3_600))
    }

    /// The number of whole milliseconds, rounded towards zero.
    @inlinable public var wholeMilliseconds: Int64 { self.nanoseconds / 1_000_000 }

    /// Whether the left comes first.
    @inlinable public static func < (left: Interval, right: Interval) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
    /// The sum.
    @inlinable public static func + (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: left.nanoseconds.addingSaturating(right.nanoseconds))
    }
    /// The difference.
    @inlinable public static func - (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: left.nanoseconds.subtractingSaturating(right.nanoseconds))
    }
    /// Returns the interval multiplied by a number.
    @inlinable public static func * (left: Interval, right: Int64) -> Interval {
        Interval(nanoseconds: left.nanoseconds.multipliedSaturating(by: right))
    }
    /// A part of it.
    @inlinable public static func / (left: Interval, right: Int64) -> Interval {
        Interval(nanoseconds: left.nanoseconds / right)
    }
}

/// A time, in nanoseconds since the start of the run. The core receives the time from its driver.
public struct Instant: Hashable, Comparable, Sendable {
    /// The number of nanoseconds.
    public var nanoseconds: Int64

    /// Creates an interval from nanoseconds.
    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The start of the run.
    public static let zero = Instant(nanoseconds: 0)
    /// The end of time: never.
    public static let distantFuture = Instant(nanoseconds: .max)

    /// Whether the left comes first.
    @inlinable public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
    /// The sum.
    @inlinable public static func + (left: Instant, right: Interval) -> Instant {
        Instant(nanoseconds: left.nanoseconds.addingSaturating(right.nanoseconds))
    }
    /// The difference.
    @inlinable public static func - (left: Instant, right: Interval) -> Instant {
        Instant(nanoseconds: left.nanoseconds.subtractingSaturating(right.nanoseconds))
    }
    /// The difference.
    @inlinable public static func - (left: Instant, right: Instant) -> Interval {
        Interval(nanoseconds: left.nanoseconds.subtractingSaturating(right.nanoseconds))
    }
}
