import Ledger
import Metrics
import Reports
import RunArchive
import RunJudge
import SimBase
import Talaria

/// A trend as one page: a table with a row for each run, and a chart for each latency.
package enum TrendPage {
    package static func text(_ trend: RunTrend) -> String {
        HTMLDocument(
            title: "Trend: \(trend.name, bytesMax: 80)", header: Self.header(trend),
            sections: [trend.table.section(prefix: ""), Self.latencies(trend), Self.shares(trend)].filter {
                !$0.body.isEmpty
            }
        ).html.text
    }

    private static func header(_ trend: RunTrend) -> HTML {
        let sentence: HTML? = trend.sentence.map { "<p>\(sentence: $0)</p>" }
        return """
            <header>
            <h1>\(trend.name, bytesMax: 80)</h1>
            <div class="verdict"><span class="word">Trend of \(Figures.count(trend.runs.count, "run", "runs"))</span></div>
            \(sentence ?? "")
            \(HTML.callouts(trend.warnings, bytesMax: 600))</header>
            """
    }

    private static func latencies(_ trend: RunTrend) -> HTMLDocument.Section {
        let labels = trend.runs.map(\.label)
        let charts = trend.metrics.map { metric -> HTML in
            let summaries = trend.runs.map { $0.result.latency(metric) }
            let limit = trend.runs.last?.result.objective(on: metric).flatMap { result -> TimeChart.Limit? in
                guard case .time(let nanoseconds) = result.slo.condition.threshold else { return nil }
                return TimeChart.Limit(
                    value: Double(nanoseconds),
                    text: "limit \(result.slo.condition.aggregation) \(Figures.time(nanoseconds))")
            }
            return TrendChart(
                id: "trend-\(metric.rawValue.map { $0 == "." ? "-" : String($0) }.joined())",
                title: metric.rawValue,
                labels: labels,
                series: [
                    .init(
                        name: "p95", ink: 4, isDashed: true,
                        values: summaries.map { $0.map { Double($0.p95) } }),
                    .init(
                        name: "p50", ink: 1, isDashed: false,
                        values: summaries.map { $0.map { Double($0.p50) } }),
                ], limit: limit, unit: .time
            ).html
        }.joined()
        return .init(
            id: "latency", title: "Latency",
            body: charts.isEmpty ? "" : "<div class=\"pair\">\(charts)</div>\n")
    }

    private static func shares(_ trend: RunTrend) -> HTMLDocument.Section {
        let labels = trend.runs.map(\.label)
        let charts = RateMetric.allCases.compactMap { metric -> HTML? in
            let rates = trend.runs.map { $0.failed(metric) }
            // A rate that is 0 in all runs needs no chart.
            guard rates.contains(where: { ($0?.failed ?? 0) > 0 }) else { return nil }
            return TrendChart(
                id: "trend-\(metric.rawValue.map { $0 == "." ? "-" : String($0) }.joined())",
                title: metric.rawValue, labels: labels,
                series: [
                    .init(
                        name: "failed", ink: 2, isDashed: false,
                        values: rates.map { $0.map { Double($0.failed) / Double($0.total) * 100 } })
                ], limit: nil, unit: .percent
            ).html
        }.joined()
        return .init(
            id: "shares", title: "Failures",
            body: charts.isEmpty ? "" : "<div class=\"pair\">\(charts)</div>\n")
    }
}
