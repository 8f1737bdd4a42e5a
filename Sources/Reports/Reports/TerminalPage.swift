import RunJudge
import SimBase

/// The capabilities of a terminal.
package struct TerminalStyle: Hashable, Sendable {
    /// The maximum width of a line.
    package var columns: Int
    /// ANSI colors.
    package var isColored: Bool
    /// ASCII only: `ok`, `FAIL` and `warn` instead of signs.
    package var isASCII: Bool

    /// The least width. A narrower terminal is treated as this wide.
    package static let columnsMin = 40

    package init(columns: Int, isColored: Bool, isASCII: Bool) {
        self.columns = max(columns, Self.columnsMin)
        self.isColored = isColored
        self.isASCII = isASCII
    }

    /// The style for a file and for an unknown terminal.
    package static let plain = TerminalStyle(columns: 80, isColored: false, isASCII: false)
}

/// The emphasis of a piece of text.
package enum Ink {
    case plain, bold, dim, good, bad, warning

    /// Select Graphic Rendition parameters (ECMA-48); colors are the terminal's own, so that they fit its background.
    package var code: String? {
        switch self {
        case .plain: nil
        case .bold: "1"
        case .dim: "2"
        case .good: "32"
        case .bad: "1;31"
        case .warning: "33"
        }
    }
}

/// Text of one ink.
package struct Piece {
    package var text: String
    package var ink: Ink

    package init(_ text: String, _ ink: Ink = .plain) {
        self.text = text
        self.ink = ink
    }
}

/// The lines of the terminal report, never wider than the terminal. All text is made printable first.
package struct TerminalPage {
    package let style: TerminalStyle
    private var lines: [String] = []

    package init(style: TerminalStyle) { self.style = style }

    package var text: String { self.lines.map { $0 + "\n" }.joined() }

    // MARK: Lines

    /// The sign of a tone in its color.
    package func mark(_ tone: Tone) -> Piece {
        let ascii = self.style.isASCII
        return switch tone {
        case .good: Piece(ascii ? "ok" : "✓", .good)
        case .bad: Piece(ascii ? "FAIL" : "✗", .bad)
        case .warn: Piece(ascii ? "warn" : "!", .warning)
        case .unknown: Piece("n/a", .dim)
        case .plain, .running: Piece("")
        }
    }

    /// The first line: the verdict, and the scenario that it is on.
    package mutating func verdict(_ sign: Piece, _ verdict: String, of scenario: String) {
        let verdict = Piece(sign.text + " " + verdict, sign.ink)
        let indent = Printable.width(verdict.text) + 2
        let name = self.fitted(scenario, columns: self.style.columns - indent)
        self.row([verdict], indent: indent, [(Piece(name, .bold), 0)])
    }

    /// An empty line, unless the last one is.
    package mutating func gap() {
        if let last = self.lines.last, !last.isEmpty { self.lines.append("") }
    }

    /// A paragraph, broken between words; words that are wider than a line are cut. `first` precedes its
    /// first line and takes `indent` columns, by which the other lines are indented.
    package mutating func paragraph(_ first: Piece, indent: Int, _ pieces: [Piece]) {
        let room = self.style.columns - indent
        var lead = [self.shown(first)]
        lead.append(Piece(String(repeating: " ", count: max(0, indent - Printable.width(lead[0].text)))))
        for line in Self.broken(pieces.map(self.shown), room: room) {
            self.add(lead + line)
            lead = [Piece(String(repeating: " ", count: indent))]
        }
    }

    /// A paragraph of one ink.
    package mutating func text(_ text: String, _ ink: Ink = .plain, indent: Int) {
        self.paragraph(Piece(""), indent: indent, [Piece(text, ink)])
    }

    /// The words of a command, over several lines in a way that a shell still reads as one.
    package mutating func command(_ first: Piece, indent: Int, _ words: [String]) {
        let room = self.style.columns - indent - 2
        var lines: [String] = []
        for word in words.map(ShellWords.quoted) {
            if let last = lines.last, Printable.width(last) + 1 + Printable.width(word) <= room {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(word)
            }
        }
        for (index, line) in lines.enumerated() {
            let lead = index == 0 ? self.shown(first) : Piece("")
            let padding = String(repeating: " ", count: max(0, indent - Printable.width(lead.text)))
            let text = index < lines.count - 1 ? line + " \\" : line
            // A word that is too long for a line stays whole: cut, it would be another command.
            self.add([lead, Piece(padding), self.shown(Piece(text))])
        }
    }

    /// One line whose cells take the columns that they are given; what is wider than its cell pushes the next.
    package mutating func row(_ lead: [Piece], indent: Int, _ cells: [(piece: Piece, columns: Int)]) {
        var line = lead.map(self.shown)
        let taken = line.reduce(0) { $0 + Printable.width($1.text) }
        line.append(Piece(String(repeating: " ", count: max(0, indent - taken))))
        for cell in cells {
            let shown = self.shown(cell.piece)
            line.append(shown)
            line.append(
                Piece(String(repeating: " ", count: max(0, cell.columns - Printable.width(shown.text)))))
        }
        self.add(line)
    }

    /// Rows in columns as wide as they need; the first is cut where it does not fit, the others never.
    package mutating func table(_ table: Table) {
        var rows = ([table.header] + table.rows).map { $0.map(self.shown) }
        var widths: [Int] = []
        while true {
            let columns = rows.map(\.count).max() ?? 0
            widths = (0..<columns).map { column in
                rows.map { $0.count > column ? Printable.width($0[column].text) : 0 }.max() ?? 0
            }
            let others = widths.dropFirst().reduce(0) { $0 + $1 + Table.gap }
            let left = self.style.columns - others
            if left >= min(widths.first ?? 0, table.firstColumnMin) || columns <= 2 {
                widths[0] = min(widths[0], max(left, 1))
                break
            }
            rows = rows.map { Array($0.prefix(columns - 1)) }
        }
        for row in rows {
            var line: [Piece] = []
            for (column, cell) in row.enumerated() {
                let text = column == 0 ? self.fitted(cell.text, columns: widths[0]) : cell.text
                let padding = String(repeating: " ", count: max(0, widths[column] - Printable.width(text)))
                let gap = String(repeating: " ", count: Table.gap)
                line +=
                    column == 0
                    ? [Piece(text, cell.ink), Piece(padding)] : [Piece(gap + padding), Piece(text, cell.ink)]
            }
            self.add(line)
        }
    }

    /// The text within so many columns, as the terminal can show it.
    package func fitted(_ text: String, columns: Int) -> String {
        Printable.fitted(
            self.shown(Piece(text)).text, columns: columns, mark: self.style.isASCII ? "..." : "…")
    }

    // MARK: Words

    /// Lines of at most `room` columns.
    private static func broken(_ pieces: [Piece], room: Int) -> [[Piece]] {
        var lines: [[Piece]] = [[]]
        var used = 0
        for word in Self.words(pieces) {
            let width = word.reduce(0) { $0 + Printable.width($1.text) }
            if used > 0, used + 1 + width <= room {
                // The space takes the ink of what it joins if that is one.
                let ink = lines[lines.count - 1].last?.ink == word.first?.ink ? word.first?.ink : nil
                lines[lines.count - 1].append(Piece(" ", ink ?? .plain))
                lines[lines.count - 1] += word
                used += 1 + width
                continue
            }
            if used > 0 {
                lines.append([])
                used = 0
            }
            guard width > room else {
                lines[lines.count - 1] += word
                used = width
                continue
            }
            // Words that were tied together come apart before any of them is cut.
            if word.contains(where: { $0.text.unicodeScalars.contains(Printable.tie) }) {
                let untied = word.map { Piece(Self.untied($0.text), $0.ink) }
                lines.removeLast()
                lines += Self.broken(untied, room: room)
                used = lines[lines.count - 1].reduce(0) { $0 + Printable.width($1.text) }
                continue
            }
            for piece in word {
                for scalar in piece.text.unicodeScalars {
                    let width = Printable.width(scalar)
                    if used + width > room, used > 0 {
                        lines.append([])
                        used = 0
                    }
                    lines[lines.count - 1].append(Piece(String(scalar), piece.ink))
                    used += width
                }
            }
        }
        return lines
    }

    static func untied(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == Printable.tie ? " " : $0 }))
    }

    /// Words between spaces, each of one ink or several.
    private static func words(_ pieces: [Piece]) -> [[Piece]] {
        var words: [[Piece]] = [[]]
        for piece in pieces {
            let parts = piece.text.split(separator: " ", omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                if index > 0 { words.append([]) }
                if !part.isEmpty { words[words.count - 1].append(Piece(String(part), piece.ink)) }
            }
        }
        return words.filter { !$0.isEmpty }
    }

    // MARK: Ink

    /// Returns a piece as the terminal can show it.
    private func shown(_ piece: Piece) -> Piece {
        let line = Printable.line(piece.text, bytesMax: Self.pieceBytesMax)
        return Piece(self.style.isASCII ? Printable.ascii(line) : line, piece.ink)
    }

    /// The maximum length of a piece; foreign text is bounded much tighter.
    private static let pieceBytesMax = 16 * 1_024

    private mutating func add(_ pieces: [Piece]) {
        var line = ""
        var open: String?
        var pending = ""
        for piece in pieces where !piece.text.isEmpty {
            // Spaces at the end of a line are not text, and plain ones are invisible.
            if piece.ink == .plain, piece.text.allSatisfy({ $0 == " " }) {
                pending += piece.text
                continue
            }
            let code = self.style.isColored ? piece.ink.code : nil
            if code != open || !pending.isEmpty {
                if open != nil { line += Self.reset }
                line += pending
                if let code { line += "\u{1B}[\(code)m" }
                pending = ""
                open = code
            }
            line += piece.text
        }
        line = Self.untied(line)
        if open != nil { line += Self.reset }
        self.lines.append(line)
    }

    private static let reset = "\u{1B}[0m"
}

/// Cells in columns: the first is text, the others are numbers.
package struct Table {
    /// Columns between two cells.
    package static let gap = 2
    /// Columns at the right are left out before the first becomes narrower than this.
    package static let firstColumnMin = 12

    package var header: [Piece]
    package var rows: [[Piece]] = []
    /// The least width of the first column of this table.
    package var firstColumnMin = Table.firstColumnMin

    /// A bold title, and the names of the other columns.
    package init(_ title: String, _ columns: [String]) {
        self.header = [Piece(title, .bold)] + columns.map { Piece($0, .dim) }
    }
}
