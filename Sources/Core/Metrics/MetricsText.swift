import SimBase

/// Families as text for a scraper: OpenMetrics 1.0, or the older format of Prometheus (text/plain 0.0.4).
package struct MetricsText: Sendable {
    package enum Format: Hashable, Sendable {
        case openMetrics
        case prometheus

        /// `accept`: of the request. The older format is for those who ask for it and not for OpenMetrics.
        package init(accept: String?) {
            let accept = accept ?? ""
            self =
                accept.contains("text/plain") && !accept.contains("application/openmetrics-text")
                ? .prometheus : .openMetrics
        }

        package var contentType: String {
            switch self {
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            }
        }
    }

    /// Names and values in the order in which they are written. The names are this program's, the values anybody's.
    package typealias Labels = [(String, String)]

    /// What a family has for each set of labels.
    package typealias Samples = [(Labels, String)]

    /// The upper ends of the buckets of every histogram, in nanoseconds: 1, 2 and 5 of each power of ten from 1 ms to 500 s.
    package static let bounds: [Int64] = [
        1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000,
    ]
    .flatMap { [$0, 2 * $0, 5 * $0] }

    private let format: Format
    private var text = ""

    package init(_ format: Format) { self.format = format }

    // MARK: Families

    /// Adds a counter, a gauge or an info; nothing without samples.
    package mutating func add(_ family: MetricFamily, _ samples: Samples) {
        precondition(family.kind != .histogram, "a histogram has three kinds of samples")
        guard !samples.isEmpty else { return }
        self.head(family)
        for (labels, value) in samples { self.sample(family.sampleNames[0], labels, value) }
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
    package mutating func add(
        _ family: MetricFamily, _ histograms: [(Labels, HDRHistogram)]
    ) {
        let histograms = histograms.filter { !$0.1.isEmpty }
        guard !histograms.isEmpty else { return }
        self.head(family)
        for (labels, histogram) in histograms {
            for bound in Self.bounds {
                // Whole seconds have a point, too: this is the canonical form.
                let end = DecimalText.text(bound, decimals: 9, shown: 1...9)
                self.sample(
                    family.name + "_bucket", labels + [("le", end)],
                    "\(histogram.count(atOrBelow: bound))")
            }
            self.sample(family.name + "_bucket", labels + [("le", "+Inf")], "\(histogram.total)")
            self.sample(family.name + "_count", labels, "\(histogram.total)")
            self.sample(family.name + "_sum", labels, Self.seconds(Int64(clamping: histogram.sum)))
        }
    }

    /// The whole text.
    package var finished: String {
        switch self.format {
        case .openMetrics: self.text + "# EOF\n"
        case .prometheus: self.text
        }
    }

    // MARK: Values

    package static func seconds(_ nanoseconds: Int64) -> String {
        DecimalText.text(nanoseconds, decimals: 9, shown: 1...9)
    }

    private mutating func head(_ family: MetricFamily) {
        switch self.format {
        case .openMetrics:
            self.text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            if let unit = family.unit { self.text += "# UNIT \(family.name) \(unit.rawValue)\n" }
            self.text += "# HELP \(family.name) \(family.help)\n"
        case .prometheus:
            // There, a family has the name of its samples, and nothing is an info.
            let name = family.kind == .histogram ? family.name : family.sampleNames[0]
            let kind = family.kind == .info ? MetricFamily.Kind.gauge : family.kind
            self.text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(kind.rawValue)\n"
        }
    }

    private mutating func sample(_ name: String, _ labels: Labels, _ value: String) {
        self.text += name
        for (index, (name, value)) in labels.enumerated() {
            self.text += "\(index == 0 ? "{" : ",")\(name)=\"\(Self.escaped(value))\""
        }
        self.text += "\(labels.isEmpty ? "" : "}") \(value)\n"
    }

    private static func escaped(_ text: String) -> String {
        Printable.line(text).map { sign in
            switch sign {
            case "\\": "\\\\"
            case "\"": "\\\""
            default: String(sign)
            }
        }.joined()
    }
}
