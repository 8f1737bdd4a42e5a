/// A field value with parameters, such as `multipart/form-data; boundary="a b"` (RFC 9110 section 5.6.6).
package struct ParameterizedValue: Hashable, Sendable {
    /// The part before the first semicolon, without surrounding spaces, as sent.
    package var value: String
    /// The parameters in order, names as sent, quotes and escapes removed.
    package var parameters: HeaderFields

    /// Nil when a parameter has no name, no `=`, an unfinished quote, or text after its value.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let end = bytes.firstIndex(of: 0x3B) ?? bytes.endIndex
        self.value = ASCII.text(ASCII.trimmed(bytes[..<end]))
        self.parameters = HeaderFields()
        var rest = bytes[end...]
        while !rest.isEmpty {
            rest = rest.dropFirst().drop(while: Self.isSpace)
            // `text/event-stream;` is fine (RFC 9110 allows empty parameters).
            if rest.isEmpty || rest.first == 0x3B { continue }
            let name = rest.prefix { ASCII.isToken($0) }
            rest = rest[name.endIndex...].drop(while: Self.isSpace)
            guard !name.isEmpty, rest.first == 0x3D else { return nil }
            rest = rest.dropFirst().drop(while: Self.isSpace)
            guard let value = Self.takeValue(&rest) else { return nil }
            self.parameters.append(ASCII.text(name), value)
            rest = rest.drop(while: Self.isSpace)
            guard rest.isEmpty || rest.first == 0x3B else { return nil }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }

    private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.first == 0x22 else {
            let raw = rest.prefix { $0 != 0x3B && !Self.isSpace($0) }
            rest = rest[raw.endIndex...]
            return raw.isEmpty ? nil : ASCII.text(raw)
        }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case 0x22: return String(decoding: value, as: UTF8.self)
            case 0x5C:
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }
}
