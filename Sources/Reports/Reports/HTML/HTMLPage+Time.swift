import Ledger
import Metrics
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

extension HTMLPage {
    private var seconds: Double { Double(self.timeline.width.nanoseconds) / 1_000_000_000 }

    /// The spans of all timed faults, drawn behind every chart.
    private func bands(height: Int) -> String {
        self.timeline.faults.flatMap(\.spans).prefix(120).map { span in
            let to = span.to?.nanoseconds ?? self.until
            let share = HTMLText.share(
                Double(max(to - span.from.nanoseconds, 0)), of: Double(self.axis.end))
            return
                "<rect class=\"band\" x=\"\(self.axis.position(span.from.nanoseconds))\" width=\"\(share)\" y=\"0\" "
                + "height=\"\(height)\"/>"
        }.joined()
    }

    private func chart(
        _ id: String, _ title: String, _ unit: String, _ series: [TimeChart.Series], _ text: String
    ) -> String {
        TimeChart(
            id: id, title: title, unit: unit, description: text, series: series,
            width: self.timeline.width.nanoseconds, axis: self.axis, bands: self.bands(height: 120)
        ).html
    }

    private func series(
        _ name: String, _ ink: Int, _ shape: TimeChart.Shape, note: String = "",
        _ value: (TimelineWindow) -> Double
    ) -> TimeChart.Series {
        TimeChart.Series(
            name: name, ink: ink, shape: shape, values: self.timeline.windows.map { value($0) }, note: note)
    }

    private func rate(_ count: Int) -> Double { Double(count) / self.seconds }

    // MARK: Over time

    package var overTime: Section {
        let windows = self.timeline.windows
        guard !windows.isEmpty else { return Section(id: "time", title: "Over time", body: "") }
        let connected = windows.map(\.connectedMost).max() ?? 0
        let reconnecting = windows.map(\.reconnectingMost).max() ?? 0
        let offline = windows.map(\.offlineMost).max() ?? 0
        let events = windows.reduce(0) { $0 + $1.events }
        let captured = windows.reduce(0) { $0 + $1.captured }
        let window = Figures.length(self.timeline.width, short: true)
        let bucket = self.timeline.width == .seconds(1) ? "second" : window
        var body = self.faultStrips
        body += self.chart(
            "arrivals", "Arrivals", "\(self.result.noun.many) per second",
            [
                self.series("achieved", 1, .area, note: Figures.count(captured)) { self.rate($0.captured) },
                self.series("planned", 2, .line(dashed: true)) { self.rate($0.planned) },
            ], "\(self.result.noun.many) captured per second, planned and achieved; \(captured) in total")
        var phones = [
            self.series("connected", 3, .area, note: Figures.count(connected)) {
                Double($0.connectedMost)
            },
            self.series("reconnecting", 2, .line(dashed: false), note: Figures.count(reconnecting)) {
                Double($0.reconnectingMost)
            },
        ]
        if offline > 0 {
            phones.append(
                self.series("offline", 4, .line(dashed: true), note: Figures.count(offline)) {
                    Double($0.offlineMost)
                })
        }
        body += self.chart(
            "phones", "Peak phones", "per \(bucket)", phones,
            "peak phones per \(bucket): connected \(connected), reconnecting \(reconnecting)")
        var streams = [
            self.series("events", 1, .area, note: Figures.count(events)) { self.rate($0.events) }
        ]
        if windows.contains(where: { $0.pings > 0 }) {
            streams.append(self.series("pings", 7, .line(dashed: true)) { self.rate($0.pings) })
        }
        body += self.chart(
            "events", "Stream events", "per second", streams,
            "events dispatched per second; \(events) in total"
        )
        let families = ErrorFamily.allCases.filter { family in
            windows.contains { $0.errors[family.ordinal] > 0 }
        }
        if families.isEmpty {
            body += "<p class=\"lead\">No errors.</p>\n"
        } else {
            body += self.chart(
                "errors-time", "Errors by cause", "per second",
                families.map { family in
                    let total = windows.reduce(0) { $0 + $1.errors[family.ordinal] }
                    return self.series(
                        family.rawValue, Self.ink(of: family), .stacked, note: Figures.count(total)
                    ) { self.rate($0.errors[family.ordinal]) }
                }, "errors per second by cause")
        }
        return Section(
            id: "time", title: "The run over time",
            lead: "Buckets of \(window); shaded: timed faults.",
            body: body)
    }

    /// The color of a family. Neighbors differ in lightness and in hue.
    private static func ink(of family: ErrorFamily) -> Int {
        switch family {
        case .transport: 1
        case .rateLimited: 2
        case .clientError: 5
        case .serverError: 4
        case .badAnswer: 6
        case .streamLost: 7
        case .refused: 3
        }
    }

    /// The times at which each fault fired.
    private var faultStrips: String {
        let fired = self.timeline.faults.enumerated().filter { $0.element.count > 0 }
        guard !fired.isEmpty else { return "" }
        let end = Double(self.axis.end)
        let width = Double(self.timeline.width.nanoseconds)
        let strips = fired.prefix(40).map { index, fault -> String in
            let most = self.timeline.windows.map { $0.fired(index) }.max() ?? 1
            var cells = ""
            if fault.spans.isEmpty {
                for (bucket, window) in self.timeline.windows.enumerated() where window.fired(index) > 0 {
                    let strength = 0.25 + 0.75 * Double(window.fired(index)) / Double(max(1, most))
                    cells += "<rect x=\"\(HTMLText.share(Double(bucket) * width, of: end))\" "
                    cells += "width=\"\(HTMLText.share(width * 0.86, of: end))\" height=\"10\" "
                    cells += "fill-opacity=\"\(HTMLText.number(strength))\"/>"
                }
            } else {
                for span in fault.spans {
                    let to = span.to?.nanoseconds ?? self.until
                    cells += "<rect x=\"\(self.axis.position(span.from.nanoseconds))\" "
                    cells +=
                        "width=\"\(HTMLText.share(Double(max(0, to - span.from.nanoseconds)), of: end))\" "
                    cells += "height=\"10\"/>"
                }
            }
            let name = self.faultIDs.indices.contains(index) ? self.faultIDs[index] : "#\(index)"
            return "<div class=\"strip\"><span>\(HTMLText.escaped(name, bytesMax: 60)) "
                + "<b>\(Figures.count(fault.count))</b></span><svg width=\"100%\" height=\"10\" role=\"img\" "
                + "aria-label=\"fired \(fault.count) times\">\(cells)</svg></div>"
        }.joined()
        return
            "<figure><figcaption><span class=\"t\">Faults</span><span class=\"u\">when they fired</span></figcaption>"
            + "<div class=\"strips\">\(strips)</div></figure>\n"
    }

    // MARK: Latencies

    package var latencies: Section {
        let body = self.result.latencyRows.compactMap { row -> String? in
            guard row.summary != nil || !row.unfinished.isEmpty else { return nil }
            return self.latency(row)
        }.joined()
        let unknown = self.result.unknownLatencies.map(\.rawValue)
        let note =
            unknown.isEmpty
            ? ""
            : "<p>Not available in this run: \(HTMLText.mono(unknown.joined(separator: ", "), bytesMax: 1_000)).</p>\n"
        return Section(
            id: "latency", title: "Latency",
            lead: body.isEmpty
                ? ""
                : "Measured from each \(self.result.noun.one)’s scheduled start, so generator stalls are included.",
            body: body + note)
    }

    private func limit(_ metric: LatencyMetric) -> TimeChart.Limit? {
        for slo in self.result.slos.map(\.slo) {
            guard slo.selector.metric == .latency(metric), slo.selector.scope == .fleet,
                case .time(let nanoseconds) = slo.condition.threshold
            else { continue }
            return TimeChart.Limit(
                value: Double(nanoseconds),
                text: "limit \(slo.condition.aggregation) \(HTMLText.time(nanoseconds))")
        }
        return nil
    }

    private func latency(_ row: LatencyRow) -> String {
        let metric = row.metric
        var stats = [("count", Figures.count(row.summary?.count ?? 0))]
        if let summary = row.summary {
            stats += [
                ("p50", HTMLText.time(summary.p50)), ("p90", HTMLText.time(summary.p90)),
                ("p95", HTMLText.time(summary.p95)), ("p99", HTMLText.time(summary.p99)),
                ("p99.9", HTMLText.time(summary.p999)), ("max", HTMLText.time(summary.maximum)),
            ]
        }
        if !row.unfinished.isEmpty { stats.append(("unfinished", row.unfinishedText)) }
        if let failures = row.failures {
            stats.append(("failed", "\(Figures.count(failures.failed)) (\(Figures.share(failures)))"))
        }
        let id = metric.rawValue.map { $0 == "." ? "-" : String($0) }.joined()
        var charts = ""
        if let track = self.report.tracks.first(where: { $0.metric == metric }) {
            func series(_ name: String, _ ink: Int, _ dashed: Bool, _ value: (LatencySummary) -> Int64)
                -> TimeChart.Series
            {
                TimeChart.Series(
                    name: name, ink: ink, shape: .line(dashed: dashed),
                    values: track.windows.map { Double(value($0.summary)) }, note: "")
            }
            charts +=
                TimeChart(
                    id: "over-\(id)", title: "over time", unit: "",
                    description: "\(metric.rawValue) over time: p50, p95 and p99",
                    series: [
                        series("p99", 2, false) { $0.p99 }, series("p95", 4, true) { $0.p95 },
                        series("p50", 1, false) { $0.p50 },
                    ],
                    width: self.report.trackWidth.nanoseconds, axis: self.axis,
                    bands: self.bands(height: 120),
                    limit: self.limit(metric), isTime: true, valuesAt: track.windows.map(\.from.nanoseconds)
                ).html
        }
        if case .measured(let histogram) = self.result.metrics.histogram(metric, of: .fleet),
            !histogram.isEmpty
        {
            charts += NinesChart(id: "nines-\(id)", histogram: histogram, limit: self.limit(metric)).html
        }
        return """
            <article class="metric" id="\(id)"><h3>\(metric.rawValue)</h3>
            <p>\(HTMLText.escaped(metric.meaning))</p>
            \(HTMLText.definitions("stats", stats))<div class="two">\(charts)</div></article>

            """
    }
}
