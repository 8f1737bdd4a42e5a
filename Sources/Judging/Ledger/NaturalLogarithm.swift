import SimBase

/// ln of whole numbers, by integer arithmetic.
enum NaturalLogarithm {
    /// The fraction bits of what is returned.
    static let fractionBits = FixedPointLogarithm.fractionBits

    /// ln of a positive number, in units of 2^-32, less than 2^-26 too small.
    static func of(_ value: Int) -> Int64 {
        precondition(value > 0, "only a positive number has a logarithm")
        return Int64(FixedPointLogarithm.natural(ofBinary: FixedPointLogarithm.binary(UInt64(value))))
    }

    static func units(_ whole: Int) -> Int128 { Int128(whole) << Self.fractionBits }
}
