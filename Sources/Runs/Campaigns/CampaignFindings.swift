import Search
import SimBase
import VirtualWorld

/// Why a search ended before its last seed.
enum CampaignEnd: Hashable, Sendable {
    case interrupted
    case budget(Interval)
    case failures
}

/// A failing seed and the smallest plan that was found for it.
struct ShrunkFailure: Sendable {
    var kind: FailureKind
    var seed: UInt64
    var original: WorldPlan
    /// Nil if the seed does not fail alike when it is run again.
    var result: Shrinker.Result?
    var time: Interval
}

/// What a search found.
struct CampaignFindings: Sendable {
    var tally: CampaignTally
    var crashes: [WorkerCrash] = []
    /// Digests of the seeds that are run again.
    var digests: [UInt64: UInt64] = [:]
    /// Seeds that came to something else when they were run alone.
    private(set) var unequal: [UInt64] = []
    private(set) var repeats = 0
    var shrunk: [ShrunkFailure] = []
    var endedEarly: CampaignEnd?
    var searchTime = Interval.zero

    /// Seeds without any known result, although the search was not ended before them.
    func missing(of seeds: Int) -> Int {
        self.endedEarly == nil ? seeds - self.tally.seeds - Set(self.crashes.map(\.seed)).count : 0
    }

    /// Seeds that were to be run again, without a known second result.
    var unrepeated: Int { self.endedEarly == .interrupted ? 0 : self.digests.count - self.repeats }

    /// Seeds that did not fail alike when they were run again.
    var unsteady: [UInt64] { self.shrunk.filter { $0.result == nil }.map(\.seed) }

    init(_ request: CampaignRequest) { self.tally = CampaignTally(first: request.seeds.first) }

    mutating func repeated(_ result: SeedResult) {
        self.repeats += 1
        if self.digests[result.seed] != result.digest { self.unequal.append(result.seed) }
    }
}
