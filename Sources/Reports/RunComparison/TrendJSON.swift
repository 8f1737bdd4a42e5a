import Metrics
import Reports
package import RunArchive
import RunJudge

/// A trend for programs: one object for each run, the oldest first.
package enum TrendJSON {
    package static func members(_ trend: RunTrend) -> [String: JSONValue] {
        let metrics = trend.metrics
        return [
            "scenario": .bounded(trend.name),
            "warnings": .array(trend.warnings.map { .bounded($0, bytesMax: 1_000) }),
            "verdict": trend.comparison.map { .string($0.headline) } ?? .null,
            "reasons": .array((trend.comparison?.reasons ?? []).map { .bounded($0, bytesMax: 1_000) }),
            "runs": .array(trend.runs.map { Self.run($0, metrics) }),
            "steps": trend.hasTooFewRuns
                ? .null : .array(trend.steps.map { Self.step($0.figure, $0.name, $0.step, trend.runs) }),
        ]
    }

    /// In milliseconds, percent, things or dollars.
    private static func step(
        _ figure: TrendFigure, _ name: String, _ step: LevelStep, _ runs: [RunTrend.Run]
    ) -> JSONValue {
        let scale = figure.unit == .time ? 1_000_000.0 : 1
        return .object([
            "metric": .string(figure.selector.description), "figure": .string(name),
            "from": .string(runs[step.index].place),
            "label": .bounded(runs[step.index].label),
            "before": .decimal(step.before / scale), "after": .decimal(step.after / scale),
        ])
    }

    private static func run(_ run: RunTrend.Run, _ metrics: [LatencyMetric]) -> JSONValue {
        func figures(_ name: String) -> JSONValue { run.metric(name).map { JSONValue($0) } ?? .null }
        let rates = RateMetric.allCases.filter { run.failed($0) != nil }
        return .object([
            "folder": .string(run.place),
            "label": .bounded(run.label),
            "started": .string(run.startedText),
            "seed": .number(run.seed),
            "target": run.target.map { .string($0) } ?? .null,
            "tags": .members(run.tags.map { ($0.key, .string($0.value)) }),
            "verdict": .string(run.verdict),
            "exit": run.wasCutOff ? .null : .integer(run.exit.rawValue),
            "killed": .bool(run.wasCutOff),
            "scans": .object([
                "begun": .integer(run.begun), "completed": .integer(run.scans("completed")),
                "lost": .integer(run.scans("lost")), "waiting": .integer(run.scans("waiting")),
            ]),
            "violations": .integer(run.violations),
            "metrics": .members(metrics.map { ($0.rawValue, figures($0.rawValue)) }),
            "failed": .members(rates.map { ($0.rawValue, figures($0.rawValue)) }),
        ])
    }
}
