import Backend
import Metrics
import Phone
import Plan
import RunControl
import RunJudge
import Talaria
import TargetTrial

/// The reference of scenario files, made from the schema and from the defaults that the reader fills in.
package enum ScenarioPage {
    /// Markdown that ends in a newline.
    package static var text: String { Self.opening + Self.groups + Self.server + Self.judgments }

    private static var opening: String {
        """
        # Scenario files

        A scenario is a YAML file. This page lists its keys; `make docs` generates it from the reader. `swiftwing-sim check FILE` finds what
        is wrong in a file, and `swiftwing-sim new NAME` writes one to begin with, beside a schema that lets an editor complete keys.

            scenario: 1
            fleet:
              commuters: {phones: 40, network: lte, scans: 3, arrivals: 6/s}
            server: {job-time: 1s..3s}
            faults:
              - {do: reset, on: stream, after: 1..4 events, chance: 35%}
            slo:
              scan.time: p(95) < 30s

        ## Forms of values

        - A **duration** has a unit: `ns`, `us`, `ms`, `s`, `m` or `h`. A range of durations is `1s..3s`; each value is drawn from it.
        - A **rate** is a number per time: `6/s`, `5/m`, `1/4s`. A **quota** is `10 per 20m`.
        - A **share** is `30%`, a **size** `128KiB`, the rate of a link `780kbps`.
        - A **toggle** is `on` or `off`.
        - `${NAME}` and `${NAME:-default}` are replaced by variables of the environment; `$${` is a literal `${`.
        - `extends: other.scenario` inherits all of that file and overrides what this file states: maps are merged, lists and single
          values are replaced.
        - `--set PATH=VALUE` changes a value for one run: `fleet.commuters.phones=80`, `faults.reset-1.chance=50%`, `server.ping=5s`.
        - `--fault '{do: reset, on: stream, chance: 20%}'` adds a fault for one run, of a scenario or of `serve` and `proxy` without one.

        ## The file

        \(Self.table(ScenarioSchema.top, in: ["extends"] + ScenarioReader.keys, defaults: Self.topDefaults))
        """
    }

    private static var groups: String {
        """

        ## A group of `fleet`

        The name of a group is the key: letters, digits, `-`, `_` and `.`. Each group needs `phones`, and either `arrivals` (an open model:
        on schedule, however slow the backend is) or `think` (a closed model: that long after each scan).

        \(Self.table(FleetReader.valueKeys, Self.shortest?.groups.first))
        A constant rate of `arrivals` goes on until each phone has had all its `scans`. Stages end by themselves, and `duration` ends both.

        Stages of `arrivals` are `{rate: 5/s, for: 10s}` and `{ramp: 5/s..50/s, over: 60s}`. A timeline of `network` is in
        [links](links.md).

        Steps of `arrivals` look for the fastest rate at which the objectives hold ([staging](staging.md#how-much-can-it-take)):
        `{steps: {from: 10/s, by: 10/s, to: 500/s, every: 30s}, stop: first objective, refine: 3}`. The group must be the only
        one, its phones scan as often as they must, and `abort` and `duration` cannot be combined with steps.

        The toggles `\(ProfileToggle.all.first?.key ?? "")` and so on switch single deviations of an app on or off; `swiftwing-sim profiles`
        lists them all ([profiles-and-dialects](profiles-and-dialects.md)).

        ### `library` of a group with `journey: csv-import`

        \(Self.table(LibraryReader.keys, LibraryFiles()))
        """
    }

    private static var server: String {
        """

        ## `server`

        The simulated backend, with the defaults of the dialect `contract`. With `--target` it is ignored.

        \(Self.table(ServerReader.keys, .contract))
        ### `v2` of the server

        \(Self.table(ServerReader.v2, V2Rules(), isSorted: true))
        ### `circuit-breaker` of the server

        \(Self.table(ServerReader.breaker, nil, isSorted: true))
        """
    }

    /// The trial, the faults and what the run is judged by.
    private static var judgments: String {
        """

        ## `trial`

        What a foreign backend (`--target`, or the upstream of `proxy`) is held to: the invariants `target.*`
        ([invariants](invariants.md)). The simulated backend is not on trial.

        \(Self.table(TrialReader.keys, TrialSettings()))
        ## `cost`

        What the backend charges for a book, in dollars with at most six decimals. A report then has the costs of the run, and the
        metrics `cost.*` have values ([photo-to-library](photo-to-library.md#5-what-a-book-costs)).

        \(Self.table(CostReader.keys, nil))
        ## `rollout`

        Every group must have a journey of v2 with jobs. Only the times of `stages` are scaled: windows, jobs and minutes are those of
        the run. A condition of `rollback` has the form of an objective with a window ([objectives](objectives.md)): `errors` (of the
        jobs that ended) and `connects` (that succeeded, of all) have a `rate`, `complaints` a `value`, which is how many times those of
        the old transport they are. A person complains when a scan is refused or takes longer than `complains-after`.

        \(Self.table(RolloutReader.keys, RolloutPlan()))
        ## `transports`

        `[websocket, sse]`: `run` and `simulate` run the scenario once for each, with the same seed, and compare the second with the
        first ([migration](migration.md)). Every group must have a journey of v2 with jobs. `off` is for one of the runs alone.

        ## `faults`

        A list; [faults](faults.md) explains it, and [fault-kinds](../faults.md) has every kind with its keys.

        ## `slo`

        A map from a metric to a condition, or to a list of conditions, or to a map of these keys ([objectives](objectives.md)):

        \(Self.table(Self.objectiveKeys, in: SLOReader.keys, defaults: ["severity": "error", "abort": "off"]))
        ## `sometimes`

        The situations that a run can be required to reach:

        \(Self.situations)
        """
    }

    private static var situations: String {
        MarkdownTable.text(
            ["situation", "what happened"], CoverageGoal.allCases.map { ["`\($0.rawValue)`", $0.text] })
    }

    private static var objectiveKeys: [String: JSONSchema] {
        ScenarioSchema.objective(.latency).properties ?? [:]
    }

    // MARK: Tables

    /// - Parameter defaults: A model that has the default of each key; nil if the descriptions of the keys state them.
    private static func table<Model>(
        _ keys: ScenarioKeys<Model>, _ defaults: Model?, isSorted: Bool = false
    ) -> String {
        Self.table(
            keys.schemas, in: isSorted ? keys.names.sorted() : keys.names,
            defaults: Self.defaults(keys, defaults))
    }

    private static func table(
        _ keys: [String: JSONSchema], in order: [String], defaults: [String: String]
    ) -> String {
        MarkdownTable.text(
            ["key", "value", "default", "meaning"],
            order.map { key in
                let schema = keys[key]
                let (meaning, stated) = Self.split(schema?.description ?? "")
                let value =
                    stated ?? defaults[key].map { "`\($0)`" }
                    ?? (Self.requiredKeys.contains(key) ? "required" : "none")
                return ["`\(key)`", schema.map { $0.form ?? "text" } ?? "", value, meaning]
            })
    }

    /// Splits a description into its text and the default at its end.
    private static func split(_ description: String) -> (meaning: String, stated: String?) {
        guard let start = description.firstRange(of: " (default: "), description.hasSuffix(")") else {
            return (description, nil)
        }
        return (
            String(description[..<start.lowerBound]),
            String(description[start.upperBound...].dropLast())
        )
    }

    // MARK: Defaults

    private static let requiredKeys: Set = ["scenario", "fleet", "phones", "expect", "photo", "text"]

    /// Keys whose values in the shortest scenario are not defaults, and `v2`, which has its own table.
    private static let keysWithoutDefault = ["scenario", "name", "description", "phones", "arrivals", "v2"]

    private static let shortest = try? ScenarioLoader.load(
        path: "shortest", text: "scenario: 1\nname: NAME\nfleet: {GROUP: {phones: 1, arrivals: 1/s}}\n",
        overrides: [], environment: [:])

    private static var topDefaults: [String: String] {
        let lines = Self.shortest.map(ScenarioWriter.resolved)?.split(separator: "\n") ?? []
        return lines.reduce(into: [:]) { values, line in
            let halves = line.split(separator: ": ", maxSplits: 1).map(String.init)
            guard halves.count == 2, !Self.keysWithoutDefault.contains(halves[0]) else { return }
            values[halves[0]] = halves[1]
        }
    }

    static var groupDefaults: [String: String] {
        Self.defaults(FleetReader.valueKeys, Self.shortest?.groups.first)
    }

    static var serverDefaults: [String: String] { Self.defaults(ServerReader.keys, .contract) }

    private static func defaults<Model>(_ keys: ScenarioKeys<Model>, _ model: Model?) -> [String: String] {
        let values = model.map(keys.values)?.filter { !Self.keysWithoutDefault.contains($0.key) } ?? []
        return Dictionary(uniqueKeysWithValues: values.map { ($0.key, $0.value) })
    }
}
