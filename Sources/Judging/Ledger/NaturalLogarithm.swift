/// ln of whole numbers, by integer arithmetic.
///
/// The C library's `log` would do for the figures: the bounds that are compared with it are rough. But a verdict is a pure
/// function of a plan, replayed and compared on other machines, and C libraries differ in the last bits of `log`: at the
/// very edge of a bound one machine would call a run broken and the other not. So the ledger, like all that decides, has no
/// floating point, and is linked to no library that has (TidyTests).
enum NaturalLogarithm {
    /// The fraction bits of what is returned.
    static let fractionBits = 32
    /// ln 2.
    private static let ln2: UInt64 = 2_977_044_472

    /// ln of a positive number, in units of 2^-32, less than 2^-26 too small.
    ///
    /// With value = m x 2^e and m in [1, 2), the bits of log2(m) come one by one by squaring: if m^2 is 2 or more, the next
    /// bit is 1 and m becomes m^2 / 2.
    static func of(_ value: Int) -> Int64 {
        precondition(value > 0, "only a positive number has a logarithm")
        let value = UInt64(value)
        let zeros = value.leadingZeroBitCount
        var mantissa = value << UInt64(zeros)  // 63 fraction bits, the top bit is the 1.
        var logarithm = UInt64(63 - zeros)
        for _ in 0..<Self.fractionBits {
            // The product has 126 fraction bits in 128; its high half has 62.
            let square = mantissa.multipliedFullWidth(by: mantissa)
            logarithm <<= 1
            if square.high >> 63 == 1 {
                logarithm |= 1
                mantissa = square.high
            } else {
                mantissa = square.high << 1 | square.low >> 63
            }
        }
        let product = logarithm.multipliedFullWidth(by: Self.ln2)
        return Int64(product.high << 32 | product.low >> 32)
    }

    static func units(_ whole: Int) -> Int128 { Int128(whole) << Self.fractionBits }
}
