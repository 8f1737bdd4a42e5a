import SimBase

/// The families of a run or of a server with their values, in the order in which they are written: as text for a scraper
/// (`MetricsText`), or as OTLP for a collector.
package struct MetricSamples: Sendable {
    /// Names and values in the order in which they are written. The names are this program's, the values anybody's.
    package typealias Labels = [(String, String)]

    /// What a family has for each set of labels.
    package typealias Samples = [(Labels, String)]

    package enum Values: Sendable {
        /// Of a counter, a gauge or an info.
        case samples(Samples)
        /// Of nanoseconds.
        case histograms([(Labels, HDRHistogram)])
    }

    /// The upper ends of the buckets of every histogram, in nanoseconds: 1, 2 and 5 of each power of ten from 1 ms to 500 s.
    package static let bounds: [Int64] = [
        1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000,
    ]
    .flatMap { [$0, 2 * $0, 5 * $0] }

    /// Those that have values.
    package private(set) var families: [(family: MetricFamily, values: Values)] = []

    package init() {}

    package func text(as format: MetricsText.Format) -> String { MetricsText(format, self).finished }

    // MARK: Families

    /// Adds a counter, a gauge or an info; nothing without samples.
    package mutating func add(_ family: MetricFamily, _ samples: Samples) {
        precondition(family.kind != .histogram, "a histogram has three kinds of samples")
        if !samples.isEmpty { self.families.append((family, .samples(samples))) }
    }

    package mutating func add(_ fact: MetricFamily.Fact, _ samples: Samples) {
        self.add(MetricFamily(fact), samples)
    }

    /// A single sample without labels; nothing for nil.
    package mutating func add(_ fact: MetricFamily.Fact, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        self.add(fact, [([], "\(value)")])
    }

    /// Adds a histogram of nanoseconds for each set of labels; an empty one is left out.
    package mutating func add(_ family: MetricFamily, _ histograms: [(Labels, HDRHistogram)]) {
        let histograms = histograms.filter { !$0.1.isEmpty }
        if !histograms.isEmpty { self.families.append((family, .histograms(histograms))) }
    }

    // MARK: Values

    /// Whole seconds have a point, too: this is the canonical form of both formats.
    package static func seconds(_ nanoseconds: Int64) -> String {
        DecimalText.text(nanoseconds, decimals: 9, shown: 1...9)
    }

    /// In seconds.
    package static func sum(_ histogram: HDRHistogram) -> String {
        Self.seconds(Int64(clamping: histogram.sum))
    }
}
