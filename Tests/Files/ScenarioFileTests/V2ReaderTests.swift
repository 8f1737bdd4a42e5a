import Backend
import Phone
import Plan
import SimBase
import Testing

@testable import ScenarioFile

/// `server.v2`, `server.circuit-breaker` and `stream-token` of a group.
struct V2ReaderTests {
    private static func text(_ server: String, group: String = "") -> String {
        """
        scenario: 1
        name: dialects
        fleet:
          readers: {phones: 1, journey: bookshelf-scan, arrivals: 1/s\(group)}
        server: {\(server)}

        """
    }

    @Test func `every key has its value, and is written as it was read`() throws {
        let scenario = try load(
            Self.text(
                "v2: {results-lifetime: 24h, stream-auth: query, event-names: dotted, progress: poll, "
                    + "envelope: plain, tokens: auth-token}, "
                    + "circuit-breaker: {failures: 3, successes: 1, cooldown: 5s}",
                group: ", stream-token: query"))
        let rules = scenario.server.backend.v2
        #expect(rules.resultsLifetime == .hours(24) && rules.streamToken == .query)
        #expect(rules.eventNames == .dotted && rules.progress == .poll)
        #expect(rules.envelope == .plain && rules.tokens == .authToken)
        #expect(rules.breaker?.failures == 3 && rules.breaker?.successes == 1)
        #expect(rules.breaker?.cooldown == .seconds(5))
        #expect(scenario.groups.first?.profile.token.stream == .query)
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
    }

    @Test func `nothing said is what was before`() throws {
        let scenario = try load(Self.text("ping: 1s"))
        #expect(scenario.server.backend.v2 == V2Rules())
        #expect(scenario.groups.first?.profile.token.stream == .header)
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
    }

    @Test func `a breaker is off, on, or on with some of its numbers`() throws {
        func breaker(_ server: String) throws -> CircuitBreakerRules? {
            try load(Self.text(server)).server.backend.v2.breaker
        }
        #expect(try breaker("circuit-breaker: off") == nil)
        #expect(try breaker("circuit-breaker: on") == CircuitBreakerRules())
        #expect(try breaker("circuit-breaker: {failures: 2}")?.failures == 2)
        #expect(try breaker("circuit-breaker: {failures: 2}")?.cooldown == .seconds(60))
        #expect(try breaker("dialect: bendv3") == CircuitBreakerRules())
        #expect(try breaker("dialect: bendv3, circuit-breaker: off") == nil)
    }

    @Test func `a dialect is a default of the switches`() throws {
        let rules = try load(Self.text("dialect: bendv3, v2: {progress: push}")).server.backend.v2
        #expect(rules.progress == .push && rules.resultsLifetime == .hours(1))
    }

    @Test(arguments: [
        ("v2: {progress: pull}", "`progress` must be `push` or `poll`, not `pull`"),
        ("v2: {stream-auth: header}", "`stream-auth` must be `bearer`, `query` or `either`"),
        ("v2: {event-name: dotted}", "unknown key `event-name` in `v2`"),
        ("v2: plain", "must be a map of keys and values"),
        ("circuit-breaker: {failures: 0}", "`failures`"),
        ("circuit-breaker: {cooldown: 0s}", "the cooldown must be above zero"),
        ("circuit-breaker: {after: 5}", "unknown key `after` in a circuit breaker"),
        ("circuit-breaker: 5", "expected `on` or `off`"),
    ])
    func `what is wrong is said with its place`(server: String, message: String) {
        let found = errors(Self.text(server))
        #expect(found.contains { $0.message.contains(message) }, "\(found)")
    }
}
