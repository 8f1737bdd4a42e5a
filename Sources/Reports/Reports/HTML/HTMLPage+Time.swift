import Metrics
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

extension HTMLPage {
    private var seconds: Double { Double(self.timeline.width.nanoseconds) / 1_000_000_000 }

    private func chart(
        _ id: String, _ title: String, _ unit: String, _ series: [TimeChart.Series], _ text: String
    ) -> HTML {
        TimeChart(
            id: id, title: title, unit: unit, description: text, series: series,
            width: self.timeline.width.nanoseconds, axis: self.axis,
            bands: self.bands.html(height: TimeChart.heightUsual) + self.bands.names()
        ).html
    }

    func series(
        _ name: String, _ ink: Int, _ shape: TimeChart.Shape, note: String = "",
        _ value: (TimelineWindow) -> Double
    ) -> TimeChart.Series {
        TimeChart.Series(
            name: name, ink: ink, shape: shape, values: self.timeline.windows.map { value($0) }, note: note)
    }

    func rate(_ count: Int) -> Double { Double(count) / self.seconds }

    // MARK: Over time

    package var overTime: Section {
        let windows = self.timeline.windows
        guard !windows.isEmpty else { return Section(id: "time", title: "Over time", body: "") }
        let window = Figures.length(self.timeline.width, short: true)
        let bucket = self.timeline.width == .seconds(1) ? "second" : window
        let charts = [
            self.chart(of: .scanTime, titled: LatencyMetric.scanTime.rawValue, id: "time-of-scans"),
            self.arrivals, self.errorsOverTime, self.phonesOverTime(bucket), self.streamEvents,
        ]
        let body: HTML =
            "\(self.bands.legend)\(self.faultStrips)<div class=\"pairs\">\(charts.joined())</div>\n"
        return Section(
            id: "time", title: "The run over time",
            lead: """
                Buckets of \(window).\
                \(self.bands.bands.isEmpty ? "" : " The shaded times are the same in all charts.")
                """,
            body: body)
    }

    private var arrivals: HTML {
        let captured = self.timeline.windows.reduce(0) { $0 + $1.captured }
        return self.chart(
            "arrivals", "Arrivals", "\(self.result.noun.many) per second",
            [
                self.series("achieved", 1, .area, note: Figures.count(captured)) { self.rate($0.captured) },
                self.series("planned", 2, .line(dashed: true)) { self.rate($0.planned) },
            ], "\(self.result.noun.many) captured per second, planned and achieved; \(captured) in total")
    }

    private func phonesOverTime(_ bucket: String) -> HTML {
        func peak(_ count: (TimelineWindow) -> Int) -> Int { self.timeline.windows.map(count).max() ?? 0 }
        func series(
            _ name: String, _ ink: Int, _ shape: TimeChart.Shape, _ count: (TimelineWindow) -> Int
        ) -> TimeChart.Series {
            self.series(name, ink, shape, note: Figures.count(peak(count))) { Double(count($0)) }
        }
        var phones = [
            series("connected", 3, .area) { $0.connectedMost },
            series("reconnecting", 2, .line(dashed: false)) { $0.reconnectingMost },
        ]
        if peak({ $0.offlineMost }) > 0 {
            phones.append(series("offline", 4, .line(dashed: true)) { $0.offlineMost })
        }
        let (connected, reconnecting) = (peak { $0.connectedMost }, peak { $0.reconnectingMost })
        return self.chart(
            "phones", "Peak phones", "most at once in each \(bucket)", phones,
            "peak phones per \(bucket): connected \(connected), reconnecting \(reconnecting)")
    }

    private var streamEvents: HTML {
        let windows = self.timeline.windows
        let events = windows.reduce(0) { $0 + $1.events }
        var streams = [
            self.series("events", 1, .area, note: Figures.count(events)) { self.rate($0.events) }
        ]
        if windows.contains(where: { $0.pings > 0 }) {
            streams.append(self.series("pings", 2, .line(dashed: true)) { self.rate($0.pings) })
        }
        return self.chart(
            "events", "Stream events", "per second", streams,
            "events dispatched per second; \(events) in total")
    }

    private var errorsOverTime: HTML {
        let windows = self.timeline.windows
        let families = ErrorFamily.allCases.filter { family in
            windows.contains { $0.errors[family.ordinal] > 0 }
        }
        guard !families.isEmpty else { return "<p class=\"lead\">No errors.</p>\n" }
        return self.chart(
            "errors-time", "Errors by cause", "per second",
            families.map { family in
                let total = windows.reduce(0) { $0 + $1.errors[family.ordinal] }
                return self.series(
                    family.rawValue, Self.ink(of: family), .stacked, note: Figures.count(total)
                ) { self.rate($0.errors[family.ordinal]) }
            }, "errors per second by cause")
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

    /// The times at which each fault fired, and the links of the phones.
    private var faultStrips: HTML {
        let fired = self.timeline.faults.enumerated().filter { $0.element.count > 0 }
        let links = self.linkStrips
        guard !fired.isEmpty || !links.isEmpty else { return "" }
        let end = Double(self.axis.end)
        let width = Double(self.timeline.width.nanoseconds)
        let strips = fired.prefix(40).map { index, fault -> HTML in
            let most = self.timeline.windows.map { $0.fired(index) }.max() ?? 1
            var cells: HTML = ""
            if fault.spans.isEmpty {
                for (bucket, window) in self.timeline.windows.enumerated() where window.fired(index) > 0 {
                    let strength = 0.25 + 0.75 * Double(window.fired(index)) / Double(max(1, most))
                    let from = Double(bucket) * width
                    cells += """
                        <rect x="\(HTML.share(from, of: end))" \
                        width="\(HTML.share(min(width * 0.86, end - from), of: end))" height="10" \
                        fill-opacity="\(strength)"/>
                        """
                }
            } else {
                for span in fault.spans {
                    let length = max(0, (span.to?.nanoseconds ?? self.until) - span.from.nanoseconds)
                    cells += """
                        <rect x="\(self.axis.position(span.from.nanoseconds))" \
                        width="\(self.axis.position(length))" height="10"/>
                        """
                }
            }
            let name = self.faultIDs.indices.contains(index) ? self.faultIDs[index] : "#\(index)"
            return """
                <div class="strip"><span>\(name, bytesMax: 60) \
                <b>\(Figures.count(fault.count))</b></span><svg width="100%" height="10" role="img" \
                aria-label="fired \(fault.count) times">\(cells)</svg></div>
                """
        }
        return """
            <figure><figcaption><span class="t">\(links.isEmpty ? "Faults" : "Links and faults")</span> \
            <span class="u">when they acted</span></figcaption>\
            <div class="strips">\(links)\(strips.joined())</div></figure>

            """
    }

    /// One row for each itinerary, with the name of each link in it.
    private var linkStrips: HTML {
        self.report.conditions.itineraries.prefix(20).map { itinerary -> HTML in
            var cells: HTML = ""
            for phase in itinerary.phases {
                let from = phase.window.from.nanoseconds
                guard from < self.until else { continue }
                let to = min(phase.window.to?.nanoseconds ?? self.until, self.until)
                let share = Double(to - from) / Double(self.axis.end)
                let name = phase.link ?? "no link"
                let told = "\(name), \(TimeSpan(from: from, to: to).words)"
                let tone =
                    phase.link == nil ? "gap" : phase.link == itinerary.phases.first?.link ? "even" : "odd"
                cells += """
                    <rect class="\(tone)" x="\(self.axis.position(from))" height="16" \
                    width="\(HTML.share(share, of: 1))"><title>\(told)</title></rect>
                    """
                if share > 0.05 {
                    cells += ChartBands.clipped(
                        "<text class=\"note\" x=\"3\" y=\"12\">\(name, bytesMax: 24)</text>",
                        from: self.axis.position(from), share: share, y: 0, height: 16)
                }
            }
            let groups = itinerary.groups.joined(separator: ", ")
            let phases = itinerary.phases.map { $0.link ?? "no link" }.joined(separator: ", then ")
            return """
                <div class="strip links"><span>link of \(groups, bytesMax: 120)</span>\
                <svg width="100%" height="16" role="img" \
                aria-label="\("links over time: " + phases, bytesMax: 400)">\(cells)</svg></div>
                """
        }.joined()
    }
}
