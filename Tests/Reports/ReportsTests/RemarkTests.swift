import Metrics
import ReportSamples
import RunJudge
import SimBase
import Talaria
import Testing

@testable import Reports

/// The sentences of remarks.
struct RemarkTests {
    private static let shard = FleetShard(index: 1, count: 2)

    private static func texts(_ remarks: [Remark]) -> [String] {
        var result = Samples.passed()
        result.remarks = remarks
        return result.complaints + result.warnings + result.notes
    }

    @Test func `the load that was not made is named with its limit`() {
        #expect(
            Self.texts([
                .load(.capturesLate(5, planned: 120, limit: 1)),
                .load(.capturesHeldBack(3, planned: 100, limit: 1, .pausedAndResting)),
                .load(.phonesHeldBack(tenthsOfPercent: 11, .unknown)),
                .load(.timersLate(.gateway, milliseconds: 812)),
                .load(.photosLate(milliseconds: 3_690)),
            ]) == [
                "5 of 120 captures started more than 1 s late (limit: 1): the load was not the requested load",
                "paused, phones put to rest from the dashboard: 3 of 100 captures were held back (limit: 1)",
                "held back from the dashboard: phones of closed groups were held back for 1.1% of their time (limit: 1%)",
                "the timers of the gateway were 812 ms late (p99): its process was stopped, or this machine was too busy for valid measurements",
                "captures waited 3690 ms (p99) until a processor was free to prepare their photo: this machine was too busy for valid measurements",
            ])
    }

    @Test func `a shard that is not whole is named with its phones`() {
        let defects: [(ShardMerge.Defect, String)] = [
            (.folder, "is missing"), (.verdict, "ended before its verdict"),
            (.evidence, "left no whole evidence.ndjson"), (.summary, "left a damaged summary.json"),
            (.scenario, "left no scenario.resolved"),
        ]
        for (defect, text) in defects {
            #expect(
                Self.texts([.merge(.shardIncomplete(Self.shard, defect, phones: 2, first: [1, 3]))]) == [
                    "shard 1/2 \(text): the verdict on its phones is n/a (2 phones, numbers 1, 3)"
                ])
        }
        #expect(
            Self.texts([.ofShard(Self.shard, .load(.descriptorsExhausted(connections: 7)))]) == [
                "shard 1/2: 7 connections could not be opened: too few file descriptors"
            ])
    }

    @Test func `what an operator did comes with its times`() {
        var result = Samples.passed()
        result.controls = [
            ControlRecord(at: .zero + .seconds(12), action: .paused),
            ControlRecord(at: .zero + .seconds(80), action: .stopped),
        ]
        result.heldBack = 4
        result.remarks = [.load(.controlled)]
        #expect(
            result.warnings == [
                "controlled from the dashboard, so the seed alone does not reproduce this run: "
                    + "0:12 arrivals paused, 1:20 run stopped; 4 planned captures were held back, and no latency includes them"
            ])
        result.controls = (0..<30).map { ControlRecord(at: .zero + .seconds($0), action: .paused) }
        #expect(result.warnings[0].contains("0:19 arrivals paused, 10 more"))
    }

    /// One of each case but those above.
    private static let others: [Remark] = [
        .load(.shutdownsTimedOut(phones: 1)), .load(.capturesDeferred(1)), .load(.capturesSkipped(1)),
        .load(.resendsBlocked(1)),
        .load(.devicesUsedBefore(phones: 1, option: "--state")), .start(.photoSkipped("a")),
        .start(.photosRejected(1)),
        .start(.stateShortfall("a")), .start(.stateOfOtherSeed(1, run: 2)), .start(.stateWithoutManifest),
        .start(.stateLinesSkipped(1)),
        .start(.stateWritesTorn(1)), .start(.recordsLost(LostRecords(), areBooksKnown: false)),
        .end(.interruptedBeforeCaptures),
        .end(.endedWithoutReport), .end(.worldFailed(at: 1, events: ["a"])),
        .end(.notReproduced(by: "a", savedBy: "b", digest: "c", events: 1)),
        .end(.linkNotUpdated("a", reason: "b")),
        .end(.logFull(bytes: 1)), .end(.eventsOmitted(1)), .end(.digest("a", events: 1)),
        .end(.judgedWhenMerged), .end(.phonesLeftOut(1)), .end(.exported(ExportSummary(url: "a"))),
        .start(.planOfLiveRun(broke: "a", subject: "b")), .end(.coverage(met: 1, of: 2, missed: ["a"])),
        .end(.regions(RegionSummary(captures: 1, regions: 1, complete: 1))), .merge(.merged(parts: 1, of: 2)),
        .merge(.mergedRuns(seeds: [1])), .merge(.backendsDiffer(2, areShards: true)),
        .merge(.windowsNotJudged(objectives: ["a"])),
        .merge(.seriesNotWhole), .merge(.seriesCut(shard, file: "a", bytes: 1, of: 2, isJudged: true)),
        .merge(.seriesCut(shard, file: "a", bytes: 1, of: 2, isJudged: false)),
        .merge(.shardExit(shard, code: 70)),
        .merge(.shardCrashed(shard, how: "a")), .merge(.shardWithoutHead(folder: "a")),
        .merge(.retriesLeftOut(judgedMilliseconds: 1)), .merge(.noEvidence(of: "a")),
    ]

    @Test(arguments: others) func `each has a sentence of its own`(remark: Remark) {
        let texts = Self.texts([remark])
        #expect(texts.count == 1 && texts[0].contains(" ") && texts[0] != "\(remark)")
    }
}
