/// A JSON value of any shape, for what is not plainly what the contract says (`FastJSONReader` reads the rest).
package enum JSONNode: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        var key: String
        var value: JSONNode
    }

    case null
    case bool(Bool)
    /// As it was written.
    case number(String)
    case string(String)
    case array([JSONNode])
    /// In the order in which they were written.
    case object([Member])

    /// Is nil when the bytes are not JSON (RFC 8259) or are nested more deeply than any answer.
    package init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard let node = reader.value(depth: 0), reader.isAtEnd else { return nil }
        self = node
    }

    /// The member of an object; the first, where a key comes twice.
    package subscript(key: String) -> JSONNode? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// What it is, in kind.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// A whole number within the range of `Int`.
    package var integer: Int? {
        guard case .number(let digits) = self else { return nil }
        return Int(digits) ?? Double(digits).flatMap { Int(exactly: $0) }
    }

    package var decimal: Double? {
        guard case .number(let digits) = self else { return nil }
        return Double(digits).flatMap { $0.isFinite ? $0 : nil }
    }
}

extension JSONNode {
    private struct Reader {
        let bytes: [UInt8]
        private var position = 0

        /// Deeper nesting is no answer of anybody.
        private static let depthMax = 64

        init(bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool {
            mutating get {
                self.skipBlanks()
                return self.position == self.bytes.count
            }
        }

        mutating func value(depth: Int) -> JSONNode? {
            guard depth < Self.depthMax else { return nil }
            self.skipBlanks()
            guard self.position < self.bytes.count else { return nil }
            switch self.bytes[self.position] {
            case UInt8(ascii: "{"): return self.object(depth: depth)
            case UInt8(ascii: "["): return self.array(depth: depth)
            case UInt8(ascii: "\""): return self.string().map { .string($0) }
            case UInt8(ascii: "t"): return self.take("true") ? .bool(true) : nil
            case UInt8(ascii: "f"): return self.take("false") ? .bool(false) : nil
            case UInt8(ascii: "n"): return self.take("null") ? .null : nil
            default: return self.number().map { .number($0) }
            }
        }

        private mutating func object(depth: Int) -> JSONNode? {
            guard self.take("{") else { return nil }
            var members: [Member] = []
            if self.takeAfterBlanks("}") { return .object(members) }
            repeat {
                self.skipBlanks()
                guard let key = self.string(), self.takeAfterBlanks(":"),
                    let value = self.value(depth: depth + 1)
                else { return nil }
                members.append(Member(key: key, value: value))
            } while self.takeAfterBlanks(",")
            return self.takeAfterBlanks("}") ? .object(members) : nil
        }

        private mutating func array(depth: Int) -> JSONNode? {
            guard self.take("[") else { return nil }
            var values: [JSONNode] = []
            if self.takeAfterBlanks("]") { return .array(values) }
            repeat {
                guard let value = self.value(depth: depth + 1) else { return nil }
                values.append(value)
            } while self.takeAfterBlanks(",")
            return self.takeAfterBlanks("]") ? .array(values) : nil
        }

        private mutating func number() -> String? {
            let start = self.position
            _ = self.take("-")
            let isZero = self.take("0")
            guard isZero || self.skipDigits() else { return nil }
            if self.take("."), !self.skipDigits() { return nil }
            if self.take("e") || self.take("E") {
                if !self.take("+") { _ = self.take("-") }
                guard self.skipDigits() else { return nil }
            }
            return String(decoding: self.bytes[start..<self.position], as: UTF8.self)
        }

        /// Whether there is at least one.
        private mutating func skipDigits() -> Bool {
            let start = self.position
            while self.position < self.bytes.count,
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self.bytes[self.position])
            {
                self.position += 1
            }
            return self.position > start
        }

        private mutating func string() -> String? {
            guard self.take("\"") else { return nil }
            var text: [UInt8] = []
            while self.position < self.bytes.count {
                let byte = self.bytes[self.position]
                self.position += 1
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
                case UInt8(ascii: "\\"): guard self.escape(into: &text) else { return nil }
                case 0..<0x20: return nil
                default: text.append(byte)
                }
            }
            return nil
        }

        private mutating func escape(into text: inout [UInt8]) -> Bool {
            guard self.position < self.bytes.count else { return false }
            let sign = self.bytes[self.position]
            self.position += 1
            switch sign {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(sign)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = self.scalar() else { return false }
                text.append(contentsOf: Array(String(scalar).utf8))
            default: return false
            }
            return true
        }

        /// A character by its number in hexadecimal, or by two that are a surrogate pair; a lone surrogate is U+FFFD.
        private mutating func scalar() -> Unicode.Scalar? {
            guard let unit = self.hexadecimal() else { return nil }
            guard (0xD800..<0xDC00).contains(unit), self.peek("\\u") else {
                return Unicode.Scalar(unit) ?? "\u{FFFD}"
            }
            let before = self.position
            self.position += 2
            guard let low = self.hexadecimal() else { return nil }
            guard (0xDC00..<0xE000).contains(low) else {
                self.position = before
                return "\u{FFFD}"
            }
            return Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        }

        private mutating func hexadecimal() -> UInt32? {
            guard self.position + 4 <= self.bytes.count else { return nil }
            var value: UInt32 = 0
            for byte in self.bytes[self.position..<(self.position + 4)] {
                guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                    return nil
                }
                value = value << 4 | UInt32(digit)
            }
            self.position += 4
            return value
        }

        private mutating func skipBlanks() {
            while self.position < self.bytes.count {
                switch self.bytes[self.position] {
                case 0x20, 0x0A, 0x0D, 0x09: self.position += 1
                default: return
                }
            }
        }

        private func peek(_ word: String) -> Bool {
            let end = self.position + word.utf8.count
            return end <= self.bytes.count && word.utf8.elementsEqual(self.bytes[self.position..<end])
        }

        private mutating func take(_ word: String) -> Bool {
            guard self.peek(word) else { return false }
            self.position += word.utf8.count
            return true
        }

        private mutating func takeAfterBlanks(_ word: String) -> Bool {
            self.skipBlanks()
            return self.take(word)
        }
    }
}
