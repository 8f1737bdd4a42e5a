package import SimBase

/// Where the time of the slow scans of a run went: of those above the limit of an objective, or of the slowest twentieth if
/// there is no such limit, or no scan above it.
package struct SlowTime: Equatable, Sendable {
    /// Of all scans whose times are known.
    private static let slowestOneOf = 20

    /// The shortest time that is slow.
    package let least: Interval
    /// Whether an objective says so.
    package let isLimit: Bool
    /// The slow scans.
    package let scans: Int
    /// Those of them that had not ended when the run did.
    package let unfinished: Int
    /// All scans whose times are known.
    package let known: Int
    /// The time of all slow scans together, by activity: the longest first, and none that is zero.
    package let parts: [Part]

    package struct Part: Equatable, Sendable {
        package let activity: ScanActivity
        package let time: Interval

        package init(_ activity: ScanActivity, _ time: Interval) {
            (self.activity, self.time) = (activity, time)
        }
    }

    package func time(_ activity: ScanActivity) -> Interval {
        self.parts.first { $0.activity == activity }?.time ?? .zero
    }

    package var total: Interval { self.parts.reduce(.zero) { $0 + $1.time } }

    package init(
        least: Interval, isLimit: Bool, scans: Int, unfinished: Int, known: Int, parts: [Part]
    ) {
        self.least = least
        self.isLimit = isLimit
        self.scans = scans
        self.unfinished = unfinished
        self.known = known
        self.parts = parts
    }

    /// Nil if the times of no scan are known. `limit`: that of an objective for `scan.time`.
    package init?(of rows: some Sequence<ScanRow>, limit: Interval?) {
        let rows = rows.filter { $0.spent.total > .zero }
        guard !rows.isEmpty else { return nil }
        let above = limit.map { limit in rows.filter { $0.spent.total > limit } } ?? []
        let times = rows.map(\.spent.total).sorted()
        let least =
            above.isEmpty ? times[times.count - 1 - (times.count - 1) / Self.slowestOneOf] : limit ?? .zero
        let slow = above.isEmpty ? rows.filter { $0.spent.total >= least } : above
        self.init(
            least: least, isLimit: !above.isEmpty, scans: slow.count,
            unfinished: slow.count { $0.end == .unfinished }, known: rows.count,
            parts: Self.parts { activity in slow.reduce(.zero) { $0 + $1.spent[activity] } })
    }

    /// The activities that took time, the longest first.
    package static func parts(_ time: (ScanActivity) -> Interval) -> [Part] {
        // Stable: of equal ones the order of the cases.
        ScanActivity.allCases.map { Part($0, time($0)) }.filter { $0.time > .zero }.enumerated()
            .sorted { ($1.element.time, $0.offset) < ($0.element.time, $1.offset) }.map(\.element)
    }
}
