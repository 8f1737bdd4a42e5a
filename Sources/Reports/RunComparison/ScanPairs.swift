import Metrics
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

/// The scans of two runs side by side, in blocks of time.
///
/// With the same seed, a scan has the same phone, photo, link and faults in both runs. If the conditions of a group are equal, its
/// scans are pairs. The scans of other groups are compared by the time of the run at which they began.
struct ScanPairs: Sendable {
    private struct Pair: Sendable {
        /// The scheduled time of the capture, in BASE if it has the scan.
        var at: Instant
        var group: Int
        var block = 0
        /// Nil on one side if the scans of the group are not paired.
        var base: ScanRow?
        var new: ScanRow?
    }

    /// The share of the scans that one side may lack.
    static let lackingMax = 0.01
    /// Blocks of time, of few scans and of many.
    private static let blocks = (few: 20, many: 40, from: 2_000)

    private let groups: [String]
    private var pairs: [Pair] = []
    private(set) var blocks = Self.blocks.few
    /// The ends of all blocks but the last.
    private var bounds: [Instant] = []
    /// Whether the scans of every group are paired.
    let isPaired: Bool
    /// Why they are not, in phrases.
    let differences: [String]
    /// Scans of paired groups that one of the runs lacks, and all scans of these groups.
    private(set) var lacking = (base: 0, new: 0, of: 0)

    /// Nil if one of the runs does not say what its scans took.
    init?(_ base: ComparedRun, _ new: ComparedRun) {
        guard var before = base.scans, var after = new.scans else { return nil }
        before.thin(to: after.oneOf)
        after.thin(to: before.oneOf)
        let why = Self.differences(base, new)
        self.groups = base.head.groups.map(\.name)
        self.isPaired = why.allSatisfy { $0 == nil }
        self.differences = why.compactMap { $0 }.filter { !$0.isEmpty }
        let fleets = [base, new].map { run in PhoneGroups(run.head.groups.map { ($0.name, $0.devices) }) }
        for row in before.rows {
            let group = fleets[0].group(of: row.device)
            guard Self.isPaired(group, why) else {
                self.pairs.append(Pair(at: row.at, group: group ?? -1, base: row))
                continue
            }
            self.lacking.of += 1
            guard let twin = after.row(of: row.device, row.scan) else {
                self.lacking.new += 1
                continue
            }
            self.pairs.append(Pair(at: row.at, group: group ?? -1, base: row, new: twin))
        }
        for row in after.rows {
            let group = fleets[1].group(of: row.device)
            if !Self.isPaired(group, why) {
                self.pairs.append(Pair(at: row.at, group: group ?? -1, new: row))
            } else if before.row(of: row.device, row.scan) == nil {
                self.lacking.base += 1
                self.lacking.of += 1
            }
        }
        self.divide()
    }

    private static func isPaired(_ group: Int?, _ why: [String?]) -> Bool {
        group.map { why.indices.contains($0) && why[$0] == nil } ?? false
    }

    /// Gives each pair its block of time. All blocks have the same number of scans.
    private mutating func divide() {
        self.blocks = self.pairs.count < Self.blocks.from ? Self.blocks.few : Self.blocks.many
        let times = self.pairs.map(\.at).sorted()
        guard !times.isEmpty else { return }
        self.bounds = (1..<self.blocks).map { times[$0 * times.count / self.blocks] }
        for index in self.pairs.indices { self.pairs[index].block = self.block(of: self.pairs[index].at) }
    }

    /// For each group of BASE, why its scans are not paired; nil if they are.
    private static func differences(_ base: ComparedRun, _ new: ComparedRun) -> [String?] {
        let names = base.head.groups.map(\.name)
        func each(_ reason: String) -> [String?] { [reason] + names.dropFirst().map { _ in "" } }
        guard base.head.seed == new.head.seed else { return each("the seeds differ") }
        guard names == new.head.groups.map(\.name) else { return each("the groups differ") }
        let conditions = [base, new].map { PairingConditions(scenarioText: $0.scenarioText) }
        return names.indices.map { index in
            guard base.head.groups[index].devices == new.head.groups[index].devices,
                let keys = conditions[0].differences(from: conditions[1], group: names[index])
            else { return "\(names[index]) has other phones" }
            return keys.isEmpty ? nil : "\(names[index]) differs in \(keys.joined(separator: ", "))"
        }
    }

    /// Scans that are compared.
    var count: Int { self.pairs.count }

    /// The block of a time.
    func block(of moment: Instant) -> Int {
        var (low, high) = (0, self.bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if moment < self.bounds[middle] { high = middle } else { low = middle + 1 }
        }
        return low
    }

    // MARK: Values

    /// The values of a latency of scans, in nanoseconds, and those of pairs also pair by pair.
    func sides(_ name: LatencyScope) -> LatencyJudge.Sides {
        var sides = LatencyJudge.Sides()
        let group: Int? =
            switch name.scope {
            case .fleet: nil
            case .group(let name): self.groups.firstIndex(of: name) ?? -1
            }
        for pair in self.pairs where group == nil || pair.group == group {
            var (base, new) = (pair.base?.value(name.metric), pair.new?.value(name.metric))
            if pair.base != nil, pair.new != nil {
                // What ended in one of the runs only is slower than everything in the other; what neither has, neither needed.
                if base == nil, new != nil { base = pair.base?.unended }
                if new == nil, base != nil { new = pair.new?.unended }
                guard let before = base, let after = new else { continue }
                sides.pairs.add(base: before, new: after, block: pair.block)
            } else {
                base = base ?? pair.base?.open
                new = new ?? pair.new?.open
            }
            if let base { sides.base.add(base, block: pair.block) }
            if let new { sides.new.add(new, block: pair.block) }
        }
        return sides
    }

    /// How many scans ended so, and of how many, in each run and block.
    func outcomes(_ end: ScanEnd) -> BlockedParts { self.parts(of: self.pairs) { $0.end == end ? 1 : 0 } }

    /// The books of completed scans, and these scans, in each run and block; of pairs, where both are complete.
    var books: BlockedParts {
        let whole = self.pairs.filter { pair in
            [pair.base, pair.new].allSatisfy { $0?.end ?? .completed == .completed }
        }
        return self.parts(of: whole) { $0.books }
    }

    private func parts(of pairs: [Pair], _ count: (ScanRow) -> Int) -> BlockedParts {
        var parts = BlockedParts(blocks: self.blocks)
        for pair in pairs {
            if let row = pair.base { parts.addBase(count(row), of: 1, block: pair.block) }
            if let row = pair.new { parts.addNew(count(row), of: 1, block: pair.block) }
        }
        return parts
    }
}

extension ScanRow {
    /// Nanoseconds, and never 0, because a ratio with 0 does not exist.
    fileprivate func value(_ metric: LatencyMetric) -> Double? {
        self[metric].map { Double(max($0, ScanTable.unit).nanoseconds) }
    }

    /// The time of an operation of a scan that should have come to its end and did not; nil where it was not needed.
    fileprivate var unended: Double? { self.end == .completed ? nil : .infinity }

    /// The time of an operation of a scan that did not come to an end.
    fileprivate var open: Double? { self.end == .unfinished ? .infinity : nil }
}
