import Foundation
import Ledger
import Metrics
import ReportSamples
import Reports
import RunJudge
import RunMetrics
import SimBase
import Testing

@testable import RunArchive

/// What a shard of a run in progress shows of itself.
@Suite struct ShardSnapshotTests {
    private static func head() -> RunHead {
        var head = Samples.head(groups: ["commuters", "readers"])
        head.shard = FleetShard(index: 1, count: 3)
        return head
    }

    @Test func `a snapshot is read as it was written, until it is removed`() throws {
        let scratch = try Scratch()
        let folder = scratch.at("shard")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(ShardSnapshot(of: folder, head: Self.head(), settings: Samples.settings()) == nil)
        var timeline = RunTimeline(faults: Self.head().faults.count)
        timeline.counted(events: 7, pings: 1, from: .zero)
        var result = Samples.passed()
        for (index, group) in result.groups.enumerated() {
            group.totals.record(into: &result.metrics, group: MetricGroup(index: index))
        }
        for captured in [40, 41] {
            result.totals.scans.captured = captured
            let isWritten = ShardSnapshot.write(
                result, timeline, summary: SummaryJSON.bytes(result), of: Self.head(), to: folder)
            #expect(isWritten)
            let snapshot = try #require(
                ShardSnapshot(of: folder, head: Self.head(), settings: Samples.settings()))
            #expect(snapshot.result.totals.scans.captured == captured)
            #expect(snapshot.result.verdicts.map(\.standing) == result.verdicts.map(\.standing))
            #expect(snapshot.timeline.windows == timeline.windows)
        }
        ShardSnapshot.remove(from: folder)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test func `where nothing can be written there is no snapshot`() throws {
        let result = Samples.passed()
        #expect(
            !ShardSnapshot.write(
                result, RunTimeline(faults: 0), summary: SummaryJSON.bytes(result), of: Self.head(),
                to: "/dev/null/shard"))
    }
}
