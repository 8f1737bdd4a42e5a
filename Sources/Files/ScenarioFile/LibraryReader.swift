import CSV
import Plan
import SimBase

/// Reads `library`: the files that the phones of a group import.
struct LibraryReader {
    static let keys = [
        "rows", "duplicates", "bad-isbns", "without-isbn", "line-breaks", "quotes", "notes", "separator",
        "line-ends", "quoting", "byte-order-mark", "unreadable",
    ]
    static let separators: [(word: String, separator: CSVFormat.Separator)] = [
        ("comma", .comma), ("semicolon", .semicolon), ("tab", .tab),
    ]
    static let lineEnds: [(word: String, end: CSVFormat.LineEnd)] = [("crlf", .crlf), ("lf", .lf)]
    static let quotings: [(word: String, quoting: CSVFormat.Quoting)] = [
        ("minimal", .minimal), ("all", .all),
    ]
    static let notesMax = CSVReader.Limits.imports.fieldBytesMax

    let findings: Findings

    /// - Parameter node: The value of the key; nil for the default.
    func files(_ node: Node?) -> LibraryFiles {
        var files = LibraryFiles()
        guard let node,
            let map = MapReader(
                node, what: "a library", keys: Self.keys, planned: [], findings: self.findings)
        else { return files }
        files.rows = map.value("rows", default: files.rows) { text throws(ValueError) in
            try Values.integers(text, 0...LibrarySpec.rowsMax, what: "the number of rows of a file")
        }
        func share(_ key: String, _ path: WritableKeyPath<LibraryFiles, Odds>) {
            files[keyPath: path] = map.value(key, default: files[keyPath: path], Values.share)
        }
        share("duplicates", \.spec.duplicates)
        share("bad-isbns", \.spec.badISBNs)
        share("without-isbn", \.spec.withoutISBN)
        share("line-breaks", \.spec.lineBreaks)
        share("quotes", \.spec.quotes)
        share("unreadable", \.unreadable)
        files.spec.noteBytes = map.value("notes") { text throws(ValueError) in
            try Values.integers(text, 0...Self.notesMax, what: "the number of bytes of a note")
        }
        self.readFormat(map, into: &files.spec.format)
        self.checkSize(files, map)
        return files
    }

    private func readFormat(_ map: MapReader, into format: inout CSVFormat) {
        func choice<Value>(_ key: String, _ words: [(word: String, value: Value)], _ value: inout Value) {
            let found = map.value(key) { text throws(ValueError) in
                try Values.choice(text, of: words.map(\.word), what: "`\(key)`")
            }
            value = words.first { $0.word == found }?.value ?? value
        }
        choice("separator", Self.separators.map { ($0.word, $0.separator) }, &format.separator)
        choice("line-ends", Self.lineEnds.map { ($0.word, $0.end) }, &format.lineEnd)
        choice("quoting", Self.quotings.map { ($0.word, $0.quoting) }, &format.quoting)
        format.hasByteOrderMark = map.value(
            "byte-order-mark", default: format.hasByteOrderMark, Values.boolean)
    }

    /// A file that the backend refuses for its size would be an import by mistake.
    private func checkSize(_ files: LibraryFiles, _ map: MapReader) {
        let most = CSVReader.Limits.imports.bytesMax / files.rowBytesMax
        guard files.rows.upperBound > most else { return }
        self.findings.add(
            map.location(of: "notes"),
            "files of \(files.rows.upperBound) rows with such notes may be larger than the 8 MB of an import",
            help: "at most \(most) rows are sure to fit")
    }
}

extension LibraryFiles {
    /// On one line, as a scenario has it.
    var text: String {
        let spec = self.spec
        func rate(_ odds: Odds) -> String { Units.percent(Int64(odds.perMillion)) }
        func range(_ range: ClosedRange<Int>) -> String {
            range.count == 1 ? String(range.lowerBound) : "\(range.lowerBound)..\(range.upperBound)"
        }
        func word<Value: Equatable>(_ words: [(word: String, value: Value)], _ value: Value) -> String {
            words.first { $0.value == value }?.word ?? ""
        }
        let notes = spec.noteBytes.map { ", notes: \(range($0))" } ?? ""
        let separator = word(
            LibraryReader.separators.map { ($0.word, $0.separator) }, spec.format.separator)
        let lineEnd = word(LibraryReader.lineEnds.map { ($0.word, $0.end) }, spec.format.lineEnd)
        let quoting = word(LibraryReader.quotings.map { ($0.word, $0.quoting) }, spec.format.quoting)
        return
            "{rows: \(range(self.rows)), duplicates: \(rate(spec.duplicates)), bad-isbns: \(rate(spec.badISBNs)), "
            + "without-isbn: \(rate(spec.withoutISBN)), line-breaks: \(rate(spec.lineBreaks)), "
            + "quotes: \(rate(spec.quotes))\(notes), separator: \(separator), line-ends: \(lineEnd), "
            + "quoting: \(quoting), byte-order-mark: \(spec.format.hasByteOrderMark ? "on" : "off"), "
            + "unreadable: \(rate(self.unreadable))}"
    }
}
