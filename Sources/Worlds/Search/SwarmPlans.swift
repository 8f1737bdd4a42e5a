import Backend
import Faults
import Phone
package import Plan
package import SimBase
package import VirtualWorld

/// Draws the plans of a search. The clients and the backend are those of the scenario; the number of phones, their captures,
/// their links and all faults follow from the seed.
package struct SwarmPlans: Sendable {
    /// The version of the generator. A seed means the same plan as long as it stays the same.
    package static let version = 1
    /// The time that phones get to settle after all faults have ended, beyond what the backend's rate limit makes them wait.
    package static let settle = Interval.minutes(10)

    private static let phones = [1, 1, 1, 2, 2, 3, 4, 6]
    private static let scans = [1, 1, 2, 3]
    private static let firstCapture = Interval.zero...Interval.seconds(10)
    private static let captureGap = Interval.milliseconds(100)...Interval.seconds(60)
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
        plan.captures = Self.captures(phones: scenario.devices, draws)
        // A phone whose scans are restarted may wait for the next window of the limit more than once.
        plan.settle = Self.settle + (scenario.server.backend.rateLimit?.window ?? .zero) * 2
        plan.fitLoads()
        plan.shufflesTies = draws.happens(.percent(50), .ties)
        if recipe != .quiet, draws.happens(.percent(25), .staysOffline) { plan.staysOffline = .percent(25) }
        return plan
    }

    /// Captures are listed one by one, so that the rate says nothing.
    static let noRate = ArrivalCurve.constant(ArrivalRate(arrivals: 1, per: .seconds(1)))

    private static func setLink(of scenario: inout Scenario, group: Int, _ draws: SwarmDraws) {
        let name = draws.one(of: self.links, .link, group)
        guard let preset = LinkPreset.named(name) else { return }
        scenario.groups[group].network = .always(NamedLink(preset))
    }

    private static func captures(phones: Int, _ draws: SwarmDraws) -> [Arrival] {
        var captures: [Arrival] = []
        for phone in 0..<phones {
            var at = Instant.zero + draws.interval(in: self.firstCapture, .firstCapture, phone)
            for ordinal in 1...draws.one(of: self.scans, .scans, phone) {
                let photo = draws.below(8, .photo, phone, ordinal)
                captures.append(
                    Arrival(
                        scheduled: at, device: DeviceNumber(UInt32(phone)), ordinal: ordinal, photo: photo,
                        of: 8))
                at = at + draws.interval(in: self.captureGap, .captureGap, phone, ordinal)
            }
        }
        return captures.sorted { ($0.scheduled, $0.device) < ($1.scheduled, $1.device) }
    }
}
