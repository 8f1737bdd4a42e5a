import CSV
import SimBase
import SimTestSupport
import Testing

@Suite struct CSVReaderTests {
    private static func fields(_ text: String) throws -> [[String]] {
        try CSVReader.rows(Array(text.utf8), limits: .imports).map(\.fields)
    }

    @Test(arguments: [
        ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
        ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
        ("a,b\rc,d\r", [["a", "b"], ["c", "d"]]),
        ("\u{FEFF}a,b\n", [["a", "b"]]),
        ("\n\r\na,b\n\n\nc,\n", [["a", "b"], ["c", ""]]),
        ("a;b,c;d\n1;2;3\n", [["a", "b,c", "d"], ["1", "2", "3"]]),
        ("a\tb\n1,2\t3\n", [["a", "b"], ["1,2", "3"]]),
        ("\"a;b;c\",d\n", [["a;b;c", "d"]]),
        ("\"a\"\"b\",\"c\r\nd\"\n", [["a\"b", "c\r\nd"]]),
        ("a,b\n5\" disk,\"\"\n", [["a", "b"], ["5\" disk", ""]]),
        ("a,b\n,\n", [["a", "b"], ["", ""]]),
        ("a,b\n\"\"\n", [["a", "b"], [""]]),
        ("a,b", [["a", "b"]]),
    ]) func `a file is read`(text: String, rows: [[String]]) throws {
        #expect(try Self.fields(text) == rows)
    }

    @Test func `rows are counted from the header, without blank lines`() throws {
        let rows = try CSVReader.rows(Array("a,b\n\n1,2\n\n\"3\n\",4\n5,6\n".utf8), limits: .imports)
        #expect(rows.map(\.number) == [0, 1, 2, 3])
    }

    @Test(arguments: BadLibrary.allCases) func `a bad file is refused`(file: BadLibrary) {
        #expect(throws: file.error) { try LibraryTable(file.bytes, limits: .imports) }
    }

    @Test func `a limit is the last that may be read`() throws {
        let limits = CSVReader.Limits(bytesMax: 20, rowsMax: 2, fieldsMax: 2, fieldBytesMax: 5)
        func rows(_ text: String) throws -> Int {
            try CSVReader.rows(Array(text.utf8), limits: limits).count
        }
        #expect(try rows("a,b\n1,2\n3,4\n") == 3)
        #expect(throws: CSVError.tooManyRows) { try rows("a,b\n1,2\n3,4\n5,6") }
        #expect(try rows("a,b\n12345,12345\n") == 2)
        #expect(throws: CSVError.fieldTooLong(row: 1)) { try rows("a,b\n123456") }
        #expect(throws: CSVError.fieldTooLong(row: 0)) { try rows("abcdef") }
        #expect(throws: CSVError.tooManyFields(row: 1)) { try rows("a,b\n1,2,3\n") }
        #expect(try rows("a,b\n12345,12345\n1,2\n") == 3)
        #expect(throws: CSVError.tooLarge) { try rows("a,b\n12345,12345\n1,23\n") }
    }

    @Test func `the cuts of the bytes do not show`() throws {
        var spec = LibrarySpec()
        spec.rows = 12
        spec.lineBreaks = .percent(50)
        spec.quotes = .percent(50)
        spec.format.hasByteOrderMark = true
        let file = LibraryFile(spec, KeyedRandom(seed: 3), device: DeviceNumber(1), number: 1)
        withEverySplit(of: file.bytes) { pieces in
            #expect(Self.outcome(pieces, .imports) == .success(file.csvRows))
        }
        withPieces(of: file.bytes, size: 1) { pieces in
            #expect(Self.outcome(pieces, .imports) == .success(file.csvRows))
        }
    }

    @Test func `after an error every call throws the same`() {
        var reader = CSVReader(limits: .imports)
        var rows: [CSVRow] = []
        for _ in 0..<2 {
            #expect(throws: CSVError.textAfterQuote(row: 1)) {
                try reader.receive(Array("a,b\n\"1\"2,".utf8)[...], into: &rows)
            }
        }
        #expect(throws: CSVError.textAfterQuote(row: 1)) { try reader.finish(into: &rows) }
    }

    static func outcome(_ pieces: [[UInt8]], _ limits: CSVReader.Limits) -> Result<[CSVRow], CSVError> {
        var reader = CSVReader(limits: limits)
        var rows: [CSVRow] = []
        do throws(CSVError) {
            for piece in pieces { try reader.receive(piece[...], into: &rows) }
            try reader.finish(into: &rows)
            return .success(rows)
        } catch {
            return .failure(error)
        }
    }
}

extension LibraryFile {
    /// The rows that a reader must find.
    var csvRows: [CSVRow] {
        self.table.enumerated().map { CSVRow(number: $0.offset, fields: $0.element) }
    }
}
