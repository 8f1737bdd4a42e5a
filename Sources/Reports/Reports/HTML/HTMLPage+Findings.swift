import Ledger
import RunArchive
import RunJudge
import RunMetrics

extension HTMLPage {
    /// The deviations of answers, events and requests from the contract.
    package var findings: Section {
        let findings = self.result.findings
        guard !findings.isEmpty else { return Section(id: "findings", title: "Findings", body: "") }
        let rows = findings.shown(FindingText.rowsMax, of: self.result).map { text in
            [
                HTMLText.escaped(text.answer), HTMLText.mono(text.path),
                HTMLText.escaped(text.expected), HTMLText.escaped(text.seen),
                text.excerpt.map { HTMLText.mono($0) } ?? "–",
                (text.isDecisive ? HTMLText.sign(.bad) + " rejected" : "accepted")
                    + HTMLText.escaped(text.suffix),
                text.count, HTMLText.escaped(text.first),
            ]
        }
        let hidden = findings.hidden(beyond: FindingText.rowsMax)
        return Section(
            id: "findings", title: "Findings",
            lead: "Messages that deviate from the API contract: "
                + "\(Figures.count(findings.kinds, "kind", "kinds")), \(Figures.count(findings.count)) in total"
                + "\(findings.originText).",
            body: HTMLText.table(
                ["message", "field", "expected", "actual", "excerpt", "handling", "count", "first"], rows,
                numbers: [6], id: "finding-table")
                + (hidden > 0 ? "<p>\(Figures.count(hidden)) more of other kinds.</p>\n" : ""))
    }
}
