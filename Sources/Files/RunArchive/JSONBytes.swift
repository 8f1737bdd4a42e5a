import SimBase

/// JSON text, written byte by byte: an encoder per line would cost more than the run that it tells of.
struct JSONBytes: ~Copyable {
    private var draft: ByteBuilder

    init() { self.init(reserving: 512) }

    init(reserving count: Int) { self.draft = ByteBuilder(reserving: count) }

    var bytes: [UInt8] { self.draft.bytes }
    var text: String { self.draft.text }
    var count: Int { self.draft.count }

    /// Appends all of it to others.
    func copy(to others: inout [UInt8]) { self.draft.copy(to: &others) }

    /// Text of ours that needs no escape: braces, keys, numbers.
    mutating func raw(_ text: String) { self.draft.append(text: text) }

    /// What the program itself says: one copy, and nothing is counted.
    mutating func literal(_ text: StaticString) { self.draft.append(literal: text) }

    mutating func number(_ value: some FixedWidthInteger) {
        guard let number = Int64(exactly: value) else { return self.raw(String(value)) }
        Decimal.append(number, to: &self.draft)
    }

    /// A quoted string. Control characters, the separators of lines that JavaScript once stumbled over and the marks
    /// that turn a line around are escaped, so that a line stays a line and a terminal that shows it stays itself.
    mutating func string(_ text: String) {
        self.draft.append(UInt8(ascii: "\""))
        // Nearly all text is plain, and scalars are slow: looked for where it lies by now.
        let start = self.draft.count
        self.draft.append(text: text)
        if self.plainEnd(from: start) != nil {
            self.draft.shorten(to: start)
            for scalar in text.unicodeScalars { self.append(scalar) }
        }
        self.draft.append(UInt8(ascii: "\""))
    }

    /// Where something may need an escape: of what is not ASCII, the marks and separators that do begin with one of two bytes.
    private func plainEnd(from start: Int) -> Int? {
        self.draft.offset(from: start) {
            $0.less(0x20) | $0.equal(UInt8(ascii: "\"")) | $0.equal(UInt8(ascii: "\\")) | $0.equal(0x7F)
                | $0.equal(0xC2) | $0.equal(0xE2)
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": self.raw("\\\"")
        case "\\": self.raw("\\\\")
        case "\n": self.raw("\\n")
        case "\r": self.raw("\\r")
        case "\t": self.raw("\\t")
        case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}":
            self.raw("\\u")
            for shift: UInt32 in [12, 8, 4, 0] {
                self.draft.append(Hexadecimal.digit(UInt8(scalar.value >> shift & 15)))
            }
        default: for byte in UTF8.encode(scalar) ?? .init() { self.draft.append(byte) }
        }
    }

    /// Empties it and keeps the memory.
    mutating func removeAll() { self.draft.shorten(to: 0) }
}
