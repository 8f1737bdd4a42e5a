import RunJudge

extension HTMLPage {
    /// The figures of a fleet of several groups, beside each other.
    var byGroup: Section {
        let tables = self.result.groupTables.map { table in
            "<h3>\(HTMLText.escaped(table.title))</h3>"
                + HTMLText.table(
                    table.header, table.rows.map { row in row.map { HTMLText.escaped($0, bytesMax: 200) } },
                    numbers: Set(table.textColumns..<table.header.count), id: table.id)
        }
        return Section(id: "by-group", title: "By group", body: tables.joined())
    }
}
