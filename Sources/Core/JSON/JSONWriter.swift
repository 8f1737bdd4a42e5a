package import SimBase

/// Writes JSON without blanks. Members are written in the order of the calls.
///
/// With the standard escapes, and members in the order of their keys, the bytes are those of the toolchain's encoder with
/// sorted keys and plain slashes.
package struct JSONWriter: ~Copyable {
    private var draft: ByteBuilder
    private let escapes: JSONEscapes
    private var isFirst = true

    /// Empty, with memory for `count` bytes.
    package init(_ escapes: JSONEscapes, reserving count: Int) {
        self.draft = ByteBuilder(reserving: count)
        self.escapes = escapes
    }

    /// The bytes that `write` writes, with standard escapes.
    package static func bytes(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(.standard, reserving: 1_024)
        write(&writer)
        return writer.bytes
    }

    /// The text as a JSON string with its quotes.
    package static func string(_ text: String, _ escapes: JSONEscapes) -> String {
        var writer = JSONWriter(escapes, reserving: text.utf8.count + 2)
        writer.text(text)
        return writer.draft.text
    }

    package var bytes: [UInt8] { self.draft.bytes }
    package var count: Int { self.draft.count }
    package var isEmpty: Bool { self.draft.count == 0 }

    /// Appends all of it to others.
    package func copy(to others: inout [UInt8]) { self.draft.copy(to: &others) }

    /// Empties it and keeps the memory.
    package mutating func removeAll() {
        self.draft.shorten(to: 0)
        self.isFirst = true
    }

    // MARK: Values

    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        self.openObject()
        members(&self)
        self.closeObject()
    }

    /// Begins an object. Its members and `closeObject` follow.
    package mutating func openObject() {
        self.draft.append(UInt8(ascii: "{"))
        self.isFirst = true
    }

    package mutating func closeObject() {
        self.draft.append(UInt8(ascii: "}"))
        self.isFirst = false
    }

    package mutating func array<Element>(
        _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) {
        self.draft.append(UInt8(ascii: "["))
        for index in elements.indices {
            if index > 0 { self.draft.append(UInt8(ascii: ",")) }
            write(&self, elements[index])
        }
        self.draft.append(UInt8(ascii: "]"))
    }

    package mutating func text(_ text: String) {
        self.draft.append(UInt8(ascii: "\""))
        let start = self.draft.count
        self.draft.append(text: text)
        self.endText(from: start)
    }

    /// Few texts need an escape. They are searched in the draft, eight bytes at a time.
    private mutating func endText(from start: Int) {
        if self.escapes.start(in: self.draft, from: start) != nil {
            let text = String(decoding: self.draft.bytes[start...], as: UTF8.self)
            self.draft.shorten(to: start)
            for scalar in text.unicodeScalars { self.append(scalar) }
        }
        self.draft.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        guard self.escapes.covers(scalar) else {
            for byte in UTF8.encode(scalar) ?? .init() { self.draft.append(byte) }
            return
        }
        self.draft.append(UInt8(ascii: "\\"))
        if let sign = self.escapes.sign(of: scalar) {
            self.draft.append(sign)
        } else {
            self.draft.append(UInt8(ascii: "u"))
            Hexadecimal.append(UInt64(scalar.value), digits: 4, to: &self.draft)
        }
    }

    package mutating func integer(_ value: Int64) { Decimal.append(value, to: &self.draft) }

    /// A whole number has no point.
    package mutating func decimal(_ value: Double) {
        let text = value.description
        self.draft.append(text: text)
        if text.hasSuffix(".0") { self.draft.shorten(to: self.draft.count - 2) }
    }

    package mutating func flag(_ value: Bool) {
        if value { self.draft.append(literal: "true") } else { self.draft.append(literal: "false") }
    }

    package mutating func null() { self.draft.append(literal: "null") }

    /// JSON, or blanks, as they are.
    package mutating func raw(_ text: String) { self.draft.append(text: text) }

    /// Ends a line.
    package mutating func newline() { self.draft.append(0x0A) }

    // MARK: Members

    package mutating func key(_ key: StaticString) {
        if !self.isFirst { self.draft.append(UInt8(ascii: ",")) }
        self.isFirst = false
        self.draft.append(UInt8(ascii: "\""))
        self.draft.append(literal: key)
        self.draft.append(UInt8(ascii: "\""))
        self.draft.append(UInt8(ascii: ":"))
    }

    package mutating func key(text: String) {
        if !self.isFirst { self.draft.append(UInt8(ascii: ",")) }
        self.isFirst = false
        self.text(text)
        self.draft.append(UInt8(ascii: ":"))
    }

    package mutating func object(_ key: StaticString, _ members: (inout JSONWriter) -> Void) {
        self.key(key)
        self.object(members)
    }

    package mutating func array<Element>(
        _ key: StaticString, _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) {
        self.key(key)
        self.array(elements, write)
    }

    /// A text that is written at its final position.
    package mutating func member(_ key: StaticString, writing write: (inout ByteBuilder) -> Void) {
        self.key(key)
        self.draft.append(UInt8(ascii: "\""))
        let start = self.draft.count
        write(&self.draft)
        self.endText(from: start)
    }

    /// A share of 0 to 1, as the decimal number that it is.
    package mutating func member(_ key: StaticString, thousandths: Int) {
        self.key(key)
        Decimal.append(Int64(thousandths / 1_000), to: &self.draft)
        var (rest, digits) = (thousandths % 1_000, 3)
        guard rest > 0 else { return }
        while rest % 10 == 0 { (rest, digits) = (rest / 10, digits - 1) }
        self.draft.append(UInt8(ascii: "."))
        Decimal.append(UInt64(rest), digits: digits, to: &self.draft)
    }

    /// Milliseconds since 1970.
    package mutating func member(_ key: StaticString, timestamp: Int64) {
        self.member(key) { Timestamp.append(unixMilliseconds: timestamp, to: &$0) }
    }

    package mutating func member(_ key: StaticString, _ text: String) {
        self.key(key)
        self.text(text)
    }

    /// A word of the program without a character that needs an escape.
    package mutating func member(_ key: StaticString, _ word: StaticString) {
        self.key(key)
        self.draft.append(UInt8(ascii: "\""))
        self.draft.append(literal: word)
        self.draft.append(UInt8(ascii: "\""))
    }

    /// Nil is left out.
    package mutating func member(_ key: StaticString, _ text: String?) {
        if let text { self.member(key, text) }
    }

    package mutating func member(_ key: StaticString, _ value: Int?) {
        self.member(key, value.map { Int64($0) })
    }

    package mutating func member(_ key: StaticString, _ value: UInt32?) {
        self.member(key, value.map { Int64($0) })
    }

    package mutating func member(_ key: StaticString, _ value: Int64?) {
        guard let value else { return }
        self.key(key)
        self.integer(value)
    }

    package mutating func member(_ key: StaticString, _ value: UInt64) {
        self.key(key)
        if let value = Int64(exactly: value) { self.integer(value) } else { self.raw(String(value)) }
    }

    package mutating func member(_ key: StaticString, _ value: Double?) {
        guard let value else { return }
        self.key(key)
        self.decimal(value)
    }

    package mutating func member(_ key: StaticString, _ value: Bool?) {
        guard let value else { return }
        self.key(key)
        self.flag(value)
    }
}

/// A body that writes itself, with its members in the order of their keys.
package protocol JSONWritable {
    func write(to writer: inout JSONWriter)
}
