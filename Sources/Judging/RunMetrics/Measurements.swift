package import Metrics

/// What was measured of a run or of a part of it: by one shard, in one second.
package struct Measurements: Equatable, Sendable {
    package var table: MetricTable
    package var disconnections = Disconnections()
    package var findings = FindingsTable()

    package init(table: MetricTable) {
        self.table = table
    }

    /// As if all of it had been measured here. The groups must be the same.
    package mutating func add(_ other: Measurements) {
        self.table.add(other.table)
        self.disconnections.add(other.disconnections)
        self.findings.add(other.findings)
    }

    mutating func reset() {
        self.table.reset()
        self.disconnections = Disconnections()
        self.findings = FindingsTable()
    }
}
