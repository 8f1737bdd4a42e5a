import Ledger
import Metrics
import Plan
import Talaria

extension ScenarioSchema {
    private static let blanks = "[ \\t]*"
    private static let groupTag = "\\{[ \\t]*group[ \\t]*:[ \\t]*[^}, \\t]+[ \\t]*\\}[ \\t]*"

    /// The objectives by their metrics. The names are listed for editors, and each key is judged by the pattern of its kind, which
    /// knows groups, statuses and faults as well.
    static var objectives: JSONSchema {
        let names = Metric.names.compactMap { name in
            Metric(name: name).map { (name, JSONSchema(description: Self.meaning(of: $0))) }
        }
        var objectives = JSONSchema.map(Dictionary(uniqueKeysWithValues: names))
        objectives.types = ["object", "null"]
        objectives.patterns = Dictionary(
            uniqueKeysWithValues: MetricKind.allCases.map { kind in
                (
                    "^\(Self.blanks)\(Self.metrics(of: kind))\(Self.blanks)(\(Self.groupTag))?$",
                    Self.objective(kind)
                )
            })
        return objectives
    }

    /// What is allowed in `expect-broken`.
    static var expectedBreak: JSONSchema {
        let grouped = Invariant.allCases.filter { !Invariant.ofWholeFleet.contains($0) }
        let invariants = "(\(grouped.map { Self.escaped($0.rawValue) }.joined(separator: "|")))"
        let selector = (MetricKind.allCases.map(Self.metrics) + [invariants]).joined(separator: "|")
        return JSONSchema(anyOf: [
            JSONSchema(
                values: (Invariant.allCases.map(\.rawValue) + Metric.names).map { .text($0) }),
            JSONSchema(
                types: ["string"],
                pattern: JSONSchema.whole(
                    "\(Self.blanks)(\(selector))\(Self.blanks)(\(Self.groupTag))?")),
        ])
    }

    private static func meaning(of metric: Metric) -> String? {
        switch metric {
        case .latency(let metric): metric.meaning
        case .rate(let metric): "\(metric.meaning.operation); it has failed if \(metric.meaning.failure)"
        case .count(let metric): metric.meaning
        case .cost(let metric): "\(metric.meaning), in dollars"
        case .http, .fault: nil
        }
    }

    private static func escaped(_ name: String) -> String { name.replacing(".", with: "\\.") }

    private static func metrics(of kind: MetricKind) -> String {
        let names: [String] =
            switch kind {
            case .latency: LatencyMetric.allCases.map(\.rawValue)
            case .rate: RateMetric.allCases.map(\.rawValue)
            case .count: CountMetric.allCases.map(\.rawValue)
            case .answers: []
            case .cost: CostMetric.allCases.map(\.rawValue)
            }
        let families: [String] =
            switch kind {
            case .latency, .rate, .cost: []
            case .count: [Self.escaped(Metric.faultPrefix) + "[^{ \\t]+"]
            case .answers:
                [
                    Self.escaped(AnswerMetric.prefix)
                        + "((\(AnswerMetric.operations.map(\.name).joined(separator: "|")))\\.)?"
                        + "([1-9][0-9][0-9]|[1-5]xx|other)"
                ]
            }
        let all = names.map(Self.escaped) + families
        return "(\(all.joined(separator: "|")))"
    }

    // MARK: Conditions

    /// One condition, a map of its settings, or a list of both.
    static func objective(_ kind: MetricKind) -> JSONSchema {
        let condition = Self.condition(kind)
        var one = condition
        one.types = ["string", "object"]
        one.properties = [
            "expect": condition.described("the condition, such as `p(95) < 400ms`"),
            "severity": JSONSchema.choice(SLO.Severity.allCases.map(\.rawValue))
                .described("warn: a miss does not change the exit code"),
            "abort": JSONSchema.toggle.described("whether a miss ends the run"),
            "no-data": JSONSchema.choice(["pass", "fail"]).described("what it is worth without any value"),
            "not-judged": JSONSchema.choice(["pass", "fail"])
                .described("what it is worth in a run that cannot judge it (default: fail, exit code 98)"),
        ]
        one.required = ["expect"]
        one.isClosed = true
        var objective = one
        objective.types = ["string", "object", "array"]
        objective.items = [one]
        objective.maxItems = ScenarioLimit.slosMax
        return objective
    }

    private static func condition(_ kind: MetricKind) -> JSONSchema {
        let number = JSONSchema.number
        let percentile = "p\(Self.blanks)\\(\(Self.blanks)\(number)\(Self.blanks)\\)"
        let operators = Comparison.allCases.map(\.rawValue).sorted { $0.count > $1.count }
            .joined(separator: "|")
        func limit(_ aggregations: String, _ threshold: String) -> String {
            "(\(aggregations))\(Self.blanks)(\(operators))\(Self.blanks)\(threshold)"
        }
        let (forms, examples): ([String], [String]) =
            switch kind {
            case .latency:
                (
                    [limit("avg|min|max|med|\(percentile)", JSONSchema.time), limit("count", number)],
                    ["p(95) < 400ms", "max < 2s", "avg < 1s", "med < 500ms", "count > 0"]
                )
            case .rate: ([limit("rate", "\(number)%"), limit("count", number)], ["rate < 1%", "count == 0"])
            case .count: ([limit("count|value", number)], ["count == 0", "value == 0"])
            case .answers:
                ([limit("rate", "\(number)%"), limit("count|value", number)], ["rate < 1%", "count == 0"])
            case .cost: ([limit("value", number)], ["value < 0.01"])
            }
        let time = "\(Self.blanks)\(JSONSchema.time)"
        let span = "over\(time)|within\(time)\(Self.blanks)of\(Self.blanks)[^ \\t]+\\.end"
        return .text(
            "\(Self.blanks)(\(forms.joined(separator: "|")))\(Self.blanks)(\(span))?\(Self.blanks)", "text",
            examples: examples)
    }
}
