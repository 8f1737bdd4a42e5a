package import SimBase

/// Writes JSON as the encoder of `JSON` would, byte for byte, at a tenth of its cost: for the bodies of which there are
/// thousands a second. Members come in the order of their keys, as the caller writes them.
package struct FastJSONWriter: ~Copyable {
    private var draft: ByteBuilder
    private var isFirst = true

    private init(_ draft: consuming ByteBuilder) { self.draft = draft }

    /// What `write` writes, in one allocation if it is no more than most bodies are.
    package static func bytes(_ write: (inout FastJSONWriter) -> Void) -> [UInt8] {
        ByteBuilder.bytes { draft in
            var writer = FastJSONWriter(draft)
            write(&writer)
            draft = writer.draft
        }
    }

    // MARK: Values

    package mutating func object(_ members: (inout FastJSONWriter) -> Void) {
        self.draft.append(UInt8(ascii: "{"))
        self.isFirst = true
        members(&self)
        self.draft.append(UInt8(ascii: "}"))
        self.isFirst = false
    }

    package mutating func array<Element>(
        _ elements: [Element], _ write: (inout FastJSONWriter, Element) -> Void
    ) {
        self.draft.append(UInt8(ascii: "["))
        for (offset, element) in elements.enumerated() {
            if offset > 0 { self.draft.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        self.draft.append(UInt8(ascii: "]"))
    }

    package mutating func text(_ text: String) {
        self.draft.append(UInt8(ascii: "\""))
        let start = self.draft.count
        self.draft.append(text: text)
        self.endText(from: start)
    }

    /// Hardly any text needs an escape: looked for where it lies by now.
    private mutating func endText(from start: Int) {
        if UnescapedText.end(in: self.draft, from: start) != nil {
            let text = self.draft.bytes[start...]
            self.draft.shorten(to: start)
            for byte in text { self.escaped(byte) }
        }
        self.draft.append(UInt8(ascii: "\""))
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            self.draft.append(UInt8(ascii: "\\"))
            self.draft.append(byte)
        case 0x08: self.draft.append(literal: "\\b")
        case 0x09: self.draft.append(literal: "\\t")
        case 0x0A: self.draft.append(literal: "\\n")
        case 0x0C: self.draft.append(literal: "\\f")
        case 0x0D: self.draft.append(literal: "\\r")
        case 0..<0x20:
            self.draft.append(literal: "\\u00")
            self.draft.append(Hexadecimal.digit(byte >> 4))
            self.draft.append(Hexadecimal.digit(byte & 15))
        default: self.draft.append(byte)
        }
    }

    package mutating func integer(_ value: Int) {
        Decimal.append(Int64(value), to: &self.draft)
    }

    /// A whole number has no point.
    package mutating func decimal(_ value: Double) {
        let text = value.description
        self.draft.append(text: text)
        if text.hasSuffix(".0") { self.draft.shorten(to: self.draft.count - 2) }
    }

    package mutating func toggle(_ value: Bool) {
        if value { self.draft.append(literal: "true") } else { self.draft.append(literal: "false") }
    }

    // MARK: Members

    package mutating func key(_ key: StaticString) {
        if !self.isFirst { self.draft.append(UInt8(ascii: ",")) }
        self.isFirst = false
        self.draft.append(UInt8(ascii: "\""))
        self.draft.append(literal: key)
        self.draft.append(UInt8(ascii: "\""))
        self.draft.append(UInt8(ascii: ":"))
    }

    /// A text that is written where it is to stand.
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

    /// Nil is left out.
    package mutating func member(_ key: StaticString, _ text: String?) {
        if let text { self.member(key, text) }
    }

    package mutating func member(_ key: StaticString, _ value: Int?) {
        guard let value else { return }
        self.key(key)
        self.integer(value)
    }

    package mutating func member(_ key: StaticString, _ value: Double?) {
        guard let value else { return }
        self.key(key)
        self.decimal(value)
    }

    package mutating func member(_ key: StaticString, _ value: Bool?) {
        guard let value else { return }
        self.key(key)
        self.toggle(value)
    }
}

/// The part of a JSON text that stands for itself.
package enum UnescapedText {
    /// Where the first byte is that is, or needs, an escape, or that ends a text.
    package static func end(in draft: borrowing ByteBuilder, from start: Int) -> Int? {
        draft.offset(from: start) {
            $0.less(0x20) | $0.equal(UInt8(ascii: "\"")) | $0.equal(UInt8(ascii: "\\"))
        }
    }

    /// The same; the count when there is none.
    package static func end(in bytes: [UInt8], from start: Int) -> Int {
        bytes.offset(from: start) {
            $0.less(0x20) | $0.equal(UInt8(ascii: "\"")) | $0.equal(UInt8(ascii: "\\"))
        }
    }
}

/// What can be written without an encoder: members in the order of their keys.
package protocol FastJSONEncodable: Encodable {
    func write(to writer: inout FastJSONWriter)
}
