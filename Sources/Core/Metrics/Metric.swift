/// The common requirements of the closed lists of metrics.
package protocol MetricCase: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The index, from 0, in the order of `allCases`.
    var ordinal: Int { get }
    var better: Better { get }
    /// Whether it is unavailable with a foreign backend.
    var needsBackend: Bool { get }
}

/// Which way a metric improves; a comparison of two runs needs to know.
package enum Better: String, Sendable {
    case lower
    case higher
    /// A value without a better direction.
    case neither
}

/// The kind of a metric's values: it defines how they are aggregated and their unit.
package enum MetricKind: String, CaseIterable, Sendable {
    /// A histogram of times.
    case latency
    /// Failed operations of all operations.
    case rate
    /// A whole number that only grows within a run.
    case count
    /// Answers of one kind, of all answers.
    case answers
    /// An amount of money.
    case cost
}

/// Any metric by its name.
package enum Metric: Hashable, Sendable {
    case latency(LatencyMetric)
    case rate(RateMetric)
    case count(CountMetric)
    /// Answers by their status: `http.429`, `http.upload.5xx`.
    case http(AnswerMetric)
    case cost(CostMetric)
    /// Firings of the fault with this id: `faults.reset-1`.
    case fault(id: String)

    package static let faultPrefix = "faults."

    /// Nil for a name that no metric has. Whether a fault of this id exists is for the scenario to know.
    package init?(name: String) {
        if let metric = LatencyMetric(rawValue: name) {
            self = .latency(metric)
        } else if let metric = RateMetric(rawValue: name) {
            self = .rate(metric)
        } else if let metric = CountMetric(rawValue: name) {
            self = .count(metric)
        } else if let metric = CostMetric(rawValue: name) {
            self = .cost(metric)
        } else if let metric = AnswerMetric(name: name) {
            self = .http(metric)
        } else if name.hasPrefix(Self.faultPrefix), name.utf8.count > Self.faultPrefix.utf8.count {
            self = .fault(id: String(name.dropFirst(Self.faultPrefix.count)))
        } else {
            return nil
        }
    }

    /// Every name of the closed lists: latencies, rates, counts, costs.
    package static let names: [String] =
        LatencyMetric.allCases.map(\.rawValue) + RateMetric.allCases.map(\.rawValue)
        + CountMetric.allCases.map(\.rawValue) + CostMetric.allCases.map(\.rawValue)

    package var name: String {
        switch self {
        case .latency(let metric): metric.rawValue
        case .rate(let metric): metric.rawValue
        case .count(let metric): metric.rawValue
        case .http(let metric): metric.name
        case .cost(let metric): metric.rawValue
        case .fault(let id): Self.faultPrefix + id
        }
    }

    package var kind: MetricKind {
        switch self {
        case .latency: .latency
        case .rate: .rate
        case .count, .fault: .count
        case .http: .answers
        case .cost: .cost
        }
    }

    package var better: Better {
        switch self {
        case .latency(let metric): metric.better
        case .rate(let metric): metric.better
        case .count(let metric): metric.better
        case .cost(let metric): metric.better
        case .http, .fault: .neither
        }
    }

    /// Whether a trial of the target measures it (Docs/design.md section 11.12).
    package var isMeasuredByTrial: Bool {
        if case .latency(let metric) = self { metric.isMeasuredByTrial } else { false }
    }

    /// Whether it is unavailable with a foreign backend.
    package var needsBackend: Bool {
        switch self {
        case .latency(let metric): metric.needsBackend
        case .rate(let metric): metric.needsBackend
        case .count(let metric): metric.needsBackend
        case .cost(let metric): metric.needsBackend
        case .http, .fault: false
        }
    }

    /// Every metric of the closed lists that a run against somebody else's backend cannot know.
    package static let needingBackend: [Metric] = Self.names.compactMap { Metric(name: $0) }.filter(
        \.needsBackend)

    /// What a run against such a backend cannot know. `hasTrial`: whether the backend is on trial.
    package static func unknown(hasTrial: Bool) -> [Metric] {
        Self.needingBackend.filter { !(hasTrial && $0.isMeasuredByTrial) }
    }
}

extension Metric {
    /// Whether it is the driver's, who knows of no groups.
    package var isOfWholeFleet: Bool {
        switch self {
        case .latency(let metric): metric.isOfDriver
        case .count(let metric):
            metric == .arrivalsPlanned || metric == .arrivalsAchieved || metric == .arrivalsLate
        case .rate, .http, .cost, .fault: false
        }
    }

    /// Every one of them.
    static let ofWholeFleet = Self.names.compactMap { Metric(name: $0) }.filter(\.isOfWholeFleet)

    /// Whether parts of a run can be judged by it. The outcomes of scans, books and jobs, what books cost, and the
    /// driver's counts are known only at the end.
    package var isKnownOverTime: Bool {
        switch self {
        case .latency(let metric): !metric.isOfDriver
        case .rate, .http, .fault: true
        case .cost: false
        case .count(let metric): metric.isMeasured
        }
    }
}
