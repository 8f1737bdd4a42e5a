import Ledger
import Metrics
import Observations
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

/// `metrics.prom`: the run's numbers in the OpenMetrics text format, for dashboards. Latencies are summaries in seconds;
/// what this run cannot know is left out.
enum OpenMetrics {
    private static let prefix = "swiftwing_"

    static func text(_ result: RunResult) -> String {
        var text = ""
        let run =
            "scenario=\"\(Self.escaped(result.scenario.name))\",seed=\"\(result.seed)\",world=\"\(result.world.rawValue)\""
        text += Self.family(
            "run", "info", "Name and configuration of the run.",
            [
                "_info{\(run),tool=\"\(Self.escaped(result.tool))\",sha256=\"\(Self.escaped(result.scenario.sha256))\"\(Self.labels(result.labels))} 1"
            ])
        text += Self.family(
            "run_exit_code", "gauge", "Exit code of the process.", ["{\(run)} \(result.exit.rawValue)"])
        text += Self.family(
            "run_passed", "gauge", "1 when every objective and invariant held.",
            [
                "{\(run)} \(result.exit == .success ? 1 : 0)"
            ])
        text += Self.family(
            "run_seconds", "gauge", "Length of the run.",
            ["{\(run)} \(Figures.seconds(result.length.nanoseconds))"],
            unit: "seconds")
        text += Self.family("phones", "gauge", "Phones of the fleet.", ["{\(run)} \(result.devices)"])
        text += Self.objectives(result, run) + Self.invariants(result, run)
        text += Self.latencies(result) + Self.rates(result) + Self.counts(result) + Self.costs(result)
        text += Self.losses(result)
        return text + "# EOF\n"
    }

    /// `,target="http://127.0.0.1:8080",tag_build="1432"`
    private static func labels(_ labels: RunLabels) -> String {
        (labels.target.map { ",target=\"\(Self.escaped($0))\"" } ?? "")
            + (labels.http.map { ",http=\"\($0.version.rawValue)\",http_by=\"\($0.decision.rawValue)\"" }
                ?? "")
            + labels.tags.map { ",tag_\($0.key)=\"\(Self.escaped($0.value))\"" }.joined()
    }

    private static func family(
        _ name: String, _ type: String, _ help: String, _ samples: [String], unit: String? = nil
    ) -> String {
        guard !samples.isEmpty else { return "" }
        let full = Self.prefix + name
        var text = "# TYPE \(full) \(type)\n"
        if let unit { text += "# UNIT \(full) \(unit)\n" }
        text += "# HELP \(full) \(Self.escaped(help))\n"
        return text + samples.map { full + $0 + "\n" }.joined()
    }

    /// `sse.connect.time` of a metric's name as OpenMetrics allows it.
    private static func name(_ name: String) -> String {
        String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    private static func scopes(_ result: RunResult) -> [(labels: String, scope: MetricScope)] {
        var scopes: [(labels: String, scope: MetricScope)] = [("", .fleet)]
        guard result.groups.count > 1 else { return scopes }
        for group in result.groups {
            scopes.append(("group=\"\(Self.escaped(group.name))\"", .group(group.name)))
        }
        return scopes
    }

    private static func labels(_ labels: [String]) -> String {
        let used = labels.filter { !$0.isEmpty }
        return used.isEmpty ? "" : "{\(used.joined(separator: ","))}"
    }

    // MARK: Families

    private static func latencies(_ result: RunResult) -> String {
        LatencyMetric.allCases.map { metric in
            let samples = Self.scopes(result).flatMap { labels, scope -> [String] in
                guard case .measured(let histogram) = result.metrics.histogram(metric, of: scope),
                    let summary = LatencySummary(histogram)
                else { return [] }
                let quantiles: [(String, Int64)] = [
                    ("0.5", summary.p50), ("0.9", summary.p90), ("0.95", summary.p95), ("0.99", summary.p99),
                    ("0.999", summary.p999), ("1.0", summary.maximum),
                ]
                let sum = DecimalText.text(
                    Int64(clamping: histogram.sum), decimals: 9, shown: 9...9)
                return quantiles.map { quantile, value in
                    Self.labels([labels, "quantile=\"\(quantile)\""])
                        + " \(DecimalText.text(value, decimals: 9, shown: 9...9))"
                } + [
                    "_count\(Self.labels([labels])) \(histogram.total)",
                    "_sum\(Self.labels([labels])) \(sum)",
                ]
            }
            return Self.family(
                Self.name(metric.rawValue) + "_seconds", "summary", metric.meaning, samples, unit: "seconds")
        }.joined()
    }

    private static func rates(_ result: RunResult) -> String {
        RateMetric.allCases.map { metric in
            var failed: [String] = []
            var all: [String] = []
            for (labels, scope) in Self.scopes(result) {
                guard case .measured(let rate) = result.metrics.rate(metric, of: scope) else { continue }
                failed.append("_total\(Self.labels([labels])) \(rate.failed)")
                all.append("_total\(Self.labels([labels])) \(rate.total)")
            }
            let name = Self.name(metric.rawValue)
            return Self.family(name, "counter", "Operations that failed.", failed)
                + Self.family(name + "_operations", "counter", "Operations that were attempted.", all)
        }.joined()
    }

    private static func counts(_ result: RunResult) -> String {
        var text = CountMetric.allCases.map { metric in
            let samples = Self.scopes(result).compactMap { labels, scope -> String? in
                guard case .measured(let count) = result.metrics.count(metric, of: scope) else { return nil }
                return "_total\(Self.labels([labels])) \(count)"
            }
            return Self.family(
                Self.name(metric.rawValue), "counter", "\(metric.rawValue) of the run.", samples)
        }.joined()
        let replies = result.metrics.everything(of: .fleet).replies.map {
            "_total{status=\"\($0.status == 0 ? "other" : String($0.status))\"} \($0.count)"
        }
        text += Self.family("http_replies", "counter", "HTTP responses by status.", replies)
        let faults = result.faults.compactMap { fault in
            fault.count.map { "_total{fault=\"\(Self.escaped(fault.id))\"} \($0)" }
        }
        return text + Self.family("faults_fired", "counter", "Firings by fault.", faults)
    }

    private static func costs(_ result: RunResult) -> String {
        CostMetric.allCases.map { metric in
            let samples = Self.scopes(result).compactMap { labels, scope -> String? in
                guard case .measured(let cost?) = result.metrics.cost(metric, of: scope) else { return nil }
                return "\(Self.labels([labels])) \(cost.text(shown: 9...9))"
            }
            return Self.family(
                Self.name(metric.rawValue) + "_dollars", "gauge", metric.meaning, samples, unit: "dollars")
        }.joined()
    }

    private static func losses(_ result: RunResult) -> String {
        Self.family(
            "disconnections", "counter", "Lost streams by cause and outcome.",
            result.losses.flatMap { loss in
                [
                    ("resumed", loss.resumed), ("restarted", loss.restarted), ("gave-up", loss.gaveUp),
                    ("open", loss.unresolved),
                ].map { "_total{cause=\"\(loss.cause.rawValue)\",outcome=\"\($0.0)\"} \($0.1)" }
            })
    }

    private static func objectives(_ result: RunResult, _ run: String) -> String {
        // Two objectives may judge the same in the same words.
        var seen = Set<String>()
        let samples = result.slos.compactMap { slo -> String? in
            guard let passed = slo.passed else { return nil }
            let labels =
                "metric=\"\(Self.escaped(slo.slo.selector.description))\","
                + "expression=\"\(Self.escaped(slo.slo.condition.description))\",severity=\"\(slo.slo.severity.rawValue)\""
            return seen.insert(labels).inserted ? "{\(labels)} \(passed ? 1 : 0)" : nil
        }
        return Self.family("slo_passed", "gauge", "1 when the objective held.", samples)
    }

    private static func invariants(_ result: RunResult, _ run: String) -> String {
        Self.family(
            "invariant_violations", "gauge", "Violations of each invariant.",
            result.verdicts.filter { $0.standing != .notAvailable }.map {
                "{invariant=\"\($0.invariant.rawValue)\"} \($0.violations)"
            })
    }

    /// The text as it is written in a label and in a help text.
    private static func escaped(_ text: String) -> String {
        Printable.line(text).map { sign in
            switch sign {
            case "\\": "\\\\"
            case "\"": "\\\""
            default: String(sign)
            }
        }.joined()
    }
}
