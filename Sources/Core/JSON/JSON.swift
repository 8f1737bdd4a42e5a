private import FoundationEssentials

/// JSON in bytes that are equal in every process: sorted keys, slashes as they are.
package enum JSON {
    // Made once: both may be used from any thread, and making them costs as much as a small body.
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    private static let decoder = JSONDecoder()

    /// Encodes a value whose encoding cannot fail (our own bodies: strings, numbers, arrays).
    package static func encode(_ value: some Encodable) -> [UInt8] {
        guard let data = try? self.encoder.encode(value) else {
            preconditionFailure("a body of ours did not encode: \(type(of: value))")
        }
        return [UInt8](data)
    }

    /// The same bytes, without an encoder.
    package static func encode(_ value: some FastJSONEncodable) -> [UInt8] {
        FastJSONWriter.bytes { value.write(to: &$0) }
    }

    /// An object whose members are written where they are to stand.
    package static func object(_ members: (inout FastJSONWriter) -> Void) -> [UInt8] {
        FastJSONWriter.bytes { $0.object(members) }
    }

    /// What an encoder makes of it, for the test that holds both to the same.
    package static func encodeByEncoder(_ value: some Encodable) -> [UInt8] { self.encode(Whole(value)) }

    private struct Whole<Value: Encodable>: Encodable {
        private let value: Value

        init(_ value: Value) { self.value = value }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self.value)
        }
    }

    /// Nil when the bytes are not JSON of this shape. Never traps, whatever the bytes.
    package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) -> Value? {
        try? self.decoder.decode(type, from: Data(bytes))
    }

    /// Nil when the text is not JSON of this shape.
    package static func decode<Value: Decodable>(_ type: Value.Type, from text: String) -> Value? {
        try? self.decoder.decode(type, from: Data(text.utf8))
    }
}
