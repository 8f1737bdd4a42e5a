import SimBase

/// The values of one run, each in a block of its time. Scans of one outage are not independent of each other, so blocks are
/// resampled, and never single values.
package struct BlockedValues: Sendable {
    struct Entry: Equatable {
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

    /// The greatest value of what ended.
    fileprivate var slowest: Double { self.entries.map(\.value).filter(\.isFinite).max() ?? 1 }

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
    func binned(_ ranks: Int) -> [Entry] {
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

    /// Enough for each of several tests to be below a level although their probabilities are corrected.
    package static func resamples(tests: Int, level: Double) -> Int {
        max(Self.resamples, Int(2 * Double(tests) / level) - 1)
    }

    /// Ranks that are distinguished in a resample. The estimates themselves use all.
    static let ranks = 1_024

    /// In ascending order, without resamples in which a run has no value.
    package private(set) var ratios: [Double]

    package init(ratios: [Double]) { self.ratios = ratios.filter { !$0.isNaN }.sorted() }

    /// Resamples any statistic. `statistic`: of how often each block counts; not a number where it is not defined.
    package init(blocks: Int, of statistic: ([Int]) -> Double) {
        self.init(ratios: BlockDraws(blocks: blocks, resamples: Self.resamples).map(statistic))
    }

    /// Resamples the percentiles of two runs, the same blocks of both. In a resample, a percentile is that of Harrell and Davis.
    package static func percentiles(
        _ percentiles: [Percentile], base: BlockedValues, new: BlockedValues, blocks: Int,
        resamples: Int
    ) -> [BlockBootstrap] {
        guard base.entries != new.entries else {
            // Two runs without any difference are alike in every resample.
            let same = BlockBootstrap(ratios: Array(repeating: 1, count: resamples))
            return percentiles.map { _ in same }
        }
        let slowest = max(base.slowest, new.slowest)
        let sides = [base, new].map {
            ResampledValues($0.binned(Self.ranks), slowest: slowest, blocks: blocks)
        }
        let weights = percentiles.map { SmoothedPercentile($0, of: min(base.count, new.count)) }
        var ratios = percentiles.map { _ in [Double]() }
        for draw in BlockDraws(blocks: blocks, resamples: resamples) {
            for index in percentiles.indices {
                guard let before = sides[0].value(at: weights[index], draw),
                    let after = sides[1].value(at: weights[index], draw)
                else { continue }
                ratios[index].append(Self.ratio(before, after))
            }
        }
        return ratios.map { BlockBootstrap(ratios: $0) }
    }

    /// The growth from one value to another. What never ends in both did not change.
    package static func ratio(_ base: Double, _ new: Double) -> Double { base == new ? 1 : new / base }

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
        Self.probability(
            self.ratios.count - self.ratios.partitionPoint { $0 >= limit }, of: self.ratios.count)
    }

    /// Never 0: what no resample shows is not impossible.
    private static func probability(_ count: Int, of all: Int) -> Double {
        Double(count + 1) / Double(all + 1)
    }
}

/// The values of a run in the order of their size, to be drawn block by block.
struct ResampledValues {
    private let entries: [BlockedValues.Entry]
    /// The number of values of each block.
    private let sizes: [Int]

    /// `slowest`: of all values that ended. What did not end counts as ten times as long.
    init(_ sorted: [BlockedValues.Entry], slowest: Double, blocks: Int) {
        self.entries = sorted.map { entry in
            var entry = entry
            if !entry.value.isFinite { entry.value = slowest * 10 }
            return entry
        }
        self.sizes = sorted.reduce(into: [Int](repeating: 0, count: blocks)) { $0[$1.block] += $1.count }
    }

    /// Where each block counts as often as it was drawn; nil if nothing was.
    func value(at weights: some RankWeights, _ draw: [Int]) -> Double? {
        let total = zip(self.sizes, draw).reduce(0) { $0 + $1.0 * $1.1 }
        guard total > 0 else { return nil }
        let first = Int(Double(total) * weights.from)
        var (passed, before, sum) = (0, 0.0, 0.0)
        for entry in self.entries {
            passed += entry.count * draw[entry.block]
            guard passed > first else { continue }
            let upTo = weights.weight(upTo: Double(passed) / Double(total))
            sum += (upTo - before) * entry.value
            before = upTo
            if upTo >= 1 { break }
        }
        return sum
    }
}

/// What each value of a sample counts for in a mean, by its rank.
protocol RankWeights {
    /// The share of the smallest values that count for nothing.
    var from: Double { get }

    /// The weight of all values up to this share of them, from 0 to 1.
    func weight(upTo share: Double) -> Double
}

/// A percentile as the mean of the values about its rank, with the weights of a beta distribution (Harrell and Davis, "A New
/// Distribution-Free Quantile Estimator", Biometrika 69, 1982). Where values come in two heaps, as with two links, the nearest rank
/// jumps from one to the other by chance.
package struct SmoothedPercentile: RankWeights, Sendable {
    private static let cells = 4_096
    /// More values would make the weights narrower than the cells.
    private static let countMax = 100_000

    /// The weight of all shares up to each cell's end.
    private let sums: [Double]
    /// The share below which there is no weight.
    let from: Double

    package init(_ percentile: Percentile, of count: Int) {
        let (share, count) = (
            Double(percentile.perMillion) / 1_000_000, Double(min(count, Self.countMax) + 1)
        )
        let (high, low) = (share * count - 1, (1 - share) * count - 1)
        let places = (0..<Self.cells).map { Self.logarithm(2 * $0 + 1, of: 2 * Self.cells) }
        let logarithms = zip(places, places.reversed()).map { high * $0 + low * $1 }
        let most = logarithms.max() ?? 0
        let weights = logarithms.map { Self.exponential($0 - most) }
        let all = weights.reduce(0, +)
        var sum = 0.0
        self.sums = weights.map { weight in
            sum += weight / all
            return sum > 1 - 1e-12 ? 1 : sum < 1e-12 ? 0 : sum
        }
        self.from = Double(self.sums.firstIndex { $0 > 0 } ?? 0) / Double(Self.cells)
    }

    /// ln of a share, by whole numbers: C libraries differ in their last bits.
    private static func logarithm(_ count: Int, of whole: Int) -> Double {
        let parts = [count, whole].map {
            Double(FixedPointLogarithm.natural(ofBinary: FixedPointLogarithm.binary(UInt64($0))))
        }
        return (parts[0] - parts[1]) / Double(UInt64(1) << UInt64(FixedPointLogarithm.fractionBits))
    }

    /// e to the power of a number that is not positive, by its series.
    private static func exponential(_ power: Double) -> Double {
        guard power > -700 else { return 0 }
        let part = power / 1_024
        var value = 1 + part * (1 + part / 2 * (1 + part / 3 * (1 + part / 4 * (1 + part / 5))))
        for _ in 0..<10 { value *= value }
        return value
    }

    /// The weight of all values up to this share of them.
    package func weight(upTo share: Double) -> Double {
        let place = share * Double(Self.cells)
        let cell = min(Int(place), Self.cells - 1)
        let before = cell == 0 ? 0 : self.sums[cell - 1]
        return before + (self.sums[cell] - before) * min(1, place - Double(cell))
    }
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
