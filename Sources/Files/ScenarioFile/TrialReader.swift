import Plan
import SimBase
import Talaria
import TargetTrial

/// Reads `trial`.
struct TrialReader {
    static let keys = [
        "judge", "dialect", "lenient", "buffer", "token-lifetime", "settle", "job-max", "limit",
        "witness", "probes",
    ]
    /// On for a target on this machine, and off for others.
    static let byTarget = "auto"
    static let ruleNames = TargetRule.allCases.map { "target." + $0.rawValue }

    let findings: Findings

    func settings(_ node: Node?) -> TrialSettings {
        var settings = TrialSettings()
        guard let node,
            let map = MapReader(node, what: "a trial", keys: Self.keys, planned: [], findings: self.findings)
        else { return settings }
        settings.isOn = map.value("judge", default: true, Values.boolean)
        settings.dialect = map.value("dialect", default: settings.dialect) { text throws(ValueError) in
            let words = TrialSettings.Dialect.allCases.map(\.rawValue)
            let word = try Values.choice(text, of: words, what: "`dialect`")
            return TrialSettings.Dialect(rawValue: word) ?? .contract
        }
        settings.stated.lenient = self.rules(map.entry("lenient")?.value)
        func time(_ key: String, _ value: inout Interval) {
            value = map.value(key, default: value) { text throws(ValueError) in
                try Values.duration(text, max: ScenarioLimit.timeMax)
            }
        }
        time("buffer", &settings.stated.buffer)
        time("token-lifetime", &settings.stated.tokenLifetime)
        time("settle", &settings.stated.settle)
        settings.stated.jobMax = ServerReader.optional(map, "job-max", default: nil) {
            text throws(ValueError) in
            try Values.duration(text, max: ScenarioLimit.timeMax)
        }
        settings.witness =
            map.value("witness") { text throws(ValueError) -> Odds? in
                text == Self.byTarget ? nil : text == "off" ? .never : try Values.share(text)
            } ?? nil
        settings.probes =
            map.value("probes") { text throws(ValueError) -> Bool? in
                text == Self.byTarget ? nil : try Values.boolean(text)
            } ?? nil
        settings.stated.limit = ServerReader.optional(map, "limit", default: nil, Values.quota)
        return settings
    }

    private func rules(_ node: Node?) -> [TargetRule] {
        guard let node else { return [] }
        guard case .list(let items) = node.content else {
            self.findings.add(
                node.location, "`lenient` must be a list", help: "for example [target.ids]")
            return []
        }
        return items.compactMap { item in
            guard case .scalar(let name) = item.content, let place = Self.ruleNames.firstIndex(of: name)
            else {
                self.findings.add(
                    item.location, "unknown rule in `lenient`",
                    help: "the rules are \(Values.list(Self.ruleNames))")
                return nil
            }
            return TargetRule.allCases[place]
        }
    }
}
