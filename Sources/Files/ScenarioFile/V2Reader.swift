import Backend
import Plan
import SimBase

/// Reads `server.v2` and `server.circuit-breaker`.
struct V2Reader {
    static let countMax = 10_000
    private static let keys = [
        "results-lifetime", "stream-auth", "event-names", "progress", "envelope", "tokens",
    ]
    private static let breakerKeys = ["failures", "successes", "cooldown"]

    let findings: Findings

    func read(_ server: MapReader, into rules: inout V2Rules) {
        if let node = server.entry("v2")?.value,
            let map = MapReader(
                node, what: "`v2`", keys: Self.keys, planned: [], findings: self.findings)
        {
            let lifetime = map.value("results-lifetime") { text throws(ValueError) in
                try Values.duration(text, max: BackendConfiguration.intervalMax)
            }
            rules.resultsLifetime = lifetime ?? rules.resultsLifetime
            rules.streamToken = map.value(
                "stream-auth", default: rules.streamToken, Values.word("stream-auth"))
            rules.eventNames = map.value(
                "event-names", default: rules.eventNames, Values.word("event-names"))
            rules.progress = map.value(
                "progress", default: rules.progress, Values.word("progress"))
            rules.envelope = map.value(
                "envelope", default: rules.envelope, Values.word("envelope"))
            rules.tokens = map.value(
                "tokens", default: rules.tokens, Values.word("tokens"))
        }
        rules.breaker = self.breaker(server, default: rules.breaker)
    }

    private func breaker(_ server: MapReader, default: CircuitBreakerRules?) -> CircuitBreakerRules? {
        guard let node = server.entry("circuit-breaker")?.value else { return `default` }
        if case .scalar = node.content {
            let isOn = server.value("circuit-breaker", Values.boolean) ?? false
            return isOn ? `default` ?? CircuitBreakerRules() : nil
        }
        guard
            let map = MapReader(
                node, what: "a circuit breaker", keys: Self.breakerKeys, planned: [], findings: self.findings)
        else { return `default` }
        var rules = `default` ?? CircuitBreakerRules()
        func count(_ key: String, _ value: inout Int) {
            value = map.value(key, default: value) { text throws(ValueError) in
                try Values.integer(text, 1...Self.countMax, what: "`\(key)`")
            }
        }
        count("failures", &rules.failures)
        count("successes", &rules.successes)
        rules.cooldown = map.value("cooldown", default: rules.cooldown) { text throws(ValueError) in
            let time = try Values.duration(text, max: BackendConfiguration.intervalMax)
            guard time > .zero else { throw ValueError("the cooldown must be above zero") }
            return time
        }
        return rules
    }
}
