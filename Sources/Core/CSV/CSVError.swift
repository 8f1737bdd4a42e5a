/// Why a file cannot be read. Rows are counted from 1, without the header, which is row 0, and without blank lines.
package enum CSVError: Error, Hashable, Sendable {
    /// There is no record.
    case empty
    /// The file begins with a byte order mark of UTF-16.
    case utf16
    case notUTF8(row: Int)
    /// A field contains a byte 0.
    case nul(row: Int)
    /// The header has no separator.
    case oneColumn
    /// No column has this name.
    case missingColumn(String)
    /// The file has more bytes than may be read.
    case tooLarge
    /// The file has more rows than may be read.
    case tooManyRows
    case tooManyFields(row: Int)
    case fieldTooLong(row: Int)
    /// Something other than a separator or a line end follows a closing quote.
    case textAfterQuote(row: Int)
    /// The file ends inside of quotes, which begin in this row.
    case unclosedQuote(row: Int)

    /// The reason in one sentence.
    package var text: String {
        switch self {
        case .empty: "The file is empty."
        case .utf16: "The file is UTF-16, not UTF-8."
        case .notUTF8(let row): "\(Self.place(row)) is not UTF-8."
        case .nul(let row): "\(Self.place(row)) contains a byte 0."
        case .oneColumn: "The header has one column: no comma, semicolon or tab."
        case .missingColumn(let name): "The header has no column \(name)."
        case .tooLarge: "The file is too large."
        case .tooManyRows: "The file has too many rows."
        case .tooManyFields(let row): "\(Self.place(row)) has too many fields."
        case .fieldTooLong(let row): "\(Self.place(row)) has a field that is too long."
        case .textAfterQuote(let row): "\(Self.place(row)) has text after a closing quote."
        case .unclosedQuote(let row): "\(Self.place(row)) has a quote that is not closed."
        }
    }

    private static func place(_ row: Int) -> String { row == 0 ? "The header" : "Row \(row)" }
}
