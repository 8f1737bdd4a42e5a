package import Metrics
import RunArchive
import SimBase

/// The values of a histogram by percentile, on the axis of nines: 90 %, 99 %, 99.9 % are equally far apart.
package struct NinesChart {
    /// `ink`: its color, by number.
    package typealias Curve = (name: String, ink: Int, isDashed: Bool, histogram: HDRHistogram)

    package var id: String
    /// A single curve has no name and no legend.
    package var curves: [Curve]
    package var limit: TimeChart.Limit?
    package var height = 120

    package init(id: String, curves: [Curve], limit: TimeChart.Limit? = nil) {
        self.id = id
        self.curves = curves
        self.limit = limit
    }

    private static let labels = ["0%", "90%", "99%", "99.9%", "99.99%", "99.999%"]
    private static let stepsPerNine = 24

    /// Returns the number of nines that so many samples support.
    private static func nines(_ total: Int64) -> Int {
        var nines = 1
        var samples: Int64 = 10
        while samples * 10 <= total, nines < Self.labels.count - 1 {
            samples *= 10
            nines += 1
        }
        return nines
    }

    private static func remainder(_ step: Int) -> Double {
        // 10 to the power of -step/stepsPerNine, without a library.
        var left = 1.0
        for _ in 0..<(step / Self.stepsPerNine) { left /= 10 }
        for _ in 0..<(step % Self.stepsPerNine) { left /= Self.root }
        return left
    }

    /// The 24th root of 10.
    private static let root = 1.100_694_171_252_208_1

    private func path(_ histogram: HDRHistogram, of nines: Int, _ top: ValueAxis) -> HTML {
        var path: HTML = ""
        for step in 0...(Self.nines(histogram.total) * Self.stepsPerNine) {
            let part = 1 - Self.remainder(step)
            let perMillion = max(1, min(1_000_000, UInt32((part * 1_000_000).rounded())))
            guard let value = histogram.value(at: Percentile(perMillion: perMillion)) else { continue }
            let x = Double(step) / Double(nines * Self.stepsPerNine) * 1_000
            path += "\(path.isEmpty ? "M" : "L")\(x) \(top.position(Double(value), height: self.height))"
        }
        return path
    }

    private func line(_ curve: Curve, _ nines: Int, _ top: ValueAxis) -> HTML {
        let series: HTML = curve.name.isEmpty ? "" : " data-series=\"\(curve.ink)\""
        return """
            <path class="s i\(curve.ink)\(curve.isDashed ? " dashed" : "")"\(series) \
            d="\(self.path(curve.histogram, of: nines, top))"/>
            """
    }

    private var legend: HTML {
        let keys = self.curves.filter { !$0.name.isEmpty }.map { curve in
            TimeChart.key(name: curve.name, ink: curve.ink, note: "", .line(dashed: curve.isDashed))
        }
        return keys.isEmpty ? "" : "<span class=\"legend\">\(keys.joined())</span>"
    }

    package var html: HTML {
        guard let most = self.curves.compactMap(\.histogram.maximum).max() else { return "" }
        let top = ValueAxis(holdingTime: most)
        let nines = self.curves.map { Self.nines($0.histogram.total) }.max() ?? 1
        let lines = self.curves.map { self.line($0, nines, top) }.joined()
        var marks: HTML = ""
        for nine in 0...nines {
            let x = HTML.share(Double(nine), of: Double(nines))
            let anchor = nine == 0 ? "start" : nine == nines ? "end" : "middle"
            marks += TimeAxis.mark(at: x, height: self.height, Self.labels[nine], anchor)
        }
        return """
            <figure class="chart nines" id="\(self.id)">
            <figcaption><span class="t">by percentile</span> \
            <span class="u">the share that took at most this long</span>\(self.legend)</figcaption>
            <svg class="plot" width="100%" height="\(self.height + 22)" role="img" \
            aria-label="latency by percentile, up to \(HTML.time(most))">
            \(marks)\(top.grid(height: self.height))
            <svg x="0" y="0" width="100%" height="\(self.height)" viewBox="0 0 1000 \(self.height)" \
            preserveAspectRatio="none" class="curves">\(lines)</svg>\(top.line(of: self.limit, height: self.height))\
            \(top.labels(height: self.height) { HTML.time(Int64(nearest: $0)) })</svg>
            </figure>

            """
    }
}
