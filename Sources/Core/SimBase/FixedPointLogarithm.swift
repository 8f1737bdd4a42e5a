/// Logarithms by integer arithmetic, in units of 2^-32.
///
/// The C library's `log` would do for the figures. But a schedule and a verdict are pure functions of a plan, replayed and
/// compared on other machines, and C libraries differ in the last bits of `log`. So what decides has no floating point,
/// and is linked to no library that has (TidyTests).
package enum FixedPointLogarithm {
    package static let fractionBits = 32
    /// ln 2.
    private static let ln2: UInt64 = 2_977_044_472

    /// log2 of a positive number.
    ///
    /// With value = m x 2^e and m in [1, 2), the bits of log2(m) come one by one by squaring: if m^2 is 2 or more, the next
    /// bit is 1 and m becomes m^2 / 2. The squares are cut to 63 bits, which costs less than 2^-29 in the sum.
    package static func binary(_ value: UInt64) -> UInt64 {
        precondition(value > 0, "only a positive number has a logarithm")
        let zeros = UInt64(value.leadingZeroBitCount)
        var mantissa = value << zeros  // 63 fraction bits, the top bit is the 1.
        var logarithm = 63 - zeros
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
        return logarithm
    }

    /// ln of a number whose log2 is known.
    package static func natural(ofBinary logarithm: UInt64) -> UInt64 {
        let product = logarithm.multipliedFullWidth(by: Self.ln2)
        return product.high << 32 | product.low >> 32
    }
}
