import SimBase

/// The bytes of a document that was read, and the positions of its values.
final class JSONDocument: Sendable {
    struct Place {
        /// The range in the bytes; for a string, without its quotes.
        var start, end: UInt32
        /// The offset after the last one that is inside of this one.
        var next: UInt32
        var kind: JSONNode.Kind
        /// Whether the string contains escapes.
        var hasEscapes: Bool
        /// The string is the key of the next offset.
        var isKey: Bool

        var range: Range<Int> { Int(self.start)..<Int(self.end) }
    }

    let bytes: [UInt8]
    /// A value comes before those inside of it, and a key before its value.
    let offsets: [Place]

    init(bytes: [UInt8], offsets: [Place]) {
        self.bytes = bytes
        self.offsets = offsets
    }

    /// The index of a string among others. `guess`: the index that is tried first.
    func index(of index: Int, in keys: JSONKeys, guess: Int) -> Int? {
        let offset = self.offsets[index]
        guard !offset.hasEscapes else { return keys.texts.firstIndex(of: self.text(offset)) }
        return keys.index(in: self.bytes, offset.range, guess: guess)
    }

    /// The number at this offset, if it is not negative and has neither an exponent nor more digits than a `Double` has.
    func plainNumber(_ offset: Place) -> PlainNumber? {
        let range = offset.range
        guard range.count <= PlainNumber.digitsMax else { return nil }
        var number = PlainNumber(digits: 0, places: 0)
        var pointAt: Int?
        for index in range {
            let digit = self.bytes[index] &- UInt8(ascii: "0")
            if digit < 10 {
                number.digits = number.digits &* 10 &+ Int64(digit)
            } else if self.bytes[index] == UInt8(ascii: ".") {
                pointAt = index
            } else {
                return nil
            }
        }
        if let pointAt { number.places = range.upperBound - pointAt - 1 }
        return number
    }

    /// The text of a string at this offset.
    func text(_ offset: Place) -> String {
        let string = self.bytes[offset.range]
        return offset.hasEscapes ? JSONEscape.text(string) : String(decoding: string, as: UTF8.self)
    }
}

/// Digits, and how many of them are behind the point.
struct PlainNumber {
    static let digitsMax = 15

    var digits: Int64
    var places: Int

    /// Both numbers are whole and exact, so that the quotient is the `Double` that is nearest to the digits.
    var decimal: Double { Double(self.digits) / Self.powers[self.places] }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}

/// A value of a JSON document that was read, or the whole document. Texts and numbers are made from the bytes on demand.
package struct JSONNode: Sendable {
    package enum Kind: Sendable { case null, bool, number, string, array, object }

    private let document: JSONDocument
    private let index: Int

    /// Parses a document. Returns nil if the bytes are not JSON (RFC 8259) or are nested too deeply. Invalid
    /// UTF-8 in a string is repaired.
    package init?(_ bytes: [UInt8]) {
        guard let document = JSONReader.document(bytes) else { return nil }
        self.init(document, 0)
    }

    private init(_ document: JSONDocument, _ index: Int) {
        self.document = document
        self.index = index
    }

    private var offset: JSONDocument.Place { self.document.offsets[self.index] }
    private var next: Int { Int(self.offset.next) }

    package var kind: Kind { self.offset.kind }
    package var isNull: Bool { self.kind == .null }
    /// Whether it is of this kind. For other modules, where `==` of two kinds is not inlined.
    package func isA(_ kind: Kind) -> Bool { self.kind == kind }

    /// The bytes of the whole document.
    var bytes: [UInt8] { self.document.bytes }

    /// The range in the bytes; for a string, with its quotes.
    var range: Range<Int> {
        let range = self.offset.range
        return self.kind == .string ? (range.lowerBound - 1)..<(range.upperBound + 1) : range
    }

    // MARK: Values

    package var text: String? { self.kind == .string ? self.document.text(self.offset) : nil }

    package var flag: Bool? {
        self.kind == .bool ? self.document.bytes[self.offset.range.lowerBound] == UInt8(ascii: "t") : nil
    }

    /// A number as it was written.
    package var digits: String? {
        self.kind == .number ? String(decoding: self.document.bytes[self.offset.range], as: UTF8.self) : nil
    }

    /// A whole number within the range of `Int`.
    package var integer: Int? { self.integer(Int.self) }

    /// A whole number within the range of the type, in any form that JSON has for it.
    package func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        guard self.kind == .number else { return nil }
        if let plain = self.document.plainNumber(self.offset), plain.places == 0 {
            return Number(exactly: plain.digits)
        }
        return self.digits.flatMap { digits in
            Number(digits) ?? Double(digits).flatMap { Number(exactly: $0) }
        }
    }

    package var decimal: Double? {
        guard self.kind == .number else { return nil }
        if let plain = self.document.plainNumber(self.offset) { return plain.decimal }
        return self.digits.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
    }

    // MARK: What is inside

    /// The member of an object; the first, where a key comes twice.
    package subscript(key: String) -> JSONNode? {
        guard self.kind == .object else { return nil }
        let (offsets, end) = (self.document.offsets, self.next)
        var index = self.index + 1
        while index < end {
            if self.isKey(offsets[index], key) { return JSONNode(self.document, index + 1) }
            index = Int(offsets[index + 1].next)
        }
        return nil
    }

    private func isKey(_ offset: JSONDocument.Place, _ key: String) -> Bool {
        guard !offset.hasEscapes else { return self.document.text(offset) == key }
        return offset.range.count == key.utf8.count
            && self.document.bytes.holds(key, at: offset.range.lowerBound)
    }

    /// Members in the order in which they were written, with every key that comes twice.
    package var members: [(key: String, value: JSONNode)] {
        self.entries.map { (self.document.text($0.key.offset), $0.value) }
    }

    var entries: [(key: JSONNode, value: JSONNode)] {
        guard self.kind == .object else { return [] }
        let nodes = self.nodes
        return stride(from: 0, to: nodes.count, by: 2).map { (nodes[$0], nodes[$0 + 1]) }
    }

    /// Calls `look` with each member of an object in the order in which they were written, and with the index of its key
    /// among `keys`; nil for a key that is not among them.
    package func eachMember(
        of keys: JSONKeys, _ look: (_ key: JSONNode, _ index: Int?, _ value: JSONNode) -> Void
    ) {
        guard self.kind == .object else { return }
        let end = self.next
        var (index, guess) = (self.index + 1, 0)
        while index < end {
            let found = self.document.index(of: index, in: keys, guess: guess)
            look(JSONNode(self.document, index), found, JSONNode(self.document, index + 1))
            index = Int(self.document.offsets[index + 1].next)
            // Most objects have their members in the order of the keys, and not all of them.
            if let found { guess = found + 1 }
        }
    }

    /// Whether it is a string and one of these.
    package func isText(among texts: JSONKeys) -> Bool {
        self.kind == .string && self.document.index(of: self.index, in: texts, guess: 0) != nil
    }

    /// The strings that are members of this key or another, at any depth, in the order in which they were written.
    func strings(under keys: [String]) -> [JSONNode] {
        (self.index..<self.next).compactMap { index in
            let offset = self.document.offsets[index]
            guard offset.isKey, keys.contains(where: { self.isKey(offset, $0) }) else { return nil }
            let value = JSONNode(self.document, index + 1)
            return value.kind == .string ? value : nil
        }
    }

    package var elements: [JSONNode] { self.kind == .array ? self.nodes : [] }

    private var nodes: [JSONNode] {
        var nodes: [JSONNode] = []
        var index = self.index + 1
        while index < self.next {
            let node = JSONNode(self.document, index)
            nodes.append(node)
            index = node.next
        }
        return nodes
    }
}

/// A member is missing, or its value has another form than the reader requires.
package struct JSONMismatch: Error {
    package init() {}
}

extension JSONNode {
    /// The value of a member, as `read` returns it. Throws when the member is missing or null, and when `read` returns nil.
    package func required<Value>(
        _ key: String, _ read: (JSONNode) throws(JSONMismatch) -> Value?
    ) throws(JSONMismatch) -> Value {
        guard let value = try self.optional(key, read) else { throw JSONMismatch() }
        return value
    }

    /// The value of a member, as `read` returns it. Is nil when the member is missing or null. Throws when `read` returns
    /// nil.
    package func optional<Value>(
        _ key: String, _ read: (JSONNode) throws(JSONMismatch) -> Value?
    ) throws(JSONMismatch) -> Value? {
        guard let node = self[key], !node.isNull else { return nil }
        guard let value = try read(node) else { throw JSONMismatch() }
        return value
    }

    /// The elements of an array, as `read` returns them. Is nil for anything but an array, and when `read` returns nil for
    /// an element.
    package func list<Value>(_ read: (JSONNode) -> Value?) -> [Value]? {
        guard self.kind == .array else { return nil }
        let elements = self.elements
        let values = elements.compactMap(read)
        return values.count == elements.count ? values : nil
    }
}
