/// The change of a latency between two runs by one measure.
package struct LatencyFinding: Hashable, Sendable {
    package enum Measure: Hashable, Sendable {
        /// Values are nanoseconds, and infinite where so many did not end.
        case percentile(Percentile, base: Double, new: Double)
        /// The growth within the pairs of scans.
        case pairs(count: Int)
    }

    package var measure: Measure
    /// NEW divided by BASE.
    package var ratio: Double
    /// The ratios that are possible with a confidence of 99 %; nil where there is no chance, or too little to say.
    package var interval: ClosedRange<Double>?
    /// The growth that is allowed: the tolerance, and what the clockwork of the phones' own side may add.
    package var limit: Double
    /// Worse, better, the same, or not proven.
    package var change: Change
    /// About how many scans it would take to prove it either way; nil if it is proven, or if no number would do.
    package var scansNeeded: Int?

    /// Nil for the pairs.
    package var percentile: Percentile? {
        switch self.measure {
        case .percentile(let percentile, _, _): percentile
        case .pairs: nil
        }
    }
}

/// Whether latencies got worse from one run to another by more than is tolerated.
///
/// Between two simulated runs of one seed there is no chance, and the ratio decides. Elsewhere a latency is worse if the whole
/// interval of its ratio is above the limit, and no regression if the whole interval is below it. Of everything that is called
/// worse, at most one in a hundred comparisons is wrong (Holm's correction). That all are no regression needs no correction: each
/// of them must hold. Ratios are those of two percentiles and, of scans that are pairs, the growth within the
/// pairs: percentiles do not show which scan is which, and vary with the block where values come in several
/// heaps.
package struct LatencyJudge: Sendable {
    /// The two runs' values of one latency.
    package struct Sides: Sendable {
        package var base: BlockedValues
        package var new: BlockedValues
        /// Those of scans that both runs have; none where scans are not paired.
        package var pairs: PairedValues

        package init(
            base: BlockedValues = BlockedValues(), new: BlockedValues = BlockedValues(),
            pairs: PairedValues = PairedValues()
        ) {
            self.base = base
            self.new = new
            self.pairs = pairs
        }
    }

    /// The judged percentiles. Only a long run has enough samples for a p99.
    package static let percentiles: [Percentile] = [.p50, .p95]
    /// The smallest number of values for which a percentile is judged where there is chance.
    package static let samplesMin = 20
    package static let confidence = 0.99
    /// What a one-sided probability is compared with.
    private static let level = (1 - Self.confidence) / 2
    /// A smaller difference, in nanoseconds, is none; the lateness of timers comes on top of it.
    package static let differenceMin: Int64 = 2_000_000
    /// More scans than anybody will run.
    private static let scansMax = 10_000_000.0

    /// The allowed growth of a latency, in parts per million.
    package var tolerance: Int64
    /// False between two simulated runs of one seed.
    package var hasChance: Bool
    /// How late the timers of the phones were, in nanoseconds: an exchange waits for several turns of the loop.
    package var lateness: Int64
    /// Blocks of time.
    package var blocks: Int

    package init(tolerance: Int64, hasChance: Bool, lateness: Int64, blocks: Int) {
        self.tolerance = tolerance
        self.hasChance = hasChance
        self.lateness = lateness
        self.blocks = blocks
    }

    /// The ratio above which a percentile of this value has grown by more than is tolerated.
    package func limit(from base: Double) -> Double {
        let tolerated = self.tolerated
        return 1 + (base.isFinite && base > 0 ? max(tolerated, self.least / base) : tolerated)
    }

    /// The allowed growth as a share.
    private var tolerated: Double { Double(self.tolerance) / 1_000_000 }

    /// A smaller difference, in nanoseconds, is none.
    private var least: Double { Double(Self.differenceMin + self.lateness) }

    /// Judges several latencies together; none for a latency without values in one of the runs.
    package func findings(_ latencies: [Sides]) -> [[LatencyFinding]] {
        let growths = latencies.map { self.growth($0.pairs) }
        var findings = zip(latencies, growths).map { self.estimates($0, $1) }
        guard self.hasChance else { return findings }
        let judged = latencies.indices.filter { self.isEnough(latencies[$0]) }
        let count = BlockBootstrap.resamples(
            tests: judged.reduce(0) { $0 + findings[$1].count }, level: Self.level)
        let places = judged.flatMap { row in
            self.resampled(latencies[row], growths[row], count).enumerated().map {
                (row: row, column: $0, ratios: $1)
            }
        }
        let limits = places.map { findings[$0.row][$0.column].limit }
        let worse = HolmCorrection.adjusted(zip(places, limits).map { $0.ratios.notAbove($1) })
        let better = HolmCorrection.adjusted(zip(places, limits).map { $0.ratios.notBelow(1 / $1) })
        for (index, place) in places.enumerated() {
            var finding = findings[place.row][place.column]
            finding.interval = place.ratios.interval(Self.confidence)
            finding.change = Self.change(
                worse: worse[index], better: better[index], notBelow: place.ratios.notBelow(limits[index]))
            finding.scansNeeded = finding.estimatedScans(latencies[place.row].base.count)
            findings[place.row][place.column] = finding
        }
        return findings
    }

    private func isEnough(_ sides: Sides) -> Bool {
        min(sides.base.count, sides.new.count) >= Self.samplesMin
    }

    /// Nil where there are too few pairs to judge.
    private func growth(_ pairs: PairedValues) -> PairGrowth? {
        guard pairs.count >= (self.hasChance ? Self.samplesMin : 1) else { return nil }
        return PairGrowth(pairs, tolerance: self.tolerated, least: self.least, blocks: self.blocks)
    }

    /// The ratios of all resamples, in the order of the estimates.
    private func resampled(_ sides: Sides, _ growth: PairGrowth?, _ resamples: Int) -> [BlockBootstrap] {
        BlockBootstrap.percentiles(
            Self.percentiles, base: sides.base, new: sides.new, blocks: self.blocks, resamples: resamples)
            + (growth.map { [$0.resampled(resamples)] } ?? [])
    }

    /// The estimates, and what they say without chance.
    private func estimates(_ sides: Sides, _ growth: PairGrowth?) -> [LatencyFinding] {
        let percentiles = Self.percentiles.compactMap { percentile -> LatencyFinding? in
            guard let base = sides.base.value(at: percentile), let new = sides.new.value(at: percentile)
            else { return nil }
            return self.estimate(
                .percentile(percentile, base: base, new: new), BlockBootstrap.ratio(base, new),
                limit: self.limit(from: base))
        }
        guard let growth, let ratio = growth.ratio else { return percentiles }
        return percentiles + [self.estimate(.pairs(count: growth.count), ratio, limit: growth.limit)]
    }

    private func estimate(_ measure: LatencyFinding.Measure, _ ratio: Double, limit: Double) -> LatencyFinding
    {
        var finding = LatencyFinding(measure: measure, ratio: ratio, limit: limit, change: .notProven)
        if self.hasChance {
            finding.scansNeeded = Self.samplesMin
        } else {
            finding.change = ratio > limit ? .worse : ratio < 1 / limit ? .better : .same
        }
        return finding
    }

    /// What the probabilities say, each of one side of the interval.
    private static func change(worse: Double, better: Double, notBelow: Double) -> Change {
        if worse <= Self.level { return .worse }
        guard notBelow <= Self.level else { return .notProven }
        return better <= Self.level ? .better : .same
    }

    /// Returns the change over all measures: an improvement of one does not outweigh a regression of
    /// another.
    package static func change(_ findings: [LatencyFinding]) -> Change {
        let order: [Change] = [.worse, .notProven, .better, .same]
        return order.first { change in findings.contains { $0.change == change } } ?? .notProven
    }

    fileprivate static func scans(_ count: Double) -> Int? {
        count.isFinite && count < Self.scansMax ? Int(count.rounded(.up)) : nil
    }
}

extension LatencyFinding {
    /// An interval becomes half as wide with four times the scans: what it takes until it ends before the limit.
    fileprivate func estimatedScans(_ count: Int) -> Int? {
        guard self.change == .notProven, let interval = self.interval, self.ratio.isFinite, self.ratio > 0
        else { return nil }
        let isAbove = self.ratio > self.limit
        let end = isAbove ? interval.lowerBound : interval.upperBound
        let (reach, room) = (abs(end - self.ratio), abs(self.limit - self.ratio))
        guard room > 0 else { return nil }
        return LatencyJudge.scans(Double(count) * max(1, reach / room * (reach / room)) * 1.1)
    }
}
