import SimBase

/// Time from the left to the right of a chart, and the positions of its labels.
package struct TimeAxis {
    /// The end, in nanoseconds.
    package let end: Int64

    private static let steps: [Int64] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400,
    ]

    /// An axis of this length, rounded to milliseconds as in the summary.
    package init(end: Int64) { self.end = max((end + 500_000) / 1_000_000 * 1_000_000, 1_000_000_000) }

    /// An axis of the next round length, so that a running chart has room to grow.
    package static func holding(_ nanoseconds: Int64) -> TimeAxis {
        let lengths: [Int64] = [
            10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 450, 600, 900, 1_200, 1_800, 2_700, 3_600, 5_400,
        ]
        let seconds = max(0, nanoseconds) / 1_000_000_000 + 1
        let hours = (seconds + 3_599) / 3_600
        let end = lengths.first { $0 >= seconds } ?? (hours < 6 ? hours : (hours + 2) / 3 * 3) * 3_600
        return TimeAxis(end: end * 1_000_000_000)
    }

    /// The position in percent of the width.
    package func position(_ nanoseconds: Int64) -> HTML {
        HTML.share(Double(nanoseconds), of: Double(self.end))
    }

    /// About six of them, whole steps of a clock.
    package var ticks: [Int64] {
        let seconds = max(1, self.end / 1_000_000_000)
        let step = Self.steps.first { seconds / $0 <= 6 } ?? Self.steps[Self.steps.count - 1]
        return stride(from: 0, through: seconds, by: Int64.Stride(step)).map { $0 * 1_000_000_000 }
    }

    /// Lines and labels, the labels at this height.
    package func marks(height: Int) -> HTML {
        self.ticks.map { tick -> HTML in
            // A label at the edge would be cut.
            let share = Double(tick) / Double(self.end)
            let anchor = tick == 0 ? "start" : share > 0.96 ? "end" : "middle"
            return Self.mark(at: self.position(tick), height: height, Figures.clock(tick), anchor)
        }.joined()
    }

    /// A line from the top to the bottom of a chart, and its label below.
    static func mark(at x: HTML, height: Int, _ label: String, _ anchor: String) -> HTML {
        """
        <line class="tick" x1="\(x)" x2="\(x)" y1="0" y2="\(height)"/>\
        <text class="label" x="\(x)" y="\(height + 15)" text-anchor="\(anchor)">\(label)</text>
        """
    }
}

/// Numbers from the bottom to the top of a chart.
package struct ValueAxis {
    package let top: Double
    package let ticks: [Double]

    /// A round end that holds this value, and the steps to it.
    package init(holding value: Double) {
        let value = max(value, 1)
        var power = 1.0
        while power * 10 <= value { power *= 10 }
        while power > value { power /= 10 }
        let top = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].first { $0 * power >= value - 1e-9 } ?? 10
        self.top = top * power
        let half = self.top / 2
        self.ticks = half == half.rounded() || self.top > 20 ? [half, self.top] : [self.top]
    }

    /// An axis of nanoseconds with ticks that are round in the unit shown.
    package init(holdingTime nanoseconds: Int64) {
        let unit: Double =
            switch nanoseconds {
            case ..<1_000_000: 1_000
            case ..<1_000_000_000: 1_000_000
            default: 1_000_000_000
            }
        let axis = ValueAxis(holding: max(Double(nanoseconds) / unit, 0.001) * 1_040)
        self.top = axis.top * unit / 1_000
        self.ticks = [self.top / 2, self.top]
    }

    /// A chart below this height in pixels has one label.
    private static let lowHeight = 100

    package func position(_ value: Double, height: Int) -> Double {
        Double(height) - min(value, self.top) / self.top * Double(height)
    }

    /// The lines of the ticks, which are behind the curves.
    package func grid(height: Int) -> HTML {
        let lines: [HTML] = self.ticks.map { tick in
            let y = self.position(tick, height: height)
            return "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"\(y)\" y2=\"\(y)\"/>"
        }
        return """
            <line class="base" x1="0" x2="100%" y1="\(height)" y2="\(height)"/>\(lines.joined())
            """
    }

    /// The line of a limit; empty for none, and for one above the chart.
    package func line(of limit: TimeChart.Limit?, height: Int) -> HTML {
        guard let limit, limit.value <= self.top else { return "" }
        let y = self.position(limit.value, height: height)
        return "<line class=\"limit\" x1=\"0\" x2=\"100%\" y1=\"\(y)\" y2=\"\(y)\"/>"
    }

    /// The values of the ticks, which no curve may strike through: of the highest alone where two would touch a curve.
    package func labels(height: Int, text: (Double) -> HTML) -> HTML {
        self.ticks.suffix(height < Self.lowHeight ? 1 : 2).map { tick -> HTML in
            let y = self.position(tick, height: height) - 4
            return "<text class=\"label\" x=\"0\" y=\"\(y)\">\(text(tick))</text>"
        }.joined()
    }
}
