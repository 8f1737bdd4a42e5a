package import Metrics
package import SimBase

/// Adds intervals up to windows.
package struct WindowFold {
    package struct Window {
        package var from: Instant
        package var length: Interval
        package var table: MetricTable
    }

    private let width: Interval
    private let empty: MetricTable
    private var present: Window?

    package init(width: Interval, _ empty: MetricTable) {
        self.width = width
        self.empty = empty
    }

    /// Adds an interval. Returns the window before it if the interval begins a new one.
    package mutating func add(_ moment: IntervalReader.Moment) -> Window? {
        let from = Instant(
            nanoseconds: moment.from.nanoseconds / self.width.nanoseconds * self.width.nanoseconds)
        var full: Window?
        if let present, present.from < from { full = self.end() }
        if self.present == nil {
            self.present = Window(from: from, length: self.width, table: self.empty)
        }
        self.present?.table.add(moment.table)
        return full
    }

    package mutating func end() -> Window? {
        defer { self.present = nil }
        return self.present
    }
}
