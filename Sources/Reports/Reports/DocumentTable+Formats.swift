import SimBase

extension TerminalPage {
    /// Shows a table after an empty line. Columns at the right are left out where the terminal is narrower.
    package mutating func table(_ document: DocumentTable) {
        guard !document.isEmpty else { return }
        let columns = document.columns.indices
        let names = columns.filter { document.columns[$0].kind == .name }
        let shown = columns.filter { document.columns[$0].kind.isOnTerminal }
        self.gap()
        var table = Table(document.title, shown.map { document.columns[$0].title })
        table.firstColumnMin = document.nameColumns
        for row in document.rows {
            let name = Printable.line(
                names.map { row.cells[$0].short ?? row.cells[$0].text }.joined(separator: " "))
            let sign = row.mark.map { self.style.isASCII ? $0.ascii : $0.sign } ?? " "
            table.rows.append(
                [
                    Piece(
                        (document.hasMarks ? sign + " " : document.isIndented ? "  " : "") + name
                            + (row.remark.map { " (\($0))" } ?? ""), row.mark?.ink ?? .plain)
                ] + shown.map { Piece(row.cells[$0].short ?? row.cells[$0].text, row.cells[$0].tone.ink) })
        }
        self.table(table)
        if let note = document.note { self.text(note, .dim, indent: 2) }
    }
}

extension DocumentTable {
    /// The table under its title; empty for an empty table.
    package var markdown: String {
        self.isEmpty ? "" : "### \(self.title)\n\n\(self.markdownBody)"
    }

    /// The table without its title.
    package var markdownBody: String {
        let rows = self.rows.map { row in
            (self.hasMarks ? [Self.markdown(row)] : [])
                + zip(self.columns, row.cells).map(Self.markdown)
        }
        return [
            rows.isEmpty || self.lead.isEmpty ? nil : "\(self.lead)\n",
            rows.isEmpty ? nil : MarkdownText.table(self.header, rows, numbers: self.numbers),
            self.note.map { "\($0)\n" },
        ].compactMap { $0 }.joined(separator: "\n")
    }

    private static func markdown(_ column: Column, _ cell: Cell) -> String {
        guard !cell.isMono else { return MarkdownText.code(cell.text) }
        // A figure needs no escape but that of `<2ms`, and stays readable in the source.
        return column.kind.isNumber ? cell.text.replacing("<", with: "&lt;") : MarkdownText.escaped(cell.text)
    }

    private static func markdown(_ row: Row) -> String {
        guard let mark = row.mark else { return "" }
        return [mark.emoji, mark.word, row.remark.map { "(\($0))" } ?? ""].filter { !$0.isEmpty }
            .joined(separator: " ")
    }

    /// The columns of numbers, as a page and Markdown count them.
    private var numbers: Set<Int> {
        let first = self.hasMarks ? 1 : 0
        return Set(self.columns.indices.filter { self.columns[$0].kind.isNumber }.map { $0 + first })
    }

    private var header: [String] { (self.hasMarks ? [""] : []) + self.columns.map(\.title) }

    /// The table as a section; its body is empty for an empty table. `prefix`: before the ids, which a page has once.
    package func section(prefix: String) -> HTMLDocument.Section {
        HTMLDocument.Section(
            id: prefix + self.id, title: self.title, lead: HTML(self.lead, bytesMax: 1_000),
            body: self.htmlBody(prefix: prefix))
    }

    /// The table with its note and without its title and lead.
    package func htmlBody(prefix: String) -> HTML {
        let rows = self.rows.map { row in
            (self.hasMarks ? [HTML.Cell(html: Self.html(row))] : []) + row.cells.map(Self.html)
        }
        var body: HTML = ""
        if !rows.isEmpty {
            body += HTML.table(
                self.header, rows, numbers: self.numbers, id: prefix + self.tableID,
                isSortable: self.isSortable)
        }
        if let note = self.note { body += "<p>\(Self.marked(note))</p>\n" }
        return body
    }

    /// A text with code between backquotes, as in Markdown.
    private static func marked(_ text: String) -> HTML {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index % 2 == 0
                ? HTML(String(part), bytesMax: 1_000) : HTML.mono(String(part), bytesMax: 400)
        }.joined()
    }

    private static func html(_ row: Row) -> HTML {
        guard let mark = row.mark else { return "" }
        let remark: HTML? = row.remark.map { " (\($0))" }
        return mark.html + (remark ?? "")
    }

    private static func html(_ cell: Cell) -> HTML.Cell {
        let text =
            cell.isMono
            ? HTML.mono(cell.text, bytesMax: 400) : HTML(sentence: cell.text, bytesMax: 400)
        let sign: HTML = cell.hasSign ? "\(HTML.sign(cell.tone, isHidden: true)) " : ""
        let link: HTML? = cell.anchor.map { "<a href=\"#\($0)\">\(text)</a>" }
        return HTML.Cell(html: cell.html ?? (cell.text.isEmpty ? "" : sign + (link ?? text)), key: cell.key)
    }
}

extension DocumentTable.Mark {
    package var html: HTML {
        self.word.isEmpty
            ? HTML.sign(self.tone, self.sign)
            : "\(HTML.sign(self.tone, self.sign, isHidden: true)) \(self.word)"
    }
}
