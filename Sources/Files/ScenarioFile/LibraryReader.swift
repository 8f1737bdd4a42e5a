import CSV
import Plan
import SimBase

/// Reads `library`: the files that the phones of a group import.
struct LibraryReader {
    static let keys = ScenarioKeys<LibraryFiles>(
        what: "a library",
        rows: [
            .init(
                "rows", \.rows, .integers(0...LibrarySpec.rowsMax, what: "the number of rows of a file"),
                "rows of a file, without the header"),
            .init("duplicates", \.spec.duplicates, .share, "rows with the ISBN of an earlier row"),
            .init("bad-isbns", \.spec.badISBNs, .share, "rows whose ISBN has a wrong check digit"),
            .init("without-isbn", \.spec.withoutISBN, .share, "rows without an ISBN"),
            .init("line-breaks", \.spec.lineBreaks, .share, "titles with a line break"),
            .init("quotes", \.spec.quotes, .share, "titles with quotes"),
            .init(
                "notes", \.spec.noteBytes,
                ValueForm.integers(
                    0...CSVReader.Limits.imports.fieldBytesMax, what: "the number of bytes of a note"
                ).optional(),
                "a fourth column with so many bytes in each row"),
            .init(
                "separator", \.spec.format.separator,
                .words([("comma", .comma), ("semicolon", .semicolon), ("tab", .tab)]),
                "what separates two fields"),
            .init(
                "line-ends", \.spec.format.lineEnd, .words([("crlf", .crlf), ("lf", .lf)]),
                "the end of each record"),
            .init(
                "quoting", \.spec.format.quoting, .words([("minimal", .minimal), ("all", .all)]),
                "whether only fields that need it are quoted, or all"),
            .init(
                "byte-order-mark", \.spec.format.hasByteOrderMark, .toggle,
                "whether a file begins with U+FEFF"),
            .init(
                "unreadable", \.unreadable, .share,
                "files that are no library: photos, UTF-16, unclosed quotes"),
        ])

    let findings: Findings

    /// - Parameter node: The value of the key; nil for the default.
    func files(_ node: Node?) -> LibraryFiles {
        var files = LibraryFiles()
        guard let node, let map = Self.keys.map(node, self.findings) else { return files }
        Self.keys.read(map, into: &files)
        self.checkSize(files, map)
        return files
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
