/// Base64 with padding and without line breaks (RFC 4648 section 4).
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func text(_ bytes: [UInt8]) -> String { ByteBuilder.text { Self.append(bytes, to: &$0) } }

    package static func append(_ bytes: [UInt8], to draft: inout ByteBuilder) {
        let (alphabet, rest) = (Self.alphabet, bytes.count % 3)
        for start in stride(from: 0, to: bytes.count - rest, by: 3) {
            let bits = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            for shift in stride(from: 18, through: 0, by: -6) { draft.append(alphabet[bits >> shift & 63]) }
        }
        guard rest > 0 else { return }
        let bits = bytes.suffix(rest).reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - rest))
        for place in 0...rest { draft.append(alphabet[bits >> (18 - 6 * place) & 63]) }
        for _ in rest..<3 { draft.append(UInt8(ascii: "=")) }
    }

    /// Returns the decoded length of the text; nil unless it is Base64.
    package static func decodedCount(_ text: String) -> Int? {
        let count = text.utf8.count
        guard count % 4 == 0 else { return nil }
        let padding = text.utf8.suffix(2).reduce(0) { $0 + ($1 == UInt8(ascii: "=") ? 1 : 0) }
        let isAlphabet = text.utf8.dropLast(padding).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
        return isAlphabet ? count / 4 * 3 - padding : nil
    }
}
