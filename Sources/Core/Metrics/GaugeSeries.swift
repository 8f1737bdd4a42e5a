package import SimBase

/// The minimum and maximum of a changing number in each interval of a run.
///
/// Its memory is bounded: when there are too many intervals, each two become one.
package struct GaugeSeries: Hashable, Sendable {
    package struct Sample: Hashable, Sendable {
        package var from: Instant
        package var to: Instant
        package var least: Int
        package var most: Int
    }

    package static let samplesMax = 8_192

    package private(set) var samples: [Sample] = []
    /// Whether it is the sum of several. When each of them had its minimum and maximum in an interval is not known, so that the
    /// sum was somewhere between both.
    package private(set) var isSum = false
    private var until = Instant.zero

    package init() {}

    /// Adds the counts since the last call, up to a time.
    package mutating func add(least: Int, most: Int, upTo moment: Instant) {
        guard moment > self.until else { return }
        self.samples.append(Sample(from: self.until, to: moment, least: least, most: most))
        self.until = moment
        if self.samples.count >= Self.samplesMax { self.halve() }
    }

    private mutating func halve() {
        self.samples = stride(from: 0, to: self.samples.count, by: 2).map { index in
            let (first, second) = (
                self.samples[index], self.samples[min(index + 1, self.samples.count - 1)]
            )
            return Sample(
                from: first.from, to: second.to, least: min(first.least, second.least),
                most: max(first.most, second.most))
        }
    }

    /// Adds the counts of another process or machine at the same time. Before its first sample and after its
    /// last one there was nothing.
    package mutating func add(_ other: GaugeSeries) {
        var sum = GaugeSeries()
        var (mine, others) = (self.samples[...], other.samples[...])
        while let to = [mine.first?.to, others.first?.to].compactMap({ $0 }).min() {
            sum.samples.append(
                Sample(
                    from: sum.until, to: to, least: (mine.first?.least ?? 0) + (others.first?.least ?? 0),
                    most: (mine.first?.most ?? 0) + (others.first?.most ?? 0)))
            sum.until = to
            if mine.first?.to == to { mine.removeFirst() }
            if others.first?.to == to { others.removeFirst() }
        }
        while sum.samples.count >= Self.samplesMax { sum.halve() }
        sum.isSum = true
        self = sum
    }

    /// The most that there ever was, and the end of the first interval that saw it; of a sum, the most that is certain. Nil before
    /// anything was counted.
    package var peak: (count: Int, by: Instant)? {
        let count: KeyPath<Sample, Int> = self.isSum ? \.least : \.most
        guard let most = self.samples.map({ $0[keyPath: count] }).max(),
            let first = self.samples.first(where: { $0[keyPath: count] == most })
        else { return nil }
        return (most, first.to)
    }

    /// No more than this there ever was: the peak, if it is not a sum. 0 before anything was counted.
    package var ceiling: Int { self.samples.map(\.most).max() ?? 0 }

    /// Returns the total time with at least this count; intervals with a smaller count are left out.
    package func time(atLeast count: Int) -> Interval {
        self.samples.reduce(.zero) { $1.least >= count ? $0 + ($1.to - $1.from) : $0 }
    }
}
