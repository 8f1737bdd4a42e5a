/// How the records of a file are written (RFC 4180, and what spreadsheets make of it).
package struct CSVFormat: Hashable, Sendable {
    /// The byte between two fields.
    package enum Separator: UInt8, CaseIterable, Hashable, Sendable {
        case comma = 0x2C
        case semicolon = 0x3B
        case tab = 0x09
    }

    /// The end of each record.
    package enum LineEnd: String, CaseIterable, Hashable, Sendable {
        case lf = "\n"
        case crlf = "\r\n"
    }

    /// Which fields are enclosed in quotes.
    package enum Quoting: CaseIterable, Hashable, Sendable {
        /// Those with a separator, a quote or a line break.
        case minimal
        case all
    }

    package var separator = Separator.comma
    package var lineEnd = LineEnd.crlf
    package var quoting = Quoting.minimal
    /// Whether the file begins with the UTF-8 form of U+FEFF.
    package var hasByteOrderMark = false

    package init() {}
}

/// The bytes that the format gives a meaning.
enum CSVByte {
    static let quote = UInt8(ascii: "\"")
    static let carriageReturn: UInt8 = 0x0D
    static let lineFeed: UInt8 = 0x0A
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    static func isLineEnd(_ byte: UInt8) -> Bool { byte == Self.lineFeed || byte == Self.carriageReturn }
}
