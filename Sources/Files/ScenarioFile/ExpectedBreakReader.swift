import Ledger
import Metrics
import Plan
import SimBase

/// Reads `expect-broken`: ids of invariants, and metrics that have an objective, each for a group or without one.
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
        let vocabulary = SLOVocabulary(groups: self.groups, faults: [])
        do throws(SLOError) {
            if let expected = try ExpectedBreak(
                parsing: text, invariants: Invariant.allCases.map(\.rawValue),
                ofWholeFleet: Invariant.ofWholeFleet.map(\.rawValue), vocabulary: vocabulary)
            {
                return expected
            }
            return self.known(
                .objectives(try MetricSelector(parsing: text, vocabulary: vocabulary)), node)
        } catch {
            self.report(error, in: node, text)
            return nil
        }
    }

    private func report(_ error: SLOError, in node: Node, _ text: String) {
        let name = String(text.prefix { $0 != "{" && $0 != " " })
        guard Metric(name: name) == nil, Invariant(rawValue: name) == nil else {
            return self.findings.report(error, in: node, text)
        }
        self.findings.add(
            node.location, "unknown invariant or metric \(Findings.quoted(text))",
            help: Self.nearest(name).map { "did you mean `\($0)`?" })
    }

    private func known(_ expected: ExpectedBreak, _ node: Node) -> ExpectedBreak? {
        if case .objectives(let selector) = expected, !self.hasObjective(selector) {
            self.findings.add(
                node.location, "there is no objective for \(Findings.quoted(expected.name))",
                help: "add one under `slo`")
            return nil
        }
        return expected
    }

    /// Stated, or one of those that every run has.
    private func hasObjective(_ selector: MetricSelector) -> Bool {
        if selector == ImplicitObjective.nothingCompleted { return true }
        let expected = ExpectedBreak.objectives(selector)
        if self.slos.contains(where: { expected.covers($0.selector, groups: nil) }) { return true }
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
