package import Observations
package import SimBase
package import Talaria

/// The deviations from the contract in the responses and events of a run (Docs/design.md section 11.9): one
/// row per kind, with its count and the first example. Its size is bounded, whatever a server sends.
package struct FindingsTable: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        /// The first finding of this kind; `count` is the total.
        package var finding: ContractFinding
        package var first: Instant
        package var device: DeviceNumber
        package var scan: ScanNumber
        /// Who is to blame for how many of them.
        package var causes: CauseCounts

        package init(
            finding: ContractFinding, first: Instant, device: DeviceNumber, scan: ScanNumber,
            causes: CauseCounts
        ) {
            self.finding = finding
            self.first = first
            self.device = device
            self.scan = scan
            self.causes = causes
        }
    }

    /// The properties that define the kind of a finding: everything except the example.
    private struct Kind: Hashable {
        let operation: Operation
        let part, path, expected, seen: String
        let isDecisive: Bool

        init(_ finding: ContractFinding) {
            self.operation = finding.operation
            self.part = finding.part
            self.path = finding.path
            self.expected = finding.expected
            self.seen = finding.seen
            self.isDecisive = finding.isDecisive
        }
    }

    /// Kinds that are kept apart.
    package static let kindsMax = 64

    private var indexes: [Kind: Int] = [:]
    /// The rows in the order of their first occurrence.
    package private(set) var rows: [Row] = []
    /// Findings of the kinds beyond `kindsMax`.
    package private(set) var other = 0

    package init() {}

    package var isEmpty: Bool { self.rows.isEmpty && self.other == 0 }

    /// All findings, not the kinds.
    package var count: Int {
        self.rows.reduce(self.other) { Self.sum($0, $1.finding.count) }
    }

    /// Who is to blame for how many of those in the rows.
    package var causes: CauseCounts { self.rows.reduce(into: CauseCounts()) { $0.add($1.causes) } }

    /// The unusable first, then the most frequent.
    package var byWeight: [Row] {
        self.rows.sorted { one, two in
            if one.finding.isDecisive != two.finding.isDecisive { return one.finding.isDecisive }
            return (two.finding.count, one.first) < (one.finding.count, two.first)
        }
    }

    package mutating func add(
        _ finding: ContractFinding, device: DeviceNumber, scan: ScanNumber, at moment: Instant,
        cause: Cause? = nil
    ) {
        self.add(
            Row(
                finding: finding, first: moment, device: device, scan: scan,
                causes: CauseCounts(cause, finding.count)))
    }

    package mutating func add(_ row: Row) {
        let kind = Kind(row.finding)
        guard let index = self.indexes[kind] else {
            guard self.rows.count < Self.kindsMax else { return self.addOther(row.finding.count) }
            self.indexes[kind] = self.rows.count
            self.rows.append(row)
            return
        }
        let count = Self.sum(self.rows[index].finding.count, row.finding.count)
        var causes = self.rows[index].causes
        causes.add(row.causes)
        if row.first < self.rows[index].first { self.rows[index] = row }
        self.rows[index].finding.count = count
        self.rows[index].causes = causes
    }

    /// Puts the rows of a table that was added up in the order of their first occurrence.
    package mutating func sortByTime() {
        let rows = self.rows.enumerated().sorted {
            ($0.element.first, $0.offset) < ($1.element.first, $1.offset)
        }
        self.rows = rows.map(\.element)
        self.indexes = [:]
        for (index, row) in self.rows.enumerated() { self.indexes[Kind(row.finding)] = index }
    }

    package mutating func addOther(_ count: Int) { self.other = Self.sum(self.other, count) }

    package mutating func add(_ table: FindingsTable) {
        for row in table.rows { self.add(row) }
        self.addOther(table.other)
    }

    /// Files are edited by people: a count that no run can have must not end the reader.
    private static func sum(_ one: Int, _ two: Int) -> Int {
        let (sum, overflow) = max(0, one).addingReportingOverflow(max(0, two))
        return overflow ? .max : sum
    }
}
