import Plan
import SimBase
import Talaria
import TargetTrial

/// Reads `trial`.
struct TrialReader {
    /// On for a target on this machine, and off for others.
    private static let byTarget = "auto"
    private static let ruleNames = TargetRule.allCases.map(\.id)

    static let keys = ScenarioKeys<TrialSettings>(
        what: "a trial",
        rows: [
            .init("judge", \.isOn, .toggle, "whether a target is held to the contract"),
            .init("dialect", \.dialect, .word, "the version of the backend that the target is"),
            .init(
                "lenient", .list(of: .choice(Self.ruleNames), max: Self.ruleNames.count),
                "rules whose violations are findings", read: Self.readRules,
                write: { "[\($0.stated.lenient.map(\.id).joined(separator: ", "))]" }),
            .init(
                "buffer", \.stated.buffer, .duration(), "time for which the target can send an event again"),
            .init("token-lifetime", \.stated.tokenLifetime, .duration(), "time for which a token is good"),
            .init(
                "settle", \.stated.settle, .duration(),
                "time after a DELETE or the end of a job until the target must know of it"),
            .init(
                "job-max", \.stated.jobMax, .durationOrOff(),
                "longest time from the 202 to the terminal event (default: off)"),
            .init(
                "limit", \.stated.limit, .quotaOrOff,
                "uploads that the target allows a device per time (default: off)"),
            .init(
                "witness", \.witness, Self.witness,
                "share of jobs of which a second stream is opened, at least 20 jobs; auto: 5% of a target on this machine"
            ),
            .init(
                "probes", \.probes,
                ValueForm.toggle.optional(Self.byTarget, .choice(["on", "off", Self.byTarget])),
                "whether the target is asked what a second device would ask; auto: if it is on this machine"),
        ])

    private static let witness = ValueForm<Odds>(
        .share, read: { _, text throws(ValueError) in text == "off" ? .never : try Values.share(text) },
        write: { $0 == .never ? "off" : Units.percent(Int64($0.perMillion)) }
    ).optional(Self.byTarget, .shareOrAuto)

    let findings: Findings

    func settings(_ node: Node?) -> TrialSettings {
        var settings = TrialSettings()
        if let node, let map = Self.keys.map(node, self.findings) { Self.keys.read(map, into: &settings) }
        return settings
    }

    @Sendable private static func readRules(_ map: MapReader, _ settings: inout TrialSettings) {
        guard let node = map.entry("lenient")?.value else { return }
        guard case .list(let items) = node.content else {
            map.findings.add(
                node.location, "`lenient` must be a list", help: "for example [target.ids]")
            return
        }
        settings.stated.lenient = items.compactMap { item in
            guard case .scalar(let name) = item.content, let place = Self.ruleNames.firstIndex(of: name)
            else {
                map.findings.add(
                    item.location, "unknown rule in `lenient`",
                    help: "the rules are \(Values.list(Self.ruleNames))")
                return nil
            }
            return TargetRule.allCases[place]
        }
    }
}
