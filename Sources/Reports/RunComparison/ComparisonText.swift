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
            writer.objectives()
            writer.invariants()
            writer.latencies()
            writer.shares()
            writer.counts()
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
    /// The width of a metric's name.
    private static let nameColumns = 24

    let comparison: RunComparison
    var page: TerminalPage
    /// Whether rows without a change are shown.
    let isWhole: Bool
    private var used: Set<Change> = []

    init(comparison: RunComparison, page: TerminalPage, isWhole: Bool) {
        self.comparison = comparison
        self.page = page
        self.isWhole = isWhole
    }

    private func isShown(_ change: Change) -> Bool { self.isWhole || change.isNews }

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

    private func ink(_ change: Change) -> Ink {
        switch change {
        case .worse: .bad
        case .better: .good
        case .same, .shown: .plain
        case .notProven, .onlyBase, .onlyNew: .warning
        }
    }

    private mutating func name(_ change: Change, _ text: String) -> Piece {
        self.used.insert(change)
        return Piece("\(self.sign(change)) \(Printable.line(text))", self.ink(change))
    }

    private func sign(_ change: Change) -> String {
        guard self.page.style.isASCII else { return RunComparison.sign(change) }
        return switch change {
        case .worse: "X"
        case .better: "*"
        case .shown: " "
        case .same, .notProven, .onlyBase, .onlyNew: RunComparison.sign(change)
        }
    }

    /// Prints the meanings of the used signs.
    mutating func key() {
        let words = Change.allCases.filter { self.used.contains($0) }.map {
            Printable.tied("\(self.sign($0)) \($0.rawValue)")
        }
        guard !words.isEmpty else { return }
        self.page.gap()
        self.page.paragraph(Piece(""), indent: 2, [Piece(words.joined(separator: "   "), .dim)])
        self.page.paragraph(Piece(""), indent: 2, [Piece(self.comparison.rule, .dim)])
    }

    mutating func objectives() {
        let rows = self.comparison.objectives.filter { self.isShown($0.change) }
        guard !rows.isEmpty else { return }
        self.page.gap()
        var table = Table("SLOs", ["BASE", "", "NEW", ""])
        for row in rows {
            table.rows.append([
                self.name(
                    row.change, row.name + (row.change == .worse && !row.decides ? " (warning only)" : "")),
                Piece(RunComparison.Objective.text(row.base)),
                Piece(RunComparison.Objective.word(row.base), .dim),
                Piece(RunComparison.Objective.text(row.new), self.ink(row.change)),
                Piece(RunComparison.Objective.word(row.new), .dim),
            ])
        }
        self.page.table(table)
    }

    mutating func invariants() {
        let all = self.comparison.invariants
        let shown = all.filter { $0.isShown && self.isShown($0.change) }
        let losses = self.comparison.losses.filter { self.isShown($0.change) }
        let held =
            self.isWhole ? all.count { $0.base?.standing == .held && $0.new?.standing == .held } : 0
        guard !shown.isEmpty || !losses.isEmpty || held > 0 else { return }
        self.page.gap()
        var table = Table("Losses, invariants", ["BASE", "NEW"])
        for row in losses {
            table.rows.append([
                self.name(row.change, row.name), Piece(row.text(row.base)),
                Piece(row.text(row.new), self.ink(row.change)),
            ])
        }
        for row in shown {
            table.rows.append([
                self.name(row.change, row.invariant.rawValue),
                Piece(RunComparison.InvariantComparison.text(row.base)),
                Piece(RunComparison.InvariantComparison.text(row.new), self.ink(row.change)),
            ])
        }
        if held > 0 {
            table.rows.append([
                self.name(.same, Figures.count(held, "invariant", "invariants")), Piece("held"),
                Piece("held"),
            ])
        }
        self.page.table(table)
    }

    mutating func latencies() {
        let rows = self.comparison.latenciesShown.filter { self.isShown($0.change) }
        guard !rows.isEmpty else { return }
        self.page.gap()
        // In the order of what may be left out last on a narrow terminal.
        var table = Table(
            "Latencies",
            ["p50 BASE", "NEW", "", "p95 BASE", "NEW", "", "pairs", "p99 BASE", "NEW", "samples", "NEW"])
        table.firstColumnMin = Self.nameColumns
        func times(_ row: RunComparison.Latency, _ percentile: Percentile, _ value: (LatencySummary) -> Int64)
            -> [Piece]
        {
            let change = row.findings.first { $0.percentile == percentile }?.change
            let cells = row.cells(percentile, value)
            guard row.base != nil, row.new != nil else {
                return cells.prefix(2).map { Piece($0, .dim) } + [Piece("")]
            }
            let ink = change.map { self.ink($0) } ?? .dim
            return [
                Piece(cells[0]), Piece(cells[1], ink),
                Piece(cells[2], ink),
            ]
        }
        for row in rows {
            table.rows.append(
                [self.name(row.change, row.name.name)] + times(row, .p50) { $0.p50 }
                    + times(row, .p95) { $0.p95 }
                    + [row.pairs.map { Piece($0.growthText, self.ink($0.change)) } ?? Piece("")]
                    + [row.base, row.new].map { Piece($0.map { Figures.time($0.p99) } ?? "-", .dim) }
                    + [row.base, row.new].map { Piece(Figures.count($0?.count ?? 0), .dim) })
        }
        self.page.table(table)
        let more = self.comparison.latenciesLeftOut
        if self.isWhole, more > 0 {
            self.page.paragraph(
                Piece(""), indent: 2,
                [Piece("and \(Figures.count(more, "row", "rows")) of single groups, not judged", .dim)]
            )
        }
    }

    mutating func shares() {
        let rows = self.comparison.shares.filter { self.isShown($0.change) }
        guard !rows.isEmpty else { return }
        self.page.gap()
        var table = Table("Shares", ["BASE", "NEW", "", "of"])
        table.firstColumnMin = Self.nameColumns
        for row in rows {
            table.rows.append([
                self.name(row.change, row.name), Piece(row.text(row.base)),
                Piece(row.text(row.new), self.ink(row.change)), Piece(row.difference, self.ink(row.change)),
                Piece(row.of, .dim),
            ])
        }
        self.page.table(table)
    }

    /// Prints the counts that only one run has; the pages contain all of them.
    mutating func counts() {
        let rows = self.comparison.counts.filter { $0.change != .shown }
        guard !rows.isEmpty else { return }
        self.page.gap()
        var table = Table("Only in one run", ["BASE", "NEW"])
        for row in rows {
            table.rows.append([
                self.name(row.change, row.name), Piece(row.text(row.base)), Piece(row.text(row.new)),
            ])
        }
        self.page.table(table)
    }
}
