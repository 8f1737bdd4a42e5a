import Faults
package import RunJudge
import SimBase

/// What a search has found so far. Results may come in any order; the tally is that of the seeds.
package struct CampaignTally: Sendable {
    /// The failing seeds of one kind, in ascending order.
    package private(set) var failures: [FailureKind: [UInt64]] = [:]
    /// The first error of the simulation.
    package private(set) var firstFailure: (seed: UInt64, text: String)?
    package private(set) var seeds = 0
    package private(set) var events = 0
    package private(set) var scans = 0
    /// The seeds that reached each goal, and those in which each kind of fault fired.
    private var reached: [CoverageGoal: Int] = [:]
    private var fired: [String: Int] = [:]
    /// Digests by seed that wait for those of smaller seeds.
    private var waiting: [UInt64: UInt64] = [:]
    private var next: UInt64
    private var chain: Digest = Digest()

    /// `first`: the smallest seed of the search.
    package init(first: UInt64) { self.next = first }

    package mutating func add(_ result: SeedResult) {
        self.seeds += 1
        self.events += result.events
        self.scans += result.scans
        for kind in result.kinds { self.failures[kind, default: []].insertSorted(result.seed) }
        if let text = result.failure, self.firstFailure.map({ result.seed < $0.seed }) ?? true {
            self.firstFailure = (result.seed, text)
        }
        for goal in result.reached { self.reached[goal, default: 0] += 1 }
        for name in result.fired { self.fired[name, default: 0] += 1 }
        self.waiting[result.seed] = result.digest
        while let digest = self.waiting.removeValue(forKey: self.next) {
            self.chain.absorb(self.next)
            self.chain.absorb(digest)
            self.next += 1
        }
    }

    /// The digest of all seeds from the first one to the last one without a gap: equal for equal searches, with any number of
    /// workers.
    package var digest: UInt64 { self.chain.value }
    /// The seed after the last one that `digest` covers.
    package var digestEnd: UInt64 { self.next }

    package var kinds: [FailureKind] { self.failures.keys.sorted() }
    package var failingSeeds: Int { Set(self.failures.values.joined()).count }

    package func count(of goal: CoverageGoal) -> Int { self.reached[goal, default: 0] }
    package func count(ofFault name: String) -> Int { self.fired[name, default: 0] }

    /// The goals that no seed reached.
    package var unreached: [CoverageGoal] { CoverageGoal.allCases.filter { self.count(of: $0) == 0 } }
    /// The kinds of faults that fired in no seed.
    package var unfired: [String] { FaultTable.all.map(\.name).filter { self.count(ofFault: $0) == 0 } }
}

extension [UInt64] {
    fileprivate mutating func insertSorted(_ seed: UInt64) {
        let index = self.lastIndex { $0 < seed }.map { $0 + 1 } ?? 0
        self.insert(seed, at: index)
    }
}
