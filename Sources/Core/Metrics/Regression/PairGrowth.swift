/// The values of one latency in two runs, scan by scan.
package struct PairedValues: Sendable {
    fileprivate struct Pair {
        var base: Double
        var new: Double
        var block: Int

        /// The shorter of the two; infinite if neither ended.
        var shorter: Double { min(self.base, self.new) }
    }

    fileprivate var pairs: [Pair] = []

    package init() {}

    package var count: Int { self.pairs.count }

    /// - Parameter base: In nanoseconds; infinite for an operation that did not end.
    /// - Parameter new: As `base`.
    /// - Parameter block: From 0.
    package mutating func add(base: Double, new: Double, block: Int) {
        self.pairs.append(Pair(base: base, new: new, block: block))
    }
}

/// How much longer the same scans took in NEW than in BASE: the mean of the growths of all pairs without the fifth that grew least
/// and the fifth that grew most (Tukey's trimmed mean; Wilcox, "Introduction to Robust Estimation and Hypothesis Testing", has its
/// percentile bootstrap).
///
/// The growth of a pair is its difference divided by the shorter of its times: 1 for twice as long, -1 for
/// half as long, so that exchanging the two runs changes only its sign. The divisor is at least the time
/// whose tolerated share is the least difference that counts.
struct PairGrowth {
    /// An operation that ended in one of the runs only counts for this many of the pair that changed most.
    private static let unended = 10.0

    /// The ratio above which the pairs have grown by more than is tolerated.
    let limit: Double
    let count: Int
    /// All finite.
    private let growths: BlockedValues
    private let blocks: Int
    /// Pairs that ended in one of the runs only.
    private let endless: (inBase: Int, inNew: Int)

    /// - Parameter tolerance: The tolerated growth of a long time, as a share.
    /// - Parameter least: The tolerated growth of a short time, in nanoseconds, above 0.
    /// - Parameter blocks: Blocks of time.
    init(_ values: PairedValues, tolerance: Double, least: Double, blocks: Int) {
        precondition(least > 0, "every difference would count")
        let longest = values.pairs.map(\.shorter).filter(\.isFinite).max() ?? least
        let tolerated = max(tolerance, least / max(longest, least))
        let shortest = least / tolerated
        let growths = values.pairs.map { pair -> Double in
            // What ended in neither did not change.
            pair.base == pair.new ? 0 : (pair.new - pair.base) / max(pair.shorter, shortest)
        }
        let most = growths.map { abs($0) }.filter(\.isFinite).max() ?? 0
        let bound = Self.unended * (1 + most)
        self.limit = 1 + tolerated
        self.count = growths.count
        self.blocks = blocks
        self.endless = (growths.count { $0 == -.infinity }, growths.count { $0 == .infinity })
        self.growths = zip(growths, values.pairs).reduce(into: BlockedValues()) { values, next in
            values.add(min(max(next.0, -bound), bound), block: next.1.block)
        }
    }

    /// The estimate; infinite or 0 where too many pairs ended in one of the runs only; nil without pairs.
    var ratio: Double? {
        let trimmed = TrimmedMean.share * Double(self.count)
        switch (Double(self.endless.inBase) > trimmed, Double(self.endless.inNew) > trimmed) {
        case (false, true): return .infinity
        case (true, false): return 0
        case (true, true), (false, false): break
        }
        return self.mean(of: self.values(ranks: max(1, self.count)), Array(repeating: 1, count: self.blocks))
    }

    func resampled(_ resamples: Int) -> BlockBootstrap {
        let values = self.values(ranks: BlockBootstrap.ranks)
        let draws = BlockDraws(blocks: self.blocks, resamples: resamples)
        return BlockBootstrap(ratios: draws.compactMap { self.mean(of: values, $0) })
    }

    private func values(ranks: Int) -> ResampledValues {
        ResampledValues(self.growths.binned(ranks), slowest: 0, blocks: self.blocks)
    }

    /// As a ratio.
    private func mean(of values: ResampledValues, _ draw: [Int]) -> Double? {
        values.value(at: TrimmedMean(), draw).map { $0 < 0 ? 1 / (1 - $0) : 1 + $0 }
    }
}

/// The mean of all values between two ranks.
private struct TrimmedMean: RankWeights {
    /// The share of all values that is left out at each end.
    static let share = 0.2

    var from: Double { Self.share }

    func weight(upTo share: Double) -> Double {
        min(1, max(0, (share - Self.share) / (1 - 2 * Self.share)))
    }
}
