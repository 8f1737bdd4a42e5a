import Ledger
import Metrics
import Reports
import RunArchive
import RunJudge
import SimBase
import Talaria

/// A comparison for a pull request.
package enum ComparisonMarkdown {
    /// Lines of the scenarios that are shown.
    private static let changesMax = 60

    package static func text(_ comparison: RunComparison) -> String {
        let news = comparison.isIdentical ? [] : Self.tables(comparison) { $0.isNews }
        let rest = comparison.isIdentical ? [] : Self.tables(comparison) { !$0.isNews }
        let folded = rest.filter { !$0.isEmpty }.joined(separator: "\n")
        let unchanged =
            folded.isEmpty
            ? ""
            : "<details><summary>Unchanged: \(comparison.unchanged ?? "")</summary>\n\n\(folded)\n</details>\n"
        return ([Self.verdict(comparison)] + news + [Self.changes(comparison), unchanged])
            .filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// The tables with the rows of these changes; those without rows are empty.
    private static func tables(_ comparison: RunComparison, _ isIn: (Change) -> Bool) -> [String] {
        [
            Self.objectives(comparison, isIn), Self.invariants(comparison, isIn),
            Self.latencies(comparison, isIn), Self.shares(comparison, isIn), Self.counts(comparison, isIn),
        ]
    }

    private static func verdict(_ comparison: RunComparison) -> String {
        let sign = comparison.isRegression ? "❌" : comparison.tone == .good ? "✅" : "⚠️"
        let name = MarkdownText.escaped(comparison.new.head.scenario.name)
        var text = "## \(sign) \(name): \(comparison.headline)\n\n"
        let sentence = comparison.sentence
        text += "\(sentence.prefix(1).uppercased())\(sentence.dropFirst()).\n\n"
        for reason in comparison.reasons { text += "- \(MarkdownText.code(reason, bytesMax: 400))\n" }
        if !comparison.reasons.isEmpty { text += "\n" }
        text += MarkdownText.table(
            ["", "folder", "ended", "seed", "mode", "length", "phones", comparison.noun.many, "started"],
            [("BASE", comparison.base), ("NEW", comparison.new)].map { label, run in
                let result = run.result
                return [
                    label,
                    ([run.folder] + result.labels.words).map { MarkdownText.code($0, bytesMax: 400) }
                        .joined(separator: " "),
                    RunComparison.end(run), "\(result.seed)",
                    result.world.mode, Figures.length(result.length), Figures.count(result.devices),
                    Figures.count(result.totals.scans.captured),
                    Figures.date(iso8601: result.startedText),
                ]
            }, textColumns: 9)
        if !comparison.tagChanges.isEmpty || !comparison.warnings.isEmpty {
            text += "\n"
            for change in comparison.tagChanges {
                text += "- \(MarkdownText.code(change, bytesMax: 600))\n"
            }
            for warning in comparison.warnings {
                text += "- ⚠️ \(MarkdownText.code(warning, bytesMax: 400))\n"
            }
        }
        return text
    }

    private static func changes(_ comparison: RunComparison) -> String {
        let changes = comparison.scenarioChanges
        guard !changes.isEmpty else { return "" }
        var lines = changes.prefix(Self.changesMax).map { Printable.line($0, bytesMax: 400) }
        if changes.count > lines.count { lines.append("and \(changes.count - lines.count) more lines") }
        return "<details><summary>Scenario differences</summary>\n\n"
            + MarkdownText.block("diff", lines.joined(separator: "\n")) + "\n</details>\n"
    }

    private static func word(_ change: Change) -> String {
        switch change {
        case .worse: "❌ worse"
        case .better: "✅ better"
        case .onlyBase, .onlyNew: "⚠️ \(change.rawValue)"
        case .notProven: "❓ not proven"
        case .same, .shown: change.rawValue
        }
    }

    private static func objectives(_ comparison: RunComparison, _ isIn: (Change) -> Bool) -> String {
        let shown = comparison.objectives.filter { isIn($0.change) }
        guard !shown.isEmpty else { return "" }
        let rows = shown.map { row in
            [
                Self.word(row.change) + (row.change == .worse && !row.decides ? " (warning only)" : ""),
                MarkdownText.code(row.slo.selector.description),
                MarkdownText.code(row.slo.condition.description),
            ]
                + [row.base, row.new].flatMap { result in
                    [
                        RunComparison.Objective.word(result),
                        MarkdownText.code(RunComparison.Objective.text(result)),
                    ]
                }
        }
        return "### SLOs\n\n"
            + MarkdownText.table(
                ["", "metric", "limit", "BASE", "", "NEW", ""], rows, textColumns: 7)
    }

    private static func invariants(_ comparison: RunComparison, _ isIn: (Change) -> Bool) -> String {
        var rows = comparison.losses.filter { isIn($0.change) }.map { row in
            [
                Self.word(row.change), MarkdownText.code(row.name), row.text(row.base), row.text(row.new), "",
            ]
        }
        rows += comparison.invariants.filter { $0.isShown && isIn($0.change) }.map { row in
            let first = row.new?.examples.first ?? row.base?.examples.first
            return [
                Self.word(row.change) + (row.change == .worse && !row.decides ? " (as expected)" : ""),
                MarkdownText.code(row.invariant.rawValue), RunComparison.InvariantComparison.text(row.base),
                RunComparison.InvariantComparison.text(row.new),
                first.map { MarkdownText.code(comparison.told($0)) } ?? "",
            ]
        }
        let held = comparison.invariants.count {
            $0.base?.standing == .held && $0.new?.standing == .held && isIn($0.change)
        }
        guard !rows.isEmpty || held > 0 else { return "" }
        let table = MarkdownText.table(["", "what", "BASE", "NEW", "first"], rows, textColumns: 5)
        return "### Losses and invariants\n\n" + (rows.isEmpty ? "" : table)
            + (held > 0 ? "\n\(Figures.count(held, "invariant", "invariants")) held in both runs.\n" : "")
    }

    private static func latencies(_ comparison: RunComparison, _ isIn: (Change) -> Bool) -> String {
        let rows = comparison.latenciesShown.filter { isIn($0.change) }.map { row -> [String] in
            func times(_ percentile: Percentile, _ value: (LatencySummary) -> Int64) -> [String] {
                row.cells(percentile, value).map(MarkdownText.escaped)
            }
            return [Self.word(row.change), MarkdownText.code(row.name.name)] + times(.p50) { $0.p50 }
                + times(.p95) { $0.p95 } + [MarkdownText.escaped(row.pairsText)] + times(.p99) { $0.p99 }
                + [row.base, row.new].map { Figures.count($0?.count ?? 0) }
        }
        guard !rows.isEmpty else { return "" }
        let more = isIn(.same) ? comparison.latenciesLeftOut : 0
        let rest =
            more > 0
            ? " \(Figures.count(more, "row", "rows")) of single groups, which are not judged, omitted." : ""
        return "### Latencies\n\n"
            + MarkdownText.table(
                [
                    "", "metric", "p50 BASE", "NEW", "", "p95 BASE", "NEW", "", "pairs", "p99 BASE", "NEW",
                    "", "samples", "NEW",
                ], rows, textColumns: 2)
            + "\n\(comparison.latencyLead)\(rest)\n"
    }

    private static func shares(_ comparison: RunComparison, _ isIn: (Change) -> Bool) -> String {
        let shown = comparison.shares.filter { isIn($0.change) }
        guard !shown.isEmpty else { return "" }
        let rows = shown.map { row in
            [
                Self.word(row.change), MarkdownText.code(row.name), row.of, row.text(row.base),
                row.text(row.new), row.difference,
            ]
        }
        return "### Shares\n\n"
            + MarkdownText.table(["", "what", "of", "BASE", "NEW", ""], rows, textColumns: 3)
    }

    private static func counts(_ comparison: RunComparison, _ isIn: (Change) -> Bool) -> String {
        let shown = comparison.counts.filter { isIn($0.change) }
        guard !shown.isEmpty else { return "" }
        let rows = shown.map { row in
            [
                row.change == .shown ? "" : Self.word(row.change), MarkdownText.code(row.name),
                row.text(row.base), row.text(row.new), row.difference,
            ]
        }
        return "### Counts, not judged\n\n"
            + MarkdownText.table(["", "what", "BASE", "NEW", ""], rows, textColumns: 2)
    }
}
