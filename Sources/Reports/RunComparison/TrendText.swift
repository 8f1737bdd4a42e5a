import Ledger
import Metrics
package import Reports
import RunJudge
import SimBase

/// A trend for the terminal: one row for each run, the oldest first.
package enum TrendText {
    /// The width of a run's name.
    private static let nameColumns = 16

    package static func text(_ trend: RunTrend, style: TerminalStyle) -> String {
        var page = TerminalPage(style: style)
        page.row(
            [Piece("TREND  ", .bold)], indent: 7,
            [(Piece("\(Printable.line(trend.name)), \(trend.runs.count) runs", .bold), 0)])
        if let sentence = trend.sentence { page.paragraph(Piece(""), indent: 2, [Piece(sentence)]) }
        for warning in trend.warnings {
            page.paragraph(
                Piece(style.isASCII ? "  warn " : "  ! ", .warning), indent: style.isASCII ? 7 : 4,
                [Piece(Printable.line(warning, bytesMax: 400))])
        }
        page.gap()
        // In the order of what may be left out last on a narrow terminal.
        var table = Table(
            "Run",
            ["scan.time p50", "p95", "completed", "verdict", "upload p95", "lost", "violations", "started"])
        table.firstColumnMin = Self.nameColumns
        for run in trend.runs {
            let (scan, upload) = (run.result.latency(.scanTime), run.result.latency(.uploadTime))
            let lost = run.result.totals.scans.lost
            table.rows.append([
                Piece(Printable.line(run.label, bytesMax: 60)),
                Piece(scan.map { Figures.time($0.p50) } ?? "-"),
                Piece(scan.map { Figures.time($0.p95) } ?? "-", .bold), Piece(run.completed),
                Piece(run.verdict, Self.ink(run.tone)), Piece(upload.map { Figures.time($0.p95) } ?? "-"),
                Piece(Figures.count(lost), lost > 0 ? .bad : .plain),
                Piece(Figures.count(run.violations), run.violations > 0 ? .bad : .plain),
                Piece(Figures.date(iso8601: run.result.startedText), .dim),
            ])
        }
        page.table(table)
        return page.text
    }

    private static func ink(_ tone: Tone) -> Ink {
        switch tone {
        case .good: .good
        case .bad: .bad
        case .warn: .warning
        case .plain, .unknown, .running: .plain
        }
    }
}
