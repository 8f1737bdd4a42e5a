import Metrics
import SimBase

extension ScenarioCheck {
    /// What makes the capacity that steps find worth nothing.
    static func steps(_ scenario: Scenario) -> [ScenarioFinding] {
        guard let index = scenario.groups.firstIndex(where: \.isStepped),
            case .open(.stepped(let arrivals), _) = scenario.groups[index].load
        else { return [] }
        let group = scenario.groups[index]
        let (scans, overflow) = group.devices.multipliedReportingOverflow(by: group.scansPerDevice)
        let findings: [(ScenarioFinding, Bool)] = [
            (
                ScenarioFinding(
                    .group(index, key: "arrivals"),
                    "a fleet with `steps` can have no other group",
                    help: "the capacity is the rate of the whole fleet: leave the other groups out"),
                scenario.groups.count > 1
            ),
            (
                ScenarioFinding(
                    .group(index, key: "arrivals"),
                    "`stop: first objective` needs an objective that can be judged within a step",
                    help: "for example `slo: {scan.time: p(95) < 20s}`"),
                !scenario.slos.contains(where: \.decidesStep)
            ),
            (
                ScenarioFinding(
                    .group(index, key: "arrivals"),
                    "an objective with `abort: on` would end the run before a step is judged",
                    help: "leave out `abort`: steps stop at the first objective that fails"),
                scenario.slos.contains(where: \.abort)
            ),
            (
                ScenarioFinding(
                    .group(index, key: "arrivals"),
                    "`duration` would end captures within the steps",
                    help: "leave out `duration`: steps end by themselves"),
                scenario.duration != nil
            ),
            (
                ScenarioFinding(
                    .group(index, key: "scans"),
                    "the steps have up to \(arrivals.stairs.total) captures, and the phones only \(scans)",
                    help: "leave out `scans`: the phones of a load in steps scan as often as they must"),
                !overflow && scans < arrivals.stairs.total
            ),
        ]
        return findings.filter(\.1).map(\.0)
    }
}

extension FleetGroup {
    /// Whether its load is in steps.
    package var isStepped: Bool {
        if case .open(.stepped, _) = self.load { true } else { false }
    }
}
