import SimBase

/// The input of an objective: the values of its metric in some part of a run. Samples of one metric add up.
enum SLOSample: Sendable {
    case latency(HDRHistogram, Unfinished)
    case rate(FailureRate)
    case number(Int64)
    /// Nil without books.
    case cost(Cost?)
    case notAvailable

    init(of selector: MetricSelector, in table: MetricTable) {
        let scope = selector.scope
        switch selector.metric {
        case .latency(let metric):
            let unfinished = table.unfinished(metric, of: scope)
            self = Self.sample(table.histogram(metric, of: scope)) { .latency($0, unfinished) }
        case .rate(let metric): self = Self.sample(table.rate(metric, of: scope)) { .rate($0) }
        case .count(let metric): self = Self.sample(table.count(metric, of: scope)) { .number($0) }
        case .http(let metric): self = Self.sample(table.rate(metric, of: scope)) { .rate($0) }
        case .cost(let metric): self = Self.sample(table.cost(metric, of: scope)) { .cost($0) }
        case .fault(let id): self = Self.sample(table.count(fault: id, of: scope)) { .number($0) }
        }
    }

    private static func sample<Value>(_ reading: Reading<Value>, _ sample: (Value) -> SLOSample) -> SLOSample
    {
        switch reading {
        case .measured(let value): sample(value)
        case .notAvailable: .notAvailable
        }
    }

    /// The sample without the operations that were open at its end.
    var finished: SLOSample {
        guard case .latency(let histogram, _) = self else { return self }
        return .latency(histogram, Unfinished())
    }

    /// The sample without the operations that took longer than this.
    func operations(notLongerThan time: Interval) -> SLOSample {
        guard case .latency(let histogram, let unfinished) = self else { return self }
        return .latency(histogram.values(atOrBelow: time.nanoseconds), unfinished)
    }

    /// The sample with operations that are open.
    func with(_ unfinished: Unfinished) -> SLOSample {
        guard case .latency(let histogram, _) = self else { return self }
        return .latency(histogram, unfinished)
    }

    /// The operations that ended, or what was counted.
    var count: Int64 {
        switch self {
        case .latency(let histogram, _): histogram.total
        case .rate(let rate): rate.total
        case .number(let number): number
        case .cost, .notAvailable: 0
        }
    }

    /// Adds another sample, as if all values had been observed together.
    mutating func add(_ other: SLOSample) {
        switch (self, other) {
        case (.latency(var histogram, var unfinished), .latency(let more, let others)):
            histogram.add(more)
            unfinished.add(others)
            self = .latency(histogram, unfinished)
        case (.rate(var rate), .rate(let more)):
            rate.add(more)
            self = .rate(rate)
        case (.number(let number), .number(let more)): self = .number(number + more)
        // What books cost is known of the whole run only.
        case (.latency, _), (.rate, _), (.number, _), (.cost, _), (.notAvailable, _): self = .notAvailable
        }
    }
}
