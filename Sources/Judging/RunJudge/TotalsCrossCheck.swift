package import Ledger
package import Metrics
import Observations
package import RunMetrics
import SimBase
import Talaria

/// Holds the measurements of a run against the sums of their parts: of the intervals that went to the files, and of the groups.
package struct TotalsCrossCheck: Sendable {
    /// The counts of all intervals and groups together.
    private var counts = [Int64](repeating: 0, count: CountMetric.allCases.count)
    private var failed = [Int64](repeating: 0, count: RateMetric.allCases.count)
    private var judged = [Int64](repeating: 0, count: RateMetric.allCases.count)
    private var values = [Int64](repeating: 0, count: LatencyMetric.allCases.count)
    private var times = [UInt128](repeating: 0, count: LatencyMetric.allCases.count)

    package init() {}

    /// Adds what was measured in one interval.
    package mutating func add(_ interval: MetricTable) {
        for index in -1..<interval.groups.count {
            let set = interval.set(in: index < 0 ? .none : MetricGroup(index: index))
            for metric in CountMetric.allCases { self.counts[metric.ordinal] += set.count(metric) }
            for metric in RateMetric.allCases {
                let rate = set.rate(metric)
                self.failed[metric.ordinal] += rate.failed
                self.judged[metric.ordinal] += rate.total
            }
            for metric in LatencyMetric.allCases {
                let histogram = set.histogram(metric)
                self.values[metric.ordinal] += histogram.total
                self.times[metric.ordinal] += histogram.sum
            }
        }
    }

    /// Returns the differences between the table of the whole run and the sum of its parts. `whole`: the
    /// table without the values outside of intervals.
    package func differences(from whole: MetricTable) -> [String] {
        var groups = TotalsCrossCheck()
        groups.add(whole)
        return self.differences(whole, "the intervals") + groups.differences(whole, "the groups")
    }

    private func differences(_ whole: MetricTable, _ parts: String) -> [String] {
        var differences: [String] = []
        func compare<Number: Equatable>(_ metric: String, _ what: String, _ whole: Number, _ sum: Number) {
            guard whole != sum else { return }
            differences.append("\(metric): \(what) \(whole), and \(sum) in \(parts)")
        }
        for metric in CountMetric.allCases {
            guard case .measured(let count) = whole.count(metric, of: .fleet) else { continue }
            compare(metric.rawValue, "count", count, self.counts[metric.ordinal])
        }
        for metric in RateMetric.allCases {
            guard case .measured(let rate) = whole.rate(metric, of: .fleet) else { continue }
            compare(metric.rawValue, "failed", rate.failed, self.failed[metric.ordinal])
            compare(metric.rawValue, "operations", rate.total, self.judged[metric.ordinal])
        }
        for metric in LatencyMetric.allCases {
            guard case .measured(let histogram) = whole.histogram(metric, of: .fleet) else { continue }
            compare(metric.rawValue, "count", histogram.total, self.values[metric.ordinal])
            compare(metric.rawValue, "sum", histogram.sum, self.times[metric.ordinal])
        }
        return differences
    }

    /// Returns what does not add up in the totals of a ledger. `isInventive`: whether some results had other rows than their files.
    package static func differences(in totals: LedgerTotals, isInventive: Bool) -> [String] {
        let rows = totals.rows
        let review = totals.books.review
        let reviewed =
            review.isConserved
            ? [] : ["books: \(review.came) came to be reviewed, but not as many have become something"]
        guard !rows.isConserved, !isInventive else { return reviewed }
        return reviewed + [
            "rows: \(rows.sent) in files, but \(rows.counts.total + rows.missing) have become something"
        ]
    }

    /// Returns the difference if more books were received than have a price or are counted without one. Books that
    /// earlier runs have stored are in neither number.
    package static func differences(inCostsOf totals: LedgerTotals) -> [String] {
        let (received, accounted) = (totals.books.received, totals.costs.allBooks)
        guard received > accounted, totals.scans.restored == 0 else { return [] }
        return ["books.received: \(received), but \(accounted) with and without a price"]
    }

    /// Returns what the table of scans lacks, or has too much of. A sample is not held to the totals, and neither are scans of an
    /// earlier run, which have no row, or phones that broke an invariant, which may have ended a scan twice.
    package static func differences(
        in scans: ScanTable, _ totals: ScanTotals, _ metrics: MetricTable, isSound: Bool
    ) -> [String] {
        guard scans.oneOf == 1, totals.restored == 0, isSound else { return [] }
        func compare(_ what: String, _ rows: Int, _ whole: Int) -> String? {
            rows == whole ? nil : "scans \(what): \(whole), but \(rows) in the table of scans"
        }
        func ended(_ end: ScanEnd) -> Int { scans.rows.count { $0.end == end } }
        var differences = [
            compare("captured", scans.rows.count, totals.captured),
            compare("completed", ended(.completed), totals.completed),
            compare("refused", ended(.refused), totals.refused),
            compare("canceled", ended(.canceled), totals.canceled),
        ]
        if case .measured(let times) = metrics.histogram(.scanTime, of: .fleet) {
            let timed = scans.rows.count { $0[.scanTime] != nil }
            differences.append(compare("with a scan.time", timed, Int(times.total)))
        }
        return differences.compactMap { $0 }
    }

    /// Operations that ended well have each left a time: of these rates and latencies each implies the other.
    private static let timed: [(RateMetric, LatencyMetric)] = [
        (.preprocessFailed, .preprocessTime), (.uploadFailed, .uploadTime),
        (.sseReconnectFailed, .sseReconnectTime), (.resultsFailed, .resultsTime),
        (.statusFailed, .statusTime),
    ]

    /// Returns the differences between a run's rates and disconnections and its latencies.
    package static func differences(in whole: MetricTable, _ disconnections: Disconnections) -> [String] {
        var differences: [String] = []
        for (rate, latency) in Self.timed {
            guard case .measured(let operations) = whole.rate(rate, of: .fleet),
                case .measured(let histogram) = whole.histogram(latency, of: .fleet)
            else { continue }
            let succeeded = operations.total - operations.failed
            guard succeeded != histogram.total else { continue }
            differences.append(
                "\(rate.rawValue): \(succeeded) operations succeeded, but \(latency.rawValue) has \(histogram.total)"
            )
        }
        for row in disconnections.rows where row.unresolved < 0 {
            differences.append(
                "disconnections by \(row.cause.rawValue): \(row.count), but \(row.count - row.unresolved) ended"
            )
        }
        return differences
    }
}
