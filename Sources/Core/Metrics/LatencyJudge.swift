package import SimBase

/// The variation of a latency's percentiles during a run: their values in successive windows, each just long
/// enough for a few samples.
package struct LatencyWindows: Equatable, Sendable {
    /// The smallest number of samples for which a percentile is judged.
    package static let samplesMin: Int64 = 20

    /// The recorded percentiles: the judged ones, and the most common ones of objectives.
    static let percentiles: [Percentile] = [.p50, .p90, .p95, .p99]

    /// The values by index of the percentile.
    private var values = [[Int64]](repeating: [], count: Self.percentiles.count)
    private var open = HDRHistogram()

    package init() {}

    /// Adds the next histogram. The last samples of a finished run that do not fill a window are in none.
    package mutating func add(_ histogram: HDRHistogram) {
        self.open.add(histogram)
        guard self.open.total >= Self.samplesMin else { return }
        for (index, percentile) in Self.percentiles.enumerated() {
            if let value = self.open.value(at: percentile) { self.values[index].append(value) }
        }
        self.open.reset()
    }

    package var count: Int { self.values.first?.count ?? 0 }

    /// Returns the range from the first to the last decile of the windows; for few windows, from the minimum
    /// to the maximum.
    func spread(of percentile: Percentile) -> ClosedRange<Int64>? {
        guard let index = Self.percentiles.firstIndex(of: percentile) else { return nil }
        let sorted = self.values[index].sorted()
        guard let least = sorted.first, let most = sorted.last else { return nil }
        let tenth = (sorted.count - 1) / 10
        return max(least, sorted[tenth])...min(most, sorted[sorted.count - 1 - tenth])
    }
}

/// One run's side of the comparison of a latency.
package struct LatencySide: Sendable {
    package var whole: HDRHistogram
    package var windows: LatencyWindows
    /// The timer lag of the phones in this run. It is part of every latency.
    package var lateness: HDRHistogram

    package init(whole: HDRHistogram, windows: LatencyWindows, lateness: HDRHistogram) {
        self.whole = whole
        self.windows = windows
        self.lateness = lateness
    }
}

/// The change of a percentile between two runs.
package struct LatencyFinding: Hashable, Sendable {
    package var percentile: Percentile
    package var base: Int64
    package var new: Int64
    /// The range of its variation during the runs, and by chance.
    package var baseSpread: ClosedRange<Int64>
    package var newSpread: ClosedRange<Int64>
    package var change: Change
}

/// Whether a latency got worse: by more than is tolerated, by more than the clockwork of the phones' own side, and to
/// where neither run went while the other was there.
package struct LatencyJudge: Sendable {
    /// The judged percentiles. Only a long run has enough samples for a p99.
    package static let percentiles: [Percentile] = [.p50, .p95]
    /// A smaller difference is none; the lateness of timers comes on top of it.
    package static let differenceMin = Interval.milliseconds(2)
    /// The percentile of timer lag that is judged: an exchange waits for several turns of the loop, so its
    /// median depends on the higher percentiles.
    private static let latenessPercentile = Percentile.p95
    /// Standard errors around a percentile's rank that chance alone hardly ever makes.
    private static let errors = 3.0

    /// The allowed growth of a latency, in parts per million.
    package var tolerance: Int64

    package init(tolerance: Int64) { self.tolerance = tolerance }

    /// Returns one finding per percentile; none if a run has too few samples.
    package func findings(base: LatencySide, new: LatencySide) -> [LatencyFinding] {
        guard min(base.whole.total, new.whole.total) >= LatencyWindows.samplesMin else { return [] }
        return Self.percentiles.compactMap { self.finding($0, base: base, new: new) }
    }

    /// Nil if a run has no sample.
    package func finding(_ percentile: Percentile, base: LatencySide, new: LatencySide) -> LatencyFinding? {
        guard let before = base.whole.value(at: percentile), let after = new.whole.value(at: percentile),
            let baseSpread = base.spread(of: percentile), let newSpread = new.spread(of: percentile)
        else { return nil }
        var finding = LatencyFinding(
            percentile: percentile, base: before, new: after, baseSpread: baseSpread, newSpread: newSpread,
            change: .same)
        let lateness =
            [base.lateness, new.lateness].compactMap { $0.value(at: Self.latenessPercentile) }.max() ?? 0
        guard self.isBeyond(before, after, lateness: lateness) else { return finding }
        if newSpread.overlaps(baseSpread) {
            finding.change = .withinSpread
        } else {
            finding.change = after > before ? .worse : .better
        }
        return finding
    }

    /// Whether two times differ by more than is tolerated.
    package func isBeyond(_ base: Int64, _ new: Int64, lateness: Int64) -> Bool {
        let difference = UInt128((new - base).magnitude)
        return difference > UInt128(Self.differenceMin.nanoseconds + lateness)
            && difference * 1_000_000 > UInt128(base.magnitude) * UInt128(self.tolerance)
    }

    /// Returns the change over all percentiles: an improvement of one does not outweigh a regression of
    /// another.
    package static func change(_ findings: [LatencyFinding]) -> Change {
        let order: [Change] = [.worse, .better, .withinSpread, .same]
        return order.first { change in findings.contains { $0.change == change } } ?? .tooFew
    }

    /// The percentiles between whose values the true one lies, by the order of the samples alone.
    fileprivate static func chance(_ percentile: Percentile, samples: Int64) -> ClosedRange<Percentile> {
        let share = Double(percentile.perMillion) / 1_000_000
        let reach = Self.errors * (share * (1 - share) / Double(samples)).squareRoot()
        func at(_ share: Double) -> Percentile {
            Percentile(perMillion: UInt32((min(max(share, 0), 1) * 1_000_000).rounded()))
        }
        return at(share - reach)...at(share + reach)
    }
}

extension LatencySide {
    fileprivate func spread(of percentile: Percentile) -> ClosedRange<Int64>? {
        let chance = LatencyJudge.chance(percentile, samples: self.whole.total)
        guard let low = self.whole.value(at: chance.lowerBound),
            let high = self.whole.value(at: chance.upperBound)
        else { return nil }
        guard let windows = self.windows.spread(of: percentile) else { return low...high }
        return min(low, windows.lowerBound)...max(high, windows.upperBound)
    }
}
