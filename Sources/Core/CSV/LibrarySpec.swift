package import SimBase

/// What a generated library file contains. Each chance is drawn for each row.
package struct LibrarySpec: Hashable, Sendable {
    /// The most rows of an import (Docs/contract.md section 3.2).
    package static let rowsMax = CSVReader.Limits.imports.rowsMax

    /// Without the header.
    package var rows = 100
    /// Rows with the ISBN of an earlier row, in any of its forms.
    package var duplicates = Odds.percent(5)
    /// Rows whose ISBN has a wrong check digit.
    package var badISBNs = Odds.percent(2)
    package var withoutISBN = Odds.percent(10)
    /// Titles with a line break.
    package var lineBreaks = Odds.percent(3)
    /// Titles with quotes.
    package var quotes = Odds.percent(10)
    /// The size of the field of a fourth column, Notes, in bytes; nil for no such column.
    package var noteBytes: ClosedRange<Int>?
    package var format = CSVFormat()

    package init() {}

    /// Why there cannot be such a file, or nil when there can.
    package var objection: String? {
        guard (0...Self.rowsMax).contains(self.rows) else {
            return "a library file has 0 to \(Self.rowsMax) rows"
        }
        let noteMax = CSVReader.Limits.imports.fieldBytesMax
        guard self.noteBytes.map({ $0.lowerBound >= 0 && $0.upperBound <= noteMax }) ?? true else {
            return "a note has 0 to \(noteMax) bytes"
        }
        return nil
    }
}
