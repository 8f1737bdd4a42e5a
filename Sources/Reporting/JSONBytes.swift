/// JSON text, written byte by byte: an encoder per line would cost more than the run that it tells of.
struct JSONBytes {
    private(set) var bytes: [UInt8] = []

    init() {}

    init(reserving count: Int) { self.bytes.reserveCapacity(count) }

    /// Text of ours that needs no escape: braces, keys, numbers.
    mutating func raw(_ text: String) { self.bytes.append(contentsOf: text.utf8) }

    mutating func number(_ value: some BinaryInteger) { self.raw(String(value)) }

    /// A quoted string. Control characters, DEL and the two line separators that JavaScript once stumbled over are
    /// escaped, so that a line stays a line and a terminal that shows it stays itself.
    mutating func string(_ text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": self.raw("\\\"")
            case "\\": self.raw("\\\\")
            case "\n": self.raw("\\n")
            case "\r": self.raw("\\r")
            case "\t": self.raw("\\t")
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{202A}"..."\u{202E}",
                "\u{2066}"..."\u{2069}":
                self.raw("\\u")
                for shift: UInt32 in [12, 8, 4, 0] {
                    self.bytes.append(Self.digits[Int(scalar.value >> shift & 15)])
                }
            default:
                self.bytes.append(contentsOf: UTF8.encode(scalar)?.lazy.map { $0 } ?? [])
            }
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Empties it and keeps the memory.
    mutating func removeAll() { self.bytes.removeAll(keepingCapacity: true) }
}
