import RunArchive
import RunJudge

extension HTMLPage {
    /// The figures of a fleet of several groups, next to each other.
    var byGroup: Section {
        let tables: [HTML] = self.result.groupTables.map { table in
            "<h3>\(table.title)</h3>\(table.htmlBody(prefix: ""))"
        }
        return Section(id: "by-group", title: "By group", body: tables.joined())
    }
}
