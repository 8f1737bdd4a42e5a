import Metrics
import RunArchive
import RunJudge
import SimBase

extension HTMLPage {
    /// The steps of the load, and the latency at each rate. Nil for a load without steps.
    var capacity: Section? {
        guard let capacity = self.result.capacity else { return nil }
        let rows = capacity.rows.map(Self.cells)
        let table = HTML.table(
            ["rate", "", "p50", "p95", "completed", "unfinished", "judged", "why"], rows,
            numbers: [0, 2, 3, 4, 5], id: "capacity-table")
        let chart = RateChart(rows: capacity.rows, limit: self.scanTimeLimit).html
        return Section(
            id: "capacity", title: "Capacity", lead: "\(Figures.capitalized(capacity.text)).",
            body: chart + table)
    }

    private var scanTimeLimit: TimeChart.Limit? {
        self.result.slos.map(\.slo).filter { slo in
            slo.decidesStep && slo.selector.metric == .latency(.scanTime) && slo.condition.isUpperLimit
        }.compactMap { TimeChart.Limit($0) }.first
    }

    private static func cells(_ row: CapacitySummary.Row) -> [HTML] {
        let tone: Tone = row.held.map { $0 ? .good : .bad } ?? .unknown
        func time(_ time: Interval?) -> HTML { HTML(time.map { Figures.time($0.nanoseconds) } ?? "") }
        return [
            "\(row.rate.description)", "\(HTML.sign(tone))\(row.isRefinement ? " refined" : "")",
            time(row.p50), time(row.p95), "\(row.throughput)",
            "\(Figures.count(Int(clamping: row.unfinished)))",
            "\(Figures.clock(row.judgedFrom.nanoseconds)) to \(Figures.clock(row.judgedTo.nanoseconds))",
            HTML(row.reasons.joined(separator: "; "), bytesMax: 400),
        ]
    }
}

/// `scan.time` over the rate of the load, a point for each step that was judged.
struct RateChart {
    let rows: [CapacitySummary.Row]
    let limit: TimeChart.Limit?
    private static let height = 160

    init(rows: [CapacitySummary.Row], limit: TimeChart.Limit?) {
        self.rows = rows.filter { $0.p95 != nil }.sorted { $0.rate < $1.rate }
        self.limit = limit
    }

    private var fastest: Int64 { self.rows.last?.rate.perHour ?? 1 }

    private func share(_ rate: StepRate) -> Double { Double(rate.perHour) / Double(self.fastest) }

    private func curve(_ ink: Int, _ top: ValueAxis, _ time: (CapacitySummary.Row) -> Interval?) -> HTML {
        var path: HTML = ""
        for row in self.rows {
            guard let time = time(row) else { continue }
            let y = top.position(Double(time.nanoseconds), height: Self.height)
            path += "\(path.isEmpty ? "M" : "L")\(self.share(row.rate) * 1_000) \(y)"
        }
        return "<path class=\"s i\(ink)\" data-series=\"\(ink)\" d=\"\(path)\"/>"
    }

    /// A point for each p95, with the tone of its step.
    private func points(_ top: ValueAxis) -> HTML {
        self.rows.map { row -> HTML in
            let y = top.position(Double(row.p95?.nanoseconds ?? 0), height: Self.height)
            let tone = row.held == true ? "good" : row.held == false ? "bad" : "warn"
            let verdict = row.held.map { $0 ? "held" : "did not hold" } ?? "not judged"
            let told = "\(row.rate) \(verdict): p95 \(Figures.time(row.p95?.nanoseconds ?? 0))"
            return """
                <circle class="mark \(tone)" cx="\(HTML.share(self.share(row.rate), of: 1))" cy="\(y)" r="4">\
                <title>\(told)</title></circle>
                """
        }.joined()
    }

    private var ticks: HTML {
        var marks: HTML = ""
        var before = -1.0
        for row in self.rows {
            let share = self.share(row.rate)
            // Names that would overlap are left out, but not the last.
            guard share - before > 0.07, row == self.rows.last || 1 - share > 0.07 else { continue }
            before = share
            marks += TimeAxis.mark(
                at: HTML.share(share, of: 1), height: Self.height, row.rate.description,
                share > 0.97 ? "end" : "middle")
        }
        return marks
    }

    /// Empty where nothing was completed.
    var html: HTML {
        guard let most = self.rows.compactMap(\.p95?.nanoseconds).max() else { return "" }
        let top = ValueAxis(holdingTime: max(most, Int64(nearest: self.limit?.value ?? 0)))
        let keys =
            TimeChart.key(name: "p50", ink: 5, note: "", .line(dashed: false))
            + TimeChart.key(name: "p95", ink: 1, note: "", .line(dashed: false))
        return """
            <figure class="chart rates" id="capacity-chart">
            <figcaption><span class="t">scan.time by rate</span> \
            <span class="u">of what was completed in the judged part of each step</span>\
            <span class="legend">\(keys)\(TimeChart.limitKey(self.limit, top))</span></figcaption>
            <svg class="plot" width="100%" height="\(Self.height + 22)" role="img" \
            aria-label="scan.time over the rate of the load, up to \(HTML.time(most))">
            \(self.ticks)\(top.grid(height: Self.height))
            <svg x="0" y="0" width="100%" height="\(Self.height)" viewBox="0 0 1000 \(Self.height)" \
            preserveAspectRatio="none" class="curves">\(self.curve(5, top) { $0.p50 })\(self.curve(1, top) { $0.p95 })</svg>\
            \(top.line(of: self.limit, height: Self.height))\(self.points(top))\
            \(top.labels(height: Self.height) { HTML.time(Int64(nearest: $0)) })</svg>
            </figure>

            """
    }
}
