package import Metrics
package import SimBase

/// The measurements of a run or of a part of it: of one shard, in one second.
package struct Measurements: Equatable, Sendable {
    /// A latency of the latest observation.
    package struct Sample: Equatable, Sendable {
        package var metric: LatencyMetric
        package var time: Interval
    }

    package var table: MetricTable
    /// What the latest observation added to the table.
    package private(set) var latest: [Sample] = []
    /// The tables outside of groups, then those of each group.
    private var parts: [MeasuredTables]

    package init(table: MetricTable) {
        self.table = table
        self.parts = MeasuredTables.empty(for: table)
    }

    /// The tables of one group.
    package internal(set) subscript(group: MetricGroup) -> MeasuredTables {
        _read { yield self.parts[group.position] }
        _modify { yield &self.parts[group.position] }
    }

    /// The tables of the fleet.
    package var whole: MeasuredTables { self.parts.reduce(into: MeasuredTables()) { $0.add($1) } }

    package static func == (left: Measurements, right: Measurements) -> Bool {
        left.table == right.table && left.parts == right.parts
    }

    mutating func record(_ metric: LatencyMetric, _ time: Interval, in group: MetricGroup) {
        self.table.record(metric, time, in: group)
        self.latest.append(Sample(metric: metric, time: time))
    }

    /// The next observation begins.
    mutating func begin() { self.latest.removeAll(keepingCapacity: true) }

    /// Adds other measurements, as if they had been made here. The groups must be the same.
    package mutating func add(_ other: Measurements) {
        self.table.add(other.table)
        for index in self.parts.indices { self.parts[index].add(other.parts[index]) }
    }

    mutating func reset() {
        self.table.reset()
        self.parts = MeasuredTables.empty(for: self.table)
    }
}

/// What is measured of a group, or of the fleet, in addition to metrics.
package struct MeasuredTables: Equatable, Sendable {
    package var disconnections = Disconnections()
    package var findings = FindingsTable()

    package init(disconnections: Disconnections = Disconnections()) {
        self.disconnections = disconnections
    }

    fileprivate static func empty(for table: MetricTable) -> [MeasuredTables] {
        Array(repeating: MeasuredTables(), count: table.groups.count + 1)
    }

    package mutating func add(_ other: MeasuredTables) {
        self.disconnections.add(other.disconnections)
        self.findings.add(other.findings)
    }
}
