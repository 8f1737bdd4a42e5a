/// The probability of a count of independent draws.
enum ChernoffBound {
    /// n D(k/n || p) in nats, in units of 2^-32: of `draws` with the probability `share`/`of`, a count at least as far from
    /// its mean happens with a chance of at most e^-(this).
    ///
    /// - Parameters:
    ///   - hits: How many draws came true, 0 to `draws`.
    ///   - share: More than 0 and less than `whole`.
    static func exponent(_ hits: Int, of draws: Int, share: Int, of whole: Int) -> Int128 {
        guard draws > 0 else { return 0 }
        func part(_ count: Int, _ share: Int) -> Int128 {
            guard count > 0 else { return 0 }
            return Int128(count) * (Self.ln(count) + Self.ln(whole) - Self.ln(draws) - Self.ln(share))
        }
        return part(hits, share) + part(draws - hits, whole - share)
    }

    private static func ln(_ number: Int) -> Int128 { Int128(NaturalLogarithm.of(number)) }
}
