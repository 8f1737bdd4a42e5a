package import Ledger
package import SimBase

/// What a shard hands over for the merge in addition to its result and its timeline. Its size does not depend
/// on the length of the run or on the number of phones.
package struct ShardEvidence: Equatable, Sendable {
    /// When everything of the shard was over, and what it left was judged.
    package var endedAt: Instant
    /// The last observation of its phones: operations that were open at the end are as old as they were then.
    package var heardAt: Instant
    /// For the checks that only the whole fleet can be judged by; nil if there are none, as in a live run.
    package var fleet: FleetEvidence?
    /// How often each coverage goal was reached, in the order of all goals; empty if none was watched for.
    package var coverage: [Int]
    package var regions: RegionSummary
    package var skipped: SkippedWork
    /// The first of the scans that the storages of its phones had at the end.
    package var waiting: [WaitingRecord]

    /// Whose some of the jobs of a target are.
    package var targetJobs: [TargetJobOwner]

    /// Scans of `waiting`.
    package static let waitingMax = LiveRecord.failuresMax

    package init(
        endedAt: Instant, heardAt: Instant, fleet: FleetEvidence?, coverage: [Int], regions: RegionSummary,
        skipped: SkippedWork, waiting: [WaitingRecord], targetJobs: [TargetJobOwner] = []
    ) {
        self.endedAt = endedAt
        self.heardAt = heardAt
        self.fleet = fleet
        self.coverage = coverage
        self.regions = regions
        self.skipped = skipped
        self.waiting = waiting
        self.targetJobs = targetJobs
    }
}
