import Metrics
import Reports
import SimBase

/// The values behind a verdict: each percentile, and its range over the windows of each run. Ranges that do not overlap are a
/// change.
struct SpreadChart {
    var id: String
    var findings: [LatencyFinding]

    private static let row = 14

    var html: String {
        guard let most = self.findings.flatMap({ [$0.baseSpread.upperBound, $0.newSpread.upperBound] }).max()
        else { return "" }
        let axis = ValueAxis(holdingTime: most)
        let ticks = ([0] + axis.ticks).map { tick in
            (x: HTMLText.share(tick, of: axis.top), value: tick)
        }
        let grid = ticks.map {
            "<line class=\"tick\" x1=\"\($0.x)\" x2=\"\($0.x)\" y1=\"0\" y2=\"\(Self.row)\"/>"
        }.joined()
        var lanes = ""
        for finding in self.findings {
            let name = RunComparison.Latency.name(finding.percentile)
            for (label, ink, value, spread) in [
                ("BASE", 7, finding.base, finding.baseSpread), ("NEW", 1, finding.new, finding.newSpread),
            ] {
                let told =
                    "\(name) \(label) \(Figures.time(value)), from \(Figures.time(spread.lowerBound)) to \(Figures.time(spread.upperBound))"
                lanes += "<div class=\"lane\"><span>\(name) \(label)</span>"
                lanes +=
                    "<svg width=\"100%\" height=\"\(Self.row)\" role=\"img\" aria-label=\"\(told)\">\(grid)"
                lanes += "<g class=\"i\(ink)\"><line class=\"range\" "
                lanes += "x1=\"\(HTMLText.share(Double(spread.lowerBound), of: axis.top))\" "
                lanes += "x2=\"\(HTMLText.share(Double(spread.upperBound), of: axis.top))\" "
                lanes += "y1=\"\(Self.row / 2)\" y2=\"\(Self.row / 2)\"/>"
                lanes += "<circle class=\"f\" cx=\"\(HTMLText.share(Double(value), of: axis.top))\" "
                lanes += "cy=\"\(Self.row / 2)\" r=\"4.5\"/></g></svg></div>\n"
            }
        }
        let labels = ticks.map { tick -> String in
            let anchor = tick.value == 0 ? "start" : tick.value == axis.top ? "end" : "middle"
            return "<text class=\"label\" x=\"\(tick.x)\" y=\"12\" text-anchor=\"\(anchor)\">"
                + "\(tick.value == 0 ? "0" : HTMLText.time(Int64(tick.value)))</text>"
        }.joined()
        return """
            <figure class="spread" id="\(self.id)">
            <figcaption><span class="t">value and spread</span> \
            <span class="u">ranges that do not overlap indicate a real change</span></figcaption>
            \(lanes)<div class="lane" aria-hidden="true"><span></span><svg width="100%" height="16">\(labels)</svg></div>
            </figure>

            """
    }
}
