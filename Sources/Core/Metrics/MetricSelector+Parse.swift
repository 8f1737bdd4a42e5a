import SimBase

/// The names that a scenario gives, to which its objectives must keep.
package struct SLOVocabulary: Hashable, Sendable {
    package let groups: [String]
    package let faults: [String]

    package init(groups: [String], faults: [String]) {
        self.groups = groups
        self.faults = faults
    }
}

extension MetricSelector {
    /// Reads `metric` or `metric{group:name}`. Groups and faults are checked against the vocabulary, if there is one.
    package init(parsing text: String, vocabulary: SLOVocabulary?) throws(SLOError) {
        var scanner = try SLOScanner(text)
        scanner.skipSpaces()
        let start = scanner.offset
        let name = scanner.takeName()
        let metric = try Self.metric(name, at: start, of: scanner, vocabulary)
        let scope = try MetricScope(
            &scanner, of: metric.name, ofWholeFleet: metric.isOfWholeFleet ? "measured" : nil,
            after: "the metric", vocabulary)
        self.init(metric: metric, scope: scope)
    }

    private static func metric(
        _ name: String, at start: Int, of scanner: SLOScanner, _ vocabulary: SLOVocabulary?
    ) throws(SLOError) -> Metric {
        guard !name.isEmpty else {
            throw scanner.error("expected a metric, such as `sse.connect.time`", at: start)
        }
        let faults = vocabulary?.faults.map { Metric.fault(id: $0).name } ?? []
        guard let metric = Metric(name: name) else {
            if name.hasPrefix(AnswerMetric.prefix) {
                throw scanner.error(
                    "`\(SLOScanner.quoted(name))` names no answers: expected a status or a class, with or without an operation, as in `http.429`, `http.5xx` and `http.upload.503`",
                    at: start)
            }
            throw scanner.error(
                "unknown metric `\(SLOScanner.quoted(name))`", at: start,
                suggestion: Spelling.nearest(to: name, among: Metric.names + faults))
        }
        if case .fault(let id) = metric, let known = vocabulary?.faults, !known.contains(id) {
            throw scanner.error(
                "the scenario has no fault `\(SLOScanner.quoted(id))`", at: start,
                suggestion: Spelling.nearest(to: name, among: faults))
        }
        return metric
    }
}

extension SLOScanner {
    /// Takes the name before a scope.
    mutating func takeName() -> String {
        self.skipSpaces()
        return self.take { $0 != "{" && $0 != " " && $0 != "\t" }
    }
}

extension MetricScope {
    /// Reads what follows a name to the end: nothing, or `{group:name}`.
    ///
    /// - Parameter ofWholeFleet: What is done for the whole fleet only; nil if a group can be named.
    init(
        _ scanner: inout SLOScanner, of name: String, ofWholeFleet: String?, after what: String,
        _ vocabulary: SLOVocabulary?
    ) throws(SLOError) {
        scanner.skipSpaces()
        let brace = scanner.offset
        guard scanner.take("{") else {
            try scanner.expectEnd(after: what)
            self = .fleet
            return
        }
        if let ofWholeFleet {
            throw scanner.error(
                "`\(name)` is \(ofWholeFleet) for the whole fleet, not for a group", at: brace)
        }
        self = .group(try Self.group(&scanner, vocabulary))
        try scanner.expectEnd(after: "the selector")
    }

    /// Parses the text between the braces, and the closing brace.
    private static func group(_ scanner: inout SLOScanner, _ vocabulary: SLOVocabulary?) throws(SLOError)
        -> String
    {
        scanner.skipSpaces()
        let tagStart = scanner.offset
        let tag = scanner.take { $0 != ":" && $0 != "}" && $0 != "," && $0 != " " && $0 != "\t" }
        guard tag == "group" else {
            throw scanner.error(
                tag.isEmpty
                    ? "expected `group:` and the name of a group" : "unknown tag `\(SLOScanner.quoted(tag))`",
                at: tagStart, suggestion: tag.isEmpty ? nil : "group")
        }
        scanner.skipSpaces()
        guard scanner.take(":") else { throw scanner.error("expected `:` after `group`") }
        scanner.skipSpaces()
        let start = scanner.offset
        let name = scanner.take { $0 != "}" && $0 != "," && $0 != " " && $0 != "\t" }
        guard !name.isEmpty else { throw scanner.error("expected the name of a group") }
        if let groups = vocabulary?.groups, !groups.contains(name) {
            var error = scanner.error(
                "the fleet has no group `\(SLOScanner.quoted(name))`", at: start,
                suggestion: Spelling.nearest(to: name, among: groups))
            error.choices = "its groups are \(groups.map { "`\($0)`" }.joined(separator: ", "))"
            throw error
        }
        scanner.skipSpaces()
        if scanner.next == "," { throw scanner.error("only one group can be named") }
        guard scanner.take("}") else { throw scanner.error("expected `}`") }
        return name
    }
}
