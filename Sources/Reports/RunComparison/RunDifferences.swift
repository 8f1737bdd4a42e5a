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
        rows += Self.violations(results)
        rows += RateMetric.allCases.map { metric in
            (
                metric.rawValue,
                results.map { Self.text($0.metrics.rate(metric, of: .fleet)) { Figures.share($0) } }
            )
        }
        rows += CountMetric.allCases.map { metric in
            (
                metric.rawValue,
                results.map { Self.text($0.metrics.count(metric, of: .fleet)) { Figures.count($0) } }
            )
        }
        rows += CostMetric.allCases.map { metric in
            (
                metric.rawValue,
                results.map {
                    Self.text($0.metrics.cost(metric, of: .fleet)) {
                        $0.map { Figures.cost($0, metric) } ?? "no data"
                    }
                }
            )
        }
        rows += Self.statuses(results)
        for (percentile, value) in Self.percentiles {
            rows += LatencyMetric.allCases.map { metric in
                (
                    "\(metric.rawValue) \(percentile)",
                    results.map { $0.latency(metric).map { Figures.time(value($0)) } ?? "-" }
                )
            }
        }
        return [["figure"] + runs.map(\.name)]
            + rows.filter { Set($0.1).count > 1 }.map { [$0.0] + $0.1 }
    }

    private static var percentiles: [(name: String, value: (LatencySummary) -> Int64)] {
        [("p50", { $0.p50 }), ("p95", { $0.p95 })]
    }

    private static func violations(_ results: [RunResult]) -> [(String, [String])] {
        Invariant.allCases.map { invariant in
            (
                "\(invariant.rawValue) violations",
                results.map { result in
                    guard let verdict = result.verdicts.first(where: { $0.invariant == invariant }),
                        verdict.standing != .notAvailable
                    else { return "n/a" }
                    return Figures.count(verdict.violations)
                }
            )
        }
    }

    private static func statuses(_ results: [RunResult]) -> [(String, [String])] {
        let replies = results.map { result in
            Dictionary(
                result.metrics.everything(of: .fleet).replies.map { ($0.status, $0.count) },
                uniquingKeysWith: +)
        }
        return Set(replies.flatMap(\.keys)).sorted().map { status in
            (
                AnswerMetric(status: status).name,
                replies.map { Figures.count($0[status] ?? 0) }
            )
        }
    }

    private static func text<Value>(_ reading: Reading<Value>, _ text: (Value) -> String) -> String {
        switch reading {
        case .measured(let value): text(value)
        case .notAvailable: "n/a"
        }
    }
}
