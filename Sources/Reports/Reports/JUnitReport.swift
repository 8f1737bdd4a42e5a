import Ledger
import Metrics
import RunArchive
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
            (Self.completionSuite, [Self.completion(result)]),
            (Self.runSuite, [Self.run(result)]),
        ].filter { !$0.1.isEmpty }
        let seconds = Figures.seconds(result.length.nanoseconds)
        let total = Self.counts(suites.flatMap(\.1))
        let body = suites.map { name, cases in
            // A run takes its time once: objectives and invariants are looked up in what it left.
            "  <testsuite name=\"\(name)\" \(Self.counts(cases)) time=\"\(name == Self.runSuite ? seconds : "0")\" "
                + "timestamp=\"\(result.startedText.prefix(19))\">\n" + Self.properties(result.labels)
                + cases.map(\.text).joined()
                + "  </testsuite>\n"
        }.joined()
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<testsuites name=\"\(Self.escaped(result.scenario.name))\" \(total) time=\"\(seconds)\">\n\(body)</testsuites>\n"
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
    private static let completionSuite = "completion"

    private enum Outcome {
        case passed, failed, error, skipped
    }

    private struct Case {
        var text: String
        var outcome: Outcome
    }

    private static func counts(_ cases: [Case]) -> String {
        func count(_ outcome: Outcome) -> Int { cases.filter { $0.outcome == outcome }.count }
        return "tests=\"\(cases.count)\" failures=\"\(count(.failed))\" errors=\"\(count(.error))\" "
            + "skipped=\"\(count(.skipped))\""
    }

    private static func testcase(
        _ name: String, suite: String, of result: RunResult, _ outcome: Outcome, message: String,
        detail: String
    ) -> Case {
        let element =
            switch outcome {
            case .passed: detail.isEmpty ? "" : "<system-out>\(Self.escaped(detail))</system-out>"
            case .failed:
                "<failure type=\"\(suite)\" message=\"\(Self.escaped(message))\">\(Self.escaped(detail))</failure>"
            case .error:
                "<error type=\"\(suite)\" message=\"\(Self.escaped(message))\">\(Self.escaped(detail))</error>"
            case .skipped: "<skipped message=\"\(Self.escaped(message))\"/>"
            }
        let head =
            "    <testcase name=\"\(Self.escaped(name))\" "
            + "classname=\"\(Self.escaped(result.scenario.name)).\(suite)\" "
            + "time=\"\(suite == Self.runSuite ? Figures.seconds(result.length.nanoseconds) : "0")\""
        return Case(
            text: element.isEmpty ? head + "/>\n" : head + ">\(element)</testcase>\n", outcome: outcome)
    }

    private static func objective(_ slo: SLOResult, of result: RunResult) -> Case {
        let name = "\(slo.slo.selector.description): \(slo.slo.condition.description)"
        switch (slo.passed, slo.slo.severity) {
        case (false, _) where result.expectations.covers(slo):
            return Self.testcase(
                name, suite: "objectives", of: result, .passed, message: "",
                detail: "failed as expected: observed \(slo.shown)")
        case (true, _):
            return Self.testcase(
                name, suite: "objectives", of: result, .passed, message: "", detail: "observed \(slo.shown)")
        case (false, .error):
            var message = "observed \(slo.shown)"
            if case .count(let metric) = slo.slo.selector.metric, let words = result.impact(of: metric) {
                message = "\(words) (\(message))"
            }
            return Self.testcase(
                name, suite: "objectives", of: result, .failed, message: message, detail: slo.sentence)
        case (false, .warn):
            return Self.testcase(
                name, suite: "objectives", of: result, .passed, message: "",
                detail: "warning: observed \(slo.shown)")
        case (nil, _):
            return Self.testcase(
                name, suite: "objectives", of: result, .skipped,
                message: result.whyOpen(slo).remark + (slo.isNotKnown ? "" : ": observed \(slo.shown)"),
                detail: "")
        }
    }

    private static func invariant(_ verdict: Verdict, of result: RunResult) -> Case {
        let name = verdict.invariant.rawValue
        let examples = verdict.examples.prefix(1).map {
            "\(result.place(of: $0)): \($0.text), \($0.cause.words)"
        }
        switch verdict.standing {
        case .held:
            return Self.testcase(
                name, suite: "invariants", of: result, .passed, message: "",
                detail: verdict.hadOccasion ? "" : "had no occasion")
        case .brokenAsExpected:
            return Self.testcase(
                name, suite: "invariants", of: result, .passed, message: "",
                detail: "\(verdict.violations) violations, all expected")
        case .broken:
            return Self.testcase(
                name, suite: "invariants", of: result, .failed,
                message: "\(Figures.count(verdict.violations, "violation", "violations"))",
                detail: ([verdict.invariant.statement] + examples).joined(separator: "; "))
        case .notAvailable:
            return Self.testcase(
                name, suite: "invariants", of: result, .skipped,
                message: result.whyOpen(verdict).remark, detail: "")
        }
    }

    /// The case that fails if the run did not complete or the load generator did not keep up.
    private static func run(_ result: RunResult) -> Case {
        // An objective that ended the run has a case of its own.
        let problem: String? =
            result.failure
            ?? (result.isTrustworthy ? nil : result.complaints.joined(separator: "; "))
            ?? (result.unreached.isEmpty
                ? nil
                : "target situations not reached: \(result.unreached.map(\.rawValue).joined(separator: ", "))")
            ?? (result.isInterrupted ? "the run was interrupted" : nil)
            ?? (result.exitReasons.contains(.objectiveNotJudged)
                ? result.reasons.joined(separator: "; ") : nil)
        let name = "run completed, load generator kept up"
        let errors = Self.errors(of: result)
        guard let problem else {
            return Self.testcase(
                name, suite: Self.runSuite, of: result, .passed, message: "", detail: errors)
        }
        return Self.testcase(
            name, suite: Self.runSuite, of: result, .error, message: problem, detail: errors)
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
        let scans = result.totals.scans
        let isCutShort = result.isInterrupted || result.endedEarly != nil
        guard scans.completed == 0, !result.expectations.includesNothingCompleted else {
            return Self.testcase(
                name, suite: Self.completionSuite, of: result, .passed, message: "", detail: "")
        }
        return Self.testcase(
            name, suite: Self.completionSuite, of: result, isCutShort ? .skipped : .failed,
            message: result.outcome ?? "no \(result.noun.one) was completed", detail: "")
    }

    private static func expected(_ outcome: Expectations.Outcome, of result: RunResult) -> Case {
        let isJudged = !result.isInterrupted && result.endedEarly == nil && result.failure == nil
        return Self.testcase(
            outcome.expected.name, suite: "expected to break", of: result,
            outcome.isBroken ? .passed : isJudged ? .failed : .skipped,
            message: "expected to break but held", detail: "")
    }

    private static func escaped(_ text: String) -> String { HTML(text, bytesMax: 1_000).text }
}
