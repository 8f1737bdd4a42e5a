import Ledger
import Metrics
import Reports
package import RunJudge
import SimBase

/// Several runs of one scenario, for example with different client profiles, next to each other.
package enum RunDifferences {
    /// The rows of a table: a header with the names, then each figure that is not the same in all runs. Without a difference,
    /// only the header.
    ///
    /// The outcome comes first, then broken invariants, rates, counts, and the latencies of the metrics that have some.
    package static func rows(_ runs: [(name: String, result: RunResult)]) -> [[String]] {
        let results = runs.map(\.result)
        var rows = [("verdict", results.map { "\($0.headline) (\($0.exit.rawValue))" })]
        func add(_ name: String, _ text: (RunResult) -> String?) {
            rows.append((name, results.map { text($0) ?? "n/a" }))
        }
        for invariant in Invariant.allCases {
            add("\(invariant.rawValue) violations") { result in
                result.verdicts.first { $0.invariant == invariant && $0.standing != .notAvailable }
                    .map { Figures.count($0.violations) }
            }
        }
        for metric in RateMetric.allCases {
            add(metric.rawValue) { $0.metrics.rate(metric, of: .fleet).known.map { Figures.share($0) } }
        }
        for metric in CountMetric.allCases {
            add(metric.rawValue) { $0.metrics.count(metric, of: .fleet).known.map { Figures.count($0) } }
        }
        for metric in CostMetric.allCases {
            add(metric.rawValue) {
                $0.metrics.cost(metric, of: .fleet).known.map { cost in
                    cost.map { Figures.cost($0, metric) } ?? "no data"
                }
            }
        }
        rows += Self.statuses(results)
        let percentiles: [(String, (LatencySummary) -> Int64)] = [("p50", { $0.p50 }), ("p95", { $0.p95 })]
        for (percentile, value) in percentiles {
            for metric in LatencyMetric.allCases {
                add("\(metric.rawValue) \(percentile)") {
                    $0.latency(metric).map { Figures.time(value($0)) } ?? "-"
                }
            }
        }
        return [["figure"] + runs.map(\.name)]
            + rows.filter { Set($0.1).count > 1 }.map { [$0.0] + $0.1 }
    }

    private static func statuses(_ results: [RunResult]) -> [(String, [String])] {
        let replies = results.map { result in
            Dictionary(
                result.metrics.everything(of: .fleet).replies.map { ($0.status, $0.count) },
                uniquingKeysWith: +)
        }
        return Set(replies.flatMap(\.keys)).sorted().map { status in
            (AnswerMetric(status: status).name, replies.map { Figures.count($0[status] ?? 0) })
        }
    }
}
