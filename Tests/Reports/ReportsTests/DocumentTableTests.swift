import Reports
import Testing

/// The example of the handbook: a column of a table is one line, and each format has it.
@Suite struct DocumentTableTests {
    private struct Part {
        var name: String
        var count: Int
    }

    private static let mark = DocumentTable.Mark(
        word: "worse", sign: "✗", ascii: "X", emoji: "❌", tone: .bad, ink: .bad)

    private func table(_ more: [DocumentColumn<Part>] = []) -> DocumentTable {
        var table = DocumentTable(id: "parts", tableID: "part-table", title: "Parts")
        table.add(
            [Part(name: "a<b|c", count: 7)], mark: { _ in (Self.mark, "as expected") },
            [
                .init("what", .name) { .mono($0.name) },
                .init("count", .number) { .init("\($0.count)", .bad, key: Int64($0.count)) },
            ] + more)
        return table
    }

    private func terminal(_ table: DocumentTable, isASCII: Bool = false) -> String {
        var page = TerminalPage(style: TerminalStyle(columns: 80, isColored: false, isASCII: isASCII))
        page.table(table)
        return page.text
    }

    @Test func `one table is laid out for each format`() {
        let table = self.table()
        #expect(
            self.terminal(table) == """
                Parts                  count
                ✗ a<b|c (as expected)      7

                """)
        #expect(self.terminal(table, isASCII: true).contains("X a<b|c (as expected)"))
        #expect(
            table.markdown == """
                ### Parts

                |  | what | count |
                | --- | --- | ---: |
                | ❌ worse (as expected) | `a<b\\|c` | 7 |

                """)
        let section = table.section(prefix: "same-")
        let body = section.body.text
        #expect(section.id == "same-parts" && body.contains("<table id=\"same-part-table\">"))
        #expect(
            body.contains(
                "<td><span class=\"sign bad\" aria-hidden=\"true\">✗</span> worse (as expected)</td>"
                    + "<td><span class=\"mono\">a&lt;b|c</span></td><td class=\"n\" data-key=\"7\">7</td>"))
    }

    @Test func `a column that is added is in every format, and a long text is not on the terminal`() {
        let table = self.table([
            .init("twice", .number) { .init("\(2 * $0.count)") },
            .init("first", .sentence) { .init("never came: \($0.name)") },
        ])
        #expect(self.terminal(table).contains("twice") && self.terminal(table).contains("14"))
        #expect(!self.terminal(table).contains("never came"))
        #expect(table.markdown.contains("| 7 | 14 | never came: a&lt;b\\|c |"))
        let page = table.section(prefix: "").body.text
        #expect(page.contains("<th scope=\"col\" class=\"n\">twice</th>"))
        #expect(page.contains("<td>never came: a&lt;b|c</td>"))
    }

    @Test func `a table without rows is shown for its note alone`() {
        var table = DocumentTable(id: "parts", tableID: "part-table", title: "Parts")
        #expect(table.isEmpty && table.markdown.isEmpty && table.section(prefix: "").body.isEmpty)
        #expect(self.terminal(table).isEmpty)
        table.note = "2 parts held."
        #expect(table.markdown == "### Parts\n\n2 parts held.\n")
        #expect(table.section(prefix: "").body == "<p>2 parts held.</p>\n")
        #expect(self.terminal(table) == "Parts\n  2 parts held.\n")
    }
}
