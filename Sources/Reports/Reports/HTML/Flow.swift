import SimBase

/// A flow chart: one block on the left that splits into classes on the right, each as tall as its share. Empty classes are
/// shown too, because readers look for "0 lost".
struct Flow {
    struct Branch {
        var name: String
        var count: Int
        var tone: Tone
        /// More on this class, in a few words.
        var note = ""
    }

    var title: String
    var origin: String
    var total: Int
    var branches: [Branch]

    private static let rowHeight = 26.0
    /// A single class needs no height to be compared with others.
    private var body: Double { self.branches.count { $0.count > 0 } > 1 ? 150 : 30 }

    var html: HTML {
        let whole = Double(max(1, self.branches.reduce(0) { $0 + $1.count }))
        let heights = self.branches.map { branch -> Double in
            branch.count == 0 ? 0 : max(2, Double(branch.count) / whole * self.body)
        }
        var y = 4.0
        var from = 4.0
        var curves: HTML = ""
        var labels: HTML = ""
        for (branch, height) in zip(self.branches, heights) {
            let middle = y + max(height, 2) / 2
            let labelY = max(y + 13, middle)
            if height > 0 {
                let (a, b, c, d) = (from, from + height, y, y + height)
                curves += """
                    <path class="flow \(branch.tone.rawValue)" d="M0 \(a)C500 \(a) 500 \(c) 1000 \(c)\
                    V\(d)C500 \(d) 500 \(b) 0 \(b)z"/>
                    """
                labels += """
                    <rect class="block \(branch.tone.rawValue)" x="58%" y="\(c)" width="5" height="\(height)"/>
                    """
            } else {
                labels += "<rect class=\"block none\" x=\"58%\" y=\"\(y)\" width=\"5\" height=\"2\"/>"
            }
            let sign = branch.tone == .bad && branch.count > 0 ? "✗ " : ""
            labels += """
                <svg x="58%" overflow="visible">\
                <text class="count \(branch.count > 0 ? branch.tone.rawValue : "none")" \
                x="14" y="\(labelY)">\(sign)\(Figures.count(branch.count))\
                <tspan class="soft" dx="6">\(branch.name)</tspan></text></svg>
                """
            from += height
            y += max(height + 6, Self.rowHeight)
        }
        let left = max(from - 4, 2)
        let height = Int(max(y, from)) + 6
        let parts = self.branches.map { "\(Figures.count($0.count)) \($0.name)" }.joined(separator: ", ")
        let told = "\(Figures.count(self.total)) \(self.origin): \(parts)"
        return """
            <figure class="flow-figure"><figcaption><span class="t">\(self.title)</span></figcaption>
            <svg width="100%" height="\(height)" role="img" \
            aria-label="\(told, bytesMax: 400)">
            <rect class="block origin" x="0" y="4" width="5" height="\(left)"/>
            <svg x="0" y="0" width="58%" height="\(height)" viewBox="0 0 1000 \(height)" \
            preserveAspectRatio="none">\(curves)</svg>
            <text class="count" x="16" y="24">\(Figures.count(self.total))\
            <tspan class="soft" dx="6">\(self.origin)</tspan></text>
            \(labels)</svg>\(self.notes)</figure>

            """
    }
    /// Below the chart: text within it could not be broken into lines.
    private var notes: HTML {
        let notes = self.branches.filter { !$0.note.isEmpty }.map {
            "\($0.name): \($0.note)"
        }
        return notes.isEmpty
            ? "" : "<ul class=\"flow-notes\">\(HTML.items(notes, bytesMax: 600))</ul>"
    }
}
