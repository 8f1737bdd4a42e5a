/// Whole numbers in decimal digits, without a text in between.
public enum Decimal {
    /// Appends the digits, behind a minus where there is one.
    @inlinable public static func append(_ value: Int64, to bytes: inout some ByteSink & ~Copyable) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        if rest < 10 { return bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest)) }
        // Twenty digits at most, the least first: two words hold them, four bits each.
        var (low, high, count) = (UInt64(0), UInt64(0), 0)
        repeat {
            if count < 16 {
                low |= (rest % 10) << UInt64(4 * count)
            } else {
                high |= (rest % 10) << UInt64(4 * (count - 16))
            }
            rest /= 10
            count += 1
        } while rest > 0
        while count > 0 {
            count -= 1
            let digit = count < 16 ? low >> UInt64(4 * count) : high >> UInt64(4 * (count - 16))
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit & 15))
        }
    }

    /// Appends the same in so many digits, with zeros in front; digits in excess are left out.
    @inlinable public static func append(
        _ value: UInt64, digits count: Int, to bytes: inout some ByteSink & ~Copyable
    ) {
        precondition(count <= 16, "more digits than a word holds")
        var (rest, digits) = (value, UInt64(0))
        for place in 0..<count {
            digits |= (rest % 10) << UInt64(4 * place)
            rest /= 10
        }
        for place in (0..<count).reversed() {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digits >> UInt64(4 * place) & 15))
        }
    }
}
