package import Metrics
package import SimBase

/// Whether a run's captures were made when they were due. A generator that cannot keep up measures itself.
package struct ArrivalAccount: Hashable, Sendable {
    /// The number of due captures: the schedule of the open groups, and the captures of the closed ones.
    package var planned: Int
    package var achieved: Int
    /// Made more than a second after their time.
    package var late: Int

    package init(planned: Int, achieved: Int, late: Int) {
        self.planned = planned
        self.achieved = achieved
        self.late = late
    }

    /// The maximum number of late captures.
    package var lateMax: Int { GeneratorCounts.lateMax(of: self.planned) }

    /// Why the load was not the one that was requested, and what the fleet skipped. What was left out because a run was stopped
    /// was not late. Less load than requested proves as little as late load.
    package func remarks(_ work: SkippedWork, _ reason: HoldReason) -> [Remark] {
        let (planned, limit) = (self.planned, self.lateMax)
        let skipped = planned - self.achieved - work.deferred - work.heldBack
        let tenths = work.heldTenths ?? 0
        let remarks: [(Remark, Bool)] = [
            (.load(.capturesLate(self.late, planned: planned, limit: limit)), self.late > limit),
            (
                .load(.capturesHeldBack(work.heldBack, planned: planned, limit: limit, reason)),
                work.heldBack > limit
            ),
            (.load(.phonesHeldBack(tenthsOfPercent: tenths, reason)), tenths > 10),
            (.load(.shutdownsTimedOut(phones: work.shutdownsTimedOut)), work.shutdownsTimedOut > 0),
            (.load(.capturesDeferred(work.deferred)), work.deferred > 0),
            (.load(.capturesSkipped(skipped)), skipped > 0),
        ]
        return remarks.filter(\.1).map(\.0)
    }

    package func record(into set: inout MetricSet) {
        set.add(Int64(self.planned), to: .arrivalsPlanned)
        set.add(Int64(self.achieved), to: .arrivalsAchieved)
        set.add(Int64(self.late), to: .arrivalsLate)
    }
}

/// What the fleet left out although it was due.
package struct SkippedWork: Hashable, Sendable {
    /// Captures of apps that did not become active again.
    package var deferred = 0
    /// Phones that were still shutting down when their time was over.
    package var shutdownsTimedOut = 0
    /// Captures that the operator held back.
    package var heldBack = 0
    /// The time for which the operator held phones of closed groups whose captures end at a time, and all of their time.
    package var heldTime = PhoneTime.zero
    package var phoneTime = PhoneTime.zero

    package init() {}

    package init(deferred: Int, shutdownsTimedOut: Int, heldBack: Int = 0) {
        self.deferred = deferred
        self.heldBack = heldBack
        self.shutdownsTimedOut = shutdownsTimedOut
    }

    /// The share of the time in which phones were held, in tenths of a percent, rounded up; nil without such phones.
    var heldTenths: Int64? {
        let all = Int128(self.phoneTime.milliseconds)
        return all > 0 ? Int64((Int128(self.heldTime.milliseconds) * 1_000 + all - 1) / all) : nil
    }

    mutating func add(_ other: SkippedWork) {
        self.deferred += other.deferred
        self.shutdownsTimedOut += other.shutdownsTimedOut
        self.heldBack += other.heldBack
        self.heldTime += other.heldTime
        self.phoneTime += other.phoneTime
    }
}
