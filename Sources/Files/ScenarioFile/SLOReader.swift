import Metrics
import Plan
import SimBase

/// Reads `slo`. The grammar of selectors and conditions is that of `Metrics`.
struct SLOReader {
    static let keys = ["expect", "severity", "abort", "no-data", "not-judged"]

    let findings: Findings
    let vocabulary: SLOVocabulary
    /// The names of the faults that end at a time.
    let faultsThatEnd: [String]
    /// What books cost; nil if the scenario does not say.
    let cost: Node?

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
                    entry.keyLocation,
                    "the objective \(Findings.quoted(selector.description)) is given twice",
                    help: "write one key with a list of conditions")
                continue
            }
            if let lack = self.lack(selector.metric) {
                self.findings.add(entry.keyLocation, lack.message, help: lack.help)
            }
            objectives += self.objectives(entry.value, of: selector)
        }
        if objectives.count > ScenarioLimit.slosMax {
            self.findings.add(node.location, "more than \(ScenarioLimit.slosMax) objectives")
            return []
        }
        return objectives
    }

    private func selector(_ entry: Node.Entry) -> MetricSelector? {
        do throws(SLOError) {
            return try MetricSelector(parsing: entry.key, vocabulary: self.vocabulary)
        } catch {
            let key = Node(content: .scalar(entry.key), location: entry.keyLocation)
            let name = String(entry.key.prefix { $0 != "{" && $0 != " " })
            self.findings.report(
                error, in: key, entry.key, help: Metric(name: name) == nil ? Self.help(metric: name) : nil)
            return nil
        }
    }

    /// What a cost needs and the scenario does not have; nil if nothing is missing.
    private func lack(_ metric: Metric) -> (message: String, help: String)? {
        guard case .cost(let metric) = metric else { return nil }
        guard let cost = self.cost else {
            return (
                "`\(metric.rawValue)` needs the prices of books", "add `cost: {photo: 0.021, text: 0.001}`"
            )
        }
        guard metric == .perMonth, cost["books-per-month"] == nil else { return nil }
        return ("`\(metric.rawValue)` needs the books of a month", "add `books-per-month` to `cost`")
    }

    /// All that there are are too many for an error: the counts are on the page.
    private static func help(metric name: String) -> String {
        let times = LatencyMetric.allCases.map(\.rawValue)
        let rates = RateMetric.allCases.map(\.rawValue)
        return ForeignWord.help(metric: name)
            ?? "metrics are the times \(times.map { "`\($0)`" }.joined(separator: ", ")), the rates \(rates.map { "`\($0)`" }.joined(separator: ", ")), and counts such as `scans.lost`; 'swiftwing-sim help metrics' explains all"
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
                node, what: "an objective", keys: Self.keys, planned: [], findings: self.findings)
        else { return nil }
        let severity = map.value("severity", default: SLO.Severity.error) { text throws(ValueError) in
            let words = SLO.Severity.allCases.map(\.rawValue)
            return SLO.Severity(rawValue: try Values.choice(text, of: words, what: "`severity`")) ?? .error
        }
        let abort = map.value("abort", default: false, Values.boolean)
        if abort, severity == .warn {
            self.findings.add(
                map.location(of: "abort"),
                "`abort` ends the run, and a miss with `severity: warn` does not change the exit code",
                help: "leave out one of them")
        }
        let passesWithoutData = map.value("no-data") { text throws(ValueError) -> Bool in
            try Values.choice(text, of: ["pass", "fail"], what: "`no-data`") == "pass"
        }
        let mayStayOpen = map.value("not-judged", default: false) { text throws(ValueError) -> Bool in
            try Values.choice(text, of: ["pass", "fail"], what: "`not-judged`") == "pass"
        }
        guard let expect = map.entry("expect")?.value else {
            self.findings.add(
                map.location, "an objective needs `expect`", help: "for example `expect: p(95) < 400ms`")
            return nil
        }
        return self.condition(expect, of: selector).map {
            SLO(
                selector: selector, condition: $0, severity: severity, abort: abort,
                passesWithoutData: passesWithoutData, mayStayOpen: mayStayOpen)
        }
    }

    private func condition(_ node: Node, of selector: MetricSelector) -> SLOCondition? {
        guard case .scalar(let text) = node.content else {
            return self.findings.value(of: node, named: selector.description) { _ throws(ValueError) in nil }
                ?? nil
        }
        do throws(SLOError) {
            let condition = try SLOCondition(parsing: text, for: selector.metric.kind)
            guard let flaw = self.flaw(of: condition.span, selector) else { return condition }
            self.findings.add(node.location, flaw.message, help: flaw.help)
            return nil
        } catch {
            self.findings.report(error, in: node, text)
            return nil
        }
    }

    /// Returns the defect of a well-formed span in this scenario; nil if there is none.
    private func flaw(of span: SLOSpan, _ selector: MetricSelector) -> (message: String, help: String?)? {
        guard span != .wholeRun else { return nil }
        guard selector.metric.isKnownOverTime else {
            return (
                "\(selector.metric.name) is available only for the whole run",
                "leave out `\(span.description.dropFirst())`"
            )
        }
        guard case .afterFault(let id, _) = span else { return nil }
        guard self.vocabulary.faults.contains(id) else {
            let nearest = Spelling.nearest(to: id, among: self.vocabulary.faults)
            return (
                "there is no fault \(Findings.quoted(id))", nearest.map { "did you mean `\($0)`?" }
            )
        }
        guard !self.faultsThatEnd.contains(id) else { return nil }
        return ("the fault \(Findings.quoted(id)) has no end", "add `for`, for example `for: 4s`")
    }
}

extension Findings {
    /// Adds an error at its position in the text of a node. `help`: for an error that has none of its own.
    func report(_ error: SLOError, in node: Node, _ text: String, help: @autoclosure () -> String? = nil) {
        let rest = text.unicodeScalars.dropFirst(error.offset)
        let word = rest.prefix { $0 != " " }.count
        let location = self.location(of: error.offset..<error.offset + max(1, word), in: node, text)
        self.add(
            location, error.message,
            help: error.suggestion.map { "did you mean `\($0)`?" } ?? error.choices ?? help())
    }
}
