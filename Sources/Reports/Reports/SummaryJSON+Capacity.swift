import Metrics
import RunArchive
import SimBase

extension SummaryJSON {
    /// What a load in steps found. Rates are whole arrivals per hour, next to their text. `SummaryReader`
    /// reads it back.
    static func capacity(_ capacity: CapacitySummary) -> JSONValue {
        .object([
            "text": .string(Printable.bounded(capacity.text, bytesMax: 1_000)),
            "ending": capacity.ending.map { .string($0.rawValue) } ?? .null,
            "held": capacity.held.map { Self.rate($0.rate) } ?? .null,
            "failed": capacity.failed.map { Self.rate($0.rate) } ?? .null,
            "plan": .object([
                "from": Self.rate(capacity.steps.from), "by": Self.rate(capacity.steps.by),
                "to": Self.rate(capacity.steps.to), "refine": .integer(capacity.steps.refine),
                "every_s": .number(Figures.seconds(capacity.steps.every.nanoseconds)),
            ]),
            "steps": .array(capacity.rows.map(Self.step)),
        ])
    }

    private static func rate(_ rate: StepRate) -> JSONValue {
        .object(["text": .string(rate.description), "per_hour": .integer(rate.perHour)])
    }

    private static func step(_ row: CapacitySummary.Row) -> JSONValue {
        func moment(_ moment: Instant) -> JSONValue { .number(Figures.seconds(moment.nanoseconds)) }
        func time(_ time: Interval?) -> JSONValue {
            time.map { .number(Figures.milliseconds($0.nanoseconds)) } ?? .null
        }
        return .object([
            "rate": Self.rate(row.rate), "from_s": moment(row.from), "to_s": moment(row.to),
            "judged_from_s": moment(row.judgedFrom), "judged_to_s": moment(row.judgedTo),
            "p50": time(row.p50), "p95": time(row.p95), "completed": .integer(row.completed),
            "unfinished": .integer(row.unfinished), "held": row.held.map { .bool($0) } ?? .null,
            "refinement": .bool(row.isRefinement),
            "reasons": .array(row.reasons.map { .string(Printable.bounded($0)) }),
        ])
    }
}
