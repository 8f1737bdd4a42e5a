/// Exponentially distributed numbers by integer arithmetic, so that a schedule is the same on every machine.
package enum Exponential {
    /// ln 2 in units of 2^-32.
    private static let ln2: UInt64 = 2_977_044_472

    /// -ln(u) in units of 2^-32, for u = (draw + 1/2) / 2^64: from 64 uniform bits a number with mean 1.
    ///
    /// With u = m x 2^-(z+1) and m in [1, 2), -log2(u) is z + 1 - log2(m). The bits of log2(m) come one by one by
    /// squaring: if m^2 is 2 or more, the next bit is 1 and m becomes m^2 / 2. The squares are cut to 63 bits, which
    /// costs less than 2^-29 in the sum; nobody can tell a schedule by that.
    package static func draw(_ draw: UInt64) -> UInt64 {
        let uniform = draw == 0 ? 1 : draw
        let zeros = UInt64(uniform.leadingZeroBitCount)
        var mantissa = uniform << zeros  // 63 fraction bits, the top bit is the 1.
        var logarithm: UInt64 = 0
        for _ in 0..<32 {
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
        let binary = (zeros + 1) << 32 - logarithm
        let product = binary.multipliedFullWidth(by: Self.ln2)
        return product.high << 32 | product.low >> 32
    }
}
