import Ledger
import Metrics
package import RunJudge
import SimBase
import Talaria

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

    /// Columns from the mark to the text after it.
    var markColumns: Int {
        let hasUnknown =
            self.result.slos.contains { $0.passed == nil }
            || self.result.verdicts.contains { $0.standing == .notAvailable }
        return self.page.style.isASCII ? 7 : hasUnknown ? 6 : 4
    }

    mutating func section(_ title: String, _ remark: String) {
        self.page.gap()
        self.labeled(title, remark, .dim)
    }

    /// `  ✓ text`, with its further lines under the text.
    mutating func marked(_ tone: Tone, _ pieces: [Piece]) {
        let piece = self.page.mark(tone)
        self.page.paragraph(Piece("  " + piece.text, piece.ink), indent: self.markColumns, pieces)
    }

    /// A line under the text of a marked one.
    mutating func below(_ text: String, _ ink: Ink = .plain) {
        self.page.text(text, ink, indent: self.markColumns)
    }

    mutating func labeled(_ label: String, _ text: String, _ ink: Ink = .plain) {
        self.labeled(label, [Piece(text, ink)])
    }

    mutating func labeled(_ label: String, _ pieces: [Piece]) {
        guard Printable.width(label) < Self.labelColumns else {
            self.page.text(label, .bold, indent: 0)
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
        let sign = self.page.mark(self.result.exit.tone)
        self.page.verdict(sign, self.result.headline, of: self.result.scenario.name)
        func line(_ text: String, _ ink: Ink) { self.page.text(text, ink, indent: 2) }
        func item(_ text: String, _ ink: Ink = .plain) {
            self.page.paragraph(Piece("  - "), indent: 4, [Piece(text, ink)])
        }
        if let outcome = self.result.outcome { line(Figures.capitalized(outcome), .bold) }
        for explanation in self.result.explanations { line(explanation, .plain) }
        let isGood = self.result.exit == .success
        line(
            "\(self.result.meaning) (exit\u{A0}code\u{A0}\(self.result.exit.rawValue))",
            isGood ? .plain : sign.ink)
        if !isGood || !self.result.expectations.isEmpty { line(Obligations(self.result).sentence, .dim) }
        for reason in self.result.reasons { item(Printable.line(reason, bytesMax: 600)) }
        let expected = self.result.expected.filter(\.isBroken).map(\.expected.name)
        if !expected.isEmpty { item("broken as expected: " + expected.joined(separator: ", ")) }
        let missed = self.result.slos.count { $0.passed == false && !$0.isBreach }
        if missed > 0 { item(Figures.count(missed, "SLO", "SLOs") + " missed (warning only)", .warning) }
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
            let mark = self.page.mark(tone)
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
        let held = verdicts.filter { $0.standing == .held }
        self.section(
            "Invariants",
            Self.tally([
                (held.count(where: \.hadOccasion), "held"), (self.result.brokenInvariants.count, "broken"),
                (verdicts.count { $0.standing == .brokenAsExpected }, "broken as expected"),
                (held.count { !$0.hadOccasion }, "without an occasion"),
                (verdicts.count { $0.standing == .notAvailable }, "n/a"),
            ]))
        for verdict in self.result.violated { self.violated(verdict) }
        let rest = self.result.unbroken()
        let open = rest.filter { $0.tone == .unknown }
        for (tone, words, verdicts) in open + rest.dropLast(open.count).reversed() {
            let names = verdicts.map(\.invariant.rawValue).joined(separator: ", ")
            self.marked(tone, [Piece(tone == .good ? names : "\(names) (\(words))", .dim)])
        }
    }

    private mutating func violated(_ verdict: Verdict) {
        let tone: Tone = verdict.standing == .broken ? .bad : .warn
        let ink = self.page.mark(tone).ink
        var count = " " + Figures.count(verdict.violations, "violation", "violations")
        if verdict.standing == .brokenAsExpected {
            count += ", as expected"
        } else if verdict.expected > 0 {
            count += ", \(Figures.count(verdict.expected)) expected for the client profile"
        }
        self.marked(tone, [Piece(verdict.invariant.rawValue, ink), Piece(count)])
        self.below(verdict.invariant.statement, .dim)
        for example in verdict.examples.prefix(Self.examplesMax) {
            self.below("\(self.result.place(of: example)): \(Printable.line(example.text))")
        }
        let more = verdict.violations - min(verdict.examples.count, Self.examplesMax)
        if more > 0, !verdict.examples.isEmpty { self.below("and \(Figures.count(more)) more", .dim) }
    }
}

/// A run in one line, for example for the log of a build.
package enum SummaryLine {
    /// `PASSED flaky-network: 120 of 120 scans completed, 0 lost, scan.time p50 3.1s p95 6.2s, exit code 0, Reports/…`.
    package static func text(_ result: RunResult, style: TerminalStyle) -> String {
        let scans = result.totals.scans
        var facts = [
            "\(Figures.count(scans.completed)) of \(Figures.count(scans.begun, result.noun)) completed",
            "\(Figures.count(scans.lost)) lost",
        ]
        if let time = result.latency(.scanTime) {
            let limit = result.objective(on: .scanTime).map { " (limit \($0.slo.condition))" } ?? ""
            facts.append(
                "\(LatencyMetric.scanTime.rawValue) p50 \(Figures.time(time.p50)) p95 \(Figures.time(time.p95))\(limit)"
            )
        }
        if result.exitReasons.contains(.endedByObjective), let end = result.endedEarly { facts.append(end) }
        facts += result.reasons
        facts.append("exit code \(result.exit.rawValue)")
        if let directory = result.directory { facts.append(directory) }
        let name = "\(result.headline) \(result.scenario.name), seed \(result.seed)"
        let line = Printable.line("\(name): \(facts.joined(separator: ", "))", bytesMax: 4_000)
        // Figures have no-break spaces, which a search of a log for an ordinary space does not find.
        let untied = TerminalPage.untied(line)
        return style.isASCII ? Printable.ascii(untied) : untied
    }
}
