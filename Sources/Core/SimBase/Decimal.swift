/// The conversion of whole numbers to decimal digits, without an intermediate text.
public enum Decimal {
    /// Appends the digits, after a minus where there is one.
    @inlinable public static func append(_ value: Int64, to bytes: inout some ByteSink & ~Copyable) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        let magnitude = value.magnitude
        guard magnitude >= Self.eighth else { return Self.append(leading: magnitude, to: &bytes) }
        let (high, low) = magnitude.quotientAndRemainder(dividingBy: Self.eighth)
        if high < Self.eighth {
            Self.append(leading: high, to: &bytes)
        } else {
            Self.append(leading: high / Self.eighth, to: &bytes)
            bytes.append(word: Self.digits(high % Self.eighth) | Self.zeros, count: 8)
        }
        bytes.append(word: Self.digits(low) | Self.zeros, count: 8)
    }

    /// Appends the same in so many digits, with zeros in front; digits in excess are left out.
    @inlinable public static func append(
        _ value: UInt64, digits count: Int, to bytes: inout some ByteSink & ~Copyable
    ) {
        precondition((0...16).contains(count), "more digits than two words hold")
        if count > 8 {
            bytes.append(word: Self.word(of: value / Self.eighth, digits: count - 8), count: count - 8)
        }
        let low = min(count, 8)
        bytes.append(word: Self.word(of: value, digits: low), count: low)
    }

    /// The last digits of a number as one word, the first digit in the least byte: eight at most.
    @inlinable public static func word(of value: UInt64, digits count: Int) -> UInt64 {
        let digits = Self.digits(value % Self.eighth) | Self.zeros
        return digits >> UInt64(8 * (8 - count))
    }

    /// Ten to the power of eight.
    @usableFromInline static var eighth: UInt64 { @inlinable get { 100_000_000 } }
    @usableFromInline static var zeros: UInt64 { @inlinable get { 0x3030_3030_3030_3030 } }

    /// Appends the digits of a number below 10^8 without leading zeros, at least one.
    @inlinable static func append(leading value: UInt64, to bytes: inout some ByteSink & ~Copyable) {
        let digits = Self.digits(value)
        let zeros = min(digits.trailingZeroBitCount / 8, 7)
        bytes.append(word: (digits | Self.zeros) >> UInt64(8 * zeros), count: 8 - zeros)
    }

    /// The eight digits of a number below 10^8, the first in the least byte: halved three times, all parts of a word at once.
    @inlinable static func digits(_ value: UInt64) -> UInt64 {
        let fours = value / 10_000 | (value % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x7F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0xF_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }
}
