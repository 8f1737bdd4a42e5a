package import SimBase

/// The lag of a timer that ticks at an interval.
///
/// A process that stalls makes one late tick and lacks those that were due during the stall. Each of them
/// counts with its own lag, so that the share of late ticks is the share of the time.
package struct TickLateness: Sendable {
    private let interval: Interval
    package private(set) var histogram = HDRHistogram()

    package init(interval: Interval) {
        precondition(interval > .zero, "a timer ticks")
        self.interval = interval
    }

    /// A tick came at `time`, later than it was due. Those before the start of the run do not count.
    package mutating func passed(to moment: Instant, late: Interval) {
        guard moment > .zero else { return }
        var lag = min(max(.zero, late), moment - .zero)
        repeat {
            self.histogram.record(lag.nanoseconds)
            lag = lag - self.interval
        } while lag > .zero
    }
}
