import Metrics
import Reports
import RunArchive
import SimBase

/// A figure of several runs, one column for each run from the left to the right.
struct TrendChart {
    struct Series {
        var name: String
        /// Its color, by number.
        var ink: Int
        var isDashed: Bool
        /// One for each run; nil for none.
        var values: [Double?]
    }

    enum Unit {
        case time, percent, count, dollars

        func text(_ value: Double) -> String {
            switch self {
            case .time: Figures.time(Int64(nearest: value))
            case .percent: Figures.tenths(value) + "%"
            case .count: Figures.count(Int64(nearest: value))
            case .dollars:
                "$\(DecimalText.text(Int64(nearest: value * 1_000_000), decimals: 6, shown: 2...6))"
            }
        }
    }

    let id: String
    let title: String
    /// One for each run.
    let labels: [String]
    let series: [Series]
    let limit: TimeChart.Limit?
    let unit: Unit
    /// The indexes of the first runs of steps.
    var steps: [Int] = []

    private static let height = 120
    /// Labels below a chart.
    private static let labelsMax = 6

    /// The middle of the column of a run, as a share of the width.
    private func x(_ index: Int) -> Double { (Double(index) + 0.5) / Double(max(self.labels.count, 1)) }

    var html: HTML {
        var most = self.series.flatMap(\.values).compactMap { $0 }.max() ?? 0
        if let limit, limit.value < most * 3 { most = max(most, limit.value) }
        let isTime = self.unit == .time
        let top = isTime ? ValueAxis(holdingTime: Int64(nearest: most)) : ValueAxis(holding: most)
        let keys = self.series.map {
            TimeChart.key(name: $0.name, ink: $0.ink, note: "", .line(dashed: $0.isDashed))
        }
        return """
            <figure class="chart" id="\(self.id)">
            <figcaption><span class="t">\(self.title)</span>\
            <span class="legend">\(keys.joined())\(TimeChart.limitKey(self.limit, top))</span></figcaption>
            <svg class="plot" width="100%" height="\(Self.height + 22)" role="img" \
            aria-label="\(sentence: self.told, bytesMax: 2_000)">
            \(top.grid(height: Self.height))\(self.marks)
            <svg x="0" y="0" width="100%" height="\(Self.height)" viewBox="0 0 1000 \(Self.height)" \
            preserveAspectRatio="none" class="curves">\(self.curves(top))</svg>\(self.dots(top))\
            \(top.line(of: self.limit, height: Self.height))\(self.stepLines)\
            \(top.labels(height: Self.height) { HTML(sentence: self.unit.text($0)) })</svg>
            </figure>

            """
    }

    /// The values in words.
    private var told: String {
        let told = self.series.map { series in
            let values = zip(self.labels, series.values).map { label, value in
                "\(label) \(value.map { self.unit.text($0) } ?? "none")"
            }
            return "\(series.name): \(values.joined(separator: ", "))"
        }
        return "\(self.title) of each run; \(told.joined(separator: "; "))"
    }

    private var marks: HTML {
        let step = max(1, (self.labels.count + Self.labelsMax - 1) / Self.labelsMax)
        return stride(from: 0, to: self.labels.count, by: step).map { index -> HTML in
            """
            <text class="label" x="\(HTML.share(self.x(index), of: 1))" y="\(Self.height + 15)" \
            text-anchor="middle">\(self.labels[index], bytesMax: 16)</text>
            """
        }.joined()
    }

    /// Between the last run before a step and the first one after it.
    private var stepLines: HTML {
        self.steps.map { index -> HTML in
            let x = HTML.share((self.x(index) + self.x(index - 1)) / 2, of: 1)
            return """
                <line class="step" x1="\(x)" x2="\(x)" y1="0" y2="\(Self.height)">\
                <title>step at \(self.labels[index], bytesMax: 80)</title></line>
                """
        }.joined()
    }

    private func curves(_ top: ValueAxis) -> HTML {
        self.series.map { series -> HTML in
            var path: HTML = ""
            var isOpen = false
            for (index, value) in series.values.enumerated() {
                guard let value else {
                    isOpen = false
                    continue
                }
                let y = top.position(value, height: Self.height)
                path += "\(isOpen ? "L" : "M")\(self.x(index) * 1_000) \(y)"
                isOpen = true
            }
            return """
                <path class="s i\(series.ink)\(series.isDashed ? " dashed" : "")" \
                data-series="\(series.ink)" d="\(path)"/>
                """
        }.joined()
    }

    private func dots(_ top: ValueAxis) -> HTML {
        self.series.map { series -> HTML in
            let dots = series.values.enumerated().compactMap { index, value -> HTML? in
                guard let value else { return nil }
                return """
                    <circle class="f" cx="\(HTML.share(self.x(index), of: 1))" \
                    cy="\(top.position(value, height: Self.height))" r="3">\
                    <title>\(self.labels[index], bytesMax: 80): \(sentence: self.unit.text(value))</title></circle>
                    """
            }
            return "<g class=\"i\(series.ink)\">\(dots.joined())</g>"
        }.joined()
    }
}
