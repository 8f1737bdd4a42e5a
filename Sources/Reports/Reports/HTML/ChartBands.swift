import RunArchive
import RunJudge
import RunMetrics
import SimBase

/// The times behind every chart in which the scenario acts on the run: timed faults, and phases of the links of the phones.
struct ChartBands {
    /// The raw value is the CSS class in addition to `band`.
    enum Kind: String, CaseIterable {
        case fault
        /// Phones without any link.
        case gap
        /// Phones with another link than at the start.
        case link

        var words: String {
            switch self {
            case .fault: "timed faults"
            case .gap: "no link"
            case .link: "another link"
            }
        }
    }

    struct Band {
        var kind: Kind
        var name: String
        var span: TimeSpan
    }

    private static let bandsMax = 120
    /// The share of a chart over time that a character of a name takes, in percent. Narrower charts have no names.
    private static let characterSharePercent = 0.7
    private static let namesMax = 6

    let axis: TimeAxis
    let bands: [Band]

    /// `until`: the end of what has not ended.
    init(_ report: RunReport, axis: TimeAxis, until: Int64) {
        self.axis = axis
        self.bands = Array(
            (Self.faults(report, until: until) + Self.links(report, until: until)).prefix(Self.bandsMax))
    }

    /// The spans that were observed; of a fault of requests, which has no beginning of its own, the time of the scenario.
    private static func faults(_ report: RunReport, until: Int64) -> [Band] {
        let ids = report.result.faults.map(\.id)
        return ids.enumerated().flatMap { index, id -> [Band] in
            let faults = report.timeline.faults
            let spans = faults.indices.contains(index) ? faults[index].spans : []
            if spans.isEmpty, let window = report.conditions.faults.first(where: { $0.id == id })?.window,
                window.from.nanoseconds < until
            {
                let to = min(window.to?.nanoseconds ?? until, until)
                let span = TimeSpan(from: window.from.nanoseconds, to: to)
                return [Band(kind: .fault, name: id, span: span)]
            }
            return spans.map { span in
                let from = span.from.nanoseconds
                let to = max(from, span.to?.nanoseconds ?? until)
                return Band(kind: .fault, name: id, span: TimeSpan(from: from, to: to))
            }
        }
    }

    /// The phases in which the link is not the one of the start.
    private static func links(_ report: RunReport, until: Int64) -> [Band] {
        LinkChange.all(report.conditions.itineraries, of: report.result, until: until).map {
            Band(kind: $0.isGap ? .gap : .link, name: $0.name, span: $0.span)
        }
    }

    // MARK: Drawing

    private func share(_ band: Band) -> Double {
        Double(band.span.to - band.span.from) / Double(self.axis.end)
    }

    func html(height: Int) -> HTML {
        // Those of a kind are one shape: where two overlap the shade stays the same.
        Kind.allCases.compactMap { kind -> HTML? in
            let bands = self.bands.filter { $0.kind == kind }.map { self.rect($0, height: height) }
            return bands.isEmpty ? nil : "<g class=\"bands-\(kind.rawValue)\">\(bands.joined())</g>"
        }.joined()
    }

    private func rect(_ band: Band, height: Int) -> HTML {
        """
        <rect class="band \(band.kind.rawValue)" x="\(self.axis.position(band.span.from))" \
        width="\(HTML.share(self.share(band), of: 1))" y="0" height="\(height)">\
        <title>\("\(band.name), \(band.span.words)" as String, bytesMax: 200)</title></rect>
        """
    }

    /// The names over their bands, as far as they have room; the legend has all of them.
    func names() -> HTML {
        var end = -1.0
        var count = 0
        var names: HTML = ""
        for band in self.bands.sorted(by: { $0.span.from < $1.span.from }) {
            let from = Double(band.span.from) / Double(self.axis.end)
            let room = Self.characterSharePercent * Double(band.name.count + 1)
            guard self.share(band) * 100 >= room, from >= end, count < Self.namesMax else { continue }
            end = Double(band.span.to) / Double(self.axis.end)
            count += 1
            names += Self.clipped(
                "<text class=\"label band-name\" x=\"3\" y=\"10\">\(band.name, bytesMax: 24)</text>",
                from: self.axis.position(band.span.from), share: self.share(band), y: -14, height: 14)
        }
        return names
    }

    /// A text that ends with its band, whose width in pixels is not known.
    static func clipped(_ text: HTML, from: HTML, share: Double, y: Int, height: Int) -> HTML {
        """
        <svg class="clip" x="\(from)" y="\(y)" width="\(HTML.share(share, of: 1))" height="\(height)">\(text)</svg>
        """
    }

    /// What is shaded, with names and times; empty if nothing is.
    var legend: HTML {
        let items = Kind.allCases.compactMap { kind -> HTML? in
            let bands = self.bands.filter { $0.kind == kind }
            guard !bands.isEmpty else { return nil }
            let told = TimeSpan.byName(bands.map { ($0.name, $0.span) }).map { name, times -> HTML in
                "<b>\(name, bytesMax: 80)</b> \(times)"
            }
            return """
                <li><svg class="key" width="16" height="10" aria-hidden="true">\
                <g class="bands-\(kind.rawValue)"><rect class="band \(kind.rawValue)" width="16" height="10"/></g></svg> \
                \(kind.words): \(told.joined(separator: "; "))</li>
                """
        }
        return items.isEmpty ? "" : "<ul class=\"bands-legend\">\(items.joined())</ul>\n"
    }
}
