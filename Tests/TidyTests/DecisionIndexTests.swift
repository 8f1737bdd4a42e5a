import Testing

/// Decisions that the index lists, each with a date and a status.
@Suite struct DecisionIndexTests {
    private static let folder = "Docs/decisions"

    private static let index = SourceTree.files(in: folder, ending: "README.md")

    private static let decisions = SourceTree.files(in: folder, ending: ".md")
        .filter { !$0.path.hasSuffix("/README.md") }

    /// A row of the index, or the first lines of a decision.
    private struct Entry: Hashable {
        var file: String
        var title: String
        var date: String
        var status: String
    }

    private static func name(of file: SourceTree.File) -> String {
        String(file.path.dropFirst(Self.folder.count + 1))
    }

    private static func number(of file: SourceTree.File) -> String { String(Self.name(of: file).prefix(4)) }

    /// Nil when the title has another number than the file, or no line under it has a date and a status.
    private static func entry(of file: SourceTree.File) -> Entry? {
        let lines = file.text.split(separator: "\n").prefix(2)
        let mark = "# \(Self.number(of: file)): "
        guard lines.count == 2, lines[0].hasPrefix(mark),
            let standing = lines[1].wholeMatch(of: /Date: (\d{4}-\d{2}-\d{2}) · Status: (.+)/)
        else { return nil }
        return Entry(
            file: Self.name(of: file), title: String(lines[0].dropFirst(mark.count)),
            date: String(standing.1), status: String(standing.2))
    }

    private static func entry(ofRow line: String) -> Entry? {
        guard
            let row = line.wholeMatch(
                of: /\| \[\d{4}\]\(([^)]+)\) \| (.+) \| (\d{4}-\d{2}-\d{2}) \| (.+) \|/)
        else { return nil }
        return Entry(
            file: String(row.1), title: String(row.2), date: String(row.3), status: String(row.4))
    }

    /// The decisions that a status names. Nil when it is not a status.
    private static func named(by status: String) -> [String]? {
        if status == "in force" { return [] }
        guard let match = status.wholeMatch(of: /(?:amended|superseded) by (\d{4}(?:, \d{4})*)/)
        else { return nil }
        return match.1.split(separator: ", ").map(String.init)
    }

    @Test func `every decision has a number, a title, a date and a status`() {
        #expect(Self.decisions.count > 20, "the check has read almost nothing")
        for file in Self.decisions {
            #expect(
                Self.entry(of: file) != nil,
                "\(file.path): begins with `# NNNN: Title` and `Date: YYYY-MM-DD · Status: ...`")
        }
        let numbers = Self.decisions.map(Self.number)
        #expect(Set(numbers).count == numbers.count, "two decisions have the same number: \(numbers)")
    }

    @Test func `every status names decisions that exist`() {
        let numbers = Set(Self.decisions.map(Self.number))
        for file in Self.decisions {
            guard let entry = Self.entry(of: file) else { continue }
            guard let others = Self.named(by: entry.status) else {
                Issue.record("\(file.path): not a status: \(entry.status)")
                continue
            }
            for other in others {
                #expect(numbers.contains(other), "\(file.path): there is no decision \(other)")
                #expect(other > Self.number(of: file), "\(file.path): \(other) is not a later decision")
            }
        }
    }

    @Test func `the index lists every decision as it describes itself`() throws {
        let index = try #require(Self.index.first)
        let rows = index.lines.compactMap(Self.entry(ofRow:))
        let entries = Self.decisions.compactMap(Self.entry(of:))
        for entry in entries where !rows.contains(entry) {
            Issue.record(
                "\(index.path): no row for \(entry.file) with its title, date and status: \(entry)")
        }
        for row in rows where !entries.contains(row) {
            Issue.record("\(index.path): a row that no decision agrees with: \(row)")
        }
        #expect(rows.map(\.file) == rows.map(\.file).sorted(), "the index is in the order of the numbers")
    }

    @Test func `a status is read`() {
        #expect(Self.named(by: "in force") == [])
        #expect(Self.named(by: "superseded by 0123") == ["0123"])
        #expect(Self.named(by: "amended by 0107, 0122") == ["0107", "0122"])
        #expect(Self.named(by: "amended by nobody") == nil)
        #expect(Self.named(by: "old") == nil)
        #expect(
            Self.entry(ofRow: "| [0001](0001-a.md) | A title | 2026-11-21 | in force |")
                == Entry(file: "0001-a.md", title: "A title", date: "2026-11-21", status: "in force"))
    }
}
