package import Metrics
package import SimBase
package import Talaria

/// What a run in the virtual world has in addition to its scenario.
package struct WorldRules: Equatable, Sendable {
    /// The time after the run in which faults are lifted; nil for none.
    package var settle: Interval?
    /// Whether events of one time come in a drawn order.
    package var shufflesTies = false

    package init() {}
}

/// The description of a run at its start: `run.json`, which also identifies a killed run.
package struct RunHead: Equatable, Sendable {
    package struct Group: Equatable, Sendable {
        package var name: String
        /// Phones of the whole fleet.
        package var devices: Int
        package var journey: Journey
        /// What its phones do otherwise than the client of the contract: a profile, toggles, and values.
        package var deviations: [String]

        package init(name: String, devices: Int, journey: Journey = .scan, deviations: [String] = []) {
            self.name = name
            self.devices = devices
            self.journey = journey
            self.deviations = deviations
        }
    }

    package var tool: String
    /// The machine of a live run; nil for a virtual run, which is the same everywhere.
    package var machine: String?
    package var scenario: ScenarioIdentity
    package var seed: UInt64
    package var world: WorldKind
    /// Milliseconds since 1970, UTC.
    package var started: Int64
    package var hasBackendView: Bool
    /// Whether the backend, where it is foreign, is on trial.
    package var isOnTrial = false
    package var groups: [Group]
    /// Which phones ran.
    package var shard: FleetShard
    /// Ids, in the order of the scenario.
    package var faults: [String]
    /// The words of the command without secrets.
    package var command: [String]
    package var labels: RunLabels
    /// The salt of the phones' device ids, which only a run against a target has.
    package var deviceSalt: DeviceSalt?
    /// What the scenario does to the run.
    package var conditions = RunConditions()
    /// How the virtual world runs it.
    package var rules = WorldRules()

    package init(
        tool: String, machine: String?, scenario: ScenarioIdentity, seed: UInt64, world: WorldKind,
        started: Int64, hasBackendView: Bool, groups: [Group], shard: FleetShard = .whole, faults: [String],
        command: [String], labels: RunLabels = RunLabels()
    ) {
        self.tool = tool
        self.machine = machine
        self.scenario = scenario
        self.seed = seed
        self.world = world
        self.started = started
        self.hasBackendView = hasBackendView
        self.groups = groups
        self.shard = shard
        self.faults = faults
        self.command = RerunCommand.words(command)
        self.labels = labels
    }

    /// An empty table of this run.
    package var table: MetricTable {
        var table = MetricTable(groups: self.groups.map(\.name))
        for fault in self.faults { table.declare(fault: fault) }
        if !self.hasBackendView {
            for metric in Metric.unknown(hasTrial: self.isOnTrial) { table.cannotKnow(metric) }
        }
        return table
    }

    /// What one phone does; that of a phone of no group is `scan`.
    package func journey(of device: DeviceNumber) -> Journey {
        self.fleet.value(of: device, in: self.groups.map(\.journey)) ?? .scan
    }

    /// The number of phones of each group that ran, in the order of the groups.
    package var phonesByGroup: [Int] {
        var first: UInt32 = 0
        return self.groups.map { group in
            defer { first += UInt32(group.devices) }
            return self.shard.phoneCount(of: first..<first + UInt32(group.devices))
        }
    }

    package var fleet: PhoneGroups { PhoneGroups(self.groups.map { ($0.name, $0.devices) }) }
}
