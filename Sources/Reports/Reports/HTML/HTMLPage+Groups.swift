import RunArchive
import RunJudge

extension HTMLPage {
    /// The figures of a fleet of several groups, next to each other.
    var byGroup: Section {
        let tables = self.result.groupTables.map { table in
            "<h3>\(HTMLText.escaped(table.title))</h3>"
                + HTMLText.table(
                    table.header, table.rows.map { row in row.map(Self.cell) },
                    numbers: Set(table.textColumns..<table.header.count), id: table.id)
                + (table.note.map { "<p>\(Self.marked($0))</p>\n" } ?? "")
        }
        return Section(id: "by-group", title: "By group", body: tables.joined())
    }

    private static func cell(_ text: String) -> String {
        ["", "-"].contains(text) ? "–" : HTMLText.sentence(text, bytesMax: 200)
    }

    /// A text with code between backquotes, as in Markdown.
    private static func marked(_ text: String) -> String {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index % 2 == 0
                ? HTMLText.escaped(String(part), bytesMax: 400) : HTMLText.mono(String(part), bytesMax: 400)
        }.joined()
    }
}
