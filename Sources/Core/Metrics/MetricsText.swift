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

    private let format: Format
    private var text = ""

    init(_ format: Format, _ samples: MetricSamples) {
        self.format = format
        for (family, values) in samples.families {
            self.head(family)
            switch values {
            case .samples(let samples):
                for (labels, value) in samples { self.sample(family.sampleNames[0], labels, value) }
            case .histograms(let histograms):
                for (labels, histogram) in histograms { self.add(family, labels, histogram) }
            }
        }
    }

    private mutating func add(
        _ family: MetricFamily, _ labels: MetricSamples.Labels, _ histogram: HDRHistogram
    ) {
        for bound in MetricSamples.bounds {
            self.sample(
                family.name + "_bucket", labels + [("le", MetricSamples.seconds(bound))],
                "\(histogram.count(atOrBelow: bound))")
        }
        self.sample(family.name + "_bucket", labels + [("le", "+Inf")], "\(histogram.total)")
        self.sample(family.name + "_count", labels, "\(histogram.total)")
        self.sample(family.name + "_sum", labels, MetricSamples.sum(histogram))
    }

    /// The whole text.
    var finished: String {
        switch self.format {
        case .openMetrics: self.text + "# EOF\n"
        case .prometheus: self.text
        }
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

    private mutating func sample(_ name: String, _ labels: MetricSamples.Labels, _ value: String) {
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
