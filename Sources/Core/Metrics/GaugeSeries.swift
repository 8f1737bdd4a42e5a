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
    private var until = Instant.zero

    package init() {}

    /// Adds the counts since the last call, up to a moment.
    package mutating func add(least: Int, most: Int, upTo moment: Instant) {
        guard moment > self.until else { return }
        self.samples.append(Sample(from: self.until, to: moment, least: least, most: most))
        self.until = moment
        if self.samples.count >= Self.samplesMax { self.halve() }
    }

    private mutating func halve() {
        self.samples = stride(from: 0, to: self.samples.count - 1, by: 2).map { index in
            let (first, second) = (self.samples[index], self.samples[index + 1])
            return Sample(
                from: first.from, to: second.to, least: min(first.least, second.least),
                most: max(first.most, second.most))
        }
    }

    /// The most that there ever was, and the end of the first interval that saw it. Nil before anything was counted.
    package var peak: (count: Int, by: Instant)? {
        guard let most = self.samples.map(\.most).max(),
            let first = self.samples.first(where: { $0.most == most })
        else { return nil }
        return (most, first.to)
    }

    /// Returns the total time with at least this count; intervals with a smaller count are left out.
    package func time(atLeast count: Int) -> Interval {
        self.samples.reduce(.zero) { $1.least >= count ? $0 + ($1.to - $1.from) : $0 }
    }
}
