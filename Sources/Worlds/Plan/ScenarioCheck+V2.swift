import Backend
import Faults
import Phone
import Talaria

// Where phones and backend follow different documents of v2.

extension ScenarioCheck {
    /// What a fleet cannot read, or asks for in a way that the backend does not accept, and switches without
    /// effect on any group.
    static func dialects(_ scenario: Scenario) -> [ScenarioFinding] {
        self.strangeEvents(scenario) + self.misplacedTokens(scenario, whereOpen: false)
            + self.switchesOfNobody(scenario) + self.longCooldown(scenario)
    }

    private static func strangeEvents(_ scenario: Scenario) -> [ScenarioFinding] {
        guard scenario.server.backend.v2.eventNames == .dotted else { return [] }
        let group = scenario.groups.first {
            $0.profile.journey.hasDottedEvents && $0.makes(.stream) && !$0.profile.readsDottedEvents
        }
        return group.map {
            [
                ScenarioFinding(
                    .server(key: "v2"),
                    "the phones of `\($0.name)` do not know the dotted names of events: no stream has an end for them, and their scans cannot finish",
                    help: "use `event-names: plain`, or `status-polling: always` for the group")
            ]
        } ?? []
    }

    /// Groups whose streams are all refused. Where the version leaves the place of the token open, the server could
    /// be configured to accept it; otherwise only a target can.
    static func misplacedTokens(_ scenario: Scenario, whereOpen isOpen: Bool) -> [ScenarioFinding] {
        let backend = scenario.server.backend
        return scenario.groups.enumerated().compactMap { index, group in
            let journey = group.profile.journey
            guard journey.version.leavesStreamTokenOpen == isOpen, backend.dialect.hasAuthorization,
                !journey.isPublic, group.makes(.stream)
            else { return nil }
            let place = group.profile.token.stream
            let (isTaken, other): (Bool, TokenPlace) =
                switch (place, isOpen ? backend.v2.streamToken : .bearer) {
                case (.header, .query): (false, .query)
                case (.query, .bearer): (false, .header)
                case (.header, .bearer), (.header, .either), (.query, .query), (.query, .either):
                    (true, place)
                }
            guard !isTaken else { return nil }
            return ScenarioFinding(
                .group(index, key: "stream-token"),
                "the backend does not take the token of a stream from the \(place.rawValue): every stream is answered with 401",
                help: "use `stream-token: \(other.rawValue)` for the group"
                    + (isOpen ? ", or another `stream-auth` of the server" : ""))
        }
    }

    private static func switchesOfNobody(_ scenario: Scenario) -> [ScenarioFinding] {
        let backend = scenario.server.backend
        guard !scenario.groups.contains(where: { $0.profile.journey.version == .v2 }) else { return [] }
        var preset = BackendConfiguration.preset(backend.dialect.name)?.v2 ?? V2Rules()
        let hasOtherBreaker = preset.breaker != backend.v2.breaker && backend.v2.breaker != nil
        preset.breaker = backend.v2.breaker
        let keys = (preset == backend.v2 ? [] : ["v2"]) + (hasOtherBreaker ? ["circuit-breaker"] : [])
        return keys.map { key in
            ScenarioFinding(
                .server(key: key), "no effect: no phone uses v2",
                help: "leave it out, or give a group a journey of v2")
        }
    }

    private static func longCooldown(_ scenario: Scenario) -> [ScenarioFinding] {
        guard let breaker = scenario.server.backend.v2.breaker, breaker.cooldown >= scenario.drain,
            scenario.groups.contains(where: \.profile.journey.version.hasCircuit),
            scenario.faults.contains(where: \.failsProviders)
        else { return [] }
        return [
            ScenarioFinding(
                .server(key: "circuit-breaker"),
                "the circuit may be open until the end of the run: scans that it refuses then cannot finish",
                help: "use a `cooldown` that is shorter than `drain`")
        ]
    }
}

extension FaultSpec {
    /// Whether it ends jobs as a provider's failure would.
    fileprivate var failsProviders: Bool {
        if case .retryableError(let code) = self.kind { return ProviderFailure.codes.contains(code) }
        if case .finalError(let code) = self.kind { return ProviderFailure.codes.contains(code) }
        return false
    }
}

extension Journey {
    /// Whether some document has dotted names for its events.
    var hasDottedEvents: Bool {
        switch self {
        case .bookshelfScan, .batchEnrichment: true
        case .scan, .csvImport, .bookEnrichment, .textEnrichment: false
        }
    }
}
