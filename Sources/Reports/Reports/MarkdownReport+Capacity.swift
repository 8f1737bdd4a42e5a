import Metrics
import RunJudge
import SimBase

extension MarkdownReport {
    /// The steps of the load; empty for a load without steps.
    static func capacity(_ result: RunResult) -> String {
        guard let capacity = result.capacity, !capacity.rows.isEmpty else { return "" }
        func time(_ time: Interval?) -> String { time.map { Figures.time($0.nanoseconds) } ?? "" }
        let rows = capacity.rows.map { row in
            [
                row.held.map { $0 ? "✅" : "❌" } ?? "not judged", row.rate.description, time(row.p50),
                time(row.p95),
                row.throughput, Figures.count(Int(clamping: row.unfinished)),
                MarkdownText.escaped(row.reasons.joined(separator: "; ")),
            ]
        }
        return "### Capacity\n\n"
            + MarkdownText.table(
                ["", "rate", "scan.time p50", "p95", "completed", "unfinished", "why"], rows, textColumns: 1)
    }
}
