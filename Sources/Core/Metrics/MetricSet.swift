package import SimBase
package import Talaria

/// One value of every metric: what one shard, one group or one interval observed.
///
/// Recording indexes arrays by `ordinal`; only answers, probes and the ids of faults that fire are hashed. An empty set takes
/// less than 2 KB; see `HDRHistogram` for what a used latency adds.
package struct MetricSet: Sendable {
    private var latencies = [HDRHistogram](repeating: HDRHistogram(), count: LatencyMetric.allCases.count)
    /// The unfinished operations by ordinal; empty before the end of the run.
    private var open: [Unfinished] = []
    private var rates = [FailureRate](repeating: FailureRate(), count: RateMetric.allCases.count)
    private var counts = [Int64](repeating: 0, count: CountMetric.allCases.count)
    private(set) var answers = AnswerCounts()
    /// Known at the end only.
    package private(set) var books = PricedBooks()
    /// Firings by fault id.
    package private(set) var faults = Counters()
    /// What `probes.entries` begin with in files.
    package static let probePrefix = "probes."
    /// Answers of a target to probes, by probe and status: `results.200`.
    package private(set) var probes = Counters()

    package init() {}

    // MARK: Recording

    package mutating func record(_ metric: LatencyMetric, _ time: Interval) {
        self.latencies[metric.ordinal].record(time.nanoseconds)
    }

    /// An operation that has not ended.
    package mutating func record(unfinished metric: LatencyMetric, age: Interval) {
        var unfinished = Unfinished()
        unfinished.record(age: age)
        self.add(unfinished, to: metric)
    }

    package mutating func record(_ metric: RateMetric, failed: Bool) {
        self.rates[metric.ordinal].record(failed: failed)
    }

    package mutating func add(_ count: Int64, to metric: CountMetric) {
        self.counts[metric.ordinal] += count
    }

    /// Answers came. `operation`: nil where it was not recorded.
    package mutating func answered(_ operation: Operation? = nil, status: Int, times: Int64 = 1) {
        self.answers.add(times, operation, status: status)
    }

    /// A target has answered a probe.
    package mutating func answered(_ probe: TargetProbe, status: Int) {
        self.add(1, probe: "\(probe.rawValue).\(status)")
    }

    /// `name`: of an entry of `probes`.
    package mutating func add(_ count: Int64, probe name: String) { self.probes.add(count, to: name) }

    /// Lists a fault at 0 until it fires.
    package mutating func declare(fault id: String) { self.faults.declare(id) }

    package mutating func fired(fault id: String) { self.faults.add(1, to: id) }

    /// Takes in operations that were counted elsewhere.
    package mutating func add(_ unfinished: Unfinished, to metric: LatencyMetric) {
        guard !unfinished.isEmpty else { return }
        if self.open.isEmpty {
            self.open = [Unfinished](repeating: Unfinished(), count: LatencyMetric.allCases.count)
        }
        self.open[metric.ordinal].add(unfinished)
    }

    package mutating func add(_ books: PricedBooks) { self.books.add(books) }

    /// Takes in what was counted elsewhere.
    package mutating func add(_ rate: FailureRate, to metric: RateMetric) {
        self.rates[metric.ordinal].add(rate)
    }

    /// Takes off what was added before.
    mutating func subtract(_ rate: FailureRate, from metric: RateMetric) {
        self.rates[metric.ordinal].subtract(rate)
    }

    package mutating func fired(fault id: String, times: Int64) { self.faults.add(times, to: id) }

    /// Takes in a histogram that was recorded elsewhere, for example read back from a log.
    package mutating func add(_ histogram: HDRHistogram, to metric: LatencyMetric) {
        self.latencies[metric.ordinal].add(histogram)
    }

    /// Adds another set, as if its values had been recorded here.
    package mutating func add(_ other: MetricSet) {
        for index in self.latencies.indices { self.latencies[index].add(other.latencies[index]) }
        for metric in LatencyMetric.allCases { self.add(other.unfinished(metric), to: metric) }
        for index in self.rates.indices { self.rates[index].add(other.rates[index]) }
        for index in self.counts.indices {
            self.counts[index] = self.counts[index].addingSaturating(other.counts[index])
        }
        self.answers.add(other.answers)
        self.books.add(other.books)
        self.faults.add(other.faults)
        self.probes.add(other.probes)
    }

    /// Back to nothing, keeping the memory for the next interval.
    package mutating func reset() {
        for index in self.latencies.indices { self.latencies[index].reset() }
        self.open = []
        for index in self.rates.indices { self.rates[index] = FailureRate() }
        for index in self.counts.indices { self.counts[index] = 0 }
        self.answers.reset()
        self.books = PricedBooks()
        self.faults.reset()
        self.probes = Counters()
    }

    // MARK: Reading

    package func histogram(_ metric: LatencyMetric) -> HDRHistogram { self.latencies[metric.ordinal] }

    package func unfinished(_ metric: LatencyMetric) -> Unfinished {
        self.open.isEmpty ? Unfinished() : self.open[metric.ordinal]
    }

    package func rate(_ metric: RateMetric) -> FailureRate { self.rates[metric.ordinal] }

    package func count(_ metric: CountMetric) -> Int64 { self.counts[metric.ordinal] }

    /// The answers that arrived, by operation and status; status 0 means an invalid status.
    package var answersByOperation: [(operation: Operation?, status: Int, count: Int64)] {
        self.answers.entries
    }

    /// The answers to a probe, lowest status first.
    package func probes(_ probe: TargetProbe) -> [(status: Int, count: Int64)] {
        self.probes.entries.compactMap { name, count in
            guard name.hasPrefix(probe.rawValue + "."),
                let status = Int(name.dropFirst(probe.rawValue.count + 1))
            else { return nil }
            return (status: status, count: count)
        }.sorted { $0.status < $1.status }
    }

    /// The statuses that arrived, lowest first; 0 means an invalid status.
    package var replies: [(status: Int, count: Int64)] {
        self.answers.entries.sorted { $0.status < $1.status }.reduce(into: []) { replies, answer in
            if let last = replies.last, last.status == answer.status {
                replies[replies.count - 1].count = last.count.addingSaturating(answer.count)
            } else {
                replies.append((status: answer.status, count: answer.count))
            }
        }
    }
}

/// Equal when they observed the same, whatever memory each has kept.
extension MetricSet: Equatable {
    package static func == (left: MetricSet, right: MetricSet) -> Bool {
        left.latencies == right.latencies && left.rates == right.rates && left.counts == right.counts
            && LatencyMetric.allCases.allSatisfy { left.unfinished($0) == right.unfinished($0) }
            && left.answers == right.answers && left.faults == right.faults
            && left.probes == right.probes && left.books == right.books
    }
}
