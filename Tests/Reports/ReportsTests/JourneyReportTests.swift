import JSON
import Ledger
import Metrics
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports
@testable import RunArchive

/// What a report says of a fleet that does not only scan by v3.
@Suite struct JourneyReportTests {
    /// The sample, whose second group has six batches.
    private func mixed() -> RunResult {
        var result = Samples.passed()
        result.groups[1].journey = .batchEnrichment
        return result
    }

    private func page(_ result: RunResult) -> String {
        HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text
    }

    @Test func `jobs of v2 that are kept have a column`() {
        var result = mixed()
        #expect(TerminalSummary.text(result, style: .plain).contains("122 cleaned up, 0 kept, 4 abandoned"))
        result.totals.jobs.kept = 6
        result.groups[1].totals.jobs.kept = 6
        #expect(TerminalSummary.text(result, style: .plain).contains("122 cleaned up, 6 kept, 4 abandoned"))
        #expect(MarkdownReport.text(result).contains("122 cleaned up, 6 kept, 4 abandoned"))
        let summary = JSONNode(SummaryJSON.bytes(result))
        #expect(summary?["jobs"]?["kept"]?.integer == 6)
        #expect(summary?["groups"]?["readers"]?["jobs"]?["kept"]?.integer == 6)
        #expect(page(result).contains("<dt>kept</dt><dd>6</dd>"))
    }

    @Test func `no job of v3 is kept`() {
        let result = Samples.passed()
        #expect(!TerminalSummary.text(result, style: .plain).contains(" kept"))
        #expect(!MarkdownReport.text(result).contains(" kept"))
        #expect(!String(decoding: SummaryJSON.bytes(result), as: UTF8.self).contains("kept"))
    }

    @Test func `a batch has no photo`() {
        var result = mixed()
        result.metrics.add(120, to: .photosTaken, in: MetricGroup(index: 0))
        #expect(result.photos == nil, "one for each scan of the first group")
        result.metrics.add(1, to: .photosTaken, in: MetricGroup(index: 0))
        #expect(result.photos == 121)
    }
}
