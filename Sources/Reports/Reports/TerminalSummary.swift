import Ledger
import Metrics
import RunArchive
package import RunJudge
import SimBase

/// A run's result for the terminal: the verdict, the checks after it, then the figures.
package enum TerminalSummary {
    /// Ends with a line feed; no line is wider than the style's columns, but for a word of the last command that is.
    package static func text(_ result: RunResult, style: TerminalStyle) -> String {
        var writer = SummaryWriter(result: result, page: TerminalPage(style: style))
        writer.verdict()
        writer.objectives()
        writer.invariants()
        writer.slow()
        writer.target()
        for table in RolloutTables(result)?.all ?? [] { writer.page.table(table) }
        writer.conservation()
        writer.groups()
        writer.bookFlow()
        writer.disconnections()
        writer.latencies()
        writer.traffic()
        writer.findings()
        writer.remarks()
        writer.files()
        return writer.page.text
    }
}

/// Writes the sections one after the other.
struct SummaryWriter {
    /// The column in which the text of a labeled line begins.
    static let labelColumns = 16
    /// Violations of one invariant that are shown.
    static let examplesMax = 2

    let result: RunResult
    var page: TerminalPage

    func mark(_ tone: Tone) -> Piece {
        let ascii = self.page.style.isASCII
        return switch tone {
        case .good: Piece(ascii ? "ok" : "✓", .good)
        case .bad: Piece(ascii ? "FAIL" : "✗", .bad)
        case .warn: Piece(ascii ? "warn" : "!", .warning)
        case .unknown: Piece("n/a", .dim)
        case .plain, .running: Piece("")
        }
    }

    /// Columns from the mark to the text after it.
    var markColumns: Int {
        let hasUnknown =
            self.result.slos.contains { $0.passed == nil }
            || self.result.verdicts.contains { $0.standing == .notAvailable }
        return self.page.style.isASCII ? 7 : hasUnknown ? 6 : 4
    }

    mutating func section(_ title: String, _ remark: String) {
        self.page.gap()
        self.labeled(title, [Piece(remark, .dim)])
    }

    /// `  ✓ text`, with its further lines under the text.
    mutating func marked(_ tone: Tone, _ pieces: [Piece]) {
        let piece = self.mark(tone)
        self.page.paragraph(Piece("  " + piece.text, piece.ink), indent: self.markColumns, pieces)
    }

    mutating func labeled(_ label: String, _ pieces: [Piece]) {
        guard Printable.width(label) < Self.labelColumns else {
            self.page.paragraph(Piece(""), indent: 0, [Piece(label, .bold)])
            return self.page.paragraph(Piece(""), indent: Self.labelColumns, pieces)
        }
        self.page.paragraph(Piece(label, .bold), indent: Self.labelColumns, pieces)
    }

    // MARK: Why

    mutating func slow() {
        guard let slow = SlowTimeText(self.result) else { return }
        var table = slow.table
        table.note = table.lead.isEmpty ? nil : table.lead
        self.page.table(table)
    }

    // MARK: The verdict

    mutating func verdict() {
        let sign = self.mark(self.result.exit.tone)
        let verdict = [Piece(sign.text + " " + self.result.headline, sign.ink)]
        let indent = Printable.width(verdict[0].text) + 2
        let name = self.page.fitted(
            self.result.scenario.name, columns: self.page.style.columns - indent)
        self.page.row(verdict, indent: indent, [(Piece(name, .bold), 0)])
        func line(_ text: String, _ ink: Ink) {
            self.page.paragraph(Piece(""), indent: 2, [Piece(text, ink)])
        }
        if let outcome = self.result.outcome {
            line(outcome.prefix(1).uppercased() + outcome.dropFirst(), .bold)
        }
        for explanation in self.result.explanations { line(explanation, .plain) }
        let isGood = self.result.exit == .success
        line(
            "\(self.result.meaning) (exit\u{A0}code\u{A0}\(self.result.exit.rawValue))",
            isGood ? .plain : sign.ink)
        if !isGood || !self.result.expectations.isEmpty { line(Obligations(self.result).sentence, .dim) }
        for reason in self.result.reasons {
            self.page.paragraph(Piece("  - "), indent: 4, [Piece(Printable.line(reason, bytesMax: 600))])
        }
        let expected = self.result.expected.filter(\.isBroken).map(\.expected.name)
        if !expected.isEmpty {
            let text = "broken as expected: " + expected.joined(separator: ", ")
            self.page.paragraph(Piece("  - "), indent: 4, [Piece(text)])
        }
        let missed = self.result.slos.count { $0.passed == false && !$0.isBreach }
        if missed > 0 {
            let text = Figures.count(missed, "SLO", "SLOs") + " missed (warning only)"
            self.page.paragraph(Piece("  - "), indent: 4, [Piece(text, .warning)])
        }
        line(
            [
                Figures.count(self.result.devices, "phone", "phones"), "seed \(self.result.seed)",
                Figures.length(self.result.length), self.result.world.mode,
                Figures.date(iso8601: self.result.startedText),
            ].map(Printable.tied).joined(separator: " · "), .dim)
        if !self.result.labels.isEmpty {
            line(self.result.labels.words.map(Printable.tied).joined(separator: " · "), .dim)
        }
        if !self.result.scenario.description.isEmpty {
            line(Printable.line(self.result.scenario.description), .dim)
        }
    }

    /// `4 held, 1 failed`, without zero counts.
    static func tally(_ counts: [(count: Int, word: String)]) -> String {
        counts.filter { $0.count > 0 }.map { "\(Figures.count($0.count)) \($0.word)" }.joined(separator: ", ")
    }

    // MARK: Checks

    mutating func objectives() {
        let slos = self.result.slos
        guard !slos.isEmpty else { return self.section("SLOs", "none in this scenario") }
        self.section(
            "SLOs",
            Self.tally([
                (slos.count { $0.passed == true }, "held"), (self.result.breaches.count, "failed"),
                (slos.count { $0.isBreach && self.result.expectations.covers($0) }, "failed as expected"),
                (slos.count { $0.passed == false && !$0.isBreach }, "missed (warning)"),
                (slos.count { $0.passed == nil }, self.result.isInterrupted ? "not judged" : "n/a"),
            ]))
        let metric = slos.map { Printable.width($0.slo.selector.description) }.max() ?? 0
        let condition = slos.map { Printable.width($0.slo.condition.description) }.max() ?? 0
        for slo in slos {
            let tone = self.result.tone(of: slo)
            let mark = self.mark(tone)
            let ink = tone == .good ? .plain : mark.ink
            let actual = slo.isNotKnown ? self.result.whyOpen(slo).remark : slo.shown
            let selector = slo.slo.selector.description
            let expression = slo.slo.condition.description
            let width = self.markColumns + metric + 2 + condition + 2 + Printable.width(actual)
            if width <= self.page.style.columns {
                self.page.row(
                    [Piece("  "), mark], indent: self.markColumns,
                    [
                        (Piece(selector), metric + 2), (Piece(expression, .dim), condition + 2),
                        (Piece(actual, ink), 0),
                    ])
            } else {
                self.marked(
                    tone, [Piece(selector), Piece("  " + expression + " ", .dim), Piece(" " + actual, ink)])
            }
        }
    }

    mutating func invariants() {
        let verdicts = self.result.verdicts
        guard !verdicts.isEmpty else { return }
        let held = verdicts.filter { $0.standing == .held && $0.hadOccasion }
        let idle = verdicts.filter { $0.standing == .held && !$0.hadOccasion }
        let unknown = verdicts.filter { $0.standing == .notAvailable }
        self.section(
            "Invariants",
            Self.tally([
                (held.count, "held"), (self.result.brokenInvariants.count, "broken"),
                (verdicts.count { $0.standing == .brokenAsExpected }, "broken as expected"),
                (idle.count, "without an occasion"), (unknown.count, "n/a"),
            ]))
        for verdict in verdicts {
            switch verdict.standing {
            case .held, .notAvailable: break
            case .broken: self.violated(verdict, .bad)
            case .brokenAsExpected: self.violated(verdict, .warn)
            }
        }
        for reason in OpenReason.allCases {
            let names = Self.names(unknown.filter { self.result.whyOpen($0) == reason })
            if !names.isEmpty { self.marked(.unknown, [Piece("\(names) (\(reason.remark))", .dim)]) }
        }
        if !idle.isEmpty { self.marked(.plain, [Piece("\(Self.names(idle)) (had no occasion)", .dim)]) }
        if !held.isEmpty { self.marked(.good, [Piece(Self.names(held), .dim)]) }
    }

    private static func names(_ verdicts: [Verdict]) -> String {
        verdicts.map(\.invariant.rawValue).joined(separator: ", ")
    }

    private mutating func violated(_ verdict: Verdict, _ tone: Tone) {
        let ink = self.mark(tone).ink
        var count = " " + Figures.count(verdict.violations, "violation", "violations")
        if verdict.standing == .brokenAsExpected {
            count += ", as expected"
        } else if verdict.expected > 0 {
            count += ", \(Figures.count(verdict.expected)) expected for the client profile"
        }
        self.marked(tone, [Piece(verdict.invariant.rawValue, ink), Piece(count)])
        self.page.paragraph(
            Piece(""), indent: self.markColumns, [Piece(verdict.invariant.statement, .dim)])
        for example in verdict.examples.prefix(Self.examplesMax) {
            self.page.paragraph(
                Piece(""), indent: self.markColumns,
                [
                    Piece(self.result.place(of: example) + ": "),
                    Piece(Printable.line(example.text)),
                ])
        }
        let more = verdict.violations - min(verdict.examples.count, Self.examplesMax)
        if more > 0, !verdict.examples.isEmpty {
            self.page.paragraph(
                Piece(""), indent: self.markColumns, [Piece("and \(Figures.count(more)) more", .dim)])
        }
    }
}
