import SimBase

/// A table of a report, without the layout of a format. `DocumentTable+Formats.swift` lays it out for all of them.
package struct DocumentTable {
    package struct Column {
        package enum Kind {
            /// What the row is about. The terminal joins the names of a row in its first column.
            case name
            case text
            /// A figure, without text of others.
            case number
            /// A number that the terminal leaves out.
            case detail
            /// A text that is too long for the terminal, which leaves it out.
            case sentence

            var isNumber: Bool { self == .number || self == .detail }
            var isOnTerminal: Bool { self == .text || self == .number }
        }

        package var title: String
        package var kind: Kind
    }

    package struct Cell {
        package var text: String
        /// The text for the terminal, where that is another: it has less room.
        package var short: String?
        package var tone: Tone
        package var isMono = false
        /// What a page shows, where that is more than the text.
        var html: HTML?
        /// Whether a page shows the sign of the tone before the text; the terminal shows the color.
        package var hasSign = false
        /// The key for sorting, where that is not the text.
        package var key: Int64?
        /// The id of an element of the page that the text links to.
        package var anchor: String?

        package init(
            _ text: String, short: String? = nil, _ tone: Tone = .plain, key: Int64? = nil,
            html: HTML? = nil, anchor: String? = nil
        ) {
            self.text = text
            self.short = short
            self.tone = tone
            self.key = key
            self.html = html
            self.anchor = anchor
        }

        /// A name of the scenario or of the program, as written there.
        package static func mono(_ text: String, short: String? = nil) -> Self {
            var cell = Self(text, short: short)
            cell.isMono = true
            return cell
        }

        package static func verdict(_ text: String, _ tone: Tone, key: Int64? = nil) -> Self {
            var cell = Self(text, tone, key: key)
            cell.hasSign = true
            return cell
        }
    }

    /// The state of a row, in front of it.
    package struct Mark: Hashable {
        package var word: String
        package var sign: String
        /// The sign of a terminal without Unicode.
        package var ascii: String
        /// The sign in Markdown, which has no colors; empty for none.
        package var emoji: String
        package var tone: Tone
        /// The color of the terminal.
        package var ink: Ink

        package init(word: String, sign: String, ascii: String, emoji: String, tone: Tone, ink: Ink) {
            self.word = word
            self.sign = sign
            self.ascii = ascii
            self.emoji = emoji
            self.tone = tone
            self.ink = ink
        }

        /// The sign of a tone, without a word.
        init(_ tone: Tone) {
            self.init(
                word: "", sign: tone.sign, ascii: tone.sign, emoji: tone.emoji, tone: tone, ink: tone.ink)
        }
    }

    package struct Row {
        package var mark: Mark?
        /// An addition to the mark: `as expected`.
        package var remark: String?
        /// One for each column.
        package var cells: [Cell]
    }

    /// The id of its section on a page.
    package let id: String
    /// The id of the table on a page.
    package let tableID: String
    package let title: String
    package var hasMarks = true
    package var isSortable = false
    /// Whether the terminal indents rows without marks below the title.
    package var isIndented = false
    /// How the values of the table are to be read. The terminal leaves it out.
    package var lead = ""
    /// What the table does not show.
    package var note: String?
    /// The least width of the names on a terminal.
    package var nameColumns = Table.firstColumnMin
    package private(set) var columns: [Column] = []
    package private(set) var rows: [Row] = []

    package init(id: String, tableID: String, title: String) {
        self.id = id
        self.tableID = tableID
        self.title = title
    }

    /// A table with a row for each of these. `mark`: nil for a table without marks.
    package init<Subject>(
        id: String, tableID: String, title: String, isIndented: Bool = false, lead: String = "",
        note: String? = nil, nameColumns: Int = Table.firstColumnMin, rows: [Subject],
        mark: ((Subject) -> (Mark?, remark: String?))? = nil, _ columns: [DocumentColumn<Subject>]
    ) {
        self.init(id: id, tableID: tableID, title: title)
        self.hasMarks = mark != nil
        self.isIndented = isIndented
        self.lead = lead
        self.note = note
        self.nameColumns = nameColumns
        self.add(rows, mark: mark ?? { _ in (nil, nil) }, columns)
    }

    package var isEmpty: Bool { self.rows.isEmpty && self.note == nil }

    /// Adds a row for each subject, with a cell of each column. A table may have subjects of several types; the first
    /// call states the columns.
    package mutating func add<Subject>(
        _ subjects: [Subject], mark: (Subject) -> (Mark?, remark: String?) = { _ in (nil, nil) },
        _ columns: [DocumentColumn<Subject>]
    ) {
        if self.columns.isEmpty { self.columns = columns.map(\.column) }
        precondition(self.columns.count == columns.count)
        for subject in subjects {
            let (mark, remark) = mark(subject)
            self.rows.append(Row(mark: mark, remark: remark, cells: columns.map { $0.cell(subject) }))
        }
    }
}

/// A column of a table, and its cell for each subject of a row.
package struct DocumentColumn<Subject> {
    let column: DocumentTable.Column
    let cell: (Subject) -> DocumentTable.Cell

    package init(
        _ title: String, _ kind: DocumentTable.Column.Kind,
        _ cell: @escaping (Subject) -> DocumentTable.Cell
    ) {
        self.column = DocumentTable.Column(title: title, kind: kind)
        self.cell = cell
    }

    /// The same column of what has the subject as a part.
    func of<Whole>(_ part: @escaping (Whole) -> Subject) -> DocumentColumn<Whole> {
        DocumentColumn<Whole>(self.column.title, self.column.kind) { self.cell(part($0)) }
    }
}
