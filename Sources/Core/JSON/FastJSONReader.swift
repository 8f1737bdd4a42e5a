/// Reads JSON objects as a backend plainly writes them: no blanks, no escapes, numbers without exponents. Anything else is
/// not refused but left to a decoder, which costs ten times as much and has the last word.
package struct FastJSONReader {
    private let bytes: [UInt8]
    private var position = 0
    /// Something was not plain: whatever came of it, the object is the decoder's.
    private var isPlain = true

    /// Longer numbers are left to the decoder.
    private static let digitsMax = 15

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads an object: `member` is told each key and reads its value; false is something that is not plain.
    package mutating func object(_ member: (inout FastJSONReader, ShortKey) -> Bool) {
        self.list("{", "}") { object in
            guard let key = object.readKey(), object.take(UInt8(ascii: ":")) else { return false }
            return member(&object, key)
        }
    }

    /// Reads an array, element by element.
    package mutating func array(_ element: (inout FastJSONReader) -> Bool) { self.list("[", "]", element) }

    @inline(__always) private mutating func list(
        _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ item: (inout FastJSONReader) -> Bool
    ) {
        guard self.isPlain, self.take(UInt8(ascii: opening)) else { return self.fail() }
        if self.take(UInt8(ascii: closing)) { return }
        repeat {
            guard item(&self), self.isPlain else { return self.fail() }
        } while self.take(UInt8(ascii: ","))
        if !self.take(UInt8(ascii: closing)) { self.fail() }
    }

    /// Whether all was plain, and nothing is behind it.
    package var isAtEnd: Bool { self.isPlain && self.position == self.bytes.count }

    private mutating func fail() { self.isPlain = false }

    package mutating func text() -> String? { self.plain { $0.readText() } }

    package mutating func integer() -> Int? { self.plain { $0.readInteger() } }

    package mutating func decimal() -> Double? { self.plain { $0.readDecimal() } }

    private mutating func plain<Value>(_ read: (inout FastJSONReader) -> Value?) -> Value? {
        let value = read(&self)
        if value == nil { self.isPlain = false }
        return value
    }

    package mutating func toggle() -> Bool? {
        if self.takeWord(Self.yes) { return true }
        if self.takeWord(Self.no) { return false }
        self.fail()
        return nil
    }

    private static let yes = Array("true".utf8)
    private static let no = Array("false".utf8)

    private mutating func takeWord(_ word: [UInt8]) -> Bool {
        guard self.bytes[self.position...].starts(with: word) else { return false }
        self.position += word.count
        return true
    }

    private mutating func readKey() -> ShortKey? {
        guard let key = self.unescapedText(), key.count <= ShortKey.bytesMax else { return nil }
        return ShortKey(key)
    }

    /// Whether there is a text; goes behind it.
    package mutating func skipText() -> Bool {
        let start = self.position + 1
        if self.unescapedText() != nil { return true }
        return self.isAtEscape(of: start) && self.readEscaped(from: start) != nil
    }

    private mutating func readText() -> String? {
        let start = self.position + 1
        if let text = self.unescapedText() { return String(decoding: text, as: UTF8.self) }
        return self.isAtEscape(of: start) ? self.readEscaped(from: start) : nil
    }

    /// Whether an escape is in the way of the text that begins there.
    private func isAtEscape(of start: Int) -> Bool {
        self.position >= start && self.isAt(UInt8(ascii: "\\"))
    }

    /// Goes behind it; or to what is in its way, an escape, a control character or the end, and answers nil.
    private mutating func unescapedText() -> ArraySlice<UInt8>? {
        guard self.take(UInt8(ascii: "\"")) else { return nil }
        let start = self.position
        self.position = UnescapedText.end(in: self.bytes, from: start)
        let end = self.position
        return self.take(UInt8(ascii: "\"")) ? self.bytes[start..<end] : nil
    }

    /// Goes on with a text at its first escape. Those that spell a character by its number are left to a decoder.
    private mutating func readEscaped(from start: Int) -> String? {
        var text = Array(self.bytes[start..<self.position])
        while self.position < self.bytes.count {
            let byte = self.bytes[self.position]
            self.position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard self.position < self.bytes.count, let meant = Self.meant(by: self.bytes[self.position])
                else { return nil }
                text.append(meant)
                self.position += 1
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private static func meant(by escape: UInt8) -> UInt8? {
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): escape
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    private mutating func readInteger() -> Int? {
        guard let digits = self.digits(), !self.isAt(UInt8(ascii: ".")) else { return nil }
        return digits
    }

    private mutating func readDecimal() -> Double? {
        let start = self.position
        guard let whole = self.digits() else { return nil }
        guard self.take(UInt8(ascii: ".")) else { return Double(whole) }
        let fraction = self.position
        self.skipDigits()
        guard self.position > fraction, self.position - start <= Self.digitsMax + 2 else { return nil }
        return Double(String(decoding: self.bytes[start..<self.position], as: UTF8.self))
    }

    /// Whether there is a decimal number that `decimal` would read; goes behind it.
    package mutating func skipDecimal() -> Bool {
        let start = self.position
        guard self.digits() != nil else { return false }
        guard self.take(UInt8(ascii: ".")) else { return true }
        let fraction = self.position
        self.skipDigits()
        return self.position > fraction && self.position - start <= Self.digitsMax + 2
    }

    /// Digits without a leading zero, and what follows is not more of a number than a decimal point.
    private mutating func digits() -> Int? {
        let start = self.position
        self.skipDigits()
        let digits = self.bytes[start..<self.position]
        guard (1...Self.digitsMax).contains(digits.count),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private mutating func skipDigits() {
        while self.position < self.bytes.count,
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self.bytes[self.position])
        {
            self.position += 1
        }
    }

    private func isAt(_ byte: UInt8) -> Bool {
        self.position < self.bytes.count && self.bytes[self.position] == byte
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard self.isAt(byte) else { return false }
        self.position += 1
        return true
    }
}

extension FastJSONReader {
    /// Each reads a value; false is one that is not plain.
    package mutating func read(_ value: inout String?) -> Bool {
        value = self.text()
        return value != nil
    }

    package mutating func read(_ value: inout Int?) -> Bool {
        value = self.integer()
        return value != nil
    }

    package mutating func read(_ value: inout Double?) -> Bool {
        value = self.decimal()
        return value != nil
    }

    package mutating func read(_ value: inout Bool?) -> Bool {
        value = self.toggle()
        return value != nil
    }
}
