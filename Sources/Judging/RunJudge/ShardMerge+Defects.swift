import Ledger
import Metrics
package import SimBase

// What a merge does not know: shards that are missing, that left damaged files, or whose end their files do not explain. What that
// leaves of the verdict: `RunResult+MissingShards.swift`.

extension ShardMerge {
    /// What a shard lacks.
    package enum Defect: Hashable, Sendable {
        /// Its folder.
        case folder
        /// It was killed before its verdict.
        case verdict
        /// Its files are damaged, or could not be written.
        case summary, evidence, scenario
        /// This file is not the one that its evidence was written for.
        case foreign(String)

        package var text: String {
            switch self {
            case .folder: "is missing"
            case .verdict: "ended before its verdict"
            case .summary: "left a damaged summary.json"
            case .evidence: "left no whole evidence.ndjson"
            case .scenario: "left no scenario.resolved"
            case .foreign(let name): "has a \(name) that does not belong to its evidence.ndjson"
            }
        }
    }

    /// Shards that nothing was handed over of.
    package var missing: [FleetShard] {
        (0..<self.count).filter { index in !self.parts.contains { $0.shard.index == index } }
            .map { FleetShard(index: $0, count: self.count) }
    }

    /// Shards about which the merge does not know everything.
    var gaps: [Remark] {
        self.missing.map { self.gap($0, .folder) }
            + self.parts.compactMap { part in part.defect.map { self.gap(part.shard, $0) } }
    }

    private func gap(_ shard: FleetShard, _ defect: Defect) -> Remark {
        let phones = 0..<UInt32(self.settings.ledger.fleet.count)
        return .merge(
            .shardIncomplete(
                shard, defect, phones: shard.phoneCount(of: phones),
                first: Array(shard.phones(of: phones).prefix(3))))
    }

    /// The shards that `gaps` names.
    private var incomplete: [FleetShard] {
        self.missing + self.parts.filter { $0.defect != nil }.map(\.shard)
    }

    /// Ends of shards whose reason the merge does not know. A shard that breaks nothing may end with 97 if
    /// the scenario expects that something breaks.
    var unseenExits: [(shard: FleetShard, exit: ExitCode)] {
        self.incomplete.compactMap { shard in
            guard let exit = self.exits[shard], exit.holdsForAllShards,
                exit != .invariantBroken || self.settings.expectations.isEmpty
            else { return nil }
            return (shard, exit)
        }
    }
}
