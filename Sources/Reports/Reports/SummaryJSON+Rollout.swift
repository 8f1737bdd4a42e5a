import Metrics
import RunArchive
import RunMetrics
import SimBase
import Talaria

extension SummaryJSON {
    /// What became of a rollout. Shares are in parts per million. `SummaryReader` reads it back.
    static func rollout(_ rollout: RolloutSummary) -> JSONValue {
        .object([
            "arms": .array(rollout.arms.map(Self.arm)),
            "periods": .array(rollout.periods.map(Self.period)),
            "rollback": rollout.rollback.map(Self.rollback) ?? .null,
            "arm_changes": .object([
                "times": .integer(rollout.changes), "phones": .integer(rollout.changedPhones),
            ]),
            "harmed": .integer(rollout.harmed),
            "harmed_without_rollback": rollout.harmedWithoutRollback.map { .integer($0) } ?? .notAvailable,
        ])
    }

    private static func arm(_ arm: RolloutSummary.Arm) -> JSONValue {
        func rate(_ rate: FailureRate) -> JSONValue {
            .object(["failed": .integer(rate.failed), "total": .integer(rate.total)])
        }
        func time(_ time: Interval?) -> JSONValue {
            time.map { .number(Figures.milliseconds($0.nanoseconds)) } ?? .null
        }
        return .object([
            "transport": .string(arm.transport.rawValue), "phones": .integer(arm.phones),
            "scans": .integer(arm.scans), "completed": .integer(arm.completed),
            "failures": .array(
                arm.failures.map {
                    .object(["cause": .string(Printable.bounded($0.cause)), "count": .integer($0.count)])
                }),
            "jobs": rate(arm.jobs), "connects": rate(arm.connects), "complaints": rate(arm.complaints),
            "people": .integer(arm.people), "p50": time(arm.p50), "p95": time(arm.p95),
        ])
    }

    private static func period(_ period: RolloutSummary.Period) -> JSONValue {
        .object([
            "stage": period.stage.map { .integer($0) } ?? .null,
            "share_ppm": .integer(period.share.perMillion),
            "from_s": .number(Figures.seconds(period.from.nanoseconds)),
            "arms": .array(period.arms.map(Self.arm)),
        ])
    }

    private static func rollback(_ rollback: RolloutSummary.Rollback) -> JSONValue {
        .object([
            "at_s": .number(Figures.seconds(rollback.at.nanoseconds)),
            "measure": .string(rollback.measure.rawValue),
            "value_ppm": .integer(rollback.value.perMillion),
            "limit_ppm": .integer(rollback.limit.perMillion),
            "recovered_after_s": rollback.recovery.map { .number(Figures.seconds($0.nanoseconds)) } ?? .null,
        ])
    }
}
