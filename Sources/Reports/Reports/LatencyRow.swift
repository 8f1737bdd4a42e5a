import Metrics
import RunJudge
import SimBase

/// The row of one latency in a report; no summary if every operation failed.
struct LatencyRow {
    typealias Cell = DocumentTable.Cell
    typealias Column = DocumentColumn<LatencyRow>

    let metric: LatencyMetric
    let summary: LatencySummary?
    let failures: FailureRate?
    let unfinished: Unfinished

    /// The number of unfinished operations as text.
    var unfinishedText: String {
        self.unfinished.isEmpty
            ? ""
            : "\(Figures.count(self.unfinished.count)), oldest \(Figures.time(self.unfinished.oldest.nanoseconds))"
    }

    /// `5 (0.83%)`; nil for an operation that is not counted.
    var failedText: String? {
        self.failures.map { "\(Figures.count($0.failed)) (\(Figures.share($0)))" }
    }

    /// The figures of these rows. `none`: for a time and for failures that a row does not have.
    static func columns(_ rows: [Self], none: (time: String, failed: String)) -> [Column] {
        func time(_ title: String, _ value: @escaping (LatencySummary) -> Int64) -> Column {
            Column(title, .number) { row in
                let time = row.summary.map(value)
                return Cell(time.map { Figures.time($0) } ?? none.time, key: time ?? -1)
            }
        }
        let failed = Column("failed", .number) { row in
            let count = row.failures?.failed ?? -1
            return Cell(
                row.failedText ?? none.failed, short: count == 0 ? "0" : nil, count > 0 ? .warn : .plain,
                key: count)
        }
        let unfinished = Column("open", .number) { row in
            let count = row.unfinished.count
            return Cell(
                row.unfinishedText, short: count > 0 ? Figures.count(count) : nil, .warn, key: Int64(count))
        }
        return [
            Column("count", .number) {
                Cell(Figures.count($0.summary?.count ?? 0), key: $0.summary?.count ?? 0)
            },
            time("p50") { $0.p50 }, time("p95") { $0.p95 }, time("p99") { $0.p99 },
            time("max") { $0.maximum }, failed,
        ] + (rows.contains { !$0.unfinished.isEmpty } ? [unfinished] : [])
    }
}

extension RunResult {
    /// A row for each latency of the fleet, as the terminal and Markdown show them; a page has its own columns beside these.
    var latencyTable: DocumentTable {
        let rows = self.latencyRows
        let name = LatencyRow.Column("metric", .name) { row in
            // The part of another one, which is above it, is indented.
            let isInner = row.metric == .uploadServiceTime
            return .mono(row.metric.rawValue, short: isInner ? "  " + row.metric.rawValue : nil)
        }
        return DocumentTable(
            id: "latencies", tableID: "latency-table", title: "Latencies", isIndented: true, rows: rows,
            [name] + LatencyRow.columns(rows, none: ("-", "")))
    }
}
