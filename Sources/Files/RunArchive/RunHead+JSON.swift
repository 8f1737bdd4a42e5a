import JSON
import Metrics
import Plan
package import RunJudge
import SimBase
import Talaria

// The file `run.json`.
extension RunHead {
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
                self.groups.map { group in
                    var members: [String: JSONValue] = [
                        "name": .string(group.name), "devices": .integer(group.devices),
                        "journey": .string(group.journey.rawValue),
                    ]
                    if !group.deviations.isEmpty {
                        members["deviations"] = .array(group.deviations.map { .string($0) })
                    }
                    return .object(members)
                }),
            "faults": .array(self.faults.map { .string($0) }),
            "command": .array(self.command.map { .string($0) }),
        ]
        if !self.shard.isWhole { members["shard"] = .string(self.shard.description) }
        if let machine = self.machine { members["machine"] = .string(machine) }
        if let target = self.labels.target { members["target"] = .string(target) }
        if let http = self.labels.http { members["http"] = http.json }
        if let salt = self.deviceSalt { members["device_salt"] = .string(salt.text) }
        if !self.labels.tags.isEmpty { members["tags"] = self.labels.jsonTags }
        if let settle = self.rules.settle { members["settle_ns"] = .integer(settle.nanoseconds) }
        if self.isOnTrial { members["trial"] = .bool(true) }
        if self.rules.shufflesTies { members["shuffles_ties"] = .bool(true) }
        if !self.conditions.isEmpty { members["conditions"] = self.conditions.json }
        return JSONValue.object(members).document
    }

    /// The end of the year 9999, in milliseconds.
    private static let startedMax: Int64 = 253_402_300_799_999

    /// Is nil if the bytes are not a valid `run.json`.
    init?(reading bytes: [UInt8]) {
        guard let value = JSONNode(bytes), value["schema"]?.integer == Self.schema,
            let tool = value["tool"]?.text, let name = value["scenario"]?["name"]?.text,
            let seed = value["seed"]?.integer(UInt64.self),
            let world = value["world"]?.text.flatMap(WorldKind.init),
            let started = value["started_ms"]?.integer(Int64.self), (0...Self.startedMax).contains(started),
            let hasBackendView = value["backend_view"]?.flag
        else { return nil }
        guard let shard = value["shard"].map({ $0.text.flatMap { FleetShard($0) } }) ?? FleetShard.whole
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
                let journey = group["journey"]?.text.flatMap(Journey.init(rawValue:)) ?? .scan
                return Group(
                    name: name, devices: devices, journey: journey,
                    deviations: (group["deviations"]?.elements ?? []).compactMap(\.text))
            },
            shard: shard, faults: (value["faults"]?.elements ?? []).compactMap(\.text),
            command: command, labels: RunLabels(reading: value, command: command))
        guard self.groups.count == value["groups"]?.elements.count ?? 0,
            self.groups.count <= ScenarioLimit.groupsMax,
            self.groups.reduce(0, { $0 + $1.devices }) <= ScenarioLimit.devicesMax
        else { return nil }
        if let salt = value["device_salt"] {
            guard let salt = salt.text.flatMap({ DeviceSalt($0) }) else { return nil }
            self.deviceSalt = salt
        }
        self.conditions = RunConditions(reading: value["conditions"])
        self.rules.settle = value["settle_ns"]?.nanoseconds(0).map { Interval(nanoseconds: $0) }
        self.isOnTrial = value["trial"]?.flag ?? false
        self.rules.shufflesTies = value["shuffles_ties"]?.flag ?? false
        // Tables of reports identify a group by its name.
        guard Set(self.groups.map(\.name)).count == self.groups.count else { return nil }
    }
}

extension ScenarioIdentity {
    package init(name: String, description: String, file: [UInt8]) {
        self.init(name: name, description: description, sha256: SHA256.hexadecimal(of: file))
    }
}

extension SpokenHTTP {
    package var json: JSONValue {
        .object(["version": .string(self.version.rawValue), "by": .string(self.decision.rawValue)])
    }

    init?(reading value: JSONNode?) {
        guard let version = value?["version"]?.text.flatMap(Version.init),
            let decision = value?["by"]?.text.flatMap(Decision.init)
        else { return nil }
        self.init(version, by: decision)
    }
}

extension RunLabels {
    package var jsonTags: JSONValue {
        .object(
            Dictionary(
                self.tags.map { ($0.key, .string($0.value)) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Reads the labels from `run.json`. Earlier versions wrote the target in the command only. Invalid tags are skipped.
    init(reading head: JSONNode, command: [String]) {
        let commanded = command.firstIndex(of: "--target").flatMap { index in
            command.dropFirst(index + 1).first
        }
        self.init(
            target: head["target"]?.text ?? commanded, http: SpokenHTTP(reading: head["http"]),
            tags: Array(
                (head["tags"]?.members ?? []).compactMap { member in
                    member.value.text.flatMap { try? RunTag(key: member.key, value: $0) }
                }.prefix(RunTag.countMax)))
    }
}
