import Metrics
import RunArchive
import SimBase

/// Text made fit for HTML, in elements and in quoted attributes alike.
package enum HTMLText {
    /// Returns the text as one line: bounded, without control characters, and with HTML's special characters
    /// escaped.
    package static func escaped(_ text: String, bytesMax: Int = Printable.bytesMax) -> String {
        Self.signs(Printable.line(text, bytesMax: bytesMax))
    }

    /// Several lines, each as above.
    package static func block(_ text: String, linesMax: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var escaped = lines.prefix(linesMax).map { Self.escaped(String($0), bytesMax: 400) }
        if lines.count > linesMax { escaped.append("…") }
        return escaped.joined(separator: "\n")
    }

    private static func signs(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    /// `<span class="sign good">✓</span>`. A hidden sign repeats the text next to it and is not read aloud.
    package static func sign(_ tone: Tone, _ sign: String? = nil, isHidden: Bool = false) -> String {
        let hidden = isHidden ? " aria-hidden=\"true\"" : ""
        return "<span class=\"sign \(tone.rawValue)\"\(hidden)>\(sign ?? tone.sign)</span>"
    }

    /// A code-like text, escaped.
    package static func mono(_ text: String, bytesMax: Int = Printable.bytesMax) -> String {
        "<span class=\"mono\">\(Self.escaped(text, bytesMax: bytesMax))</span>"
    }

    /// The items of a list of sentences, escaped.
    package static func items(_ texts: some Sequence<String>, bytesMax: Int) -> String {
        texts.map { "<li>\(Self.sentence($0, bytesMax: bytesMax))</li>" }.joined()
    }

    /// Warnings above the figures, escaped.
    package static func callouts(_ texts: some Sequence<String>, bytesMax: Int) -> String {
        texts.map { "<p class=\"callout\">△ \(Self.sentence($0, bytesMax: bytesMax))</p>\n" }
            .joined()
    }

    /// A list of names and values. The values must be escaped already.
    static func definitions(_ class: String, _ pairs: [(name: String, value: String)]) -> String {
        let list = pairs.map { "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>" }.joined()
        return "<dl class=\"\(`class`)\">\(list)</dl>"
    }

    /// Coordinates need no more than one digit after the point.
    package static func number(_ value: Double) -> String {
        let tenths = Int(nearest: value * 10)
        return tenths % 10 == 0
            ? String(tenths / 10)
            : "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }

    /// The share of a whole in percent.
    package static func share(_ part: Double, of whole: Double) -> String {
        guard whole > 0 else { return "0%" }
        let hundredths = Int(nearest: min(max(part / whole, 0), 1) * 10_000)
        return DecimalText.text(Int64(hundredths), decimals: 2, shown: 0...2) + "%"
    }

    /// `48.2 ms`: with a thin space that no line is broken at.
    package static func time(_ nanoseconds: Int64) -> String { Self.units(Figures.time(nanoseconds)) }

    /// A text with times as the page writes all of them: `48.2 ms` for `48.2ms`, and `5 h 10 min` for `18602s`.
    package static func units(_ text: String) -> String { TimesInText.rewritten(text, space: "\u{202F}") }

    /// A sentence of ours, escaped, with its times as the page writes them.
    package static func sentence(_ text: String, bytesMax: Int = Printable.bytesMax) -> String {
        // In this order: an escape would treat the thin space as one where a line may be broken.
        Self.units(Self.escaped(text, bytesMax: bytesMax))
    }

    /// A time of the run as a clock shows it: `0:07`, `12:30`, `1:02:30`.
    package static func clock(_ nanoseconds: Int64) -> String {
        let seconds = max(0, nanoseconds / 1_000_000_000)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return seconds >= 3_600
            ? "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
            : "\(seconds / 60):\(two(seconds % 60))"
    }

    /// A cell of a table: its text, escaped, and what it is sorted by where that is not the text.
    package struct Cell {
        package var text: String
        package var key: Int64?

        package init(_ text: String) { self.text = text }

        package init(_ text: String, key: some BinaryInteger) {
            self.text = text
            self.key = Int64(clamping: key)
        }
    }

    /// A table; its cells must be escaped already. `numbers`: columns of numbers.
    package static func table(_ header: [String], _ rows: [[String]], numbers: Set<Int>, id: String) -> String
    {
        Self.table(header, rows.map { $0.map { Cell($0) } }, numbers: numbers, id: id, isSortable: false)
    }

    /// A table that the page's script lets a reader sort. It is scrolled where the window is narrower.
    package static func table(
        _ header: [String], _ rows: [[Cell]], numbers: Set<Int>, id: String, isSortable: Bool
    ) -> String {
        func style(_ index: Int) -> String { numbers.contains(index) ? " class=\"n\"" : "" }
        // Readers of the screen's words need a name for each column, also where the signs below say enough.
        let head = header.enumerated().map { index, name in
            name.isEmpty
                ? "<td\(style(index))></td>" : "<th scope=\"col\"\(style(index))>\(name)</th>"
        }.joined()
        let body = rows.map { row in
            let cells = row.enumerated().map { index, cell in
                let key = cell.key.map { " data-key=\"\($0)\"" } ?? ""
                return "<td\(style(index))\(key)>\(cell.text)</td>"
            }.joined()
            return "<tr>\(cells)</tr>"
        }.joined(separator: "\n")
        let name = id.map { $0 == "-" ? " " : String($0) }.joined()
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="table: \(name)">\
            <table id="\(id)"\(isSortable ? " class=\"sortable\"" : "")>
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(body)
            </tbody></table></div>

            """
    }
}
