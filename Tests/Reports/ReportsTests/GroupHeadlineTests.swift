import Ledger
import ReportSamples
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Testing

@testable import Reports

/// What a group of a shipping client cost its users.
@Suite struct GroupHeadlineTests {
    private static let violated = Verdict(
        invariant: .scanCustody, standing: .brokenAsExpected, violations: 6, expected: 6, examples: [])

    /// Both groups lose a scan. Only the profile of the first is known for that.
    private func result() -> RunResult {
        var result = Samples.passed()
        for index in result.groups.indices { result.groups[index].totals.scans.lost = 6 }
        result.groups[0].verdicts = [Self.violated]
        result.groups[1].verdicts = [
            Verdict(invariant: .scanCustody, standing: .broken, violations: 6, expected: 0, examples: [])
        ]
        return result
    }

    @Test func `a group that lost scans says so, and whether its profile is known for it`() {
        let headlines = result().groupHeadlines
        #expect(headlines.map(\.group) == ["commuters", "readers"])
        #expect(
            headlines.map(\.text) == [
                "6 scans were lost; 6 violations of 1 invariant are expected for this profile",
                "6 scans were lost",
            ])
        #expect(headlines.map(\.isLoss) == [true, true])
    }

    @Test func `what a scenario expects is not the profile's`() {
        var result = result()
        result.expectations = Expectations([.invariant(id: Invariant.scanCustody.rawValue, scope: .fleet)])
        #expect(result.groupHeadlines.first?.text == "6 scans were lost")
    }

    @Test func `a group without a loss has none, unless its profile broke something`() {
        var result = Samples.passed()
        #expect(result.groupHeadlines.isEmpty)
        result.groups[0].verdicts = [Self.violated]
        #expect(
            result.groupHeadlines.map(\.text)
                == ["6 violations of 1 invariant are expected for this profile"])
    }

    @Test func `the only group of a run has one for what its profile is known for`() {
        var result = result()
        result.groups.removeLast()
        #expect(result.groupHeadlines.count == 1)
        result.groups[0].verdicts = []
        #expect(result.groupHeadlines.isEmpty)
    }

    @Test func `every report shows them`() {
        let result = result()
        let text = "6 violations of 1 invariant are expected for this profile"
        #expect(
            TerminalSummary.text(result, style: TerminalStyle(columns: 200, isColored: false, isASCII: true))
                .contains("commuters: 6 scans were lost; \(text)"))
        #expect(MarkdownReport.text(result).contains("**commuters**: 6 scans were lost; \(text)."))
        #expect(HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text.contains(text))
        #expect(String(decoding: SummaryJSON.bytes(result), as: UTF8.self).contains(text))
    }
}
