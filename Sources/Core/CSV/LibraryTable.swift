/// A row of a library file as an import takes it.
package struct LibraryEntry: Hashable, Sendable {
    /// What makes a row unfit for a library.
    package enum Flaw: Hashable, Sendable {
        case missingTitle, badISBN, tooManyFields, titleTooLong, authorTooLong

        /// The reason in a few words.
        package var text: String {
            switch self {
            case .missingTitle: "The title is missing."
            case .badISBN: "The ISBN is not valid."
            case .tooManyFields: "The row has more fields than the header."
            case .titleTooLong: "The title is longer than \(LibraryTable.titleCharactersMax) characters."
            case .authorTooLong: "The author is longer than \(LibraryTable.authorCharactersMax) characters."
            }
        }
    }

    /// From 1, without the header.
    package var row: Int
    package var title: String
    package var author: String
    /// The field as it is in the file, without blanks at its ends; empty if there is none.
    package var isbnText: String
    /// Is nil if the field is empty or not valid.
    package var isbn: ISBN?
    package var flaw: Flaw?

    package init(
        row: Int, title: String, author: String, isbnText: String, isbn: ISBN?, flaw: Flaw?
    ) {
        self.row = row
        self.title = title
        self.author = author
        self.isbnText = isbnText
        self.isbn = isbn
        self.flaw = flaw
    }
}

/// The rows of a library file: columns Title, Author and ISBN (Docs/contract.md section 3.2). The case of the names and blanks
/// around them do not count. Author and ISBN may be missing, and other columns are ignored.
package struct LibraryTable: Hashable, Sendable {
    /// The limits of a book of the batch enrichment (Docs/contract.md section 3.2).
    package static let titleCharactersMax = 500
    package static let authorCharactersMax = 300

    package let entries: [LibraryEntry]

    package init(_ bytes: [UInt8], limits: CSVReader.Limits) throws(CSVError) {
        let rows = try CSVReader.rows(bytes, limits: limits)
        guard let header = rows.first else { throw .empty }
        let names = header.fields.map { Self.trimmed($0).lowercased() }
        guard let title = names.firstIndex(of: "title") else { throw .missingColumn("Title") }
        let author = names.firstIndex(of: "author")
        let isbn = names.firstIndex { $0 == "isbn" || $0 == "isbn13" }
        self.entries = rows.dropFirst().map { row in
            func field(_ column: Int?) -> String {
                guard let column, column < row.fields.count else { return "" }
                return Self.trimmed(row.fields[column])
            }
            var entry = LibraryEntry(
                row: row.number, title: field(title), author: field(author), isbnText: field(isbn),
                isbn: ISBN(field(isbn)), flaw: nil)
            entry.flaw = Self.flaw(of: entry, isTooWide: row.fields.count > names.count)
            return entry
        }
    }

    private static func flaw(of entry: LibraryEntry, isTooWide: Bool) -> LibraryEntry.Flaw? {
        if isTooWide { return .tooManyFields }
        if entry.title.isEmpty { return .missingTitle }
        if Self.isLonger(entry.title, than: Self.titleCharactersMax) { return .titleTooLong }
        if Self.isLonger(entry.author, than: Self.authorCharactersMax) { return .authorTooLong }
        return entry.isbnText.isEmpty || entry.isbn != nil ? nil : .badISBN
    }

    /// Counts only what may be too long.
    private static func isLonger(_ text: String, than charactersMax: Int) -> Bool {
        text.utf8.count > charactersMax && text.unicodeScalars.count > charactersMax
    }

    private static func trimmed(_ text: String) -> String {
        let bytes = text.utf8
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard bytes.first.map(isBlank) == true || bytes.last.map(isBlank) == true else { return text }
        let start = bytes.firstIndex { !isBlank($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !isBlank($0) }.map { bytes.index(after: $0) } ?? start
        return String(text[start..<end])
    }
}
