import Ledger
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

extension HTMLPage {
    /// Lines of a story on each side of a violation.
    private static let linesAround = 5
    /// Violations whose stories are shown.
    private static let excerptsMax = 3

    /// What happened around the first violations, from the logs of their phones; empty without such logs.
    var excerpts: HTML {
        let first = self.result.verdicts.filter { $0.standing == .broken }.compactMap(\.examples.first)
        return first.compactMap(self.excerpt).prefix(Self.excerptsMax).joined()
    }

    private func excerpt(_ violation: Violation) -> HTML? {
        guard let device = violation.device, violation.scan != .none,
            let timeline = self.report.timelines.first(where: { $0.mark.device == device })
        else { return nil }
        let story = ScanStory(
            timeline.observations, self.result.journey(of: device), device: device, scan: violation.scan,
            faults: self.faultIDs, violations: [violation], end: .zero + self.result.length)
        guard let place = story.lines.firstIndex(where: { $0.mark == .violation }) else { return nil }
        let shown = story.lines[max(0, place - Self.linesAround)...].prefix(2 * Self.linesAround)
        let lines: [HTML] = shown.map { line in
            let side = line.side + String(repeating: " ", count: max(0, 7 - line.side.count))
            let text =
                "\(Figures.seconds(line.at.nanoseconds)) s  \(side) \(Printable.line(line.text, bytesMax: 300))"
            // Of several lines of one moment it is not known which is meant.
            let isMeant = line.side.isEmpty || shown.count { $0.at == line.at && !$0.side.isEmpty } == 1
            return line.mark == .violation && isMeant ? "<mark>\(text)</mark>" : "\(text)"
        }
        return """
            <h4>\(HTML.mono(violation.invariant.rawValue)): \(self.place(of: violation))</h4>
            <pre class="story">\(lines.joined(separator: "\n"))</pre>

            """
    }
}
