/// A JSON document. Its text is the same for the same values, byte for byte: keys are sorted, numbers are decimal text.
package indirect enum JSONValue: Sendable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case bool(Bool)
    case null
    /// A number as it is to be written.
    case number(String)

    package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    /// What this run cannot know: never 0 and never left out.
    package static let notAvailable = JSONValue.string("n/a")

    /// Indented by two spaces, with a line feed at the end.
    package var document: [UInt8] {
        var bytes = JSONBytes()
        self.write(to: &bytes, depth: 0)
        bytes.raw("\n")
        return bytes.bytes
    }

    private func write(to bytes: inout JSONBytes, depth: Int) {
        switch self {
        case .string(let text): bytes.string(text)
        case .bool(let flag): bytes.raw(flag ? "true" : "false")
        case .null: bytes.raw("null")
        case .number(let digits): bytes.raw(digits)
        case .array(let values):
            Self.write(values, between: ("[", "]"), to: &bytes, depth: depth) { value, bytes in
                value.write(to: &bytes, depth: depth + 1)
            }
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            Self.write(sorted, between: ("{", "}"), to: &bytes, depth: depth) { member, bytes in
                bytes.string(member.key)
                bytes.raw(": ")
                member.value.write(to: &bytes, depth: depth + 1)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], between ends: (String, String), to bytes: inout JSONBytes, depth: Int,
        _ write: (Element, inout JSONBytes) -> Void
    ) {
        guard !elements.isEmpty else { return bytes.raw(ends.0 + ends.1) }
        bytes.raw(ends.0)
        for (index, element) in elements.enumerated() {
            bytes.raw(index == 0 ? "\n" : ",\n")
            bytes.raw(String(repeating: "  ", count: depth + 1))
            write(element, &bytes)
        }
        bytes.raw("\n" + String(repeating: "  ", count: depth) + ends.1)
    }
}
