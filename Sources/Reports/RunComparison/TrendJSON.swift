import Ledger
import Metrics
import Reports
package import RunArchive
import RunJudge
import SimBase

/// A trend for programs: one object for each run, the oldest first.
package enum TrendJSON {
    package static func members(_ trend: RunTrend) -> [String: JSONValue] {
        [
            "scenario": .string(Printable.bounded(trend.name)),
            "warnings": .array(trend.warnings.map { .string(Printable.bounded($0, bytesMax: 1_000)) }),
            "verdict": trend.comparison.map { .string($0.headline) } ?? .null,
            "reasons": .array(
                (trend.comparison?.reasons ?? []).map { .string(Printable.bounded($0, bytesMax: 1_000)) }),
            "runs": .array(trend.runs.map { Self.run($0, trend.metrics) }),
        ]
    }

    private static func run(_ run: RunTrend.Run, _ metrics: [LatencyMetric]) -> JSONValue {
        let scans = run.result.totals.scans
        var latencies: [String: JSONValue] = [:]
        for metric in metrics { latencies[metric.rawValue] = SummaryJSON.latency(run.result.latency(metric)) }
        var failed: [String: JSONValue] = [:]
        for metric in RateMetric.allCases {
            guard let rate = run.failed(metric) else { continue }
            failed[metric.rawValue] = .object([
                "count": .integer(rate.total), "failed": .integer(rate.failed),
            ])
        }
        return .object([
            "folder": .string(run.folder),
            "label": .string(Printable.bounded(run.label)),
            "started": .string(run.result.startedText),
            "seed": .integer(run.result.seed),
            "target": run.result.labels.target.map { .string($0) } ?? .null,
            "tags": run.result.labels.jsonTags,
            "verdict": .string(run.verdict),
            "exit": run.wasCutOff ? .null : .integer(run.result.exit.rawValue),
            "killed": .bool(run.wasCutOff),
            "scans": .object([
                "begun": .integer(scans.begun), "completed": .integer(scans.completed),
                "lost": .integer(scans.lost), "waiting": .integer(scans.waiting),
            ]),
            "violations": .integer(run.violations),
            "metrics": .object(latencies),
            "failed": .object(failed),
        ])
    }
}
