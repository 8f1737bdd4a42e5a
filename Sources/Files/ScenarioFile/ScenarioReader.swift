import Faults
import Metrics
import Plan
import SimBase
import Talaria

/// Reads a scenario from its tree. Everything that is wrong is reported; what could be read is still returned, so
/// that one mistake does not hide another.
struct ScenarioReader {
    static let version = "1"
    static let keys = [
        "scenario", "name", "description", "seed", "fleet", "server", "faults", "slo", "expect-broken",
        "sometimes", "drain", "duration", "trial", "cost", "rollout",
        "transports",
    ]
    static let planned = ["timeline", "load", "invariants", "report", "target", "network"]
    private static let descriptionBytesMax = 4_096

    let findings: Findings
    /// The default name of the scenario.
    let defaultName: String

    /// Nil when the tree is not a scenario at all. Worth something only if nothing was reported.
    func scenario(_ root: Node) -> Scenario? {
        guard
            let map = MapReader(
                root, what: "a scenario", keys: Self.keys, planned: Self.planned, findings: self.findings)
        else { return nil }
        _ = map.required("scenario", example: Self.version) { text throws(ValueError) in
            guard text == Self.version else {
                throw ValueError(
                    "unknown version \(Findings.quoted(text))", help: "this program reads version 1")
            }
        }
        let fleet = FleetReader(findings: self.findings)
        let groups = fleet.groups(map.entry("fleet")?.value, of: map)
        // The names as written, also of groups that could not be read: a scope must not be blamed for them.
        let groupNames = fleet.names(map.entry("fleet")?.value)
        let faults = FaultReader(
            findings: self.findings, groups: groupNames, devices: groups.reduce(0) { $0 + $1.devices }
        ).faults(
            map.entry("faults")?.value)
        let faultIDs = FaultIDs.of(Self.list(map.entry("faults")?.value)).compactMap { $0 }
        let slos = SLOReader(
            findings: self.findings, vocabulary: SLOVocabulary(groups: groupNames, faults: faultIDs),
            faultsThatEnd: faults.filter { $0.window.length != nil }.map(\.id),
            cost: map.entry("cost")?.value
        ).objectives(map.entry("slo")?.value)
        let expectBroken = ExpectedBreakReader(findings: self.findings, groups: groupNames, slos: slos)
            .breaks(map.entry("expect-broken")?.value)
        var scenario = Scenario(
            name: map.value("name", default: self.defaultName) { text throws(ValueError) in
                try Values.name(text, what: "a name")
            },
            description: self.description(map),
            seed: map.value("seed", default: 1) { text throws(ValueError) in try Values.seed(text) },
            groups: groups,
            server: ServerReader(findings: self.findings).settings(map.entry("server")?.value),
            faults: faults, slos: slos,
            drain: map.value("drain", default: Scenario.drainDefault(slos)) { text throws(ValueError) in
                try Values.duration(text, max: ScenarioLimit.timeMax)
            },
            duration: self.duration(map), expectBroken: expectBroken,
            coverageGoals: CoverageGoalReader(findings: self.findings).moments(map.entry("sometimes")?.value))
        self.readSections(of: map, into: &scenario)
        return scenario
    }

    /// The sections that most scenarios do without.
    private func readSections(of map: MapReader, into scenario: inout Scenario) {
        scenario.trial = TrialReader(findings: self.findings).settings(map.entry("trial")?.value)
        scenario.prices = CostReader(findings: self.findings).prices(map.entry("cost")?.value)
        scenario.rollout = RolloutReader(findings: self.findings).plan(map.entry("rollout")?.value)
        scenario.transports = self.transports(map)
    }

    /// `off` has no effect: the command sets it for each of its runs.
    private func transports(_ map: MapReader) -> [StreamTransport] {
        guard let node = map.entry("transports")?.value else { return [] }
        if case .scalar("off") = node.content { return [] }
        return TransportPair.read(node, named: "transports", self.findings) ?? []
    }

    private func description(_ map: MapReader) -> String {
        guard case .scalar("")? = map.entry("description")?.value.content else {
            return map.value("description", default: "") { text throws(ValueError) in
                guard text.utf8.count <= Self.descriptionBytesMax else {
                    throw ValueError("a description can have at most \(Self.descriptionBytesMax) bytes")
                }
                return text
            }
        }
        return ""
    }

    private func duration(_ map: MapReader) -> Interval? {
        let duration: Interval?? = map.value("duration") { text throws(ValueError) -> Interval? in
            if text == "off" { return nil }
            let duration = try Values.duration(text, max: ScenarioLimit.timeMax)
            guard duration > .zero else {
                throw ValueError("the duration of a run must be above zero", help: "write `off` for no limit")
            }
            return duration
        }
        return duration ?? nil
    }

    private static func list(_ node: Node?) -> [Node] {
        guard case .list(let nodes)? = node?.content else { return [] }
        return nodes
    }
}
