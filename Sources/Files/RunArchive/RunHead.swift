package import Metrics
internal import Plan

/// What is known of a run when it begins: `run.json`, from which a run that was killed still says what it was.
package struct RunHead: Equatable, Sendable {
    package struct Group: Equatable, Sendable {
        package var name: String
        package var devices: Int

        package init(name: String, devices: Int) {
            self.name = name
            self.devices = devices
        }
    }

    package var tool: String
    /// What a live run was measured on; nil for a virtual one, which is the same everywhere.
    package var machine: String?
    package var scenario: ScenarioIdentity
    package var seed: UInt64
    package var world: World
    /// Milliseconds since 1970, UTC.
    package var started: Int64
    package var hasBackendView: Bool
    package var groups: [Group]
    /// Ids, in the order of the scenario.
    package var faults: [String]
    /// The words of the command without secrets.
    package var command: [String]
    package var labels: RunLabels

    package init(
        tool: String, machine: String?, scenario: ScenarioIdentity, seed: UInt64, world: World,
        started: Int64, hasBackendView: Bool, groups: [Group], faults: [String], command: [String],
        labels: RunLabels = RunLabels()
    ) {
        self.tool = tool
        self.machine = machine
        self.scenario = scenario
        self.seed = seed
        self.world = world
        self.started = started
        self.hasBackendView = hasBackendView
        self.groups = groups
        self.faults = faults
        self.command = RerunCommand.words(command)
        self.labels = labels
    }

    static let schema = 1

    var bytes: [UInt8] {
        var members: [String: JSONValue] = [
            "schema": .integer(Self.schema),
            "tool": .string(self.tool),
            "scenario": .object([
                "name": .string(self.scenario.name), "description": .string(self.scenario.description),
                "sha256": .string(self.scenario.sha256),
            ]),
            "seed": .integer(self.seed),
            "world": .string(self.world.rawValue),
            "started_ms": .integer(self.started),
            "backend_view": .bool(self.hasBackendView),
            "groups": .array(
                self.groups.map {
                    .object(["name": .string($0.name), "devices": .integer($0.devices)])
                }),
            "faults": .array(self.faults.map { .string($0) }),
            "command": .array(self.command.map { .string($0) }),
        ]
        if let machine = self.machine { members["machine"] = .string(machine) }
        if let target = self.labels.target { members["target"] = .string(target) }
        if !self.labels.tags.isEmpty { members["tags"] = self.labels.jsonTags }
        return JSONValue.object(members).document
    }

    /// The end of the year 9999, in milliseconds.
    private static let startedMax: Int64 = 253_402_300_799_999

    /// Nil for what is no head.
    init?(reading bytes: [UInt8]) {
        guard let value = JSONValue(reading: bytes), value["schema"]?.integer == Self.schema,
            let tool = value["tool"]?.text, let name = value["scenario"]?["name"]?.text,
            let seed = value["seed"]?.integer(UInt64.self),
            let world = value["world"]?.text.flatMap(World.init),
            let started = value["started_ms"]?.integer(Int64.self), (0...Self.startedMax).contains(started),
            let hasBackendView = value["backend_view"]?.flag
        else { return nil }
        let command = (value["command"]?.elements ?? []).compactMap(\.text)
        self.init(
            tool: tool, machine: value["machine"]?.text,
            scenario: ScenarioIdentity(
                name: name, description: value["scenario"]?["description"]?.text ?? "",
                sha256: value["scenario"]?["sha256"]?.text ?? ""),
            seed: seed, world: world, started: started, hasBackendView: hasBackendView,
            groups: (value["groups"]?.elements ?? []).compactMap { group in
                guard let name = group["name"]?.text, let devices = group["devices"]?.integer,
                    (0...ScenarioLimit.devicesMax).contains(devices)
                else { return nil }
                return Group(name: name, devices: devices)
            },
            faults: (value["faults"]?.elements ?? []).compactMap(\.text),
            command: command, labels: RunLabels(reading: value, command: command))
        guard self.groups.count == value["groups"]?.elements.count ?? 0,
            self.groups.count <= ScenarioLimit.groupsMax,
            self.groups.reduce(0, { $0 + $1.devices }) <= ScenarioLimit.devicesMax
        else { return nil }
        // A table has one place for a group.
        guard Set(self.groups.map(\.name)).count == self.groups.count else { return nil }
    }

    /// An empty table of this run.
    package var table: MetricTable {
        var table = MetricTable(groups: self.groups.map(\.name))
        for fault in self.faults { table.declare(fault: fault) }
        if !self.hasBackendView {
            for metric in Metric.needingBackend { table.cannotKnow(metric) }
        }
        return table
    }
}
