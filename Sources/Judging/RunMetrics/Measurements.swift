package import Metrics

/// The measurements of a run or of a part of it: of one shard, in one second.
package struct Measurements: Equatable, Sendable {
    package var table: MetricTable
    package var disconnections = Disconnections()
    package var findings = FindingsTable()

    package init(table: MetricTable) {
        self.table = table
    }

    /// Adds other measurements, as if they had been made here. The groups must be the same.
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
