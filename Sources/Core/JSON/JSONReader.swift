import SimBase

/// Reads JSON (RFC 8259) and records the position of each value (`JSONDocument`). It creates no values.
struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private var offsets: [JSONDocument.Place] = []

    /// Deeper nesting is not read.
    private static let depthMax = 64

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // Bodies have a value or a key about every ten bytes.
        self.offsets.reserveCapacity(min(bytes.count / 8, 1_024) + 4)
    }

    /// Parses a document; returns nil if the bytes are not JSON or are nested too deeply.
    static func document(_ bytes: [UInt8]) -> JSONDocument? {
        guard bytes.count < Int(UInt32.max) else { return nil }
        var reader = JSONReader(bytes)
        guard reader.value(depth: 0) else { return nil }
        reader.skipBlanks()
        guard reader.position == bytes.count else { return nil }
        return JSONDocument(bytes: bytes, offsets: reader.offsets)
    }

    private mutating func value(depth: Int) -> Bool {
        self.skipBlanks()
        guard depth < Self.depthMax, self.position < self.bytes.count else { return false }
        switch self.bytes[self.position] {
        case UInt8(ascii: "{"): return self.list(.object, until: UInt8(ascii: "}"), depth: depth)
        case UInt8(ascii: "["): return self.list(.array, until: UInt8(ascii: "]"), depth: depth)
        case UInt8(ascii: "\""): return self.string(isKey: false)
        case UInt8(ascii: "t"): return self.word("true", .bool)
        case UInt8(ascii: "f"): return self.word("false", .bool)
        case UInt8(ascii: "n"): return self.word("null", .null)
        default: return self.number()
        }
    }

    private mutating func list(_ kind: JSONNode.Kind, until closing: UInt8, depth: Int) -> Bool {
        let offset = self.offsets.count
        self.record(kind, from: self.position)
        self.position += 1
        self.skipBlanks()
        if !self.take(closing) {
            repeat {
                if kind == .object {
                    self.skipBlanks()
                    guard self.string(isKey: true) else { return false }
                    self.skipBlanks()
                    guard self.take(UInt8(ascii: ":")) else { return false }
                }
                guard self.value(depth: depth + 1) else { return false }
                self.skipBlanks()
            } while self.take(UInt8(ascii: ","))
            guard self.take(closing) else { return false }
        }
        self.offsets[offset].end = UInt32(truncatingIfNeeded: self.position)
        self.offsets[offset].next = UInt32(truncatingIfNeeded: self.offsets.count)
        return true
    }

    private mutating func string(isKey: Bool) -> Bool {
        guard self.take(UInt8(ascii: "\"")) else { return false }
        let start = self.position
        var hasEscapes = false
        while true {
            self.position = self.bytes.offset(from: self.position) { JSONEscapes.marks($0) }
            guard self.position < self.bytes.count else { return false }
            switch self.bytes[self.position] {
            case UInt8(ascii: "\""):
                self.record(.string, from: start, hasEscapes: hasEscapes, isKey: isKey)
                self.position += 1
                return true
            case UInt8(ascii: "\\"):
                hasEscapes = true
                guard let count = JSONEscape.count(in: self.bytes[self.position...]) else { return false }
                self.position += count
            default: return false
            }
        }
    }

    private mutating func number() -> Bool {
        let start = self.position
        _ = self.take(UInt8(ascii: "-"))
        guard self.take(UInt8(ascii: "0")) || self.skipDigits() else { return false }
        if self.take(UInt8(ascii: ".")), !self.skipDigits() { return false }
        if self.take(UInt8(ascii: "e")) || self.take(UInt8(ascii: "E")) {
            if !self.take(UInt8(ascii: "+")) { _ = self.take(UInt8(ascii: "-")) }
            guard self.skipDigits() else { return false }
        }
        self.record(.number, from: start)
        return true
    }

    private mutating func word(_ word: String, _ kind: JSONNode.Kind) -> Bool {
        guard self.bytes.holds(word, at: self.position) else { return false }
        let start = self.position
        self.position += word.utf8.count
        self.record(kind, from: start)
        return true
    }

    /// Records a value from `start` to the current position.
    private mutating func record(
        _ kind: JSONNode.Kind, from start: Int, hasEscapes: Bool = false, isKey: Bool = false
    ) {
        self.offsets.append(
            JSONDocument.Place(
                start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: self.position),
                next: UInt32(truncatingIfNeeded: self.offsets.count + 1), kind: kind, hasEscapes: hasEscapes,
                isKey: isKey))
    }

    private mutating func skipDigits() -> Bool {
        let start = self.position
        while self.position < self.bytes.count, self.bytes[self.position] &- UInt8(ascii: "0") < 10 {
            self.position += 1
        }
        return self.position > start
    }

    /// Most values are written without blanks.
    @inline(__always) private mutating func skipBlanks() {
        guard self.position < self.bytes.count, self.bytes[self.position] <= 0x20 else { return }
        self.skipBlankBytes()
    }

    private mutating func skipBlankBytes() {
        while self.position < self.bytes.count {
            switch self.bytes[self.position] {
            case 0x20, 0x0A, 0x0D, 0x09: self.position += 1
            default: return
            }
        }
    }

    @inline(__always) private mutating func take(_ byte: UInt8) -> Bool {
        guard self.position < self.bytes.count, self.bytes[self.position] == byte else { return false }
        self.position += 1
        return true
    }
}

/// An escape sequence in a string.
enum JSONEscape {
    /// Returns the length of the escape at the start of the bytes; nil if there is none.
    static func count(in bytes: ArraySlice<UInt8>) -> Int? {
        switch bytes.dropFirst().first {
        case UInt8(ascii: "u"): Self.unit(bytes) == nil ? nil : 6
        case let sign?: Self.meant(by: sign) == nil ? nil : 2
        case nil: nil
        }
    }

    /// The text of a string that has escapes, without its quotes. A lone surrogate is U+FFFD.
    static func text(_ string: ArraySlice<UInt8>) -> String {
        var (text, rest): ([UInt8], ArraySlice<UInt8>) = ([], string)
        while let escape = rest.firstIndex(of: UInt8(ascii: "\\")) {
            text += rest[..<escape]
            rest = rest[escape...]
            let (scalar, count) = Self.first(of: rest)
            text.append(text: String(scalar))
            rest = rest.dropFirst(count)
        }
        return String(decoding: text + rest, as: UTF8.self)
    }

    /// The escape that the bytes begin with, and how many bytes it has: those of two, where they are a surrogate pair.
    private static func first(of bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, count: Int) {
        guard let unit = Self.unit(bytes) else {
            return (bytes.dropFirst().first.flatMap { Self.meant(by: $0) } ?? "\u{FFFD}", 2)
        }
        guard (0xD800..<0xDC00).contains(unit), let low = Self.unit(bytes.dropFirst(6)),
            (0xDC00..<0xE000).contains(low)
        else { return (Unicode.Scalar(unit) ?? "\u{FFFD}", 6) }
        return (Unicode.Scalar(0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF)) ?? "\u{FFFD}", 12)
    }

    private static func unit(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        guard bytes.count >= 6, bytes.starts(with: "\\u".utf8) else { return nil }
        return Hexadecimal.value(bytes.dropFirst(2).prefix(4)).map { UInt32(truncatingIfNeeded: $0) }
    }

    private static func meant(by sign: UInt8) -> Unicode.Scalar? {
        switch sign {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): Unicode.Scalar(sign)
        case UInt8(ascii: "b"): "\u{8}"
        case UInt8(ascii: "f"): "\u{C}"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "t"): "\t"
        default: nil
        }
    }
}
