import Metrics
import Reports
import SimBase

/// A trend as one page: a table with a row for each run, and a chart for each latency.
package enum TrendPage {
    package static func text(_ trend: RunTrend) -> String {
        HTMLDocument(
            title: "Trend: \(trend.name, bytesMax: 80)", header: Self.header(trend),
            sections: [
                trend.table.section(prefix: ""), trend.stepTable.section(prefix: ""),
                Self.charts(trend, "judged", "What is judged") { $0.isJudged },
                Self.charts(trend, "latency", "Other latencies") { !$0.isJudged && $0.unit == .time },
                Self.charts(trend, "shares", "Other failures") { !$0.isJudged && $0.unit != .time },
            ].filter { !$0.body.isEmpty }
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

    /// A chart for each of these figures. A vertical line is the first run of a step.
    private static func charts(
        _ trend: RunTrend, _ id: String, _ title: String, _ isMeant: (TrendFigure) -> Bool
    ) -> HTMLDocument.Section {
        let charts = trend.figures.filter(isMeant).map { figure -> HTML in
            let inks = ["p99": 2, "p95": 4, "failed": 2]
            return TrendChart(
                id:
                    "trend-\(String(figure.selector.description.map { $0.isLetter || $0.isNumber ? $0 : "-" }))",
                title: figure.selector.description, labels: trend.runs.map(\.label),
                series: figure.series.map { series in
                    .init(
                        name: series.name, ink: inks[series.name] ?? 1,
                        isDashed: series.name == "p99" || series.name == "p95", values: series.values)
                }, limit: trend.limit(figure), unit: figure.unit,
                steps: figure.isJudged ? (figure.steps ?? []).map(\.step.index) : []
            ).html
        }
        return .init(
            id: id, title: title, body: charts.isEmpty ? "" : "<div class=\"pair\">\(charts.joined())</div>\n"
        )
    }
}
