import Metrics
import RunArchive
import SimBase

extension HTML {
    /// Several lines of text.
    package static func block(_ text: String, linesMax: Int) -> HTML {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let shown = lines.prefix(linesMax).map { HTML(String($0), bytesMax: 400) }
        return (shown + (lines.count > linesMax ? ["…"] : [])).joined(separator: "\n")
    }

    /// `<span class="sign good">✓</span>`. A hidden sign repeats the text next to it and is not read aloud.
    package static func sign(_ tone: Tone, _ sign: String? = nil, isHidden: Bool = false) -> HTML {
        let hidden: HTML = isHidden ? " aria-hidden=\"true\"" : ""
        return "<span class=\"sign \(tone.rawValue)\"\(hidden)>\(sign ?? tone.sign)</span>"
    }

    /// A code-like text.
    package static func mono(_ text: String, bytesMax: Int = Printable.bytesMax) -> HTML {
        "<span class=\"mono\">\(text, bytesMax: bytesMax)</span>"
    }

    /// The items of a list of sentences.
    package static func items(_ texts: some Sequence<String>, bytesMax: Int) -> HTML {
        texts.map { "<li>\(sentence: $0, bytesMax: bytesMax)</li>" }.joined()
    }

    /// Warnings above the figures.
    package static func callouts(_ texts: some Sequence<String>, bytesMax: Int) -> HTML {
        texts.map { "<p class=\"callout\">△ \(sentence: $0, bytesMax: bytesMax)</p>\n" }.joined()
    }

    /// A list of names and values, with times as in a sentence.
    static func definitions(_ class: String, _ pairs: [(name: String, value: String)]) -> HTML {
        let list: [HTML] = pairs.map { "<div><dt>\($0.name)</dt><dd>\(sentence: $0.value)</dd></div>" }
        return "<dl class=\"\(`class`)\">\(list.joined())</dl>"
    }

    /// The share of a whole in percent.
    package static func share(_ part: Double, of whole: Double) -> HTML {
        guard whole > 0 else { return "0%" }
        let hundredths = Int(nearest: min(max(part / whole, 0), 1) * 10_000)
        return "\(DecimalText.text(Int64(hundredths), decimals: 2, shown: 0...2))%"
    }

    /// `48.2 ms`: with a thin space that no line is broken at.
    package static func time(_ nanoseconds: Int64) -> HTML { HTML(sentence: Figures.time(nanoseconds)) }

    /// A cell of a table, and what it is sorted by where that is not its text.
    struct Cell {
        var html: HTML
        var key: Int64?
    }

    /// A table. `numbers`: columns of numbers.
    package static func table(_ header: [String], _ rows: [[HTML]], numbers: Set<Int>, id: String) -> HTML {
        Self.table(
            header, rows.map { $0.map { Cell(html: $0) } }, numbers: numbers, id: id, isSortable: false)
    }

    /// A table that the page's script lets a reader sort. It is scrolled where the window is narrower.
    static func table(
        _ header: [String], _ rows: [[Cell]], numbers: Set<Int>, id: String, isSortable: Bool
    ) -> HTML {
        func style(_ index: Int) -> HTML { numbers.contains(index) ? " class=\"n\"" : "" }
        // Readers of the screen's words need a name for each column, also where the signs below say enough.
        let head: [HTML] = header.enumerated().map { index, name in
            name.isEmpty
                ? "<td\(style(index))></td>" : "<th scope=\"col\"\(style(index))>\(name)</th>"
        }
        let body = rows.map { row -> HTML in
            let cells: [HTML] = row.enumerated().map { index, cell in
                let key: HTML? = cell.key.map { " data-key=\"\($0)\"" }
                return "<td\(style(index))\(key ?? "")>\(cell.html)</td>"
            }
            return "<tr>\(cells.joined())</tr>"
        }
        let name = id.map { $0 == "-" ? " " : String($0) }.joined()
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="table: \(name)">\
            <table id="\(id)"\(isSortable ? " class=\"sortable\"" : "")>
            <thead><tr>\(head.joined())</tr></thead>
            <tbody>
            \(body.joined(separator: "\n"))
            </tbody></table></div>

            """
    }
}
