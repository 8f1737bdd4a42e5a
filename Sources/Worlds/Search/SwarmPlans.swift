import Backend
import Faults
import Phone
package import Plan
import SimBase
package import VirtualWorld

/// Draws the plans of a search. The clients and the backend are those of the scenario; the number of phones, their captures,
/// their links and all faults follow from the seed.
package struct SwarmPlans: Sendable {
    /// The version of the generator. A seed means the same plan as long as it stays the same.
    package static let version = 2
    /// The time that phones get to settle after all faults have ended, beyond what the backend's rate limit makes them wait.
    private static let settle = Interval.minutes(10)

    private static let phones = [1, 1, 1, 2, 2, 3, 4, 6]
    private static let scans = [1, 1, 2, 3]
    private static let firstCapture = Interval.zero...Interval.seconds(10)
    private static let captureGap = Interval.milliseconds(100)...Interval.seconds(60)
    /// One phone in eight takes more photos in a few seconds than it has slots.
    private static let seriesShare = Odds.percent(12)
    private static let seriesBeyondSlots = 3
    private static let seriesGap = Interval.milliseconds(50)...Interval.seconds(1)
    private static let links = ["perfect", "wifi", "lte", "3g", "edge-lossy", "very-bad"]

    private let scenario: Scenario

    package init(_ scenario: Scenario) { self.scenario = scenario }

    package static func recipe(of seed: UInt64) -> SwarmRecipe {
        SwarmRecipe(hundredth: SwarmDraws(seed: seed).below(100, .recipe))
    }

    package func plan(seed: UInt64) -> WorldPlan {
        let draws = SwarmDraws(seed: seed)
        let recipe = Self.recipe(of: seed)
        let phones = min(draws.one(of: Self.phones, .phones), self.scenario.devices)
        var scenario = self.scenario.scaled(devices: phones)
        scenario.seed = seed
        scenario.duration = nil
        scenario.slos = []
        for index in scenario.groups.indices {
            scenario.groups[index].load = .open(Self.noRate, .uniform)
            if draws.happens(.percent(50), .link, index, 1) {
                Self.setLink(of: &scenario, group: index, draws)
            }
        }
        scenario.faults = SwarmFaults(draws, fleet: scenario).faults(for: recipe)
        var plan = WorldPlan(RunPlan(scenario, target: .embedded))
        plan.captures = Self.captures(of: scenario, draws)
        plan.settle = Self.settle(scenario)
        plan.fitLoads()
        plan.shufflesTies = draws.happens(.percent(50), .ties)
        if recipe != .quiet, draws.happens(.percent(25), .staysOffline) { plan.staysOffline = .percent(25) }
        return plan
    }

    /// Returns the time that phones get to settle. One whose scans are restarted may wait for the next window of the limit more
    /// than once.
    static func settle(_ scenario: Scenario) -> Interval {
        Self.settle + (scenario.server.backend.uploadLimit?.window ?? .zero) * 2
    }

    /// Captures are listed one by one, so that the rate says nothing.
    static let noRate = ArrivalCurve.constant(ArrivalRate(arrivals: 1, per: .seconds(1)))

    private static func setLink(of scenario: inout Scenario, group: Int, _ draws: SwarmDraws) {
        let name = draws.one(of: self.links, .link, group)
        guard let preset = LinkPreset.named(name) else { return }
        scenario.groups[group].network = .always(NamedLink(preset))
    }

    private static func captures(of scenario: Scenario, _ draws: SwarmDraws) -> [Arrival] {
        var captures: [Arrival] = []
        let slots = scenario.groups.flatMap { Array(repeating: $0.profile.stream.slots, count: $0.devices) }
        for phone in 0..<scenario.devices {
            var at = Instant.zero + draws.interval(in: self.firstCapture, .firstCapture, phone)
            let isSeries = draws.happens(self.seriesShare, .series, phone)
            let scans =
                isSeries ? slots[phone] + self.seriesBeyondSlots : draws.one(of: self.scans, .scans, phone)
            for ordinal in 1...scans {
                let photo = draws.below(8, .photo, phone, ordinal)
                captures.append(
                    Arrival(
                        scheduled: at, device: DeviceNumber(UInt32(phone)), ordinal: ordinal, photo: photo,
                        of: 8))
                let gap = isSeries ? self.seriesGap : self.captureGap
                at = at + draws.interval(in: gap, .captureGap, phone, ordinal)
            }
        }
        return captures.sorted { ($0.scheduled, $0.device) < ($1.scheduled, $1.device) }
    }
}
