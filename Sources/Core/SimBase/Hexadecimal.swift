/// Lowercase hexadecimal text of fixed width, without Foundation; eight digits at a time, as the bytes of one word.
package enum Hexadecimal {
    /// `digits` characters, most significant first; higher bits are cut off.
    package static func text(_ value: UInt64, digits count: Int) -> String {
        ByteBuilder.text { self.append(value, digits: count, to: &$0) }
    }

    /// Appends the digits to a text.
    @inlinable package static func append(
        _ value: UInt64, digits count: Int, to text: inout some ByteSink & ~Copyable
    ) {
        for _ in 0..<max(0, count - 16) { text.append(UInt8(ascii: "0")) }
        let (high, low) = (min(max(0, count - 8), 8), min(count, 8))
        // A shift by 64 leaves nothing.
        text.append(word: self.digits(UInt32(value >> 32)) >> UInt64(64 - 8 * high), count: high)
        text.append(
            word: self.digits(UInt32(truncatingIfNeeded: value)) >> UInt64(64 - 8 * low), count: low)
    }

    /// The eight digits of a number as bytes of a word, the first of them the least.
    @inlinable package static func digits(_ value: UInt32) -> UInt64 {
        var nibbles = UInt64(value)
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        nibbles = nibbles.byteSwapped
        let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return nibbles + 0x3030_3030_3030_3030 + letters * UInt64(UInt8(ascii: "a") - 10 - UInt8(ascii: "0"))
    }

    /// The number of eight digits of either case that are the bytes of a word, the first of them the least; or nil.
    @inlinable package static func value(digits: UInt64) -> UInt32? {
        // Each sum marks the highest bit of the bytes from a limit on; none carries, for no byte is above 0x7F.
        let high: UInt64 = 0x8080_8080_8080_8080
        let lower = digits | 0x2020_2020_2020_2020
        guard digits & high == 0 else { return nil }
        let figures = (digits + 0x5050_5050_5050_5050) & ~(digits + 0x4646_4646_4646_4646) & high
        let letters = (lower + 0x1F1F_1F1F_1F1F_1F1F) & ~(lower + 0x1919_1919_1919_1919) & high
        guard figures | letters == high else { return nil }
        var nibbles = (digits & 0x0F0F_0F0F_0F0F_0F0F) + (letters >> 7) * 9
        nibbles = nibbles.byteSwapped
        nibbles = (nibbles | nibbles >> 4) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: nibbles | nibbles >> 16)
    }

    /// The digit of 0 to 15.
    @inlinable package static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
    }

    /// The value of up to 16 hexadecimal digits of either case, or nil.
    package static func value(_ text: some StringProtocol) -> UInt64? { self.value(Array(text.utf8)[...]) }

    /// Returns the value of digits given as bytes.
    package static func value(_ bytes: ArraySlice<UInt8>) -> UInt64? {
        guard (1...16).contains(bytes.count) else { return nil }
        var value: UInt64 = 0
        var isWhole = true
        let rest = bytes.eachWord { digits in
            if let number = self.value(digits: digits) {
                value = value << 32 | UInt64(number)
            } else {
                isWhole = false
            }
        }
        // Zeros before what is left make eight digits of it.
        let left = UInt64(bytes.count % 8)
        let digits = rest << (64 - 8 * left) | 0x3030_3030_3030_3030 >> (8 * left)
        guard isWhole, let number = self.value(digits: digits) else { return nil }
        return value << (4 * left) | UInt64(number)
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
