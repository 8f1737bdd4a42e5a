import Dashboard
import Metrics
import Plan
import RunArchive
import RunJudge
import RunMetrics
import RunSetup
import SimBase

/// The combined state of the shards of a run in progress, for its dashboard: from the snapshots that they
/// write.
struct ShardedStanding {
    private let settings: JudgeSettings
    private let scansPlanned: Int?
    private let lastArrival: Instant
    /// By shard: nil for one that ended before it began.
    private var heads: [RunHead?] = []
    private var snapshots: [ShardSnapshot?]

    /// `plan`: of the whole fleet.
    init(_ plan: RunPlan, _ expected: ExpectedArrivals, target: PlanTarget, processes: Int) {
        self.settings = JudgeSettings(
            mergingShardsOf: plan, world: .live, hasBackendView: target == .embedded)
        self.scansPlanned = plan.scenario.closedGroups.isEmpty ? expected.scans : nil
        self.lastArrival = expected.lastArrival
        self.snapshots = Array(repeating: nil, count: processes)
    }

    var hasBegun: Bool { !self.heads.isEmpty }

    /// The objectives, without measurements.
    var objectives: SLOParts { SLOParts(self.settings.objectives, faults: self.settings.faultEnds) }

    /// Returns the folders of the shards with their heads, once all that run have one.
    mutating func begin(_ shards: [ShardProcess]) -> [(path: String, head: RunHead)]? {
        let heads = shards.map { try? PastRun.head(of: $0.folder) }
        guard zip(shards, heads).allSatisfy({ $0.isOver || $1 != nil }) else { return nil }
        let folders = zip(shards, heads).compactMap { shard, head in
            head.map { (path: shard.folder, head: $0) }
        }
        guard !folders.isEmpty else { return nil }
        self.heads = heads
        return folders
    }

    /// Returns their present state; nil before all that run have reported it.
    mutating func moment(at now: Instant, _ shards: [ShardProcess]) -> LiveMoment? {
        for (index, head) in self.heads.enumerated() {
            guard let head, shards[index].snapshot != nil,
                let snapshot = ShardSnapshot(of: shards[index].folder, head: head, settings: self.settings)
            else { continue }
            self.snapshots[index] = snapshot
        }
        guard zip(shards, self.snapshots).allSatisfy({ $0.isOver || $1 != nil }),
            var merged = ShardMerge.soFar(
                self.snapshots.compactMap { $0 }.map { ($0.result, $0.timeline) })
        else { return nil }
        merged.result.add(
            shards.compactMap { shard in shard.crash.map { .merge(.shardCrashed(shard.shard, how: $0)) } })
        let told = shards.compactMap(\.snapshot)
        // One whose phones have ended says nothing more.
        let measuring = shards.filter { !$0.isOver && !$0.isJudging }.compactMap(\.snapshot)
        return LiveMoment(
            at: now, measured: (measuring.isEmpty ? told : measuring).map(\.measured).min() ?? .zero,
            result: merged.result, timeline: merged.timeline, scansPlanned: self.scansPlanned,
            lastArrival: self.lastArrival, phonesOffline: 0,
            latenessMost: told.map(\.lateness).max())
    }
}
