import Ledger
import Metrics
import ReportSamples
import RunJudge
import SimBase
import Testing

@testable import Reports
@testable import RunArchive

@Suite struct JUnitTests {
    private static func lines(_ result: RunResult, containing text: String) -> [Substring] {
        JUnitReport.text(result).split(separator: "\n").filter { $0.contains(text) }
    }

    @Test func `a run takes its time once`() {
        let result = Samples.passed()
        let timed = Self.lines(result, containing: "time=\"34.210\"")
        #expect(
            timed.map { $0.drop { $0 == " " }.prefix(12) } == [
                "<testsuites ", "<testsuite n", "<testcase na",
            ])
        #expect(
            timed[1].contains("name=\"run\"") && timed[2].contains("run completed, load generator kept up"))
        let cases = Self.lines(result, containing: "<testcase").dropLast()
        #expect(cases.count > 10)
        #expect(cases.allSatisfy { $0.contains(" time=\"0\"") })
    }

    @Test func `a run that an objective ended has that one failure`() {
        var result = Samples.failedSLO()
        result.endedEarly =
            "stopped after 7 s: upload.attempts.failed rate was 100% (20 of 20) in the last 5 s, limit < 50%"
        result.exitReasons = [.endedByObjective]
        result.totals.scans = ScanTotals()
        #expect(Self.lines(result, containing: "<failure ").count == 1)
        #expect(Self.lines(result, containing: "<error ").isEmpty)
        #expect(
            Self.lines(result, containing: "name=\"completed at least one scan\"").joined()
                .contains("<skipped message="))
        #expect(result.outcome?.hasPrefix("stopped after 7 s: upload.attempts.failed rate was 100%") == true)
        #expect(result.reasons.isEmpty)
    }

    @Test func `what could not be judged is skipped with its reason, and what it owed is an error`() throws {
        var result = Samples.passed()
        result.hasBackendView = false
        let slo = SLO(
            selector: try MetricSelector(parsing: "sse.event.latency", vocabulary: nil),
            condition: try SLOCondition(parsing: "max < 1s", for: .latency), severity: .error, abort: false)
        result.slos = [slo.notKnown]
        result.exitReasons = [.objectiveNotJudged]
        #expect(
            Self.lines(result, containing: "name=\"sse.event.latency: max").joined()
                .contains("<skipped message=\"could not be judged without a simulated backend\"/>"))
        #expect(
            Self.lines(result, containing: "<error ").joined()
                .contains("sse.event.latency `max &lt; 1s` could not be judged without a simulated backend"))
    }

    @Test func `a run that completed nothing fails a case of its own`() {
        func outcome(completed: Int, isInterrupted: Bool = false) -> String {
            var result = Samples.passed()
            result.totals = LedgerTotals()
            result.totals.scans.captured = 3
            result.totals.scans.completed = completed
            result.isInterrupted = isInterrupted
            return Self.lines(result, containing: "name=\"completed at least one scan\"").joined()
        }
        #expect(outcome(completed: 3).hasSuffix("/>"))
        #expect(
            outcome(completed: 0).contains("<failure type=\"completion\" message=\"no scan was completed"))
        #expect(outcome(completed: 0, isInterrupted: true).contains("<skipped message="))
    }

    @Test func `objectives of an interrupted run are skipped, with what they showed`() {
        var result = Samples.failedSLO()
        result.isInterrupted = true
        result.slos = result.slos.map(\.unjudged)
        let cases = Self.lines(result, containing: ".objectives\"")
        #expect(!cases.isEmpty)
        #expect(
            cases.allSatisfy {
                $0.contains("<skipped message=\"could not be judged because the run was cut short: observed ")
            })
    }
}
