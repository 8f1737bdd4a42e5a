import SimBase

/// The draws of one seed. Each is keyed by what it decides, so that no decision changes another.
struct SwarmDraws {
    /// What a draw decides. The raw values belong to the version of the generator.
    enum Purpose: UInt64 {
        case recipe = 1
        case phones, scans, firstCapture, captureGap, photo, link, ties, staysOffline
        case isIncluded, chance, window, windowStart, windowLength, spread, trigger, triggerValue, count,
            scope
        case field, target, kind, macro, series
    }

    private let random: KeyedRandom

    init(seed: UInt64) { self.random = KeyedRandom(seed: seed) }

    /// A uniform whole number below `bound`. `item` and `detail` distinguish draws of one purpose.
    func below(_ bound: Int, _ purpose: Purpose, _ item: Int = 0, _ detail: Int = 0) -> Int {
        Int(
            self.random.below(
                UInt64(bound), .swarm, purpose.rawValue, UInt64(item), UInt64(detail)))
    }

    func happens(_ odds: Odds, _ purpose: Purpose, _ item: Int = 0, _ detail: Int = 0) -> Bool {
        odds.happens(self.random.draw(.swarm, purpose.rawValue, UInt64(item), UInt64(detail)))
    }

    func one<Value>(of values: [Value], _ purpose: Purpose, _ item: Int = 0, _ detail: Int = 0) -> Value {
        values[self.below(values.count, purpose, item, detail)]
    }

    /// A time whose magnitude is uniform: a tenth of a second is as likely as ten.
    func interval(
        in range: ClosedRange<Interval>, _ purpose: Purpose, _ item: Int = 0, _ detail: Int = 0
    ) -> Interval {
        let milliseconds = self.magnitude(
            in: range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds, purpose, item, detail
        )
        return .milliseconds(milliseconds)
    }

    /// A whole number whose magnitude is uniform: first an octave is drawn, and then a number in it.
    func magnitude(
        in range: ClosedRange<Int64>, _ purpose: Purpose, _ item: Int = 0, _ detail: Int = 0
    ) -> Int64 {
        let octaves = Int64.bitWidth - (range.upperBound - range.lowerBound + 1).leadingZeroBitCount
        let octave = Int64(self.below(octaves, purpose, item, detail &* 2))
        let (low, high) = ((Int64(1) << octave) - 1, (Int64(1) << (octave + 1)) - 2)
        let span = min(high, range.upperBound - range.lowerBound) - low + 1
        return range.lowerBound + low + Int64(self.below(Int(span), purpose, item, detail &* 2 + 1))
    }
}
