import Metrics
import Plan

/// Reads `slo`. The grammar of selectors and conditions is that of `Metrics`.
struct SLOReader {
    static let keys = ["expect", "severity", "abort"]
    static let planned = ["over", "within", "after", "no-data"]

    let findings: Findings
    let vocabulary: SLOVocabulary

    func objectives(_ node: Node?) -> [SLO] {
        guard let node else { return [] }
        if case .scalar("") = node.content { return [] }
        guard let map = MapReader(node, what: "slo", findings: self.findings) else { return [] }
        var objectives: [SLO] = []
        var selectors: Set<MetricSelector> = []
        for entry in map.entries {
            guard let selector = self.selector(entry) else { continue }
            guard selectors.insert(selector).inserted else {
                self.findings.add(
                    entry.keyPlace, "the objective \(Findings.quoted(selector.description)) is given twice",
                    help: "give one key a list of conditions")
                continue
            }
            objectives += self.objectives(entry.value, of: selector)
        }
        if objectives.count > ScenarioLimit.slosMax {
            self.findings.add(node.place, "more than \(ScenarioLimit.slosMax) objectives")
            return []
        }
        return objectives
    }

    private func selector(_ entry: Node.Entry) -> MetricSelector? {
        do throws(SLOError) {
            return try MetricSelector(parsing: entry.key, vocabulary: self.vocabulary)
        } catch {
            let key = Node(content: .scalar(entry.key), place: entry.keyPlace)
            self.report(error, in: key, entry.key)
            return nil
        }
    }

    private func objectives(_ node: Node, of selector: MetricSelector) -> [SLO] {
        switch node.content {
        case .list(let nodes): nodes.compactMap { self.objective($0, of: selector) }
        case .scalar, .map, .reported: self.objective(node, of: selector).map { [$0] } ?? []
        }
    }

    private func objective(_ node: Node, of selector: MetricSelector) -> SLO? {
        guard case .map = node.content else {
            return self.condition(node, of: selector).map {
                SLO(selector: selector, condition: $0, severity: .error, abort: false)
            }
        }
        guard
            let map = MapReader(
                node, what: "an objective", keys: Self.keys, planned: Self.planned, findings: self.findings)
        else { return nil }
        let severity = map.value("severity", default: SLO.Severity.error) { text throws(ValueError) in
            let words = SLO.Severity.allCases.map(\.rawValue)
            return SLO.Severity(rawValue: try Values.choice(text, of: words, what: "`severity`")) ?? .error
        }
        let abort = map.value("abort", default: false, Values.boolean)
        guard let expect = map.entry("expect")?.value else {
            self.findings.add(
                map.place, "an objective needs `expect`", help: "for example `expect: p(95) < 400ms`")
            return nil
        }
        return self.condition(expect, of: selector).map {
            SLO(selector: selector, condition: $0, severity: severity, abort: abort)
        }
    }

    private func condition(_ node: Node, of selector: MetricSelector) -> SLOCondition? {
        guard case .scalar(let text) = node.content else {
            return self.findings.value(of: node, named: selector.description) { _ throws(ValueError) in nil }
                ?? nil
        }
        do throws(SLOError) {
            return try SLOCondition(parsing: text, for: selector.metric.kind)
        } catch {
            self.report(error, in: node, text)
            return nil
        }
    }

    private func report(_ error: SLOError, in node: Node, _ text: String) {
        let rest = text.unicodeScalars.dropFirst(error.offset)
        let word = rest.prefix { $0 != " " }.count
        let place = self.findings.place(of: error.offset..<error.offset + max(1, word), in: node, text)
        self.findings.add(place, error.message, help: error.suggestion.map { "did you mean `\($0)`?" })
    }
}
