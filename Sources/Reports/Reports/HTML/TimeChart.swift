import Metrics
import RunArchive
import SimBase

/// A chart over the time of the run, as inline SVG that fills whatever width it is given: positions across are percent,
/// and only the curves are stretched.
package struct TimeChart {
    package enum Shape {
        /// A line; dashed ones can be distinguished without color.
        case line(dashed: Bool)
        case area
        /// Stacked on the previous ones.
        case stacked
    }

    package struct Series {
        package var name: String
        /// Its color, by number.
        package var ink: Int
        package var shape: Shape
        /// The values, one per window; nil for none.
        package var values: [Double?]
        /// The text in the legend after the name.
        package var note: String

        package init(name: String, ink: Int, shape: Shape, values: [Double?], note: String = "") {
            self.name = name
            self.ink = ink
            self.shape = shape
            self.values = values
            self.note = note
        }
    }

    package struct Limit {
        package var value: Double
        package var text: String

        package init(value: Double, text: String) {
            self.value = value
            self.text = text
        }

        /// Nil for an objective that has no limit of time.
        init?(_ slo: SLO) {
            guard case .time(let nanoseconds) = slo.condition.threshold else { return nil }
            self.value = Double(nanoseconds)
            self.text = "limit \(slo.condition.aggregation) \(Figures.time(nanoseconds))"
        }
    }

    let id: String
    let title: String
    let unit: String
    /// The text alternative.
    let description: String
    let series: [Series]
    /// The width of a window in nanoseconds.
    let width: Int64
    let axis: TimeAxis
    let bands: HTML
    package static let heightUsual = 120
    var limit: Limit?
    var isTime = false
    /// The start of each window; nil if the windows have no gaps.
    var valuesAt: [Int64]?
    var height = Self.heightUsual

    private var top: ValueAxis {
        var most = 0.0
        var stacked = [Double](repeating: 0, count: self.series.map(\.values.count).max() ?? 0)
        for series in self.series {
            for (index, value) in series.values.enumerated() {
                guard let value else { continue }
                if case .stacked = series.shape {
                    stacked[index] += value
                    most = max(most, stacked[index])
                } else {
                    most = max(most, value)
                }
            }
        }
        // A limit far above everything would press it all to the floor.
        if let limit, limit.value < most * 3 { most = max(most, limit.value) }
        return self.isTime ? ValueAxis(holdingTime: Int64(nearest: most)) : ValueAxis(holding: most)
    }

    private func text(_ value: Double) -> HTML {
        self.isTime ? HTML.time(Int64(nearest: value)) : HTML(Self.plain(value))
    }

    package static func plain(_ value: Double) -> String {
        value == value.rounded() ? Figures.count(Int(nearest: value)) : Figures.tenths(value)
    }

    package var html: HTML {
        let top = self.top
        let legend = self.series.map { series in
            Self.key(name: series.name, ink: series.ink, note: series.note, series.shape)
        }.joined()
        return """
            <figure class="chart" id="\(self.id)">
            <figcaption><span class="t">\(self.title)</span> \
            <span class="u">\(self.unit)</span>\
            <span class="legend">\(legend)\(Self.limitKey(self.limit, top))</span></figcaption>
            <svg class="plot" width="100%" height="\(self.height + 22)" role="img" tabindex="0" \
            aria-label="\(self.description, bytesMax: 400)" data-end="\(self.axis.end)" \
            data-width="\(self.width)" data-height="\(self.height)"\(self.data)>
            <g class="bands">\(self.bands)</g>
            \(self.axis.marks(height: self.height))
            \(top.grid(height: self.height))
            \(self.curves(top))\(top.line(of: self.limit, height: self.height))\(top.labels(height: self.height) { self.text($0) })
            <line class="cross" y1="0" y2="\(self.height)" visibility="hidden"/></svg>
            </figure>

            """
    }

    /// A curve's entry in the legend, which also hides it.
    package static func key(name: String, ink: Int, note: String, _ shape: Shape) -> HTML {
        let sign: HTML
        switch shape {
        case .line(let isDashed): sign = "<path class=\"s\(isDashed ? " dashed" : "")\" d=\"M0 5H16\"/>"
        case .area, .stacked: sign = "<rect class=\"f\" width=\"16\" height=\"10\"/>"
        }
        return """
            <button type="button" aria-pressed="true" data-series="\(ink)">\
            <svg class="key i\(ink)" width="16" height="10" aria-hidden="true">\(sign)</svg>\
            \(name)\(note.isEmpty ? "" : " <b>\(note)</b>")</button>
            """
    }

    /// The limit is in the legend: next to its line it would cover the curves. One that is off the chart says
    /// so.
    package static func limitKey(_ limit: Limit?, _ top: ValueAxis) -> HTML {
        guard let limit else { return "" }
        let text = limit.text + (limit.value <= top.top ? "" : " (above the chart)")
        return """
            <span class="limit-key"><svg class="key" width="16" height="10" aria-hidden="true">\
            <path class="limit" d="M0 5H16"/></svg>\(sentence: text)</span>
            """
    }

    /// Values for the reader's pointer, as text: the page needs no arithmetic to show them.
    private var data: HTML {
        let names = self.series.map { HTML($0.name) }.joined(separator: "|")
        let values = self.series.map { series in
            series.values.map { $0.map { self.text($0) } ?? "" }.joined(separator: ";")
        }.joined(separator: "|")
        let at: HTML? = self.valuesAt.map {
            " data-at=\"\($0.map { "\($0)" as HTML }.joined(separator: ";"))\""
        }
        return " data-names=\"\(names)\" data-values=\"\(values)\"\(at ?? "")"
    }

    // MARK: Curves

    private static let across = 1_000.0

    private func curves(_ top: ValueAxis) -> HTML {
        var floor = [Double](repeating: 0, count: self.series.map(\.values.count).max() ?? 0)
        let curves = self.series.map { series -> HTML in
            switch series.shape {
            case .line(let dashed):
                return """
                    <path class="s i\(series.ink)\(dashed ? " dashed" : "")" data-series="\(series.ink)" \
                    d="\(self.line(series.values, top))"/>
                    """
            case .area:
                return self.bars(series, floor: [], top)
            case .stacked:
                let bars = self.bars(series, floor: floor, top)
                for (index, value) in series.values.enumerated() { floor[index] += value ?? 0 }
                return bars
            }
        }.joined()
        return """
            <svg x="0" y="0" width="100%" height="\(self.height)" viewBox="0 0 1000 \(self.height)" \
            preserveAspectRatio="none" class="curves">\(curves)</svg>
            """
    }

    private func x(_ index: Int) -> Double {
        let at = self.valuesAt.map { Double($0[index]) } ?? Double(index) * Double(self.width)
        return min(at / Double(self.axis.end), 1) * Self.across
    }

    private func xEnd(_ index: Int) -> Double {
        min(self.x(index) + Double(self.width) / Double(self.axis.end) * Self.across, Self.across)
    }

    /// A step a window: what is known of a window is known of all of it.
    private func line(_ values: [Double?], _ top: ValueAxis) -> HTML {
        var path: HTML = ""
        var last: (x: Double, y: Double)?
        for (index, value) in values.enumerated() {
            guard let value else {
                last = nil
                continue
            }
            let (x, y) = (self.x(index), top.position(value, height: self.height))
            if let last, abs(last.x - x) < 0.05 {
                if Figures.tenths(last.y) != Figures.tenths(y) { path += "V\(y)" }
            } else {
                path += "M\(x) \(y)"
            }
            path += "H\(self.xEnd(index))"
            last = (self.xEnd(index), y)
        }
        return path
    }

    private func bars(_ series: Series, floor: [Double], _ top: ValueAxis) -> HTML {
        var path: HTML = ""
        for (index, value) in series.values.enumerated() {
            guard let value, value > 0 else { continue }
            let under = index < floor.count ? floor[index] : 0
            let (low, high) = (
                top.position(under, height: self.height), top.position(under + value, height: self.height)
            )
            path += "M\(self.x(index)) \(low)V\(high)"
            path += "H\(self.xEnd(index))V\(low)z"
        }
        return "<path class=\"f i\(series.ink)\" data-series=\"\(series.ink)\" d=\"\(path)\"/>"
    }
}

extension TimeChart {
    /// A chart of times without bands.
    package init(
        id: String, title: String, description: String, series: [Series], width: Int64, axis: TimeAxis
    ) {
        self.init(
            id: id, title: title, unit: "", description: description, series: series, width: width,
            axis: axis, bands: "", isTime: true)
    }
}
