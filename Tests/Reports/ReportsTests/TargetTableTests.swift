import Foundation
import Ledger
import Metrics
import ReportSamples
import RunJudge
import SimBase
import Talaria
import Testing

@testable import Reports

/// The section of a report that says what a target did wrong.
@Suite struct TargetTableTests {
    private static func result(violations: Int?) -> RunResult {
        var result = Samples.passed()
        result.labels = RunLabels(target: "http://127.0.0.1:8080")
        guard let violations else { return result }
        let violation = Violation(
            invariant: .targetResume, device: DeviceNumber(17), scan: ScanNumber(2),
            at: .zero + .milliseconds(12_480), text: "an event came <again>", isExpected: false,
            cause: .target)
        result.verdicts.append(
            Verdict(
                invariant: .targetResume, standing: violations > 0 ? .broken : .held,
                violations: violations, expected: 0, examples: violations > 0 ? [violation] : []))
        for status in [200, 200, 404] {
            result.metrics.answered(.results, status: status, in: MetricGroup(index: 0))
        }
        return result
    }

    private static func terminal(_ result: RunResult) -> String {
        TerminalSummary.text(result, style: TerminalStyle(columns: 140, isColored: false, isASCII: false))
    }

    private static let command =
        "swiftwing-sim inspect Reports/2026-11-21T093000Z-flaky-network-42 --phone 17 --scan 2"

    @Test func `every format has the error, its count, its example and the command`() throws {
        let result = Self.result(violations: 34)
        let table = try #require(TargetTable(result))
        #expect(table.tally == "1 kind of error, 34 in total")
        let html = table.html.body.text
        #expect(html.contains("target.resume") && html.contains(">34<") && html.contains("&lt;again&gt;"))
        for text in [html, table.markdown, Self.terminal(result)] {
            #expect(text.contains(Self.command), "\(text)")
        }
        let summary =
            try JSONSerialization.jsonObject(with: Data(SummaryJSON.bytes(result))) as? [String: Any]
        let wrong = (summary?["trial"] as? [String: Any])?["wrong"] as? [[String: Any]]
        #expect(wrong?.first?["name"] as? String == "target.resume")
        #expect(wrong?.first?["count"] as? Int == 34)
        #expect(wrong?.first?["command"] as? String == Self.command)
        let counters = summary?["counters"] as? [String: Any]
        #expect(counters?["probes.results.200"] as? Int == 2)
        #expect(table.markdown.contains("results 200 ×2, 404 ×1"))
    }

    @Test(arguments: [(0, "no errors seen"), (nil, "not on trial")] as [(Int?, String)])
    func `what was not judged was not seen to be right`(violations: Int?, tally: String) throws {
        #expect(try #require(TargetTable(Self.result(violations: violations))).tally == tally)
    }

    @Test func `a run without a target has no such section`() {
        #expect(TargetTable(Samples.passed()) == nil)
    }
}
