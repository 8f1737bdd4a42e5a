package import Metrics
package import SimBase
package import Talaria

/// What became of a rollout, for a report.
package struct RolloutSummary: Hashable, Sendable {
    /// What happened on one arm.
    package struct Arm: Hashable, Sendable {
        /// A cause and how often it was.
        package struct Failures: Hashable, Sendable {
            package var cause: String
            package var count: Int

            package init(cause: String, count: Int) {
                self.cause = cause
                self.count = count
            }
        }

        package var transport: StreamTransport
        package var phones = 0
        /// Scans that were uploaded on it, each once.
        package var scans = 0
        package var completed = 0
        /// Jobs that were not followed to their end, of those that ended. The most frequent cause first.
        package var failures: [Failures] = []
        package var jobs = FailureRate()
        package var connects = FailureRate()
        /// Scans whose person complains, of those that are decided.
        package var complaints = FailureRate()
        /// The phones of the people who complained.
        package var people = 0
        /// Percentiles of the time from the capture to the last book.
        package var p50: Interval?
        package var p95: Interval?

        package init(_ transport: StreamTransport) { self.transport = transport }
    }

    /// A time with one share of the new arm.
    package struct Period: Hashable, Sendable {
        /// The number of the stage; nil after a rollback.
        package var stage: Int?
        package var share: Odds
        package var from: Instant
        /// In the order of the arms.
        package var arms: [Arm]

        package init(stage: Int?, share: Odds, from: Instant, arms: [Arm]) {
            self.stage = stage
            self.share = share
            self.from = from
            self.arms = arms
        }
    }

    package struct Rollback: Hashable, Sendable {
        package var at: Instant
        package var measure: RolloutMeasure
        package var value: Odds
        package var limit: Odds
        /// The time from the rollback to the end of the first minute in which all phones together met the condition of the trigger
        /// no more; nil if none of them ended before the run.
        package var recovery: Interval?

        package init(at: Instant, measure: RolloutMeasure, value: Odds, limit: Odds, recovery: Interval?) {
            self.at = at
            self.measure = measure
            self.value = value
            self.limit = limit
            self.recovery = recovery
        }
    }

    /// The old arm and the new one, over the whole run.
    package var arms: [Arm]
    package var periods: [Period]
    package var rollback: Rollback?
    /// How often phones took another arm while the share was the same, and how many did.
    package var changes: Int
    package var changedPhones: Int
    /// The people who would have complained on the new arm without the rollback: known where the run could be repeated without one.
    package var harmedWithoutRollback: Int?

    package init(
        arms: [Arm], periods: [Period], rollback: Rollback?, changes: Int, changedPhones: Int,
        harmedWithoutRollback: Int?
    ) {
        precondition(arms.count == 2, "a rollout has two arms")
        self.arms = arms
        self.periods = periods
        self.rollback = rollback
        self.changes = changes
        self.changedPhones = changedPhones
        self.harmedWithoutRollback = harmedWithoutRollback
    }

    /// The people who complained on the new arm.
    package var harmed: Int { self.arms[1].people }
}
