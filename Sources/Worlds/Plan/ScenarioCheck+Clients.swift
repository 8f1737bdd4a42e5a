import Backend
import Faults
import Phone
import Talaria

// Journeys and events that the client of a group does not support.

extension ScenarioCheck {
    /// Finds groups whose client does not have the journey of the group.
    static func clients(_ scenario: Scenario) -> [ScenarioFinding] {
        scenario.groups.enumerated().compactMap { index, group in
            guard let client = ProfileTable.named(group.profile.name),
                !client.journeys.contains(group.profile.journey)
            else { return nil }
            let journeys = client.journeys.map { "`journey: \($0.rawValue)`" }
            return ScenarioFinding(
                .group(index, key: "journey"),
                "the client `\(client.name)` has no journey `\(group.profile.journey.rawValue)`",
                help: "use \(journeys.joined(separator: " or "))")
        }
    }

    /// Finds groups whose client does not know the names of the server's events.
    static func eventNames(_ scenario: Scenario) -> [ScenarioFinding] {
        scenario.groups.enumerated().compactMap { index, group in
            let isDotted =
                scenario.server.backend.v2.eventNames == .dotted && group.profile.journey.hasDottedEvents
            guard group.profile.readsDottedEvents, group.makes(.stream), !isDotted else { return nil }
            let toggle = ProfileToggle.dottedNames.key
            return ScenarioFinding(
                .group(index, key: group.toggles.contains { $0.toggle.key == toggle } ? toggle : "profile"),
                "its client knows events with dotted names only, such as `photoscan.completed`, and the server has none for this journey: no scan is completed",
                help: group.profile.journey.hasDottedEvents
                    ? "write `v2: {event-names: dotted}` for the server, or `\(toggle): off` for the group"
                    : "write `\(toggle): off` for a client that knows the names of the contract")
        }
    }
}
