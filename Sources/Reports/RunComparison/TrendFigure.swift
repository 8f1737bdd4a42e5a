import Metrics
import Reports
import SimBase

/// A metric over several runs.
struct TrendFigure {
    let selector: MetricSelector
    /// Whether an objective of any run is about it.
    let isJudged: Bool
    /// What is drawn of it; a value for each run.
    let series: [(name: String, values: [Double?])]

    var unit: TrendChart.Unit {
        switch self.selector.metric {
        case .latency: .time
        case .rate: .percent
        case .count, .http, .fault: .count
        case .cost: .dollars
        }
    }

    init(_ selector: MetricSelector, isJudged: Bool, of runs: [RunTrend.Run]) {
        self.selector = selector
        self.isJudged = isJudged
        switch selector.metric {
        case .latency(let metric):
            self.series = ["p99", "p95", "p50"].map { figure in
                (figure, runs.map { $0.latency(metric, figure, of: selector.scope).map { Double($0) } })
            }
        case .rate(let metric):
            let shares = runs.map { run in
                run.failed(metric, of: selector.scope).map { Double($0.failed) / Double($0.total) * 100 }
            }
            self.series = [("failed", shares)]
        case .count, .http, .fault: self.series = [("count", runs.map { $0.number(selector) })]
        case .cost: self.series = [("amount", runs.map { $0.number(selector) })]
        }
    }

    /// Whether there is something to see: a latency, or anything that is not always 0.
    var isShown: Bool {
        let values = self.series.flatMap(\.values).compactMap { $0 }
        return self.unit == .time ? !values.isEmpty : values.contains { $0 > 0 }
    }

    /// The steps of its percentiles, or of its one value. Nil if there are too few runs.
    var steps: [(figure: String, step: LevelStep)]? {
        let found = self.series.map { series in
            LevelStep.all(in: series.values)?.map { (figure: series.name, step: $0) }
        }
        return found.contains { $0 == nil } ? nil : found.compactMap { $0 }.flatMap { $0 }
    }
}

extension RunTrend {
    /// What is judged first, from the time of a scan on, and then all other latencies and failure rates.
    var figures: [TrendFigure] {
        let scanTime = MetricSelector(metric: .latency(.scanTime), scope: .fleet)
        var selectors = [scanTime]
        for objective in self.runs.flatMap(\.objectives) {
            guard let selector = try? MetricSelector(parsing: objective.metric, vocabulary: nil),
                !selectors.contains(selector)
            else { continue }
            selectors.append(selector)
        }
        let others =
            (LatencyMetric.allCases.filter { $0 != .generatorLateness }.map { Metric.latency($0) }
            + RateMetric.allCases.map { Metric.rate($0) }).map { MetricSelector(metric: $0, scope: .fleet) }
        let unjudged = others.filter { !selectors.contains($0) }
        return
            (selectors.map { TrendFigure($0, isJudged: true, of: self.runs) }
            + unjudged.map { TrendFigure($0, isJudged: false, of: self.runs) }).filter(\.isShown)
    }

    /// The limit that the last run had for a metric.
    func limit(_ figure: TrendFigure) -> TimeChart.Limit? {
        let kind = figure.selector.metric.kind
        let conditions = (self.runs.last?.objectives ?? []).filter {
            $0.metric == figure.selector.description
        }.compactMap { try? SLOCondition(parsing: $0.expression, for: kind) }
        for condition in conditions {
            let text = "limit \(condition.aggregation) \(condition.threshold)"
            switch (condition.threshold, figure.unit) {
            case (.time(let nanoseconds), .time):
                return TimeChart.Limit(value: Double(nanoseconds), text: text)
            case (.share(let perMillion), .percent):
                return TimeChart.Limit(value: Double(perMillion) / 10_000, text: text)
            case (.number(let number), .count): return TimeChart.Limit(value: Double(number), text: text)
            case (.money(let amount), .dollars):
                return TimeChart.Limit(value: Double(amount) / 1_000_000, text: text)
            case (.time, _), (.share, _), (.number, _), (.money, _): continue
            }
        }
        return nil
    }

    // MARK: Steps

    /// The lasting changes of what is judged, the newest last.
    var steps: [(figure: TrendFigure, name: String, step: LevelStep)] {
        self.figures.filter(\.isJudged).flatMap { figure in
            (figure.steps ?? []).map { (figure, $0.figure, $0.step) }
        }.sorted { $0.step.index < $1.step.index }
    }

    /// Whether no judged figure has as many runs as a step needs.
    var hasTooFewRuns: Bool { !self.figures.contains { $0.isJudged && $0.steps != nil } }

    /// A row for each step, in the terminal and on the page.
    var stepTable: DocumentTable {
        typealias Cell = DocumentTable.Cell
        var table = DocumentTable(id: "steps", tableID: "steps-table", title: "Steps")
        table.lead =
            "From this run on, the median of \(LevelStep.runs) runs is more than 10 % away from that of the \(LevelStep.runs) before, and further than these runs are apart."
        table.hasMarks = false
        if self.hasTooFewRuns {
            let count = Figures.count(self.runs.count, "run", "runs")
            table.note = "not enough runs to see a step: \(count), and it takes \(2 * LevelStep.runs)"
        } else if self.steps.isEmpty {
            let unseen = self.figures.filter { $0.isJudged && $0.steps == nil }.map(\.selector.description)
            table.note =
                "no step in what is judged"
                + (unseen.isEmpty ? "" : "; too few runs have \(unseen.joined(separator: ", "))")
        }
        table.add(
            self.steps,
            [
                .init("metric", .name) { .mono("\($0.figure.selector.description) \($0.name)") },
                .init("from run", .text) {
                    Cell(Printable.line(self.runs[$0.step.index].name, bytesMax: 80))
                },
                .init("before", .number) { Cell($0.figure.unit.text($0.step.before)) },
                .init("after", .number) { Cell($0.figure.unit.text($0.step.after)) },
                .init("started", .text) {
                    Cell(Figures.date(iso8601: self.runs[$0.step.index].startedText), .unknown)
                },
            ])
        return table
    }
}
