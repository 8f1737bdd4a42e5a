import Ledger
import Metrics
import Observations
import RunJudge
import RunMetrics
import SimBase
import Testing

/// What a merge says of a run whose shards did not all leave what they should.
@Suite struct ShardMergeTests {
    private static let fleet = PhoneGroups([("all", 4)])

    private static func head(_ index: Int) -> RunHead {
        var head = RunHead.small(groups: [.init(name: "all", devices: 4)])
        head.shard = FleetShard(index: index, count: 2)
        return head
    }

    private static func result(_ index: Int, _ standing: Verdict.Standing = .held) -> RunResult {
        var totals = LedgerTotals()
        totals.scans.captured = 2
        totals.scans.completed = 2
        let verdicts = [Invariant.scanCustody, .herdBounded].map { invariant in
            let isOther = invariant == .herdBounded
            return Verdict(
                invariant: invariant, standing: isOther ? .notAvailable : standing,
                violations: standing != .held && !isOther ? 1 : 0,
                expected: standing == .brokenAsExpected && !isOther ? 1 : 0, examples: [])
        }
        return RunResult(
            Self.head(index), length: .seconds(1), totals: totals, groups: [totals],
            verdicts: verdicts, tables: MeasuredTables(), metrics: MetricTable(groups: ["all"]))
    }

    private static func whole(
        _ index: Int, _ standing: Verdict.Standing = .held, jobs: [TargetJobOwner] = []
    ) -> ShardMerge.Part {
        var fleet = FleetEvidence()
        fleet.held = FleetEvidence.invariants
        let evidence = ShardEvidence(
            endedAt: .zero + .seconds(1), heardAt: .zero + .seconds(1), fleet: fleet, coverage: [],
            regions: RegionSummary(captures: 0, regions: 0, complete: 0), skipped: SkippedWork(), waiting: [],
            targetJobs: jobs)
        return .init(
            FleetShard(index: index, count: 2), Self.result(index, standing), RunTimeline(faults: 0), evidence
        )
    }

    private static func lacking(
        _ defect: ShardMerge.Defect, _ standing: Verdict.Standing = .held
    ) -> ShardMerge.Part {
        .init(
            FleetShard(index: 1, count: 2), Self.result(1, standing), RunTimeline(faults: 0), lacking: defect)
    }

    private static func merge(
        _ parts: [ShardMerge.Part], expecting: [ExpectedBreak] = [], exit: ExitCode? = nil,
        damage: [Remark] = []
    ) throws -> RunResult {
        var settings = JudgeSettings.small(fleet: Self.fleet)
        settings.expectations = Expectations(expecting)
        settings.invariants = SimulationInvariantSettings(
            idleTimeout: .seconds(75), isSettled: false, herdTime: .milliseconds(500))
        var parts = parts
        for index in parts.indices { parts[index].result.expectations = settings.expectations }
        var merge = ShardMerge(parts, settings: settings)
        merge.exits[FleetShard(index: 1, count: 2)] = exit
        merge.damage = damage
        return try #require(merge.merged(spans: nil)?.result)
    }

    /// Parts with what their operator did to them, in seconds.
    private static func controlled(
        _ records: [[(at: Int64, action: ControlObservation)]]
    ) -> [ShardMerge.Part] {
        records.enumerated().map { index, records in
            var part = Self.whole(index)
            part.result.controls = records.map {
                ControlRecord(at: .zero + .seconds($0.at), action: $0.action)
            }
            part.result.remarks = (records.isEmpty ? [] : [.load(.controlled)]) + [.start(.photosRejected(3))]
            return part
        }
    }

    @Test func `a job of two shards is given to two phones`() throws {
        func job(_ digest: UInt64, _ device: UInt32) -> TargetJobOwner {
            TargetJobOwner(digest: digest, device: DeviceNumber(device), scan: ScanNumber(1))
        }
        let honest = try Self.merge([
            Self.whole(0, jobs: [job(1, 0), job(2, 2)]), Self.whole(1, jobs: [job(3, 1), job(4, 3)]),
        ])
        #expect(!honest.verdicts.contains { $0.invariant == .targetJobUnique })
        let shared = try Self.merge([
            Self.whole(0, jobs: [job(1, 0), job(2, 2)]), Self.whole(1, jobs: [job(2, 1), job(4, 3)]),
        ])
        let verdict = try #require(shared.verdicts.first { $0.invariant == .targetJobUnique })
        #expect(verdict.standing == .broken && verdict.violations == 1)
        #expect(verdict.examples.map(\.text) == ["its job was given to phone 2 for its scan 1, too"])
        #expect(shared.exit == .invariantBroken)
    }

    @Test func `what an operator did to all shards is listed once`() throws {
        let result = try Self.merge(
            Self.controlled([[(3, .paused), (5, .resumed)], [(4, .paused), (5, .resumed), (9, .stopped)]]))
        #expect(result.controls.map(\.action) == [.paused, .resumed, .stopped])
        #expect(result.controls.map(\.at) == [3, 5, 9].map { .zero + .seconds($0) })
        #expect(
            result.remarks == [
                .load(.controlled), .start(.photosRejected(3)), .merge(.merged(parts: 2, of: 2)),
            ])
    }

    @Test func `what was done to shards one by one is listed of each`() throws {
        let result = try Self.merge(Self.controlled([[(3, .paused), (8, .resumed)], [(4, .stopped)]]))
        #expect(result.controls.map(\.action) == [.paused, .stopped, .resumed])
        #expect(result.remarks.count { $0 == .load(.controlled) } == 1)
    }

    @Test func `streams of shards are open at the same time`() throws {
        var parts = [Self.whole(0), Self.whole(1)]
        for index in parts.indices {
            var series = GaugeSeries()
            series.add(least: 10, most: 12 + index, upTo: .zero + .seconds(1))
            parts[index].result.streamsOpen = series
        }
        let streams = try #require(try Self.merge(parts).streamsOpen)
        #expect(streams.peak?.count == 20 && streams.ceiling == 25)
        parts[1].result.streamsOpen = nil
        #expect(try Self.merge(parts).streamsOpen == nil, "what one of them does not know")
    }

    /// Last captures after 6 and 7 s, and an end after 10 s.
    @Test func `the drain of the whole begins with its last capture`() throws {
        var parts = [Self.whole(0), Self.whole(1)]
        (parts[0].result.length, parts[0].result.drained) = (.seconds(10), .seconds(4))
        (parts[1].result.length, parts[1].result.drained) = (.seconds(8), .seconds(1))
        let result = try Self.merge(parts)
        #expect(result.length == .seconds(10) && result.drained == .seconds(3))
        parts[1].result.drained = nil
        #expect(try Self.merge(parts).drained == nil)
    }

    @Test func `what a shard could not say of its phones is held by all`() throws {
        let result = try Self.merge([Self.whole(0), Self.whole(1)])
        #expect(result.exit == .success && !result.isShard)
        #expect(result.verdicts.map(\.standing) == [.held, .held, .held])
        #expect(result.verdicts.map(\.invariant) == [.scanCustody, .retryBudget, .herdBounded])
    }

    @Test(arguments: [
        ShardMerge.Defect.verdict, .evidence, .summary, .scenario, .foreign("run.json"),
    ]) func `a defect of a shard is named with its phones, and costs no violation`(
        defect: ShardMerge.Defect
    ) throws {
        let quiet = try Self.merge([Self.whole(0), Self.lacking(defect)])
        #expect(quiet.exit == .untrusted)
        #expect(quiet.verdicts.allSatisfy { $0.standing == .notAvailable })
        #expect(
            quiet.remarks.first
                == .merge(.shardIncomplete(FleetShard(index: 1, count: 2), defect, phones: 2, first: [1, 3])))
        #expect(quiet.totals.scans.completed == 4, "what it left is merged")
        #expect(try Self.merge([Self.whole(0, .broken), Self.lacking(defect)]).exit == .invariantBroken)
        #expect(try Self.merge([Self.whole(0), Self.lacking(defect, .broken)]).exit == .invariantBroken)
    }

    @Test func `what a process ended with counts where its files do not say why`() throws {
        let parts = [Self.whole(0), Self.lacking(.evidence)]
        for exit in [ExitCode.invariantBroken, .internalError, .cannotWrite] {
            let result = try Self.merge(parts, exit: exit)
            #expect(result.exit == exit)
            #expect(
                result.remarks.contains(
                    .merge(.shardExit(FleetShard(index: 1, count: 2), code: exit.rawValue))))
            #expect(try Self.merge([Self.whole(0)], exit: exit).exit == exit)
            // One that left everything is judged by that.
            #expect(try Self.merge([Self.whole(0), Self.whole(1)], exit: exit).exit == .success)
            #expect(try Self.merge([Self.whole(0, .broken), parts[1]], exit: exit).exit == .invariantBroken)
        }
        for exit in [ExitCode.success, .sloFailed, .untrusted, .interrupted] {
            #expect(try Self.merge(parts, exit: exit).exit == .untrusted)
        }
    }

    /// Where the scenario expects that something breaks, a shard in which nothing does ends with 97.
    @Test func `expected failures are not judged without all phones`() throws {
        let expecting = [ExpectedBreak.invariant(id: "scan.custody", scope: .fleet)]
        for standing in [Verdict.Standing.held, .brokenAsExpected] {
            for missing in [[], [Self.lacking(.verdict)]] {
                let result = try Self.merge(
                    [Self.whole(0, standing)] + missing, expecting: expecting, exit: .invariantBroken)
                #expect(result.exit == .untrusted, "\(standing), \(missing.count)")
            }
        }
        #expect(
            try Self.merge([Self.whole(0), Self.whole(1)], expecting: expecting).exit == .invariantBroken)
        let both = try Self.merge(
            [Self.whole(0, .brokenAsExpected), Self.whole(1)], expecting: expecting)
        #expect(both.exit == .success)
    }

    @Test func `damage that costs no shard is not trusted either`() throws {
        let result = try Self.merge(
            [Self.whole(0), Self.whole(1)], damage: [.merge(.shardWithoutHead(folder: "b"))])
        #expect(result.exit == .untrusted && result.remarks.first == .merge(.shardWithoutHead(folder: "b")))
    }
}
