import JSON
import Metrics
import SimBase

/// `series.ndjson`: the counts of each second, one line for each group that had any, or one of no group if none had.
///
///     {"t":12000000000,"for_ns":1000000000,"group":"commuters","counts":{"http.202":3,"sse.events":41},
///      "rates":{"upload.failed":[0,3]},"latencies":{"upload.time":[3,81920000,97214000,265190112]}}
///
/// Where an objective for windows of the run requests it, the operations that were open at a moment after the second follow:
///
///     "open_at":13000000000,"open":{"scan.time":[2,8120000000]}
///
/// with the count of each and the age of the oldest in nanoseconds.
///
/// A rate is failed and all operations, a latency the count, the minimum, the maximum and the sum in
/// nanoseconds: the values that the histograms of `latency.hlog` do not contain exactly. Values outside of
/// groups have the group null. Pings and progress events, which `events.ndjson` leaves out, are counted here.
enum SeriesLog {
    static func lines(
        _ table: MetricTable, from: Instant, length: Interval,
        open: (table: MetricTable, at: Instant)? = nil
    ) -> String {
        var lines = ""
        for index in -1..<table.groups.count {
            let group = index < 0 ? nil : table.groups[index]
            let position = index < 0 ? MetricGroup.none : MetricGroup(index: index)
            let unfinished = open.map { (set: $0.table.set(in: position), at: $0.at) }
            guard
                let line = Self.line(
                    table.set(in: position), group: group, from: from, length: length, open: unfinished)
            else { continue }
            lines += line
        }
        // For an objective for windows of the run, an interval in which nothing was counted is one all the same.
        return lines.isEmpty
            ? "{\"t\":\(from.nanoseconds),\"for_ns\":\(length.nanoseconds),\"group\":null,\"counts\":{}}\n"
            : lines
    }

    private static func line(
        _ set: MetricSet, group: String?, from: Instant, length: Interval,
        open: (set: MetricSet, at: Instant)?
    ) -> String? {
        let counts = Self.counts(of: set)
        let rates = RateMetric.allCases.filter { set.rate($0).total > 0 }
        let latencies = LatencyMetric.allCases.filter { !set.histogram($0).isEmpty }
        let unfinished = open.map { open in
            LatencyMetric.allCases.filter { !open.set.unfinished($0).isEmpty }
        }
        let isOpen = unfinished.map { !$0.isEmpty } ?? false
        guard !counts.isEmpty || !rates.isEmpty || !latencies.isEmpty || isOpen else { return nil }
        var line = JSONWriter(.log, reserving: 512)
        line.object { line in
            line.member("t", from.nanoseconds)
            line.member("for_ns", length.nanoseconds)
            line.key("group")
            if let group { line.text(group) } else { line.null() }
            line.object("counts") { line in
                for count in counts {
                    line.key(text: count.0)
                    line.integer(count.1)
                }
            }
            line.object("rates") { line in
                for metric in rates {
                    let rate = set.rate(metric)
                    line.key(text: metric.rawValue)
                    line.array([rate.failed, rate.total]) { $0.integer($1) }
                }
            }
            line.object("latencies") { Self.write(latencies, of: set, to: &$0) }
            guard let open, let unfinished, !unfinished.isEmpty else { return }
            line.member("open_at", open.at.nanoseconds)
            line.object("open") { line in
                for metric in unfinished {
                    let open = open.set.unfinished(metric)
                    line.key(text: metric.rawValue)
                    line.array([open.count, open.oldest.nanoseconds]) { $0.integer($1) }
                }
            }
        }
        line.newline()
        return String(decoding: line.bytes, as: UTF8.self)
    }

    private static func counts(of set: MetricSet) -> [(String, Int64)] {
        var counts: [(String, Int64)] = []
        for metric in CountMetric.allCases where set.count(metric) != 0 {
            counts.append((metric.rawValue, set.count(metric)))
        }
        for answer in set.answersByOperation {
            counts.append((AnswerMetric(answer.operation, status: answer.status).name, answer.count))
        }
        for probe in set.probes.entries { counts.append((MetricSet.probePrefix + probe.name, probe.count)) }
        for fault in set.faults.entries where fault.count != 0 {
            counts.append((Metric.faultPrefix + fault.name, fault.count))
        }
        return counts
    }

    private static func write(_ latencies: [LatencyMetric], of set: MetricSet, to line: inout JSONWriter) {
        for metric in latencies {
            let histogram = set.histogram(metric)
            line.key(text: metric.rawValue)
            line.raw(
                "[\(histogram.total),\(histogram.minimum ?? 0),\(histogram.maximum ?? 0),\(histogram.sum)]"
            )
        }
    }

    /// One line that was read back; the latencies are still without their histograms.
    struct Entry {
        struct Edges {
            var count: Int64
            var minimum: Int64
            var maximum: Int64
            var sum: UInt128
        }

        var from: Instant
        var length: Interval
        /// Nil for what belongs to no group.
        var group: String?
        var set: MetricSet
        var edges: [(metric: LatencyMetric, edges: Edges)]
        /// The operations that were open at a moment after it.
        var open: (set: MetricSet, at: Instant)?
    }

    static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        guard let value = JSONNode(Array(line)), let from = value["t"]?.nanoseconds(0),
            let length = value["for_ns"]?.nanoseconds(0), length >= 0, var set = Self.counts(value["counts"])
        else { return nil }
        for member in value["rates"]?.members ?? [] {
            let numbers = member.value.elements.compactMap { $0.count.map { Int64($0) } }
            guard numbers.count == 2, (0...numbers[1]).contains(numbers[0]) else { return nil }
            if let metric = RateMetric(rawValue: member.key) {
                set.add(FailureRate(failed: numbers[0], total: numbers[1]), to: metric)
            }
        }
        var edges: [(metric: LatencyMetric, edges: Entry.Edges)] = []
        for member in value["latencies"]?.members ?? [] {
            let numbers = member.value.elements
            guard numbers.count == 4, let count = numbers[0].count.map({ Int64($0) }),
                let minimum = numbers[1].integer(Int64.self), let maximum = numbers[2].integer(Int64.self),
                let sum = numbers[3].integer(UInt128.self)
            else { return nil }
            if let metric = LatencyMetric(rawValue: member.key) {
                edges.append((metric, .init(count: count, minimum: minimum, maximum: maximum, sum: sum)))
            }
        }
        var open: (set: MetricSet, at: Instant)?
        if let at = value["open_at"] {
            guard let moment = at.nanoseconds(0), let unfinished = Self.unfinished(value["open"]) else {
                return nil
            }
            open = (unfinished, Instant(nanoseconds: moment))
        }
        return Entry(
            from: Instant(nanoseconds: from), length: Interval(nanoseconds: length),
            group: value["group"]?.text, set: set, edges: edges, open: open)
    }

    private static func counts(_ value: JSONNode?) -> MetricSet? {
        var set = MetricSet()
        for member in (value?.members ?? []).sorted(by: { $0.key < $1.key }) {
            guard let count = member.value.count.map({ Int64($0) }) else { return nil }
            if member.key.hasPrefix(MetricSet.probePrefix) {
                set.add(count, probe: String(member.key.dropFirst(MetricSet.probePrefix.count)))
                continue
            }
            switch Metric(name: member.key) {
            case .count(let metric): set.add(count, to: metric)
            case .http(let metric):
                guard metric.statuses.count == 1 else { return nil }
                set.answered(metric.operation, status: metric.statuses.lowerBound, times: count)
            case .fault(let id): set.fired(fault: id, times: count)
            case .latency, .rate, .cost, nil: continue
            }
        }
        return set
    }

    private static func unfinished(_ value: JSONNode?) -> MetricSet? {
        var set = MetricSet()
        for member in value?.members ?? [] {
            let numbers = member.value.elements
            guard numbers.count == 2, let count = numbers[0].count, let oldest = numbers[1].nanoseconds(0),
                let metric = LatencyMetric(rawValue: member.key)
            else { return nil }
            set.add(Unfinished(count: Int64(count), oldest: Interval(nanoseconds: oldest)), to: metric)
        }
        return set
    }
}
