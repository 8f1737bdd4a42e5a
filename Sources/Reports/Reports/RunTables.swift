import Metrics
import Observations
import RunArchive
import RunJudge
import RunMetrics
import SimBase

extension RunResult {
    /// How streams were lost, and what became of them. The last row adds up several causes.
    func disconnectionTable(isLive: Bool) -> DocumentTable {
        typealias Cell = DocumentTable.Cell
        typealias Row = (name: String, losses: [Disconnection])
        let losses = self.losses
        // What the end of the run cut short has a column only where there is some.
        let hasOpen = isLive || losses.contains { $0.unresolved > 0 }
        func sum(_ count: @escaping (Disconnection) -> Int64, _ tone: Tone = .plain) -> (Row) -> Cell {
            { row in
                let sum = row.losses.reduce(0) { $0 + count($1) }
                return Cell(Figures.count(sum), sum > 0 ? tone : .plain)
            }
        }
        func time(_ percentile: Percentile) -> (Row) -> Cell {
            { row in
                let times = row.losses.reduce(into: HDRHistogram()) { $0.add($1.reconnectTime) }
                return Cell(times.value(at: percentile).map { Figures.time($0) } ?? "–")
            }
        }
        var table = DocumentTable(id: "disconnections", tableID: "losses", title: "Disconnections")
        (table.hasMarks, table.isIndented) = (false, true)
        table.add(
            losses.map { ($0.cause.rawValue, [$0]) } + (losses.count > 1 ? [("all", losses)] : []),
            [
                .init("cause", .name) { Cell($0.name) },
                .init("count", .number, sum(\.count)),
                .init("resumed", .number, sum(\.resumed)),
                .init("restarted", .number, sum(\.restarted)),
                .init("gave up", .number, sum(\.gaveUp, .warn)),
                .init("p50", .detail, time(.p50)),
                .init("p95", .number, time(.p95)),
                .init("p99", .detail, time(.p99)),
            ] + (hasOpen ? [.init(isLive ? "open now" : "open", .number, sum(\.unresolved))] : []))
        if !losses.isEmpty {
            table.note =
                "resumed: a new stream went on after the last event; restarted: it began again; "
                + "p95: from the loss (after a kill: from the next launch) to the new stream"
                + (hasOpen && !isLive ? "; open: neither, when the run ended." : ".")
        }
        return table
    }
}

extension RunReport {
    /// The most frequent errors of the phones. A phone with a timeline on the page is a link to it.
    func errorTable(rowsMax: Int) -> DocumentTable {
        typealias Cell = DocumentTable.Cell
        var table = DocumentTable(id: "errors", tableID: "error-table", title: "Errors")
        table.hasMarks = false
        table.add(
            Array(self.timeline.errors.byCount.prefix(rowsMax)),
            [
                .init("error", .name) { .mono($0.trouble.name) },
                .init("kind", .text) { Cell($0.trouble.family.rawValue) },
                .init("count", .number) { Cell(Figures.count($0.count)) },
                .init("first", .number) { Cell(Figures.clock($0.first.nanoseconds)) },
                .init("last", .number) { Cell(Figures.clock($0.last.nanoseconds)) },
                .init("first seen by", .text) { row in
                    var cell = Cell(self.result.place(row.device, row.scan))
                    let hasTimeline = self.timelines.contains { $0.mark.device == row.device }
                    cell.anchor = hasTimeline ? "phone-\(row.device.raw)" : nil
                    return cell
                },
                .init("cause", .text) { Cell($0.causes.words) },
            ])
        return table
    }
}
