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
        func tables(_ isIn: @escaping (Change) -> Bool) -> [String] {
            ComparisonTables(comparison, isIn).all.map(\.markdown)
        }
        let (news, rest) = (tables { $0.isNews }, tables { !$0.isNews })
        let folded = rest.filter { !$0.isEmpty }.joined(separator: "\n")
        let unchanged = MarkdownText.folded("Unchanged: \(comparison.unchanged ?? "")", folded)
        return ([Self.verdict(comparison)] + news + [Self.changes(comparison), unchanged])
            .filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static func verdict(_ comparison: RunComparison) -> String {
        let name = MarkdownText.escaped(comparison.new.head.scenario.name)
        var text = "## \(comparison.tone.emoji) \(name): \(comparison.headline)\n\n"
        text += "\(Figures.capitalized(comparison.sentence)).\n\n"
        text += MarkdownText.items(comparison.reasons, bytesMax: 400)
        if !comparison.reasons.isEmpty { text += "\n" }
        text += ComparisonTables.runs(comparison).markdownBody
        if !comparison.tagChanges.isEmpty || !comparison.warnings.isEmpty {
            text += "\n" + MarkdownText.items(comparison.tagChanges, bytesMax: 600)
            text += MarkdownText.items(comparison.warnings, bytesMax: 400, as: "⚠️ ")
        }
        return text
    }

    private static func changes(_ comparison: RunComparison) -> String {
        let changes = comparison.scenarioChanges
        guard !changes.isEmpty else { return "" }
        var lines = changes.prefix(Self.changesMax).map { Printable.line($0, bytesMax: 400) }
        if changes.count > lines.count { lines.append("and \(changes.count - lines.count) more lines") }
        return MarkdownText.folded(
            "Scenario differences", MarkdownText.block("diff", lines.joined(separator: "\n")))
    }
}
