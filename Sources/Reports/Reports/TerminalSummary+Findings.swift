import Ledger
import RunArchive
import RunJudge
import RunMetrics
import SimBase

extension SummaryWriter {
    private static let findingsMax = 8

    /// Prints the deviations of answers, events and requests from the contract.
    mutating func findings() {
        let findings = self.result.findings
        guard !findings.isEmpty else { return }
        let kinds = Figures.count(findings.kinds, "kind", "kinds")
        self.section(
            "Findings",
            "\(kinds), \(Figures.count(findings.count)) in total, not in the API contract\(findings.originText)"
        )
        for text in findings.shown(Self.findingsMax, of: self.result) {
            self.marked(
                text.isDecisive ? .bad : .warn,
                [Piece(Printable.line(text.sentence, bytesMax: 300), text.isDecisive ? .bad : .plain)])
            let used = (text.isDecisive ? "; \(text.message) rejected" : "") + text.suffix
            self.page.paragraph(
                Piece(""), indent: self.markColumns,
                [Piece("\(text.count)\u{A0}×, first \(text.first)\(used)", .dim)])
        }
        let hidden = findings.hidden(beyond: Self.findingsMax)
        if hidden > 0 {
            self.page.paragraph(
                Piece(""), indent: self.markColumns,
                [Piece("and \(Figures.count(hidden)) more in the report", .dim)])
        }
    }
}
