import JSON
import Ledger
import RunJudge

/// The JSON Schema of scenario files, for editors. It knows keys, words and the forms of values; errors of a
/// scenario as a whole are left to `check`.
package enum ScenarioSchema {
    /// Ends in a newline.
    package static var text: String {
        String(decoding: JSON.encode(Self.scenario), as: UTF8.self) + "\n"
    }

    /// What is required in a scenario may be inherited in one that extends another, so that each of the two has a schema of its own.
    /// Their faults are the same, since a list is inherited as a whole or not at all.
    static var scenario: JSONSchema {
        let shared = ["scenario", "extends", "faults"]
        func file(_ properties: [String: JSONSchema], required: [String] = []) -> JSONSchema {
            .map(
                properties.merging(shared.map { ($0, JSONSchema()) }) { _, other in other },
                required: required)
        }
        return JSONSchema(
            dialect: "https://json-schema.org/draft/2020-12/schema", id: "urn:swiftwing-sim:scenario:1",
            title: "A scenario of swiftwing-sim",
            description:
                "Docs/manual/scenario.md explains every key; `swiftwing-sim check` finds what a schema cannot.",
            types: ["object"],
            properties: Self.top.filter { shared.contains($0.key) },
            condition: JSONSchema.Condition(
                JSONSchema(required: ["extends"]),
                then: file(Self.top.mapValues { $0.inExtension() }),
                otherwise: file(
                    Self.top.merging([
                        "fleet": Self.fleet(Self.completeGroup),
                        "server": Self.top["server", default: JSONSchema()]
                            .with(defaults: ScenarioPage.serverDefaults),
                    ]) { $1 },
                    required: ["scenario", "fleet"])))
    }

    static var top: [String: JSONSchema] {
        [
            "scenario": .integer(1...1).described("the version of the format"),
            "extends": .anyText.described("the scenario from which this one inherits"),
            "name": .name.described("name of the scenario (default: the name of the file)"),
            "description": JSONSchema(form: "text", types: ["string", "number", "boolean", "null"])
                .described("what the scenario shows"),
            "seed": .integer(0...Int.max).described("seed of every random decision"),
            "fleet": Self.fleet(.map(Self.group)),
            "server": JSONSchema.map(ServerReader.keys.schemas).described(
                "the simulated backend; ignored with --target"),
            "faults": Self.faults,
            "slo": Self.objectives.described("objectives, by metric"),
            "expect-broken": JSONSchema.list(of: Self.expectedBreak, max: ExpectedBreakReader.breaksMax)
                .described("invariants and metrics of objectives that must fail; nothing else may fail"),
            "sometimes": JSONSchema.list(
                of: .choice(CoverageGoal.allCases.map(\.rawValue)), max: CoverageGoal.allCases.count
            ).described("situations that a run must reach; otherwise it exits with 98"),
            "trial": JSONSchema.map(TrialReader.keys.schemas).described(
                "what a target is held to, with --target or in `proxy`"),
            "cost": JSONSchema.map(CostReader.keys.schemas, required: ["photo", "text"]).described(
                "what a book costs, in dollars; without it, nothing is said of costs"),
            "rollout": JSONSchema.map(RolloutReader.keys.schemas, required: ["stages"]).described(
                "a migration of all phones from one transport to another, in stages"),
            "transports": TransportPair.schema.described(
                "runs the scenario once for each of two transports, and compares the second with the first"),
            "drain": .duration.described("time for unfinished scans after the last arrival"),
            "duration": JSONSchema.durationOrOff.described("no arrivals after this time"),
        ]
    }
}
