import SimBase

/// The values of one run, each in a block of its time. Scans of one outage are not independent of each other, so blocks are
/// resampled, and never single values.
package struct BlockedValues: Sendable {
    fileprivate struct Entry {
        /// Infinite for what did not end: it is slower than everything that did.
        var value: Double
        var block: Int
        var count: Int
    }

    fileprivate var entries: [Entry] = []

    package init() {}

    /// - Parameter value: Infinite for an operation that did not end.
    /// - Parameter block: From 0.
    package mutating func add(_ value: Double, block: Int, count: Int = 1) {
        self.entries.append(Entry(value: value, block: block, count: count))
    }

    package var count: Int { self.entries.reduce(0) { $0 + $1.count } }

    /// The value at a percentile, by the nearest rank; nil without values.
    package func value(at percentile: Percentile) -> Double? {
        var left = percentile.rank(of: self.count)
        for entry in self.entries.sorted(by: { $0.value < $1.value }) {
            left -= entry.count
            if left <= 0 { return entry.value }
        }
        return nil
    }

    /// The entries in the order of their values; of many, those of one block that are next to each other as one, with the mean of
    /// all there, at most `ranks` for each block.
    fileprivate func binned(_ ranks: Int) -> [Entry] {
        let sorted = self.entries.sorted { $0.value < $1.value }
        let width = (sorted.count + ranks - 1) / ranks
        guard width > 1 else { return sorted }
        return stride(from: 0, to: sorted.count, by: width).flatMap { start in
            Self.bin(sorted[start..<min(start + width, sorted.count)])
        }
    }

    private static func bin(_ entries: ArraySlice<Entry>) -> [Entry] {
        let ended = entries.filter(\.value.isFinite)
        let counts = ended.reduce(into: [Int: Int]()) { $0[$1.block, default: 0] += $1.count }
        let all = counts.values.reduce(0, +)
        let mean = ended.reduce(0) { $0 + $1.value * Double($1.count) } / Double(max(1, all))
        return counts.sorted { $0.key < $1.key }.map { Entry(value: mean, block: $0.key, count: $0.value) }
            + entries.filter { !$0.value.isFinite }
    }
}

/// How often each block of time is in a resample.
package struct BlockDraws: Sequence, IteratorProtocol {
    private let blocks: Int
    private var left: Int
    private var number: UInt64 = 0
    private let random = KeyedRandom(seed: 0)

    package init(blocks: Int, resamples: Int) {
        self.blocks = blocks
        self.left = resamples
    }

    package mutating func next() -> [Int]? {
        guard self.left > 0 else { return nil }
        self.left -= 1
        self.number += 1
        var weights = [Int](repeating: 0, count: self.blocks)
        for place in 0..<self.blocks {
            let draw = self.random.draw(.resample, self.number, UInt64(place))
            weights[Int(((draw >> 32) * UInt64(self.blocks)) >> 32)] += 1
        }
        return weights
    }
}

/// The ratios of one statistic of two runs in all resamples: the percentile bootstrap over blocks of time (Efron and Tibshirani,
/// "An Introduction to the Bootstrap", chapters 13 and 8.6).
package struct BlockBootstrap: Sendable {
    /// Enough for a share of one in a thousand at each end.
    package static let resamples = 9_999
    /// Ranks that are told apart in a resample. The estimates themselves use all.
    private static let ranks = 1_024

    /// In ascending order, without resamples in which a run has no value.
    package private(set) var ratios: [Double]

    package init(ratios: [Double]) { self.ratios = ratios.filter { !$0.isNaN }.sorted() }

    /// Resamples any statistic. `statistic`: of how often each block counts; not a number where it is not defined.
    package init(blocks: Int, of statistic: ([Int]) -> Double) {
        self.init(ratios: BlockDraws(blocks: blocks, resamples: Self.resamples).map(statistic))
    }

    /// Resamples the percentiles of two runs, the same blocks of both.
    package static func percentiles(
        _ percentiles: [Percentile], base: BlockedValues, new: BlockedValues, blocks: Int
    ) -> [BlockBootstrap] {
        let (base, new) = (base.binned(Self.ranks), new.binned(Self.ranks))
        let sizes = [base, new].map { Self.sizes($0, blocks) }
        var ratios = percentiles.map { _ in [Double]() }
        for weights in BlockDraws(blocks: blocks, resamples: Self.resamples) {
            let before = Self.values(percentiles, base, sizes[0], weights)
            let after = Self.values(percentiles, new, sizes[1], weights)
            guard before.count == percentiles.count, after.count == percentiles.count else { continue }
            for index in percentiles.indices { ratios[index].append(Self.ratio(before[index], after[index])) }
        }
        return ratios.map { BlockBootstrap(ratios: $0) }
    }

    /// The growth from one value to another. What never ends in both did not change.
    package static func ratio(_ base: Double, _ new: Double) -> Double { base == new ? 1 : new / base }

    /// The number of values of each block.
    private static func sizes(_ entries: [BlockedValues.Entry], _ blocks: Int) -> [Int] {
        entries.reduce(into: [Int](repeating: 0, count: blocks)) { $0[$1.block] += $1.count }
    }

    /// The values at ascending percentiles, where each block counts as often as it was drawn; none if nothing was.
    private static func values(
        _ percentiles: [Percentile], _ entries: [BlockedValues.Entry], _ sizes: [Int], _ weights: [Int]
    ) -> [Double] {
        let total = zip(sizes, weights).reduce(0) { $0 + $1.0 * $1.1 }
        guard total > 0 else { return [] }
        var values: [Double] = []
        var passed = 0
        var rank = percentiles[0].rank(of: total)
        for entry in entries {
            passed += entry.count * weights[entry.block]
            while passed >= rank {
                values.append(entry.value)
                guard values.count < percentiles.count else { return values }
                rank = percentiles[values.count].rank(of: total)
            }
        }
        return values
    }

    // MARK: Reading

    /// The interval that holds the ratio with this confidence, from 0 to 1; nil without resamples.
    package func interval(_ confidence: Double) -> ClosedRange<Double>? {
        guard let last = self.ratios.indices.last else { return nil }
        let outside = Int((Double(self.ratios.count) * (1 - confidence) / 2).rounded(.down))
        return self.ratios[min(outside, last)]...self.ratios[max(last - outside, min(outside, last))]
    }

    /// The probability, by the resamples, of a ratio that is not above the limit.
    package func notAbove(_ limit: Double) -> Double {
        Self.probability(self.ratios.partitionPoint { $0 > limit }, of: self.ratios.count)
    }

    /// The probability, by the resamples, of a ratio that is not below the limit.
    package func notBelow(_ limit: Double) -> Double {
        Self.probability(self.ratios.count - self.ratios.partitionPoint { $0 >= limit }, of: self.ratios.count)
    }

    /// Never 0: what no resample shows is not impossible.
    private static func probability(_ count: Int, of all: Int) -> Double { Double(count + 1) / Double(all + 1) }
}

extension Array {
    /// The number of elements before the first that fits, in an array where all that fit come last.
    fileprivate func partitionPoint(_ fits: (Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if fits(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Percentile {
    /// The nearest rank, from 1: the least that is not below the share.
    fileprivate func rank(of count: Int) -> Int {
        Swift.max(1, (count * Int(self.perMillion) + 999_999) / 1_000_000)
    }
}

/// Holm's step-down correction (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979): the probability that any of
/// several true hypotheses is rejected stays below the level.
package enum HolmCorrection {
    /// Returns the adjusted probabilities in the order of those that are given.
    package static func adjusted(_ probabilities: [Double]) -> [Double] {
        let order = probabilities.indices.sorted { probabilities[$0] < probabilities[$1] }
        var adjusted = probabilities
        var highest = 0.0
        for (place, index) in order.enumerated() {
            highest = max(highest, min(1, Double(probabilities.count - place) * probabilities[index]))
            adjusted[index] = highest
        }
        return adjusted
    }
}
