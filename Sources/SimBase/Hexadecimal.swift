/// Lowercase hexadecimal text of fixed width, without Foundation.
package enum Hexadecimal {
    /// `digits` characters, most significant first; higher bits are cut off.
    package static func text(_ value: UInt64, digits count: Int) -> String {
        ByteDraft.text { self.append(value, digits: count, to: &$0) }
    }

    /// The same behind what is there.
    @inlinable package static func append(
        _ value: UInt64, digits count: Int, to text: inout some ByteSink & ~Copyable
    ) {
        for place in (0..<count).reversed() {
            // A shift by 64 or more leaves nothing.
            text.append(self.digit(UInt8(truncatingIfNeeded: value >> UInt64(4 * place) & 15)))
        }
    }

    /// The digit of 0 to 15.
    @inlinable package static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
    }

    /// The value of up to 16 hexadecimal digits of either case, or nil.
    package static func value(_ text: some StringProtocol) -> UInt64? { self.value(of: text.utf8) }

    /// The same of digits as bytes.
    package static func value(_ bytes: ArraySlice<UInt8>) -> UInt64? { self.value(of: bytes) }

    private static func value(of bytes: some Collection<UInt8>) -> UInt64? {
        guard (1...16).contains(bytes.count) else { return nil }
        var value: UInt64 = 0
        for byte in bytes {
            guard let nibble = self.nibble(byte) else { return nil }
            value = value << 4 | UInt64(nibble)
        }
        return value
    }

    /// The value of one digit of either case, or nil.
    @inlinable package static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
