import SimBase

/// Exponentially distributed numbers by integer arithmetic, so that a schedule is the same on every machine.
package enum Exponential {
    /// -ln(u) in units of 2^-32, for u = draw / 2^64: from 64 uniform bits a number with mean 1.
    package static func draw(_ draw: UInt64) -> UInt64 {
        let binary = 64 << 32 - FixedPointLogarithm.binary(draw == 0 ? 1 : draw)
        return FixedPointLogarithm.natural(ofBinary: binary)
    }
}
