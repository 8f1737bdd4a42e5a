package import SimBase

/// A rate of arrivals as a whole number per hour, so that rates can be added and halved.
package struct StepRate: Hashable, Comparable, Sendable {
    package let perHour: Int64

    package init(perHour: Int64) {
        precondition(perHour > 0, "a step has arrivals")
        self.perHour = perHour
    }

    package static func < (left: StepRate, right: StepRate) -> Bool { left.perHour < right.perHour }

    /// The rate in the middle, rounded down to a tenth of an arrival per second if that is between the two;
    /// nil if no rate is between.
    package static func middle(_ low: StepRate, _ high: StepRate) -> StepRate? {
        let middle = low.perHour + (high.perHour - low.perHour) / 2
        let round = middle / Self.tenth * Self.tenth
        let found = round > low.perHour ? round : middle
        return found > low.perHour && found < high.perHour ? StepRate(perHour: found) : nil
    }

    private static let tenth: Int64 = 360
}

extension StepRate: CustomStringConvertible {
    /// As a scenario writes it: `42.5/s`, `5/m`, `7/h`.
    package var description: String {
        if self.perHour % 36 == 0 {
            return DecimalText.text(self.perHour / 36, decimals: 2, shown: 0...2) + "/s"
        }
        return self.perHour % 60 == 0 ? "\(self.perHour / 60)/m" : "\(self.perHour)/h"
    }
}

/// The steps of a load that looks for what a backend can take.
package struct RateSteps: Hashable, Sendable {
    package let from: StepRate
    package let by: StepRate
    /// No step is faster.
    package let to: StepRate
    /// The length of a step, a whole number of seconds.
    package let every: Interval
    /// The number of steps between the last rate that held and the first that did not.
    package let refine: Int

    /// The shortest length of a step: a third of it is not judged, nor is its last second.
    package static let everyMin = Interval.seconds(5)
    package static let stepsMax = 1_000
    package static let refineMax = 16

    package init(from: StepRate, by: StepRate, to: StepRate, every: Interval, refine: Int) {
        precondition(from <= to, "steps go up")
        precondition(every >= Self.everyMin, "a step lasts long enough to be judged")
        precondition(every == every.wholeSecondsUp, "a step lasts whole seconds")
        self.from = from
        self.by = by
        self.to = to
        self.every = every
        self.refine = refine
    }

    /// The step after one of this rate; nil after the last. The last has the rate `to`.
    package func next(after rate: StepRate) -> StepRate? {
        guard rate < self.to else { return nil }
        return StepRate(perHour: min(rate.perHour + self.by.perHour, self.to.perHour))
    }

    /// All rates, if every step holds.
    package var rates: [StepRate] {
        var rates = [self.from]
        while let last = rates.last, let next = self.next(after: last) { rates.append(next) }
        return rates
    }

    /// The number of steps, if every step holds.
    package static func count(from: StepRate, by: StepRate, to: StepRate) -> Int64 {
        (to.perHour - from.perHour + by.perHour - 1) / by.perHour + 1
    }

    /// The steps with all rates scaled by one factor; a rate is at least one arrival in an hour.
    package func scaled(by numerator: Int64, over denominator: Int64) -> RateSteps {
        func scaled(_ rate: StepRate) -> StepRate {
            let product = Int128(rate.perHour) * Int128(numerator) / Int128(denominator)
            return StepRate(perHour: max(1, Int64(clamping: product)))
        }
        return RateSteps(
            from: scaled(self.from), by: scaled(self.by), to: scaled(self.to), every: self.every,
            refine: self.refine)
    }

    /// The steps up to a rate.
    package func limited(to limit: StepRate) -> RateSteps {
        RateSteps(
            from: min(self.from, limit), by: self.by, to: min(self.to, limit), every: self.every,
            refine: self.refine)
    }
}

extension Interval {
    /// Rounded up to a whole number of seconds.
    package var wholeSecondsUp: Interval {
        Interval(nanoseconds: (self.nanoseconds + 999_999_999) / 1_000_000_000 * 1_000_000_000)
    }
}
