import RunMetrics
import SimBase
import Talaria

extension PhoneLanes {
    private static let elementsMax = 400

    var html: HTML {
        """
        <div class="lanes">\(self.slowLane)\(self.lanes.map { self.html($0) }.joined())\(self.ruler)</div>

        """
    }

    private var ruler: HTML {
        """
        <div class="lane"><span></span><svg width="100%" height="18" aria-hidden="true">\
        \(self.axis.marks(height: 0))</svg></div>
        """
    }

    private static let slowHeight = 14

    /// Where the time of the slowest one went.
    private var slowLane: HTML {
        guard let slow = self.slow else { return "" }
        let shapes = slow.spans.prefix(Self.elementsMax).map { span -> HTML in
            let (from, to) = (span.from.nanoseconds, min(span.to.nanoseconds, self.axis.end))
            return """
                <rect class="a-\(span.activity.rawValue)" x="\(self.axis.position(from))" y="1" \
                width="\(self.axis.position(max(to - from, 0)))" height="\(Self.slowHeight - 2)">\
                <title>\(span.activity.name), \(Self.times(from, to))</title></rect>
                """
        }
        return """
            <div class="lane slow"><span>\(self.noun.one) \(slow.scan.raw)</span>\
            <svg width="100%" height="\(Self.slowHeight)" role="img" \
            aria-label="where the time of \(self.noun.one) \(slow.scan.raw) went">\(shapes.joined())</svg></div>
            """
    }

    /// `12.480 s to 14.102 s`.
    private static func times(_ from: Int64, _ to: Int64) -> HTML {
        "\(Figures.seconds(from))\u{202F}s to \(Figures.seconds(to))\u{202F}s"
    }

    private func html(_ lane: Lane) -> HTML {
        guard !lane.spans.isEmpty || !lane.marks.isEmpty else { return "" }
        let rows = min(lane.rows, 12)
        let each = rows > 2 ? 6 : 9
        let height = rows * (each + 2) + 5
        var shapes: HTML = "<line class=\"base\" x1=\"0\" x2=\"100%\" y1=\"\(height)\" y2=\"\(height)\"/>"
        for span in lane.spans.prefix(Self.elementsMax) {
            let to = min(span.to ?? self.axis.end, self.axis.end)
            shapes += """
                <rect class="\(span.state.rawValue)" x="\(self.axis.position(span.from))" \
                width="\(self.axis.position(max(to - span.from, 0)))" \
                y="\(2 + span.row * (each + 2))" height="\(each)">\
                <title>\(sentence: span.text), \(Self.times(span.from, to))</title></rect>
                """
        }
        for mark in lane.marks.prefix(Self.elementsMax) {
            let shape =
                switch mark.tone {
                case .bad: "M-3 -4L3 4M3 -4L-3 4"
                case .warn: "M0 -5V5"
                case .good, .plain, .unknown, .running: "M0 -4L4 0L0 4L-4 0z"
                }
            shapes += """
                <svg x="\(self.axis.position(mark.at))" y="\(height / 2)" overflow="visible">\
                <path class="mark \(mark.tone.rawValue)" d="\(shape)">\
                <title>\(Figures.seconds(mark.at))\u{202F}s \(sentence: mark.text)</title></path></svg>
                """
        }
        return """
            <div class="lane"><span>\(lane.name)</span><svg width="100%" height="\(height + 1)" role="img" \
            aria-label="\(lane.name): \(lane.spans.count) spans, \(lane.marks.count) marks">\(shapes)</svg></div>
            """
    }

    // MARK: Legend

    /// The color of a class, with its meaning.
    static func key(_ name: String, _ text: String) -> HTML {
        """
        <li><svg class="key" width="16" height="10" aria-hidden="true">\
        <rect class="\(name)" width="16" height="10"/></svg> \(text)</li>
        """
    }

    /// What the colors and signs of all lanes mean.
    static var legend: HTML {
        let activities = ScanActivity.allCases.map { Self.key("a-\($0.rawValue)", $0.name) }.joined()
        let states = [
            ("on", "in the foreground, online, in progress, or stream open"), ("off", "in the background"),
            ("gone", "app closed, or no link"), ("opening", "stream connecting"), ("bad", "timed fault"),
        ].map { Self.key($0, $1) }.joined()
        let signs: [HTML] = [
            "\(HTML.sign(.bad, "×")) lost, failed, refused, or a fault",
            "<span class=\"sign rise\">|</span> error answer, handover, or Last-Event-ID sent",
            "\(HTML.sign(.good, "◆")) event applied",
        ]
        return """
            <div class="lanes-legend lanes"><p>Top lane: where the time of the slowest scan went. The lanes queue, uploads and \
            waits have the same colors:</p><ul>\(activities)</ul>\
            <p>Other lanes:</p><ul>\(states)\(signs.map { "<li>\($0)</li>" }.joined())</ul></div>

            """
    }
}
