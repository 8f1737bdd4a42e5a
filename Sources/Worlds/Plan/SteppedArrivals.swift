package import Metrics
package import Phone
import SimBase

/// The arrivals of a load in steps.
package struct SteppedArrivals: Hashable, Sendable {
    package let steps: RateSteps
    /// The curve if every step holds and none is longer than the scenario says.
    package let stairs: ArrivalStages

    package init(_ steps: RateSteps) {
        self.steps = steps
        self.stairs = ArrivalStages(
            steps.rates.map { ArrivalStage(ArrivalRate($0), length: steps.every) })
    }

    /// The stage that every run has.
    package var first: ArrivalStage { ArrivalStage(ArrivalRate(self.steps.from), length: self.steps.every) }
}

extension ArrivalRate {
    package init(_ rate: StepRate) { self.init(arrivals: rate.perHour, per: .hours(1)) }

    /// Whole arrivals in an hour; nil if there is no such number.
    package var perHour: StepRate? {
        let product = UInt128(self.arrivals) * UInt128(Interval.hours(1).nanoseconds)
        let per = UInt128(self.per.nanoseconds)
        guard product % per == 0, product / per > 0, let hourly = Int64(exactly: product / per) else {
            return nil
        }
        return StepRate(perHour: hourly)
    }
}

extension CapacityDecision {
    /// The stage of the load that follows the present one; nil when the load ends with it.
    package func stage(after rate: StepRate?, _ steps: RateSteps) -> ArrivalStage? {
        switch self {
        case .hold(let time): ArrivalStage(rate.map { ArrivalRate($0) }, length: time)
        case .next(let rate), .bisect(let rate): ArrivalStage(ArrivalRate(rate), length: steps.every)
        case .recover(let time): ArrivalStage(nil, length: time)
        case .stop: nil
        }
    }
}

extension Scenario {
    /// The steps of its load; nil for a scenario whose load is known beforehand.
    package var steps: RateSteps? {
        for group in self.groups {
            if case .open(.stepped(let arrivals), _) = group.load { return arrivals.steps }
        }
        return nil
    }

    /// Why something that needs the whole load beforehand, or has only a part of the fleet, cannot run the scenario.
    package static let stepsObjection =
        "the next step is decided from what the whole fleet has measured so far"
}

/// The captures of a load in steps, stage by stage, apart from those that start them: the judge's second source.
package struct SteppedCaptures: Sendable {
    private var schedule: ArrivalSchedule
    /// Captures of all stages so far.
    package private(set) var planned = 0

    package init(_ schedule: ArrivalSchedule) { self.schedule = schedule }

    /// The captures of the stages that are known and were not returned.
    package mutating func takeKnown() -> [Arrival] {
        var arrivals: [Arrival] = []
        while let arrival = self.schedule.next() { arrivals.append(arrival) }
        self.planned += arrivals.count
        return arrivals
    }

    package mutating func extend(_ stage: ArrivalStage?) { self.schedule.extend(stage) }
}
