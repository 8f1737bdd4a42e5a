import Ledger
import Metrics
import RunJudge
import RunMetrics
import SimBase
import Talaria

/// `junit.xml`: a case for each objective and each invariant, as continuous integration shows them.
enum JUnitReport {
    static func text(_ result: RunResult) -> String {
        let suites = [
            ("objectives", result.slos.map { Self.objective($0, of: result) }),
            ("invariants", result.verdicts.map { Self.invariant($0, of: result) }),
            ("expected to break", result.expected.map { Self.expected($0, of: result) }),
            ("completion", [Self.completion(result)]), (Self.runSuite, [Self.run(result)]),
        ].filter { !$0.1.isEmpty }
        let seconds = Figures.seconds(result.length.nanoseconds)
        let name = Self.escaped(result.scenario.name)
        let total = Self.counts(suites.flatMap(\.1))
        let body = suites.map { suite, cases in
            // A run takes its time once: objectives and invariants are looked up in what it left.
            let time = suite == Self.runSuite ? seconds : "0"
            return "  <testsuite name=\"\(suite)\" \(Self.counts(cases)) time=\"\(time)\" "
                + "timestamp=\"\(result.startedText.prefix(19))\">\n" + Self.properties(result.labels)
                + cases.map { Self.text($0, "classname=\"\(name).\(suite)\" time=\"\(time)\"", suite) }
                .joined()
                + "  </testsuite>\n"
        }.joined()
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<testsuites name=\"\(name)\" \(total) time=\"\(seconds)\">\n\(body)</testsuites>\n"
    }

    private static func properties(_ labels: RunLabels) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs =
            (labels.target.map { [("target", $0)] } ?? []) + (labels.http.map { [("http", $0.text)] } ?? [])
            + labels.tags.map { ("tag.\($0.key)", $0.value) }
        return "    <properties>\n"
            + pairs.map { "      <property name=\"\($0.0)\" value=\"\(Self.escaped($0.1))\"/>\n" }.joined()
            + "    </properties>\n"
    }

    private static let runSuite = "run"

    private enum Outcome {
        case passed, failed, error, skipped
    }

    private struct Case {
        let name: String
        let outcome: Outcome
        var message = ""
        var detail = ""
    }

    private static func counts(_ cases: [Case]) -> String {
        func count(_ outcome: Outcome) -> Int { cases.filter { $0.outcome == outcome }.count }
        return "tests=\"\(cases.count)\" failures=\"\(count(.failed))\" errors=\"\(count(.error))\" "
            + "skipped=\"\(count(.skipped))\""
    }

    private static func text(_ one: Case, _ attributes: String, _ suite: String) -> String {
        let detail = Self.escaped(one.detail)
        let message = "message=\"\(Self.escaped(one.message))\""
        let element =
            switch one.outcome {
            case .passed: one.detail.isEmpty ? "" : "<system-out>\(detail)</system-out>"
            case .failed: "<failure type=\"\(suite)\" \(message)>\(detail)</failure>"
            case .error: "<error type=\"\(suite)\" \(message)>\(detail)</error>"
            case .skipped: "<skipped \(message)/>"
            }
        let head = "    <testcase name=\"\(Self.escaped(one.name))\" \(attributes)"
        return element.isEmpty ? head + "/>\n" : head + ">\(element)</testcase>\n"
    }

    private static func objective(_ slo: SLOResult, of result: RunResult) -> Case {
        let name = "\(slo.slo.selector.description): \(slo.slo.condition.description)"
        let observed = "observed \(slo.shown)"
        switch (slo.passed, slo.slo.severity) {
        case (false, _) where result.expectations.covers(slo):
            return Case(name: name, outcome: .passed, detail: "failed as expected: \(observed)")
        case (true, _): return Case(name: name, outcome: .passed, detail: observed)
        case (false, .error):
            var message = observed
            if case .count(let metric) = slo.slo.selector.metric, let words = result.impact(of: metric) {
                message = "\(words) (\(observed))"
            }
            return Case(name: name, outcome: .failed, message: message, detail: slo.sentence)
        case (false, .warn): return Case(name: name, outcome: .passed, detail: "warning: \(observed)")
        case (nil, _):
            let message = result.whyOpen(slo).remark + (slo.isNotKnown ? "" : ": \(observed)")
            return Case(name: name, outcome: .skipped, message: message)
        }
    }

    private static func invariant(_ verdict: Verdict, of result: RunResult) -> Case {
        let name = verdict.invariant.rawValue
        let examples = verdict.examples.prefix(1).map {
            "\(result.place(of: $0)): \($0.text), \($0.cause.words)"
        }
        switch verdict.standing {
        case .held:
            return Case(name: name, outcome: .passed, detail: verdict.hadOccasion ? "" : "had no occasion")
        case .brokenAsExpected:
            let detail = "\(verdict.violations) violations, all expected"
            return Case(name: name, outcome: .passed, detail: detail)
        case .broken:
            return Case(
                name: name, outcome: .failed,
                message: Figures.count(verdict.violations, "violation", "violations"),
                detail: ([verdict.invariant.statement] + examples).joined(separator: "; "))
        case .notAvailable:
            return Case(name: name, outcome: .skipped, message: result.whyOpen(verdict).remark)
        }
    }

    /// The case that fails if the run did not complete or the load generator did not keep up.
    private static func run(_ result: RunResult) -> Case {
        let problem = Self.problem(of: result)
        return Case(
            name: "run completed, load generator kept up", outcome: problem == nil ? .passed : .error,
            message: problem ?? "", detail: Self.errors(of: result))
    }

    private static func problem(of result: RunResult) -> String? {
        if let failure = result.failure { return failure }
        if !result.isTrustworthy { return result.complaints.joined(separator: "; ") }
        if !result.unreached.isEmpty {
            return
                "target situations not reached: \(result.unreached.map(\.rawValue).joined(separator: ", "))"
        }
        if result.isInterrupted { return "the run was interrupted" }
        // An objective that ended the run has a case of its own.
        return result.exitReasons.contains(.objectiveNotJudged) ? result.reasons.joined(separator: "; ") : nil
    }

    /// Errors that the report lists.
    private static let errorsMax = 20

    /// The errors and findings of the run, each with its cause; a line for each.
    private static func errors(of result: RunResult) -> String {
        let errors = result.errors.map { ($0.trouble.name, $0.count, $0.causes) }
        let findings = result.findings.byWeight.map {
            ("finding: " + FindingText($0, of: result).sentence, $0.finding.count, $0.causes)
        }
        return (errors + findings).prefix(Self.errorsMax)
            .map { "\($0.0) ×\(Figures.count($0.1)): \($0.2.words)" }.joined(separator: "\n")
    }

    /// The case that fails if no scan was completed (Docs/design.md section 11.2).
    private static func completion(_ result: RunResult) -> Case {
        let name = "completed at least one \(result.noun.one)"
        let isCutShort = result.isInterrupted || result.endedEarly != nil
        guard result.totals.scans.completed == 0, !result.expectations.includesNothingCompleted else {
            return Case(name: name, outcome: .passed)
        }
        return Case(
            name: name, outcome: isCutShort ? .skipped : .failed,
            message: result.outcome ?? "no \(result.noun.one) was completed")
    }

    private static func expected(_ outcome: Expectations.Outcome, of result: RunResult) -> Case {
        let isJudged = !result.isInterrupted && result.endedEarly == nil && result.failure == nil
        return Case(
            name: outcome.expected.name, outcome: outcome.isBroken ? .passed : isJudged ? .failed : .skipped,
            message: "expected to break but held")
    }

    private static func escaped(_ text: String) -> String { HTML(text, bytesMax: 1_000).text }
}
