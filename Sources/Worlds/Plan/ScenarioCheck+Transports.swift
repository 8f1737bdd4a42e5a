import Phone
import RunControl
import Talaria

// By what phones follow their jobs.

extension ScenarioCheck {
    /// Groups whose phones have no other transport, where the scenario asks for one, and two ways to choose it.
    static func transports(_ scenario: Scenario) -> [ScenarioFinding] {
        let hasRollout = scenario.rollout != nil
        guard hasRollout || !scenario.transports.isEmpty else { return [] }
        guard !hasRollout || scenario.transports.isEmpty else {
            // Each of the two runs would take its transports from the rollout, and they would be the same run.
            return [
                ScenarioFinding(
                    .scenario,
                    "`transports` runs once for each transport, and a rollout chooses them by itself",
                    help: "leave out `transports` or `rollout`")
            ]
        }
        return scenario.groups.enumerated().compactMap { index, group in
            guard !group.profile.journey.canBeFollowedByWebSocket else { return nil }
            let what = hasRollout ? "a rollout moves" : "`transports` is for"
            return ScenarioFinding(
                .group(index, key: "journey"),
                "\(what) all phones, and the jobs of the journey `\(group.profile.journey.rawValue)` have one transport only",
                help: "use `bookshelf-scan`, `batch-enrichment` or `csv-import`")
        }
    }
}

extension FleetGroup {
    /// Whether its phones follow jobs by WebSocket.
    var hasSockets: Bool {
        self.profile.journey.canBeFollowedByWebSocket && self.profile.stream.transport == .websocket
    }
}

extension Scenario {
    /// Whether a phone follows jobs by WebSocket.
    package var hasSockets: Bool { self.hasSockets(in: self.groups) }

    /// Whether a phone of these groups does.
    func hasSockets(in groups: [FleetGroup]) -> Bool {
        guard let rollout = self.rollout else { return groups.contains(where: \.hasSockets) }
        return rollout.arms.both.contains(.websocket)
    }
}
