import Backend
import Faults
import Phone
import Plan
import SimBase
import Talaria
import Testing

/// Phones and backends that follow different documents of v2.
struct DialectCheckTests {
    private static func warnings(
        _ journey: Journey, faults: [FaultSpec] = [], _ rules: (inout V2Rules) -> Void,
        _ profile: (inout ClientProfile) -> Void = { _ in }
    ) -> [ScenarioFinding] {
        var phones = group()
        phones.profile.journey = journey
        profile(&phones.profile)
        var scenario = scenario([phones], faults: faults)
        rules(&scenario.server.backend.v2)
        return ScenarioCheck.warnings(scenario) + ScenarioCheck.findings(scenario)
    }

    private static func dotted(_ rules: inout V2Rules) { rules.eventNames = .dotted }

    @Test func `a client that does not know dotted names is told of`() {
        for journey in [Journey.bookshelfScan, .batchEnrichment] {
            let found = Self.warnings(journey, Self.dotted)
            #expect(found.map(\.subject) == [.server(key: "v2")])
            #expect(found.first?.message.contains("do not know the dotted names of events") == true)
        }
        #expect(Self.warnings(.csvImport, Self.dotted) == [])  // No document has such names for them.
        #expect(Self.warnings(.bookshelfScan, Self.dotted) { $0.status.polling = .always } == [])
    }

    @Test func `a token that the backend does not look for is told of`() {
        func keys(_ journey: Journey, _ taken: V2Rules.StreamToken, _ shown: TokenPlace) -> [String] {
            Self.warnings(journey) {
                $0.streamToken = taken
            } _: {
                $0.token.stream = shown
            }.compactMap { finding in
                if case .group(0, let key) = finding.subject { key } else { nil }
            }
        }
        for journey in [Journey.bookshelfScan, .batchEnrichment] {
            #expect(keys(journey, .either, .header) == [] && keys(journey, .either, .query) == [])
            #expect(keys(journey, .bearer, .header) == [] && keys(journey, .query, .query) == [])
            #expect(keys(journey, .bearer, .query) == ["stream-token"])
            #expect(keys(journey, .query, .header) == ["stream-token"])
        }
        #expect(keys(.csvImport, .query, .header) == [])  // Its streams are for everybody.
        #expect(keys(.scan, .either, .query) == ["stream-token"])
        #expect(keys(.scan, .query, .header) == [])
    }

    @Test func `switches of v2 without a phone of v2 are told of`() {
        #expect(Self.warnings(.scan, Self.dotted).map(\.subject) == [.server(key: "v2")])
        let breaker = Self.warnings(.scan) { $0.breaker = CircuitBreakerRules() }
        #expect(breaker.map(\.subject) == [.server(key: "circuit-breaker")])
        // Those of a dialect that were not chosen one by one.
        var phones = scenario()
        phones.server.backend = BackendConfiguration.preset("bendv3") ?? .contract
        #expect(ScenarioCheck.warnings(phones) == [])
    }

    @Test func `a circuit that may be open until the end is told of`() {
        let failing = fault(.retryableError(code: "PROVIDER_ERROR"), trigger: .afterEvents(2...2))
        let found = Self.warnings(.bookshelfScan, faults: [failing]) { $0.breaker = CircuitBreakerRules() }
        #expect(found.map(\.subject) == [.server(key: "circuit-breaker")])
        let short = Self.warnings(.bookshelfScan, faults: [failing]) {
            $0.breaker = CircuitBreakerRules()
            $0.breaker?.cooldown = .seconds(5)
        }
        #expect(short == [])
        #expect(Self.warnings(.bookshelfScan) { $0.breaker = CircuitBreakerRules() } == [])
    }
}
