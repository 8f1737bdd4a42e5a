import Metrics
import Observations
import SimBase
import Talaria

/// Follows what one trigger is about, on both arms.
struct TriggerWatch: Sendable {
    let trigger: RolloutTrigger
    private let arms: RolloutArms
    private let samplesMin: Int64
    private var old: SlidingShare
    private var new: SlidingShare
    /// The last share of the old arm with enough samples: the baseline of complaints when few phones are left there.
    private var baseline: ShareCounts?

    init(_ trigger: RolloutTrigger, _ plan: RolloutPlan) {
        self.trigger = trigger
        self.arms = plan.arms
        self.samplesMin = Int64(plan.samplesMin)
        self.old = SlidingShare(window: trigger.window)
        self.new = SlidingShare(window: trigger.window)
    }

    mutating func record(_ event: ArmEvent) {
        guard let isCounted = event.isCounted(in: self.trigger.measure) else { return }
        if event.arm == self.arms.new {
            self.new.record(isCounted, at: event.at)
        } else {
            self.old.record(isCounted, at: event.at)
        }
    }

    /// The value and the limit of the new arm if the condition holds now; nil otherwise, and below the minimum of samples.
    mutating func breach(at now: Instant) -> (value: Odds, limit: Odds)? {
        self.old.pass(to: now)
        self.new.pass(to: now)
        if self.old.counts.all >= self.samplesMin { self.baseline = self.old.counts }
        let counts = self.new.counts
        guard counts.all >= self.samplesMin else { return nil }
        let comparison = self.trigger.condition.comparison
        switch self.trigger.condition.threshold {
        case .share(let perMillion):
            guard comparison.holds(counts.counted * 1_000_000, perMillion * counts.all) else { return nil }
            return (counts.odds, Odds(perMillion: UInt32(perMillion)))
        case .number(let times):
            guard let baseline else { return nil }
            // A baseline without complaints counts as one complaint: otherwise a single one of the new arm would do.
            let complaints = max(1, baseline.counted)
            let (left, right) = (
                Int128(counts.counted) * Int128(baseline.all),
                Int128(times) * Int128(complaints) * Int128(counts.all)
            )
            guard comparison.holds(left, right) else { return nil }
            let limit = Int128(times) * Int128(complaints) * 1_000_000 / Int128(baseline.all)
            return (counts.odds, Odds(perMillion: UInt32(min(1_000_000, limit))))
        case .time, .money: return nil  // No measure has such a condition.
        }
    }
}
