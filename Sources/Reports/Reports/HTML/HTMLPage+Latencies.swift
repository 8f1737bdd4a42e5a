import Metrics
import RunArchive
import RunJudge
import SimBase
import Talaria

extension HTMLPage {
    /// A change of less is not one that a user notices; as in comparisons of runs.
    private static let noticeable: Int64 = 2_000_000

    /// The rows in the order of their weight: what failed, the time of a scan, what has an objective, and what happened at all.
    var latencyRowsByWeight: [LatencyRow] {
        self.result.latencyRows.enumerated().sorted { left, right in
            (self.rank(left.element), left.offset) < (self.rank(right.element), right.offset)
        }.map(\.element)
    }

    private func rank(_ row: LatencyRow) -> Int {
        let objectives = self.objectives(on: row.metric)
        if row.metric == .scanTime { return 0 }
        if objectives.contains(where: \.isBreach) { return 1 }
        if !objectives.isEmpty { return 2 }
        return self.isQuiet(row) ? 4 : 3
    }

    private func objectives(on metric: LatencyMetric) -> [SLOResult] {
        self.result.slos.filter { $0.slo.selector.metric == .latency(metric) }
    }

    /// Whether nothing happened to a latency: it has no objective, and its slowest is hardly slower than its median.
    func isQuiet(_ row: LatencyRow) -> Bool {
        guard row.metric != .scanTime, self.objectives(on: row.metric).isEmpty, row.unfinished.isEmpty,
            row.failures.map({ $0.failed == 0 }) ?? true
        else { return false }
        guard let summary = row.summary else { return true }
        return summary.maximum - summary.p50 < Self.noticeable
            || summary.maximum.magnitude / 2 < summary.p50.magnitude
            || summary.count < LatencyTrack.samplesMin(for: .p95)
    }

    // MARK: The table

    /// One row for each latency, before any chart.
    package var latencyTable: Section {
        let rows = self.latencyRowsByWeight
        guard !rows.isEmpty else { return Section(id: "latencies", title: "Latencies", body: "") }
        var table = DocumentTable(
            id: "latencies", tableID: "latency-table", title: "Latencies", rows: rows,
            [LatencyRow.Column("metric", .name) { Self.name(of: $0) }]
                + LatencyRow.columns(rows, none: ("–", "–")) + [
                    .init("limit", .text) {
                        .init("–", html: self.limited($0).map { self.limitCell($0.slo) })
                    },
                    .init("verdict", .text) { row in
                        guard let objective = self.limited(row) else { return .init("–", key: 9) }
                        let tone = self.result.tone(of: objective)
                        return .verdict(self.standingWord(objective), tone, key: Self.order(tone))
                    },
                ])
        table.isSortable = true
        let notes: [HTML] = self.result.latencyNotes.map { "<p>\($0, bytesMax: 1_000).</p>\n" }
        return Section(
            id: "latencies", title: "Latencies",
            lead:
                "scan.time and upload.time are measured from the scheduled start of each \(self.result.noun.one), so generator stalls are included.",
            body: table.htmlBody(prefix: "") + notes.joined() + self.unknownLatencies)
    }

    /// The name, as a link to its charts where there are some.
    private static func name(of row: LatencyRow) -> DocumentTable.Cell {
        let name = row.metric.rawValue
        let isDrawn = row.summary != nil || !row.unfinished.isEmpty
        let shown: HTML = isDrawn ? "<a href=\"#\(Self.id(of: row.metric))\">\(name)</a>" : "\(name)"
        return .init(name, html: "<span title=\"\(row.metric.meaning)\">\(shown)</span>")
    }

    /// The objective that the table shows with a latency: that of the fleet, else of a group.
    private func limited(_ row: LatencyRow) -> SLOResult? {
        self.result.objective(on: row.metric) ?? self.objectives(on: row.metric).first
    }

    /// The limit; with its group where it is not of the whole fleet.
    private func limitCell(_ slo: SLO) -> HTML {
        guard case .group(let name) = slo.selector.scope else { return Self.limitText(slo) }
        return "\(Self.limitText(slo)) (\(name, bytesMax: 60))"
    }

    private static func order(_ tone: Tone) -> Int64 {
        switch tone {
        case .bad: 0
        case .warn: 1
        case .running, .unknown, .plain: 2
        case .good: 3
        }
    }

    private var unknownLatencies: HTML {
        let unknown = self.result.unknownLatencies.map(\.rawValue)
        return unknown.isEmpty
            ? ""
            : "<p>Not available in this run: \(HTML.mono(unknown.joined(separator: ", "), bytesMax: 1_000)).</p>\n"
    }

    static func id(of metric: LatencyMetric) -> String {
        String(metric.rawValue.map { $0 == "." ? "-" : $0 })
    }

    // MARK: Charts

    package var latencies: Section {
        let rows = self.latencyRowsByWeight.filter { $0.summary != nil || !$0.unfinished.isEmpty }
        let large = rows.filter { !self.isQuiet($0) }.map { self.latency($0) }.joined()
        let small = rows.filter { self.isQuiet($0) }.map { self.quietLatency($0) }.joined()
        guard !rows.isEmpty else { return Section(id: "latency", title: "Latency charts", body: "") }
        return Section(
            id: "latency", title: "Latency charts",
            lead: "A percentile is drawn where it has enough samples: p95 of 20, p99 of 100.",
            body: small.isEmpty
                ? large
                : """
                \(large)<h3 class="quiet-title">Nothing unusual</h3>
                <div class="quiet">\(small)</div>

                """)
    }

    private func limit(_ metric: LatencyMetric) -> TimeChart.Limit? {
        self.result.objective(on: metric).flatMap { TimeChart.Limit($0.slo) }
    }

    private static let samplesMinOfP999 = 1_000

    private func latency(_ row: LatencyRow) -> HTML {
        let metric = row.metric
        var stats = [("count", Figures.count(row.summary?.count ?? 0))]
        if let summary = row.summary {
            stats += [
                ("p50", Figures.time(summary.p50)), ("p90", Figures.time(summary.p90)),
                ("p95", Figures.time(summary.p95)), ("p99", Figures.time(summary.p99)),
            ]
            // Of fewer, it is the slowest.
            if summary.count >= Self.samplesMinOfP999 { stats.append(("p99.9", Figures.time(summary.p999))) }
            stats.append(("max", Figures.time(summary.maximum)))
        }
        if !row.unfinished.isEmpty { stats.append(("unfinished", row.unfinishedText)) }
        if let failed = row.failedText { stats.append(("failed", failed)) }
        let id = Self.id(of: metric)
        var charts = self.chart(of: metric, id: "over-\(id)", height: TimeChart.heightUsual)
        if let histogram = self.result.metrics.histogram(metric, of: .fleet).known, !histogram.isEmpty {
            let curve = (name: "", ink: 1, isDashed: false, histogram: histogram)
            charts += NinesChart(id: "nines-\(id)", curves: [curve], limit: self.limit(metric)).html
        }
        return """
            <article class="metric" id="\(id)"><h3>\(metric.rawValue)</h3>
            <p>\(metric.meaning)</p>
            \(HTML.definitions("stats", stats))<div class="two">\(charts)</div></article>

            """
    }

    private static let quietHeight = 44

    private func quietLatency(_ row: LatencyRow) -> HTML {
        let id = Self.id(of: row.metric)
        let stats =
            row.summary.map {
                [
                    ("count", Figures.count($0.count)), ("p50", Figures.time($0.p50)),
                    ("max", Figures.time($0.maximum)),
                ]
            } ?? []
        return """
            <article class="metric" id="\(id)"><h4>\(row.metric.rawValue)</h4>
            \(HTML.definitions("stats", stats))\(self.chart(of: row.metric, id: "over-\(id)", height: Self.quietHeight))</article>

            """
    }

    /// A latency over time, with its limit; empty for one without samples.
    func chart(
        of metric: LatencyMetric, titled title: String = "over time", id: String,
        height: Int = TimeChart.heightUsual
    ) -> HTML {
        guard let track = self.report.tracks.first(where: { $0.metric == metric }) else { return "" }
        func series(
            _ name: String, _ ink: Int, isDashed: Bool, samplesMin: Int64,
            _ value: (LatencySummary) -> Int64
        ) -> TimeChart.Series? {
            let values = track.windows.map { window -> Double? in
                window.summary.count >= samplesMin ? Double(value(window.summary)) : nil
            }
            guard values.contains(where: { $0 != nil }) else { return nil }
            return TimeChart.Series(name: name, ink: ink, shape: .line(dashed: isDashed), values: values)
        }
        let p99 = series("p99", 2, isDashed: false, samplesMin: LatencyTrack.samplesMin(for: .p99)) { $0.p99 }
        let p95 = series("p95", 4, isDashed: true, samplesMin: LatencyTrack.samplesMin(for: .p95)) { $0.p95 }
        // With few samples the slowest one is all that there is to say of the slow ones.
        let slowest = series("slowest", 2, isDashed: true, samplesMin: 1) { $0.maximum }
        let median = series("p50", 1, isDashed: false, samplesMin: 1) { $0.p50 }
        let all = [p99, p95, p99 == nil && p95 == nil ? slowest : nil, median].compactMap { $0 }
        let width = Figures.length(track.width, short: true)
        return TimeChart(
            id: id, title: title, unit: "buckets of \(width), by the time of completion",
            description: "\(metric.rawValue) over time: \(all.map(\.name).joined(separator: ", "))",
            series: all, width: track.width.nanoseconds, axis: self.axis,
            bands: self.bands.html(height: height), limit: self.limit(metric), isTime: true,
            valuesAt: track.windows.map(\.from.nanoseconds), height: height
        ).html
    }
}
