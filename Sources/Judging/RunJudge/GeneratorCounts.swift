package import Metrics

/// What the load generator did up to a time. Only sums, so that the work of a step is a difference.
package struct GeneratorCounts: Hashable, Sendable {
    package var captured = 0
    /// Captures that were made much later than they were due.
    package var late = 0
    /// Captures that the operator held back.
    package var heldBack = 0
    package var timers: Int64 = 0
    /// Timers that ran much later than they were due.
    package var timersLate: Int64 = 0

    package init() {}

    /// The maximum number of captures of a run or of a step that may be late: 1 %, and at least one, since one is tolerable also in a
    /// small run.
    static func lateMax(of captures: Int) -> Int { max(1, captures / 100) }

    /// How the generator fell behind since a time; nil if it kept up. The limits are those of a whole run (`ArrivalAccount`,
    /// `LiveRun.lagRemarks`).
    package func lag(since other: GeneratorCounts) -> GeneratorLag? {
        let captured = self.captured - other.captured
        let late = self.late - other.late
        let limit = Self.lateMax(of: captured)
        if late > limit { return .capturesLate(late, of: captured) }
        let held = self.heldBack - other.heldBack
        if held > limit { return .capturesHeldBack(held) }
        let timers = self.timers - other.timers
        let timersLate = self.timersLate - other.timersLate
        return timersLate * 100 > timers ? .timersLate(perMille: Int(timersLate * 1_000 / timers)) : nil
    }
}
