import Metrics
package import Reports
import SimBase

/// A trend for the terminal: one row for each run, the oldest first.
package enum TrendText {
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
        page.table(trend.table)
        page.table(trend.stepTable)
        return page.text
    }
}
