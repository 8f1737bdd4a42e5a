package import Metrics
package import SimBase
package import Talaria

/// A rollout as the scenario states it, with every default filled in (Docs/design.md section 5).
package struct RolloutPlan: Hashable, Sendable {
    /// A time of the rollout with one share of the new arm.
    package struct Stage: Hashable, Sendable {
        package var share: Odds
        /// As stated: in the time of the rollout.
        package var length: Interval

        package init(share: Odds, length: Interval) {
            self.share = share
            self.length = length
        }
    }

    /// How long a time of the rollout is in the run.
    package struct TimeScale: Hashable, Sendable {
        package var stated: Interval
        package var inRun: Interval

        package init(stated: Interval, inRun: Interval) {
            self.stated = stated
            self.inRun = inRun
        }

        package static let none = TimeScale(stated: .hours(24), inRun: .hours(24))
    }

    package var arms = RolloutArms(from: .websocket, to: .sse)
    package var stages: [Stage] = []
    /// In the order of the scenario; empty for a rollout without a rollback.
    package var triggers: [RolloutTrigger] = []
    /// The time from a capture after which a person complains.
    package var patience = Interval.seconds(30)
    package var isSticky = true
    package var timeScale = TimeScale.none
    /// The minimum number of what a trigger counts in its window.
    package var samplesMin = 20

    package init() {}

    /// The length of a stage in the run.
    package func length(_ stage: Stage) -> Interval {
        let product = Int128(stage.length.nanoseconds) * Int128(self.timeScale.inRun.nanoseconds)
        return .nanoseconds(Int64(clamping: product / Int128(self.timeScale.stated.nanoseconds)))
    }

    /// The length of all stages in the run.
    package var length: Interval { self.stages.reduce(.zero) { $0 + self.length($1) } }

    /// The flag of the first stage; nil without a stage.
    package var firstFlag: RolloutFlag? { self.stages.first.map { self.flag(share: $0.share) } }

    package func flag(share: Odds) -> RolloutFlag {
        RolloutFlag(arms: self.arms, share: share, isSticky: self.isSticky)
    }
}

/// A condition of the new arm, of a window of the run, that ends the rollout.
package struct RolloutTrigger: Hashable, Sendable {
    package let measure: RolloutMeasure
    /// The limit of a share. For complaints, a number: how many times the baseline is allowed.
    package let condition: SLOCondition
    package let window: Interval

    /// Nil if the condition is not about windows, or is of another kind than the measure.
    package init?(_ measure: RolloutMeasure, _ condition: SLOCondition) {
        guard case .everyWindow(let window) = condition.span,
            condition.aggregation == measure.aggregation
        else { return nil }
        self.measure = measure
        self.condition = condition
        self.window = window
    }
}

extension RolloutMeasure {
    /// The kind whose grammar its conditions have.
    package var kind: MetricKind {
        switch self {
        case .errors, .connects: .rate
        case .complaints: .count
        }
    }

    package var aggregation: Aggregation {
        switch self {
        case .errors, .connects: .rate
        case .complaints: .value
        }
    }
}
