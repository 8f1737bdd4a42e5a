import SimBase

/// Which characters of a written string are escaped, and how. Quotes, backslashes and the control characters of ASCII always
/// are (RFC 8259 section 7).
package enum JSONEscapes: Sendable {
    /// The short form if JSON has one.
    case standard
    /// Also escapes line separators and marks that change the direction of text, so that a line stays a line
    /// and does not affect a terminal.
    case log
    /// The number, without a short form.
    case numbered
    /// Also escapes characters that YAML readers do not accept (YAML 1.2 section 5.1).
    case yaml

    /// Returns where a character may need an escape: exactly below 0x80, and by its first byte beyond.
    func start(in draft: borrowing ByteBuilder, from start: Int) -> Int? {
        switch self {
        case .standard, .numbered:
            return draft.offset(from: start) { Self.marks($0) }
        case .log, .yaml:
            // Most texts are ASCII, which takes fewer comparisons.
            let first = draft.offset(from: start) { Self.marks($0) | $0.equal(0x7F) | $0.beyondASCII }
            guard let first else { return nil }
            return draft.offset(from: first) {
                Self.marks($0) | $0.equal(0x7F) | $0.equal(0xC2) | $0.equal(0xE2) | $0.equal(0xEF)
            }
        }
    }

    /// Returns the marks of the bytes that end the literal part of a string.
    @inline(__always) static func marks(_ word: SWARWord) -> UInt64 {
        word.less(0x20) | word.equal(UInt8(ascii: "\"")) | word.equal(UInt8(ascii: "\\"))
    }

    func covers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\"", "\\", "\u{0}"..."\u{1F}": true
        case "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{2029}": self == .log || self == .yaml
        case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": self == .log
        case "\u{FEFF}": self == .yaml
        default: false
        }
    }

    /// Returns the character after the backslash in the short form; nil if the escape is a number.
    func sign(of scalar: Unicode.Scalar) -> UInt8? {
        switch scalar {
        case "\"", "\\": UInt8(ascii: scalar)
        case "\n": self == .numbered ? nil : UInt8(ascii: "n")
        case "\t": self == .numbered ? nil : UInt8(ascii: "t")
        case "\r": self == .standard || self == .log ? UInt8(ascii: "r") : nil
        case "\u{8}": self == .standard ? UInt8(ascii: "b") : nil
        case "\u{C}": self == .standard ? UInt8(ascii: "f") : nil
        default: nil
        }
    }
}
