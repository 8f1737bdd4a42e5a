/// Files that an import must refuse, one of each kind.
package enum BadLibrary: CaseIterable, Hashable, Sendable {
    case empty, photo, page, oneColumn, utf16, nul, notUTF8, withoutTitle
    case tooLarge, tooManyRows, tooManyFields, textAfterQuote, unclosedQuote

    package var bytes: [UInt8] {
        let header = "Title,Author,ISBN\r\n"
        switch self {
        case .empty: return []
        case .photo: return [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46, 0x00]
        case .page: return Array("<!doctype html>\n<title>Sign in</title>\n".utf8)
        case .oneColumn: return Array("Title\r\nEmma\r\n".utf8)
        case .utf16:
            return [0xFF, 0xFE]
                + (header + "Emma,Jane Austen,\r\n").utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        case .nul: return Array((header + "Emma,Jane\0Austen,\r\n").utf8)
        case .notUTF8: return Array(header.utf8) + [0x4C, 0x27, 0xE9, 0x74, 0xE9] + Array(",,\r\n".utf8)
        case .withoutTitle: return Array("Author,ISBN\r\nJane Austen,\r\n".utf8)
        case .tooLarge:
            let row = Array((String(repeating: "a", count: 60_000) + ",b,\r\n").utf8)
            let count = CSVReader.Limits.imports.bytesMax / row.count + 1
            return Array(header.utf8) + [UInt8](repeatElement(row, count: count).joined())
        case .tooManyRows:
            return Array((header + String(repeating: "a,b,\r\n", count: LibrarySpec.rowsMax + 1)).utf8)
        case .tooManyFields: return Array((header + String(repeating: ",", count: 64) + "\r\n").utf8)
        case .textAfterQuote: return Array((header + "\"Emma\" (1815),Jane Austen,\r\n").utf8)
        case .unclosedQuote: return Array((header + "a,b,\r\n\"Emma,Jane Austen,\r\n").utf8)
        }
    }

    /// What a reader with the limits of an import says of the file.
    package var error: CSVError {
        switch self {
        case .empty: .empty
        case .photo: .nul(row: 0)
        case .page, .oneColumn: .oneColumn
        case .utf16: .utf16
        case .nul: .nul(row: 1)
        case .notUTF8: .notUTF8(row: 1)
        case .withoutTitle: .missingColumn("Title")
        case .tooLarge: .tooLarge
        case .tooManyRows: .tooManyRows
        case .tooManyFields: .tooManyFields(row: 1)
        case .textAfterQuote: .textAfterQuote(row: 1)
        case .unclosedQuote: .unclosedQuote(row: 2)
        }
    }
}
