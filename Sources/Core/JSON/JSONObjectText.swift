/// A JSON object as text, in which single members are changed and every other byte stays as it is: what a foreign
/// backend wrote is still what it wrote.
///
/// Only as much is read as that takes: strings, brackets and the commas between. What is no object by that reading is
/// left alone by everybody.
package struct JSONObjectText: Hashable, Sendable {
    /// Deeper nesting is not read.
    private static let depthMax = 64

    private struct Member: Hashable, Sendable {
        var key: String
        /// With its quotes.
        var keyRange: Range<Int>
        var valueRange: Range<Int>
    }

    package private(set) var bytes: [UInt8]
    private var members: [Member]

    package init?(_ bytes: [UInt8]) {
        guard let members = Self.members(of: bytes) else { return nil }
        self.bytes = bytes
        self.members = members
    }

    package init?(_ text: String) { self.init(Array(text.utf8)) }

    package func contains(_ key: String) -> Bool { self.members.contains { $0.key == key } }

    /// The value of a member that is a string.
    package func text(_ key: String) -> String? {
        guard let value = self.value(key) else { return nil }
        return Self.string(in: value)
    }

    /// The bytes of a member's value.
    package func value(_ key: String) -> ArraySlice<UInt8>? {
        self.members.first { $0.key == key }.map { self.bytes[$0.valueRange] }
    }

    package mutating func remove(_ key: String) {
        while let offset = self.members.firstIndex(where: { $0.key == key }) {
            let member = self.members[offset]
            let isLast = offset == self.members.count - 1
            let from =
                isLast && offset > 0
                ? self.members[offset - 1].valueRange.upperBound : member.keyRange.lowerBound
            let to = isLast ? member.valueRange.upperBound : self.members[offset + 1].keyRange.lowerBound
            self.replace(from..<to, with: [])
        }
    }

    package mutating func set(_ key: String, to value: [UInt8]) {
        guard let member = self.members.first(where: { $0.key == key }) else { return }
        self.replace(member.valueRange, with: value)
    }

    package mutating func rename(_ key: String, to name: String) {
        guard let member = self.members.first(where: { $0.key == key }) else { return }
        self.replace(member.keyRange, with: Self.quoted(name))
    }

    private mutating func replace(_ range: Range<Int>, with bytes: [UInt8]) {
        self.bytes.replaceSubrange(range, with: bytes)
        self.members = Self.members(of: self.bytes) ?? []
    }

    /// Changes strings that stand under one of these keys, at any depth. Answers whether anything was changed.
    package mutating func changeStrings(under keys: [String], _ change: (String) -> String?) -> Bool {
        var scanner = JSONScanner(bytes: self.bytes)
        var changes: [(range: Range<Int>, bytes: [UInt8])] = []
        var key: String?
        while let token = scanner.next() {
            switch token {
            case .string(let range):
                let text = Self.string(in: self.bytes[range])
                if scanner.isBeforeColon {
                    key = text
                } else {
                    if let name = key, keys.contains(name), let text, let other = change(text), other != text
                    {
                        changes.append((range, Self.quoted(other)))
                    }
                    key = nil
                }
            case .colon: break
            case .open, .close, .comma, .scalar: key = nil
            }
        }
        guard !changes.isEmpty, !scanner.isBroken else { return false }
        for (range, bytes) in changes.reversed() { self.bytes.replaceSubrange(range, with: bytes) }
        self.members = Self.members(of: self.bytes) ?? []
        return true
    }

    // MARK: Elements

    /// The elements of a JSON array; nil for anything else.
    package static func elements(of array: ArraySlice<UInt8>) -> [[UInt8]]? {
        let bytes = Array(array)
        var scanner = JSONScanner(bytes: bytes)
        guard case .open(let opener)? = scanner.next(), bytes[opener] == UInt8(ascii: "[") else { return nil }
        var elements: [[UInt8]] = []
        var depth = 1
        var start = opener + 1
        while let token = scanner.next() {
            switch token {
            case .open: depth += 1
            case .close(let offset):
                depth -= 1
                if depth > 0 { continue }
                if let element = Self.trimmed(bytes, start..<offset) { elements.append(element) }
                return scanner.next() == nil && !scanner.isBroken ? elements : nil
            case .comma(let offset) where depth == 1:
                guard let element = Self.trimmed(bytes, start..<offset) else { return nil }
                elements.append(element)
                start = offset + 1
            case .comma, .colon, .string, .scalar: break
            }
            if depth > Self.depthMax { return nil }
        }
        return nil
    }

    private static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> [UInt8]? {
        var piece = bytes[range]
        while let first = piece.first, JSONScanner.isBlank(first) { piece = piece.dropFirst() }
        while let last = piece.last, JSONScanner.isBlank(last) { piece = piece.dropLast() }
        return piece.isEmpty ? nil : Array(piece)
    }

    // MARK: Reading

    private static func members(of bytes: [UInt8]) -> [Member]? {
        var scanner = JSONScanner(bytes: bytes)
        guard case .open(let opener)? = scanner.next(), bytes[opener] == UInt8(ascii: "{") else { return nil }
        var members: [Member] = []
        if scanner.isBefore(UInt8(ascii: "}")) {
            _ = scanner.next()
            return scanner.next() == nil && !scanner.isBroken ? [] : nil
        }
        while true {
            guard case .string(let keyRange)? = scanner.next(), let key = Self.string(in: bytes[keyRange]),
                case .colon? = scanner.next(), let valueRange = Self.value(&scanner)
            else { return nil }
            members.append(Member(key: key, keyRange: keyRange, valueRange: valueRange))
            switch scanner.next() {
            case .comma: continue
            case .close(let offset) where bytes[offset] == UInt8(ascii: "}"):
                return scanner.next() == nil && !scanner.isBroken ? members : nil
            default: return nil
            }
        }
    }

    private static func value(_ scanner: inout JSONScanner) -> Range<Int>? {
        switch scanner.next() {
        case .string(let range), .scalar(let range): return range
        case .open(let start):
            var depth = 1
            while depth > 0 {
                switch scanner.next() {
                case .open: depth += 1
                case .close: depth -= 1
                case .string, .scalar, .comma, .colon: break
                case nil: return nil
                }
                if depth > Self.depthMax { return nil }
            }
            return start..<scanner.position
        default: return nil
        }
    }

    /// The text of a quoted string.
    private static func string(in quoted: ArraySlice<UInt8>) -> String? {
        guard quoted.count >= 2, quoted.first == UInt8(ascii: "\"") else { return nil }
        let inner = quoted.dropFirst().dropLast()
        guard inner.contains(UInt8(ascii: "\\")) else { return String(validating: inner, as: UTF8.self) }
        return JSON.decode([String].self, from: [UInt8(ascii: "[")] + Array(quoted) + [UInt8(ascii: "]")])?
            .first
    }

    private static func quoted(_ text: String) -> [UInt8] {
        Array(JSON.encode([text]).dropFirst().dropLast())
    }
}

/// Steps through JSON token by token, without judging more than it must.
package struct JSONScanner {
    package enum Token: Hashable {
        case open(Int), close(Int), comma(Int)
        case colon
        /// With its quotes.
        case string(Range<Int>)
        case scalar(Range<Int>)
    }

    private let bytes: [UInt8]
    private(set) var position = 0
    /// A string without its end.
    private(set) var isBroken = false

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    package var isBeforeColon: Bool { self.isBefore(UInt8(ascii: ":")) }

    package func isBefore(_ byte: UInt8) -> Bool {
        var offset = self.position
        while offset < self.bytes.count, Self.isBlank(self.bytes[offset]) { offset += 1 }
        return offset < self.bytes.count && self.bytes[offset] == byte
    }

    package mutating func next() -> Token? {
        while self.position < self.bytes.count, Self.isBlank(self.bytes[self.position]) { self.position += 1 }
        guard self.position < self.bytes.count else { return nil }
        let start = self.position
        self.position += 1
        switch self.bytes[start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .open(start)
        case UInt8(ascii: "}"), UInt8(ascii: "]"): return .close(start)
        case UInt8(ascii: ","): return .comma(start)
        case UInt8(ascii: ":"): return .colon
        case UInt8(ascii: "\""): return self.restOfString(from: start)
        default:
            while self.position < self.bytes.count, !Self.endsScalar(self.bytes[self.position]) {
                self.position += 1
            }
            return .scalar(start..<self.position)
        }
    }

    private mutating func restOfString(from start: Int) -> Token? {
        while self.position < self.bytes.count {
            switch self.bytes[self.position] {
            case UInt8(ascii: "\\"): self.position += 2
            case UInt8(ascii: "\""):
                self.position += 1
                return .string(start..<self.position)
            default: self.position += 1
            }
        }
        self.position = self.bytes.count
        self.isBroken = true
        return nil
    }

    private static func endsScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: "\""):
            true
        default: Self.isBlank(byte)
        }
    }
}
