/// Lowercase hexadecimal text of fixed width, without Foundation.
package enum Hexadecimal {
    private static let digits: [UInt8] = Array("0123456789abcdef".utf8)

    /// `digits` characters, most significant first; higher bits are cut off.
    package static func text(_ value: UInt64, digits count: Int) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(count)
        self.append(value, digits: count, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The same behind what is there.
    package static func append(_ value: UInt64, digits count: Int, to text: inout [UInt8]) {
        for index in 0..<count {
            let shift = UInt64(4 * (count - 1 - index))
            text.append(shift < 64 ? Self.digits[Int((value >> shift) & 15)] : Self.digits[0])
        }
    }

    /// The value of up to 16 hexadecimal digits of either case, or nil.
    package static func value(_ text: some StringProtocol) -> UInt64? { self.value(of: text.utf8) }

    /// The same of digits as bytes.
    package static func value(_ bytes: ArraySlice<UInt8>) -> UInt64? { self.value(of: bytes) }

    private static func value(of bytes: some Collection<UInt8>) -> UInt64? {
        guard (1...16).contains(bytes.count) else { return nil }
        var value: UInt64 = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                value = value << 4 | UInt64(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }
}
