/// The change of a percentile between two runs. Values are nanoseconds.
package struct LatencyFinding: Hashable, Sendable {
    package var percentile: Percentile
    /// Infinite where so many did not end.
    package var base: Double
    package var new: Double
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
}

/// Whether latencies got worse from one run to another by more than is tolerated.
///
/// Between two simulated runs of one seed there is no chance, and the ratio decides. Elsewhere a latency is worse if the whole
/// interval of its ratio is above the limit, and no regression if the whole interval is below it. Of everything that is called
/// worse, at most one in a hundred comparisons is wrong (Holm's correction). That all are no regression needs no correction: each
/// of them must hold.
package struct LatencyJudge: Sendable {
    /// The two runs' values of one latency.
    package struct Sides: Sendable {
        package var base: BlockedValues
        package var new: BlockedValues

        package init(base: BlockedValues = BlockedValues(), new: BlockedValues = BlockedValues()) {
            self.base = base
            self.new = new
        }
    }

    /// The judged percentiles. Only a long run has enough samples for a p99.
    package static let percentiles: [Percentile] = [.p50, .p95]
    /// The smallest number of values for which a percentile is judged where there is chance.
    package static let samplesMin = 20
    package static let confidence = 0.99
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
        let least = Double(Self.differenceMin + self.lateness)
        let tolerated = Double(self.tolerance) / 1_000_000
        return 1 + (base.isFinite && base > 0 ? max(tolerated, least / base) : tolerated)
    }

    /// Judges several latencies together; none for a latency without values in one of the runs.
    package func findings(_ latencies: [Sides]) -> [[LatencyFinding]] {
        let resamples = latencies.map { sides in
            self.hasChance && self.hasEnough(sides)
                ? BlockBootstrap.percentiles(
                    Self.percentiles, base: sides.base, new: sides.new, blocks: self.blocks) : []
        }
        var findings = zip(latencies, resamples).map { self.estimates($0, $1) }
        let places = findings.indices.flatMap { row in
            findings[row].indices.filter { resamples[row].indices.contains($0) }.map {
                (row: row, column: $0)
            }
        }
        let worse = HolmCorrection.adjusted(
            places.map { resamples[$0.row][$0.column].notAbove(findings[$0.row][$0.column].limit) })
        let better = HolmCorrection.adjusted(
            places.map { resamples[$0.row][$0.column].notBelow(1 / findings[$0.row][$0.column].limit) })
        for (index, place) in places.enumerated() {
            let (ratios, limit) = (
                resamples[place.row][place.column], findings[place.row][place.column].limit
            )
            findings[place.row][place.column].change = Self.change(
                worse: worse[index], better: better[index], notBelow: ratios.notBelow(limit))
            findings[place.row][place.column].estimateScans(latencies[place.row].base.count)
        }
        return findings
    }

    private func hasEnough(_ sides: Sides) -> Bool {
        min(sides.base.count, sides.new.count) >= Self.samplesMin
    }

    /// The estimates, and what they say without chance.
    private func estimates(_ sides: Sides, _ resamples: [BlockBootstrap]) -> [LatencyFinding] {
        Self.percentiles.enumerated().compactMap { index, percentile in
            guard let base = sides.base.value(at: percentile), let new = sides.new.value(at: percentile)
            else { return nil }
            let ratio = BlockBootstrap.ratio(base, new)
            let limit = self.limit(from: base)
            var finding = LatencyFinding(
                percentile: percentile, base: base, new: new, ratio: ratio, limit: limit,
                change: .notProven)
            if !self.hasChance {
                finding.change = ratio > limit ? .worse : ratio < 1 / limit ? .better : .same
            }
            guard resamples.indices.contains(index) else {
                if self.hasChance { finding.scansNeeded = Self.samplesMin }
                return finding
            }
            finding.interval = resamples[index].interval(Self.confidence)
            return finding
        }
    }

    /// What the probabilities say, each of one side of the interval.
    private static func change(worse: Double, better: Double, notBelow: Double) -> Change {
        let level = (1 - Self.confidence) / 2
        if worse <= level { return .worse }
        guard notBelow <= level else { return .notProven }
        return better <= level ? .better : .same
    }

    /// Returns the change over all percentiles: an improvement of one does not outweigh a regression of
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
    fileprivate mutating func estimateScans(_ count: Int) {
        guard self.change == .notProven, let interval = self.interval, self.ratio.isFinite, self.ratio > 0
        else { return }
        let isAbove = self.ratio > self.limit
        let end = isAbove ? interval.lowerBound : interval.upperBound
        let (reach, room) = (abs(end - self.ratio), abs(self.limit - self.ratio))
        guard room > 0 else { return }
        self.scansNeeded = LatencyJudge.scans(Double(count) * max(1, reach / room * (reach / room)) * 1.1)
    }
}
