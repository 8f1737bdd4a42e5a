import Ledger
import Metrics
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

// What only some runs have.
extension SummaryJSON {
    // MARK: Cost

    /// What books cost, in dollars, and what it is made up of. An amount is null where no book has a price. Nil for a run
    /// without prices.
    static func cost(_ totals: LedgerTotals, of scope: MetricScope, in result: RunResult) -> JSONValue? {
        guard let prices = result.metrics.prices,
            case .object(var members) = Self.counts(.cost, totals, of: result)
        else { return nil }
        members["photo_price"] = .number(BookPrices.text(prices.photo))
        members["text_price"] = .number(BookPrices.text(prices.text))
        let amounts = [(CostMetric.total, "total"), (.perBook, "per_book"), (.perMonth, "per_month")]
        for (metric, name) in amounts {
            guard case .measured(let cost) = result.metrics.cost(metric, of: scope) else { continue }
            members[name] = cost.map { .number($0.text(shown: 0...9)) } ?? .null
        }
        if let month = prices.booksPerMonth { members["books_per_month"] = .integer(month) }
        return .object(members)
    }

    // MARK: Capacity

    /// What a load in steps found. Rates are whole arrivals per hour, next to their text. `SummaryReader`
    /// reads it back.
    static func capacity(_ capacity: CapacitySummary) -> JSONValue {
        .object([
            "text": .bounded(capacity.text, bytesMax: 1_000),
            "ending": capacity.ending.map { .string($0.rawValue) } ?? .null,
            "held": capacity.held.map { Self.rate($0.rate) } ?? .null,
            "failed": capacity.failed.map { Self.rate($0.rate) } ?? .null,
            "plan": .object([
                "from": Self.rate(capacity.steps.from), "by": Self.rate(capacity.steps.by),
                "to": Self.rate(capacity.steps.to), "refine": .integer(capacity.steps.refine),
                "every_s": .seconds(capacity.steps.every),
            ]),
            "steps": .array(capacity.rows.map(Self.step)),
        ])
    }

    private static func rate(_ rate: StepRate) -> JSONValue {
        .object(["text": .string(rate.description), "per_hour": .integer(rate.perHour)])
    }

    private static func step(_ row: CapacitySummary.Row) -> JSONValue {
        func moment(_ moment: Instant) -> JSONValue { .seconds(moment - .zero) }
        return .object([
            "rate": Self.rate(row.rate), "from_s": moment(row.from), "to_s": moment(row.to),
            "judged_from_s": moment(row.judgedFrom), "judged_to_s": moment(row.judgedTo),
            "p50": .milliseconds(row.p50), "p95": .milliseconds(row.p95),
            "completed": .integer(row.completed),
            "unfinished": .integer(row.unfinished), "held": row.held.map { .bool($0) } ?? .null,
            "refinement": .bool(row.isRefinement), "reasons": .array(row.reasons.map { .bounded($0) }),
        ])
    }

    // MARK: Rollout

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
            "harmed_without_rollback": .known(rollout.harmedWithoutRollback),
        ])
    }

    private static func arm(_ arm: RolloutSummary.Arm) -> JSONValue {
        func rate(_ rate: FailureRate) -> JSONValue {
            .object(["failed": .integer(rate.failed), "total": .integer(rate.total)])
        }
        return .object([
            "transport": .string(arm.transport.rawValue), "phones": .integer(arm.phones),
            "scans": .integer(arm.scans), "completed": .integer(arm.completed),
            "failures": .array(
                arm.failures.map { .object(["cause": .bounded($0.cause), "count": .integer($0.count)]) }),
            "jobs": rate(arm.jobs), "connects": rate(arm.connects), "complaints": rate(arm.complaints),
            "people": .integer(arm.people), "p50": .milliseconds(arm.p50), "p95": .milliseconds(arm.p95),
        ])
    }

    private static func period(_ period: RolloutSummary.Period) -> JSONValue {
        .object([
            "stage": period.stage.map { .integer($0) } ?? .null,
            "share_ppm": .integer(period.share.perMillion),
            "from_s": .seconds(period.from - .zero),
            "arms": .array(period.arms.map(Self.arm)),
        ])
    }

    private static func rollback(_ rollback: RolloutSummary.Rollback) -> JSONValue {
        .object([
            "at_s": .seconds(rollback.at - .zero),
            "measure": .string(rollback.measure.rawValue),
            "value_ppm": .integer(rollback.value.perMillion),
            "limit_ppm": .integer(rollback.limit.perMillion),
            "recovered_after_s": .seconds(rollback.recovery),
        ])
    }
}
