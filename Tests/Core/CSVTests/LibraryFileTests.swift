import CSV
import SimBase
import Testing

@Suite struct LibraryFileTests {
    private static func file(_ number: UInt32 = 1, _ change: (inout LibrarySpec) -> Void = { _ in })
        -> LibraryFile
    {
        var spec = LibrarySpec()
        change(&spec)
        return LibraryFile(spec, KeyedRandom(seed: 9), device: DeviceNumber(4), number: number)
    }

    @Test(arguments: CSVFormat.Separator.allCases, CSVFormat.LineEnd.allCases)
    func `every format is read as it was written`(
        separator: CSVFormat.Separator, lineEnd: CSVFormat.LineEnd
    ) throws {
        for quoting in CSVFormat.Quoting.allCases {
            for hasMark in [false, true] {
                let file = Self.file {
                    $0.format.separator = separator
                    $0.format.lineEnd = lineEnd
                    $0.format.quoting = quoting
                    $0.format.hasByteOrderMark = hasMark
                    $0.lineBreaks = .percent(30)
                    $0.noteBytes = 0...40
                }
                #expect(try CSVReader.rows(file.bytes, limits: .imports) == file.csvRows)
            }
        }
    }

    @Test func `an import finds what the file was made of`() throws {
        let file = Self.file {
            $0.rows = 600
            $0.duplicates = .percent(20)
            $0.badISBNs = .percent(20)
        }
        let entries = try LibraryTable(file.bytes, limits: .imports).entries
        #expect(entries.map(\.row) == Array(1...600))
        #expect(entries.map(\.title) == file.rows.map(\.title))
        for (row, entry) in zip(file.rows, entries) {
            switch row.kind {
            case .book: #expect(entry.isbn != nil && entry.flaw == nil)
            case .withoutISBN: #expect(entry.isbnText == "" && entry.flaw == nil)
            case .badISBN: #expect(entry.isbn == nil && entry.flaw == .badISBN)
            case .duplicate(let earlier): #expect(entry.isbn == entries[earlier - 1].isbn)
            }
        }
        let kinds = Set(
            file.rows.map { row -> Int in
                switch row.kind {
                case .book: 0
                case .withoutISBN: 1
                case .badISBN: 2
                case .duplicate: 3
                }
            })
        #expect(kinds == [0, 1, 2, 3])
        #expect(Set(file.rows.map(\.isbn.utf8.count)) == [0, 10, 13, 16])
    }

    @Test func `a file is a function of seed, device and number`() {
        #expect(Self.file() == Self.file())
        #expect(Self.file(1).bytes != Self.file(2).bytes)
    }

    @Test func `the largest file has 5,000 rows and nearly 8 MiB`() throws {
        let file = Self.file {
            $0.rows = LibrarySpec.rowsMax
            $0.noteBytes = 1_450...1_450
        }
        let bytes = file.bytes
        #expect(bytes.count > 7_500_000 && bytes.count <= CSVReader.Limits.imports.bytesMax)
        #expect(try LibraryTable(bytes, limits: .imports).entries.count == LibrarySpec.rowsMax)
    }

    @Test func `columns are found by their names, and a row keeps its flaw`() throws {
        let text = """
            isbn13, AUTHOR ,Shelf,title
            0306406152,Jane Austen,A,Emma
            ,Jane Austen,A,
            9780306406158,,A,Emma
            ,,,Emma,1815
            ,,,\(String(repeating: "e", count: 501))
            ,\(String(repeating: "a", count: 301)),,Emma
            ,,,  Emma
            """
        let entries = try LibraryTable(Array(text.utf8), limits: .imports).entries
        #expect(
            entries.map(\.flaw) == [
                nil, .missingTitle, .badISBN, .tooManyFields, .titleTooLong, .authorTooLong, nil,
            ])
        #expect(
            entries[0]
                == LibraryEntry(
                    row: 1, title: "Emma", author: "Jane Austen", isbnText: "0306406152",
                    isbn: ISBN("9780306406157"), flaw: nil))
        #expect(entries[6].title == "Emma")
    }

    @Test(arguments: [
        (5_001, nil as ClosedRange<Int>?), (-1, nil), (1, -1...0), (1, 0...70_000),
    ]) func `a file that no import takes cannot be made`(rows: Int, notes: ClosedRange<Int>?) {
        var spec = LibrarySpec()
        #expect(spec.objection == nil)
        spec.rows = rows
        spec.noteBytes = notes
        #expect(spec.objection != nil)
    }
}
