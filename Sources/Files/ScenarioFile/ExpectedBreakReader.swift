import Ledger
import Metrics
import Plan
import SimBase

/// Reads `expect-broken`: ids of invariants, and metrics that have an objective.
struct ExpectedBreakReader {
    static let breaksMax = 64

    let findings: Findings
    let groups: [String]
    let slos: [SLO]

    func breaks(_ node: Node?) -> [ExpectedBreak] {
        guard let node else { return [] }
        guard case .list(let nodes) = node.content else {
            if case .reported = node.content { return [] }
            self.findings.add(
                node.location, "`expect-broken` must be a list, not \(node.text)",
                help: "for example `expect-broken: [stream.no-gap, scans.lost]`")
            return []
        }
        guard nodes.count <= Self.breaksMax else {
            self.findings.add(node.location, "`expect-broken` has more than \(Self.breaksMax) entries")
            return []
        }
        var breaks: [ExpectedBreak] = []
        for node in nodes {
            guard case .scalar(let text) = node.content else {
                self.findings.add(
                    node.location, "expected the name of an invariant or a metric, not \(node.text)")
                continue
            }
            guard let expected = self.read(text, node) else { continue }
            guard !breaks.contains(expected) else {
                self.findings.add(node.location, "\(Findings.quoted(text)) is given twice")
                continue
            }
            breaks.append(expected)
        }
        return breaks
    }

    private func read(_ text: String, _ node: Node) -> ExpectedBreak? {
        if Invariant(rawValue: text) != nil { return .invariant(id: text) }
        let selector: MetricSelector
        do throws(SLOError) {
            selector = try MetricSelector(
                parsing: text, vocabulary: SLOVocabulary(groups: self.groups, faults: []))
        } catch {
            // A selector whose metric is known has another mistake, which its own words tell best.
            let isSelector = text.contains("{") || Metric(name: text) != nil
            guard !isSelector else {
                self.findings.add(
                    node.location, error.message, help: error.suggestion.map { "did you mean `\($0)`?" })
                return nil
            }
            self.findings.add(
                node.location, "unknown invariant or metric \(Findings.quoted(text))",
                help: Self.nearest(text).map { "did you mean `\($0)`?" })
            return nil
        }
        guard self.hasObjective(selector) else {
            self.findings.add(
                node.location,
                "there is no objective for \(Findings.quoted(selector.description))",
                help: "add one under `slo`")
            return nil
        }
        return .objectives(selector)
    }

    /// Stated, or one of those that every run has.
    private func hasObjective(_ selector: MetricSelector) -> Bool {
        if selector == ImplicitObjective.nothingCompleted { return true }
        let expected = ExpectedBreak.objectives(selector)
        if self.slos.contains(where: { expected.covers($0.selector) }) { return true }
        guard case .count(let metric) = selector.metric, ImplicitObjective.metrics.contains(metric) else {
            return false
        }
        // The scenario's own for the fleet replaces those of the groups.
        return !self.slos.contains { $0.selector == MetricSelector(metric: selector.metric, scope: .fleet) }
    }

    private static func nearest(_ text: String) -> String? {
        Spelling.nearest(to: text, among: Invariant.allCases.map(\.rawValue) + Metric.names)
    }
}
