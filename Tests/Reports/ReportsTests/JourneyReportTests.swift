import Ledger
import Metrics
import ReportSamples
import RunJudge
import SimBase
import Talaria
import Testing

@testable import Reports

/// What a report says of a fleet that does not only scan by v3.
@Suite struct JourneyReportTests {
    /// The sample, whose second group has six batches.
    private func mixed() -> RunResult {
        var result = Samples.passed()
        result.groups[1].journey = .batchEnrichment
        return result
    }

    @Test func `a batch has no photo`() {
        var result = mixed()
        result.metrics.add(120, to: .photosTaken, in: MetricGroup(index: 0))
        #expect(result.photos == nil, "one for each scan of the first group")
        result.metrics.add(1, to: .photosTaken, in: MetricGroup(index: 0))
        #expect(result.photos == 121)
    }
}
