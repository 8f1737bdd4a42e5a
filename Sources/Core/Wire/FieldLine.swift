import SimBase

/// A defect in one line of a head.
enum LineFlaw: Error, Hashable, Sendable {
    case tooLong
    /// An LF without its CR.
    case bareLineFeed
    /// A CR without its LF.
    case bareCarriageReturn
    /// A continuation line (RFC 9112 section 5.2), refused.
    case folded
    case badName
    /// A NUL or another control character in a value.
    case badValue
}

/// Collects lines that end in CRLF from bytes that come in any pieces. Bounded by the limit of each call.
struct LineCollector: Sendable {
    private var partial: [UInt8] = []

    /// Whether a piece of a line is kept.
    var isEmpty: Bool { self.partial.isEmpty }

    /// Whether the piece of a line that is kept is the beginning of `text`, or begins with it.
    func mayBegin(with text: String) -> Bool { zip(self.partial, text.utf8).allSatisfy { $0 == $1 } }

    /// The next line without its CRLF, or nil when its end has not come; `position` moves past what was read.
    ///
    /// - Parameter limit: The longest line, without CRLF. Which error a line earns does not depend on the pieces.
    mutating func next(
        in bytes: ArraySlice<UInt8>, at position: inout Int, limit: Int
    ) throws(LineFlaw) -> ArraySlice<UInt8>? {
        let end = ASCII.lineFeed(in: bytes, from: position)
        let piece = bytes[position..<(end ?? bytes.endIndex)]
        // One more than the limit may be the CR.
        guard self.partial.count + piece.count <= limit + 1 else { throw .tooLong }
        guard let end else {
            self.partial.append(contentsOf: piece)
            position = bytes.endIndex
            return nil
        }
        position = end + 1
        var line = piece
        if !self.partial.isEmpty {
            self.partial.append(contentsOf: piece)
            line = self.partial[...]
            self.partial = []
        }
        guard line.last == ASCII.carriageReturn else { throw .bareLineFeed }
        line = line[..<(line.endIndex - 1)]
        let stray = line.offset(from: line.startIndex) { $0.equal(ASCII.carriageReturn) }
        guard stray == nil else { throw .bareCarriageReturn }
        return line
    }
}

/// `name: value` (RFC 9112 section 5).
struct FieldLine {
    let name: ArraySlice<UInt8>
    let value: ArraySlice<UInt8>

    init(_ line: ArraySlice<UInt8>) throws(LineFlaw) {
        guard line.first != ASCII.space, line.first != ASCII.tab else { throw .folded }
        guard let colon = line.offset(from: line.startIndex, { $0.equal(ASCII.colon) }),
            colon > line.startIndex, ASCII.isToken(line[..<colon])
        else { throw .badName }
        let value = ASCII.trimmed(line[(colon + 1)...])
        guard Self.isValue(value) else { throw .badValue }
        self.name = line[..<colon]
        self.value = value
    }

    /// Whether no control character but a tab is in it; bytes from 0x80 on are let through.
    static func isValue(_ bytes: ArraySlice<UInt8>) -> Bool {
        var offset = bytes.startIndex
        while let control = bytes.offset(from: offset, { $0.less(ASCII.space) | $0.equal(0x7F) }) {
            guard bytes[control] == ASCII.tab else { return false }
            offset = control + 1
        }
        return true
    }
}
