package import JSON

/// A JSON value to write. Equal values have equal bytes, because keys are sorted and numbers are stored as text.
package indirect enum JSONValue: Sendable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case bool(Bool)
    case null
    /// A number in the form in which it is written.
    case number(String)

    package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    package static func decimal(_ value: Double) -> JSONValue {
        let text = value.description
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    /// A value that the run cannot know. It is written instead of 0 or a missing key, which readers would misread.
    package static let notAvailable = JSONValue.string("n/a")

    /// A value as it was read. The first of two members with one key counts.
    package init(_ node: JSONNode) {
        switch node.kind {
        case .null: self = .null
        case .bool: self = .bool(node.flag ?? false)
        case .number: self = .number(node.digits ?? "0")
        case .string: self = .string(node.text ?? "")
        case .array: self = .array(node.elements.map { JSONValue($0) })
        case .object:
            self = .object(
                Dictionary(
                    node.members.map { ($0.key, JSONValue($0.value)) },
                    uniquingKeysWith: { first, _ in first }))
        }
    }

    /// The bytes of a file: UTF-8, indented by two spaces, with a line feed at the end.
    package var document: [UInt8] { Array((self.text(colon: ": ") + "\n").utf8) }

    /// The text in one line, without spaces between values.
    package var line: String {
        var writer = JSONWriter(.log, reserving: 4_096)
        self.write(to: &writer, ":", depth: nil)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Returns the text, indented by two spaces. `colon`: the text between a key and its value, including spaces.
    package func text(colon: String) -> String {
        var writer = JSONWriter(.log, reserving: 4_096)
        self.write(to: &writer, colon, depth: 0)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// `depth`: of the indentation; nil for one line.
    private func write(to writer: inout JSONWriter, _ colon: String, depth: Int?) {
        switch self {
        case .string(let text): writer.text(text)
        case .bool(let flag): writer.flag(flag)
        case .null: writer.null()
        case .number(let digits): writer.raw(digits)
        case .array(let values):
            Self.write(values, between: ("[", "]"), to: &writer, depth: depth) { value, writer in
                value.write(to: &writer, colon, depth: depth.map { $0 + 1 })
            }
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            Self.write(sorted, between: ("{", "}"), to: &writer, depth: depth) { member, writer in
                writer.text(member.key)
                writer.raw(colon)
                member.value.write(to: &writer, colon, depth: depth.map { $0 + 1 })
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], between ends: (String, String), to writer: inout JSONWriter, depth: Int?,
        _ write: (Element, inout JSONWriter) -> Void
    ) {
        guard !elements.isEmpty else { return writer.raw(ends.0 + ends.1) }
        writer.raw(ends.0)
        for (index, element) in elements.enumerated() {
            if index > 0 { writer.raw(",") }
            if let depth { writer.raw("\n" + String(repeating: "  ", count: depth + 1)) }
            write(element, &writer)
        }
        writer.raw((depth.map { "\n" + String(repeating: "  ", count: $0) } ?? "") + ends.1)
    }
}
