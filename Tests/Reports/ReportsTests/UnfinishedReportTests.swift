import Foundation
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

/// Operations that have not ended, in the reports of a run.
@Suite struct UnfinishedReportTests {
    private static func result() -> RunResult {
        var result = Samples.passed()
        for (index, age) in [(0, Int64(1_500)), (1, 40_000)] {
            result.metrics.record(
                unfinished: .scanTime, age: .milliseconds(age), in: MetricGroup(index: index))
        }
        return result
    }

    @Test func `they stand beside the latency of their operation, and of no other`() throws {
        let summary = try #require(
            try JSONSerialization.jsonObject(with: Data(SummaryJSON.bytes(Self.result()))) as? [String: Any])
        let metrics = try #require(summary["metrics"] as? [String: [String: Any]])
        let scans = try #require(metrics["scan.time"]?["unfinished"] as? [String: Any])
        #expect(scans["count"] as? Int == 2)
        #expect(scans["oldest_ms"] as? Int == 40_000)
        let uploads = try #require(metrics["upload.time"]?["unfinished"] as? [String: Any])
        #expect(uploads["count"] as? Int == 0)
        #expect(uploads["oldest_ms"] is NSNull)
        #expect(metrics["preprocess.time"]?.keys.contains("unfinished") == false)
    }

    @Test func `they are read back`() throws {
        let scratch = try Scratch()
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: []))
        directory.begin(Samples.head(groups: ["commuters", "readers"]))
        _ = try directory.finish(Self.result(), RunTimeline(faults: 0))
        let past = try PastRun(
            folder: directory.path, head: try PastRun.head(of: directory.path), settings: Samples.settings())
        let metrics = past.result.metrics
        #expect(metrics.unfinished(.scanTime, of: .fleet) == Unfinished(count: 2, oldest: .seconds(40)))
        #expect(
            metrics.unfinished(.scanTime, of: .group("commuters"))
                == Unfinished(count: 1, oldest: .milliseconds(1_500)))
    }
}
