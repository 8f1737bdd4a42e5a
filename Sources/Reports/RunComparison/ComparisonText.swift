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
            comparison: comparison, page: TerminalPage(style: style), isWhole: isWhole)
        writer.verdict()
        if !comparison.isIdentical {
            writer.tables()
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
    private let tablesShown: [DocumentTable]

    init(comparison: RunComparison, page: TerminalPage, isWhole: Bool) {
        self.comparison = comparison
        self.page = page
        self.isWhole = isWhole
        self.tablesShown = ComparisonTables(comparison) { isWhole || $0.isNews }.all
    }

    /// Names what is left out.
    mutating func unchanged() {
        guard !self.isWhole, let unchanged = self.comparison.unchanged else { return }
        self.page.gap()
        self.page.paragraph(
            Piece("  unchanged  ", .bold), indent: 13,
            [Piece("\(unchanged); --all shows them", .dim)])
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
            self.page.paragraph(Piece(""), indent: 2, [Piece(Printable.line(change, bytesMax: 600))])
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
        let ascii = self.page.style.isASCII
        let (ink, sign): (Ink, String) =
            switch exit.tone {
            case .good: (.good, ascii ? "ok" : "✓")
            case .warn: (.warning, ascii ? "warn" : "!")
            case .bad, .plain, .unknown, .running: (.bad, ascii ? "FAIL" : "✗")
            }
        let word = "\(sign) \(comparison.headline)"
        let indent = Printable.width(word) + 2
        let name = self.page.fitted(
            comparison.new.head.scenario.name, columns: self.page.style.columns - indent)
        self.page.row([Piece(word, ink)], indent: indent, [(Piece(name, .bold), 0)])
        self.page.paragraph(
            Piece(""), indent: 2,
            [
                Piece(
                    "\(comparison.sentence) (exit\u{A0}code\u{A0}\(exit.rawValue))",
                    exit == .success ? .plain : ink
                )
            ])
    }

    private mutating func runs() {
        let comparison = self.comparison
        for (label, run) in [("BASE", comparison.base), ("NEW", comparison.new)] {
            let facts = [run.folder, RunComparison.end(run)] + RunComparison.facts(run)
            self.page.paragraph(
                Piece("  " + label, .bold), indent: 2 + Self.labelColumns,
                [
                    Piece(
                        facts.map { Printable.tied(Printable.line($0)) }.joined(separator: " · "), .dim)
                ])
        }
    }

    private mutating func line(_ text: String) {
        self.page.row(
            [Piece(self.page.fitted(text, columns: self.page.style.columns), .dim)], indent: 0, [])
    }

    // MARK: Tables

    mutating func tables() {
        for table in self.tablesShown { self.page.table(table) }
    }

    /// Prints the meanings of the used signs.
    mutating func key() {
        let used = self.tablesShown.flatMap(\.rows).map(\.mark)
        let words = Change.allCases.map(\.mark).filter { used.contains($0) }.map {
            Printable.tied("\(self.page.style.isASCII ? $0.ascii : $0.sign) \($0.word)")
        }
        guard !words.isEmpty else { return }
        self.page.gap()
        self.page.paragraph(Piece(""), indent: 2, [Piece(words.joined(separator: "   "), .dim)])
        self.page.paragraph(Piece(""), indent: 2, [Piece(self.comparison.rule, .dim)])
    }
}
