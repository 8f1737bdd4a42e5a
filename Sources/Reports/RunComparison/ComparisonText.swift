import Ledger
import Metrics
package import Reports
import RunArchive
import RunJudge
import SimBase

/// A comparison for the terminal: the verdict, then the rows after it.
package enum ComparisonText {
    /// Ends with a line feed; no line is wider than the style's columns. `isWhole`: also what did not change.
    package static func text(_ comparison: RunComparison, style: TerminalStyle, isWhole: Bool) -> String {
        var writer = ComparisonWriter(
            comparison: comparison, page: TerminalPage(style: style), isWhole: isWhole,
            tables: ComparisonTables(comparison) { isWhole || $0.isNews }.all)
        writer.verdict()
        if !comparison.isIdentical {
            for table in writer.tables { writer.page.table(table) }
            writer.unchanged()
            writer.key()
        }
        return writer.page.text
    }
}

private struct ComparisonWriter {
    /// Lines of the scenarios that are shown.
    static let changesMax = 8
    private static let labelColumns = 6

    let comparison: RunComparison
    var page: TerminalPage
    /// Whether rows without a change are shown.
    let isWhole: Bool
    let tables: [DocumentTable]

    /// Names what is left out.
    mutating func unchanged() {
        guard !self.isWhole, let unchanged = self.comparison.unchanged else { return }
        self.page.gap()
        self.page.paragraph(
            Piece("  unchanged  ", .bold), indent: 13, [Piece("\(unchanged); --all shows them", .dim)])
    }

    // MARK: The verdict

    mutating func verdict() {
        self.headline()
        let comparison = self.comparison
        for reason in comparison.reasons {
            self.page.paragraph(Piece("  - "), indent: 4, [Piece(Printable.line(reason, bytesMax: 400))])
        }
        self.runs()
        for change in comparison.tagChanges {
            self.page.text(Printable.line(change, bytesMax: 600), indent: 2)
        }
        let ascii = self.page.style.isASCII
        for warning in comparison.warnings {
            self.page.paragraph(
                Piece(ascii ? "  warn " : "  ! ", .warning), indent: ascii ? 7 : 4,
                [Piece(Printable.line(warning, bytesMax: 400))])
        }
        let changes = comparison.scenarioChanges
        for line in changes.prefix(Self.changesMax) { self.line("      " + line) }
        if changes.count > Self.changesMax {
            self.line("      and \(changes.count - Self.changesMax) more lines")
        }
    }

    private mutating func headline() {
        let comparison = self.comparison
        let exit = comparison.exitReasons.exit
        let sign = self.page.mark(exit.tone)
        self.page.verdict(sign, comparison.headline, of: comparison.new.head.scenario.name)
        self.page.text(
            "\(comparison.sentence) (exit\u{A0}code\u{A0}\(exit.rawValue))",
            exit == .success ? .plain : sign.ink, indent: 2)
    }

    private mutating func runs() {
        let comparison = self.comparison
        for (label, run) in [("BASE", comparison.base), ("NEW", comparison.new)] {
            let facts = ([run.folder, RunComparison.end(run)] + RunComparison.facts(run))
                .map { Printable.tied(Printable.line($0)) }.joined(separator: " · ")
            self.page.paragraph(
                Piece("  " + label, .bold), indent: 2 + Self.labelColumns, [Piece(facts, .dim)])
        }
    }

    private mutating func line(_ text: String) {
        self.page.row(
            [Piece(self.page.fitted(text, columns: self.page.style.columns), .dim)], indent: 0, [])
    }

    /// Prints the meanings of the used signs.
    mutating func key() {
        let used = self.tables.flatMap(\.rows).map(\.mark)
        let words = Change.allCases.map(\.mark).filter { used.contains($0) }.map {
            Printable.tied("\(self.page.style.isASCII ? $0.ascii : $0.sign) \($0.word)")
        }
        guard !words.isEmpty else { return }
        self.page.gap()
        self.page.text(words.joined(separator: "   "), .dim, indent: 2)
        self.page.text(self.comparison.rule, .dim, indent: 2)
    }
}
