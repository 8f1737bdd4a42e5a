import CSV
import SimBase
import SimTestSupport
import Testing

/// Damaged files. Nothing traps, the cuts of the bytes do not show, and what was read can be written and is read the same.
@Suite struct CSVFuzzTests {
    private static let files = Mutator(
        corpus: CSVFormat.Separator.allCases.map { separator in
            var spec = LibrarySpec()
            spec.rows = 8
            spec.lineBreaks = .percent(40)
            spec.quotes = .percent(40)
            spec.format.separator = separator
            spec.format.hasByteOrderMark = separator == .semicolon
            return LibraryFile(spec, KeyedRandom(seed: 1), device: DeviceNumber(1), number: 1).bytes
        },
        dictionary: [
            "\"\"", "\",\"", "\"\r\n\"", ",,,,", ";;", "\t", "Title", "ISBN", "9780306406157", "\"", ",\"",
            "\",",
        ])

    private static let tight = CSVReader.Limits(bytesMax: 700, rowsMax: 6, fieldsMax: 4, fieldBytesMax: 60)

    @Test(arguments: [CSVReader.Limits.imports, Self.tight])
    func `a file of any bytes gives the same rows or error`(limits: CSVReader.Limits) {
        Fuzz.run("csv-\(limits.rowsMax)", quick: 500, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.files.input(fuzz)
            let expected = CSVReaderTests.outcome([bytes], limits)
            for pieces in fuzz.cuts(of: bytes) {
                try #require(CSVReaderTests.outcome(pieces, limits) == expected)
            }
            guard case .success(let rows) = expected else { return }
            try #require(rows.count <= limits.rowsMax + 1)
            try #require(rows.map(\.number) == Array(0..<rows.count))
            for row in rows {
                try #require(row.fields.count <= limits.fieldsMax)
                try #require(row.fields.allSatisfy { $0.utf8.count <= limits.fieldBytesMax })
            }
            // Quotes around each field leave the separator of the header as the only one.
            var format = CSVFormat()
            format.quoting = .all
            guard rows.first.map({ $0.fields.count > 1 }) == true else { return }
            let written = CSVWriter.bytes(rows.map(\.fields), format)
            try #require(CSVReaderTests.outcome([written], .generous) == expected)
        }
    }
}

extension CSVReader.Limits {
    fileprivate static let generous = CSVReader.Limits(
        bytesMax: 1 << 24, rowsMax: 1 << 20, fieldsMax: 1 << 10, fieldBytesMax: 1 << 20)
}
