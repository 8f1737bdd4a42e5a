package import Metrics

/// Whether a run's captures were made when they were due. A generator that cannot keep up measures itself.
package struct ArrivalAccount: Hashable, Sendable {
    /// What was due: the schedule of the open groups, and what the closed ones came to.
    package var planned: Int
    package var achieved: Int
    /// Made more than a second after their moment.
    package var late: Int

    package init(planned: Int, achieved: Int, late: Int) {
        self.planned = planned
        self.achieved = achieved
        self.late = late
    }

    /// One late capture is a hiccup, also in a small run; beyond it, 1 % of what was due.
    package var lateMax: Int { max(1, self.planned / 100) }

    /// Why the load was not the one that was asked for; nil when it was. What was left out because a run was stopped
    /// was not late.
    package var complaint: String? {
        guard self.late > self.lateMax else { return nil }
        return
            "\(self.late) of \(self.planned) captures started more than 1 s late (limit: \(self.lateMax)): the load was not the requested load"
    }

    package func record(into set: inout MetricSet) {
        set.add(Int64(self.planned), to: .arrivalsPlanned)
        set.add(Int64(self.achieved), to: .arrivalsAchieved)
        set.add(Int64(self.late), to: .arrivalsLate)
    }

    /// What the phones of a fleet left out. `deferred`: captures; `shutdownsTimedOut`: phones.
    package func warnings(deferred: Int, shutdownsTimedOut: Int) -> [String] {
        let skipped = self.planned - self.achieved - deferred
        return [
            shutdownsTimedOut > 0
                ? "\(shutdownsTimedOut) phones had not finished shutting down at the time limit" : nil,
            deferred > 0
                ? "\(deferred) captures were skipped because their apps did not become active again"
                : nil,
            skipped > 0 ? "\(skipped) captures were skipped because the run was stopped" : nil,
        ].compactMap { $0 }
    }
}
