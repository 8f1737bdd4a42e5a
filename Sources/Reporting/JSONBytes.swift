/// JSON text, written byte by byte: an encoder per line would cost more than the run that it tells of.
struct JSONBytes {
    private(set) var bytes: [UInt8] = []

    init() {}

    init(reserving count: Int) { self.bytes.reserveCapacity(count) }

    /// Text of ours that needs no escape: braces, keys, numbers.
    mutating func raw(_ text: String) {
        // Nearly always there, and then it is one copy.
        let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
            unsafe self.bytes.append(contentsOf: $0)
        }
        if isDone == nil { self.bytes.append(contentsOf: text.utf8) }
    }

    mutating func number(_ value: some FixedWidthInteger) {
        guard value >= 0, let number = UInt64(exactly: value) else { return self.raw(String(value)) }
        var rest = number
        let first = self.bytes.count
        repeat {
            self.bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var (low, high) = (first, self.bytes.count - 1)
        while low < high {
            self.bytes.swapAt(low, high)
            low += 1
            high -= 1
        }
    }

    /// A quoted string. Control characters, the separators of lines that JavaScript once stumbled over and the marks
    /// that turn a line around are escaped, so that a line stays a line and a terminal that shows it stays itself.
    mutating func string(_ text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        // Nearly all text is plain, and scalars are slow.
        if text.utf8.allSatisfy({ Self.isPlain($0) }) {
            self.raw(text)
        } else {
            for scalar in text.unicodeScalars { self.append(scalar) }
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
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
                self.bytes.append(Self.digits[Int(scalar.value >> shift & 15)])
            }
        default: self.bytes.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Empties it and keeps the memory.
    mutating func removeAll() { self.bytes.removeAll(keepingCapacity: true) }
}
