package import SimBase

/// A rate of arrivals as a fraction in lowest terms: nothing is rounded however long a run lasts.
package struct ArrivalRate: Hashable, Sendable {
    package let arrivals: Int64
    package let per: Interval

    /// Creates a rate; both values must be above zero.
    package init(arrivals: Int64, per: Interval) {
        precondition(arrivals > 0 && per > .zero, "a rate is so many, at least one, in some time")
        let divisor = arrivals.commonDivisor(with: per.nanoseconds)
        self.arrivals = arrivals / divisor
        self.per = per / divisor
    }

    /// Returns the time of arrival number `index` (from 0) at equal distances, the first of them after one
    /// distance; saturates at the end of time.
    package func moment(of index: Int) -> Instant {
        let product = UInt128(index + 1) * UInt128(self.per.nanoseconds)
        return Instant(nanoseconds: Int64(clamping: product / UInt128(self.arrivals)))
    }

    /// Returns the time of a position; saturates at the end of time.
    package func moment(ofPosition position: ArrivalPosition) -> Instant {
        let product = position.multipliedFullWidth(by: UInt128(self.per.nanoseconds))
        let divisor = UInt128(self.arrivals) << 32
        guard product.high < divisor else { return .distantFuture }
        return Instant(nanoseconds: Int64(clamping: divisor.dividingFullWidth(product).quotient))
    }

    /// Arrivals that are due before `time` at equal distances.
    package func count(before moment: Instant) -> Int {
        guard moment > .zero else { return 0 }
        // The largest n with n x per / arrivals < time.
        let product = UInt128(moment.nanoseconds) * UInt128(self.arrivals)
        return Int(clamping: (product - 1) / UInt128(self.per.nanoseconds))
    }

    /// The rate times `numerator` over `denominator`, both above zero; saturates where the terms would overflow.
    package func scaled(by numerator: Int64, over denominator: Int64) -> ArrivalRate {
        let divisor = numerator.commonDivisor(with: denominator)
        let first = self.arrivals.commonDivisor(with: denominator / divisor)
        let second = (numerator / divisor).commonDivisor(with: self.per.nanoseconds)
        let arrivals = (self.arrivals / first).multipliedReportingOverflow(by: numerator / divisor / second)
        let per = (self.per.nanoseconds / second).multipliedReportingOverflow(
            by: denominator / divisor / first)
        return ArrivalRate(
            arrivals: arrivals.overflow ? .max : arrivals.partialValue,
            per: Interval(nanoseconds: per.overflow ? .max : per.partialValue))
    }
}

extension BinaryInteger {
    /// Returns the greatest number that divides both.
    func commonDivisor(with other: Self) -> Self {
        var (a, b) = (self, other)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}
