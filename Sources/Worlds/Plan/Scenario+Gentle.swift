import Metrics
package import SimBase

// Load that is fair to a backend that others use as well.

extension Scenario {
    /// The groups whose rate follows the backend, so that no arithmetic can bound it beforehand.
    package var closedGroups: [String] {
        self.groups.compactMap { if case .closed = $0.load { $0.name } else { nil } }
    }

    /// Returns the scenario with the arrival rates of all open groups reduced by one factor, so that their
    /// total never exceeds `rate`; unchanged if it does not.
    package func limited(to rate: ArrivalRate) -> Scenario {
        let peak = self.groups.reduce(Int64(0)) { sum, group in
            guard case .open(let curve, _) = group.load else { return sum }
            return sum.addingSaturating(curve.peak.perMillionSeconds)
        }
        let limit = rate.perMillionSeconds
        guard peak > limit else { return self }
        if let stepped = self.limitedSteps(to: rate) { return stepped }
        var limited = self
        for index in self.groups.indices {
            limited.groups[index].load = self.groups[index].load.scaled(by: max(1, limit), over: peak)
        }
        return limited
    }

    /// The scenario with fewer steps; nil if its load has none. Its only group has them.
    private func limitedSteps(to rate: ArrivalRate) -> Scenario? {
        guard let group = self.groups.first, case .open(.stepped(let arrivals), let spacing) = group.load
        else {
            return nil
        }
        let hourly = UInt128(rate.arrivals) * UInt128(Interval.hours(1).nanoseconds)
        let limit = StepRate(perHour: max(1, Int64(clamping: hourly / UInt128(rate.per.nanoseconds))))
        var limited = self
        limited.groups[0].load = .open(
            .stepped(SteppedArrivals(arrivals.steps.limited(to: limit))), spacing)
        return limited
    }

    /// Returns the scenario with constant arrival rates that ramp up over `time`. Stages are not changed.
    package func ramped(over time: Interval) -> Scenario {
        guard time > .zero else { return self }
        var ramped = self
        for index in self.groups.indices {
            let group = self.groups[index]
            guard case .open(.constant(let rate), let spacing) = group.load else { continue }
            // Long enough for every scan of the group.
            let arrivals = group.devices * group.scansPerDevice
            let length = max(.seconds(1), min(rate.moment(of: arrivals) - .zero, ScenarioLimit.timeMax))
            ramped.groups[index].load = .open(
                .staged(
                    ArrivalStages([
                        ArrivalStage(from: nil, to: rate, length: time), ArrivalStage(rate, length: length),
                    ])), spacing)
        }
        return ramped
    }
}

extension ArrivalCurve {
    /// Arrivals in a million seconds when it is fastest, rounded up.
    var peakPerMillionSeconds: Int64 { self.peak.perMillionSeconds }

    /// The fastest that it ever is.
    fileprivate var peak: ArrivalRate {
        switch self {
        case .constant(let rate): rate
        case .staged(let stages):
            stages.stages.flatMap { [$0.from, $0.to].compactMap(\.self) }
                .max { $0.perMillionSeconds < $1.perMillionSeconds }
                ?? ArrivalRate(arrivals: 1, per: ScenarioLimit.timeMax)
        case .stepped(let arrivals): ArrivalRate(arrivals.steps.to)
        }
    }
}

extension ArrivalRate {
    /// Arrivals in a million seconds, rounded up; saturates.
    fileprivate var perMillionSeconds: Int64 {
        let product = UInt128(self.arrivals) * 1_000_000_000_000_000
        let per = UInt128(self.per.nanoseconds)
        return Int64(clamping: (product + per - 1) / per)
    }
}
