import Foundation
import Ledger
import Metrics
import Observations
import Plan
import RunJudge
import RunMetrics
import ScenarioFile
import SimBase
import SimTestSupport
import Talaria
import Testing
import VirtualWorld

/// Shards of one run: each phone's observations come to one of several judges.
@Suite struct MergeTests {
    /// What a shipped scenario's small fleet does, until it has settled what it has.
    private struct Run {
        let plan: RunPlan
        var observations: [Observation] = []
        let end: Instant
        var objectives: [SLO]

        init(_ name: String, seed: UInt64) throws {
            let file = Checkout.root.appending(path: "Scenarios/\(name).scenario")
            var scenario = try ScenarioLoader.load(
                path: file.lastPathComponent, bytes: Array(Data(contentsOf: file)), overrides: [],
                environment: [:]
            ).scaled(devices: 12)
            scenario.seed = seed
            self.plan = RunPlan(scenario, target: .embedded)
            self.objectives = self.plan.objectives
            var settled = WorldPlan(self.plan)
            settled.settle = .minutes(10)
            var world = World(settled)
            var batch: [Observation] = []
            while try world.steps(1_024) {
                world.take(&batch)
                self.observations += batch
                batch = []
            }
            world.take(&batch)
            self.observations += batch
            self.end = world.now
        }

        var settings: JudgeSettings {
            let groups = self.plan.groups.map(\.spec)
            let fleet = PhoneGroups(
                groups: groups.map(\.name),
                groupOfDevice: groups.enumerated().flatMap { Array(repeating: UInt16($0), count: $1.devices) }
            )
            var settings = JudgeSettings.small(fleet: fleet, objectives: self.objectives)
            settings.shelf = self.plan.shelf
            settings.ledger.journeys = groups.map(\.profile.journey)
            settings.ledger.prices = self.plan.scenario.prices
            settings.faults = self.plan.scenario.faults.map(\.id)
            return settings
        }

        /// Judges the phones that are chosen. The counts of the driver are reported with the first of them.
        func judged(_ isChosen: (DeviceNumber) -> Bool) -> (result: RunResult, timeline: RunTimeline) {
            var judge = RunJudge(self.settings)
            let log = LogCounts()
            let chosen = self.observations.filter { isChosen($0.device) }
            for observation in chosen { judge.receive(observation, into: log) }
            var facts = RunFacts(at: self.end, made: chosen.count)
            if isChosen(DeviceNumber(0)) {
                facts.arrivals = ArrivalAccount(planned: 9, achieved: 9, late: 0)
            }
            let groups = self.plan.groups.map(\.spec)
            let head = RunHead.small(
                groups: groups.map {
                    .init(name: $0.name, devices: isChosen(DeviceNumber(0)) ? $0.devices : 0)
                })
            let result = judge.finish(facts, of: head, into: log)
            #expect(judge.harnessError == nil)
            return (result, judge.timeline)
        }

        func merged(shards: UInt32) throws -> (result: RunResult, timeline: RunTimeline) {
            let shards = (0..<shards).map { shard in self.judged { $0.raw % shards == shard } }
            return try #require(RunResult.merged(shards, objectives: self.plan.objectives, spans: nil))
        }
    }

    private func expectEqual(_ merged: RunResult, _ whole: RunResult) {
        #expect(Self.sorted(merged.totals) == Self.sorted(whole.totals))
        #expect(merged.groups.map(\.devices) == whole.groups.map(\.devices))
        #expect(merged.groups.map { Self.sorted($0.totals) } == whole.groups.map { Self.sorted($0.totals) })
        self.expectEqual(merged.metrics, whole.metrics)
        #expect(merged.disconnections == whole.disconnections)
        #expect(merged.findings == whole.findings)
        #expect(merged.slos == whole.slos)
        #expect(merged.exit == whole.exit)
        #expect(merged.failure == nil && whole.failure == nil)
        #expect(merged.verdicts.map(\.invariant) == whole.verdicts.map(\.invariant))
        #expect(merged.verdicts.map(\.standing) == whole.verdicts.map(\.standing))
        #expect(merged.verdicts.map(\.violations) == whole.verdicts.map(\.violations))
        #expect(merged.verdicts.map(\.expected) == whole.verdicts.map(\.expected))
    }

    /// Names are in the order of their first use, which differs between shards.
    private static func sorted(_ counters: Counters) -> Counters {
        counters.entries.sorted { $0.name < $1.name }.reduce(into: Counters()) {
            $0.add($1.count, to: $1.name)
        }
    }

    private static func sorted(_ totals: LedgerTotals) -> LedgerTotals {
        var sorted = totals
        sorted.jobs.abandonedByCause = Self.sorted(totals.jobs.abandonedByCause)
        return sorted
    }

    private func expectEqual(_ merged: MetricTable, _ whole: MetricTable) {
        for group in -1..<whole.groups.count {
            let group = group < 0 ? MetricGroup.none : MetricGroup(index: group)
            let (one, other) = (merged.set(in: group), whole.set(in: group))
            for metric in LatencyMetric.allCases {
                #expect(one.histogram(metric) == other.histogram(metric), "\(metric)")
                #expect(one.unfinished(metric) == other.unfinished(metric), "\(metric)")
            }
            for metric in RateMetric.allCases { #expect(one.rate(metric) == other.rate(metric), "\(metric)") }
            for metric in CountMetric.allCases {
                #expect(one.count(metric) == other.count(metric), "\(metric)")
            }
            #expect(one.books == other.books)
            #expect(one.replies.map(\.status) == other.replies.map(\.status))
            #expect(one.replies.map(\.count) == other.replies.map(\.count))
            #expect(Self.sorted(one.faults) == Self.sorted(other.faults))
        }
    }

    @Test(arguments: [2, 3, 12] as [UInt32])
    func `what books cost is the sum over the shards`(shards: UInt32) throws {
        let run = try Run("hybrid-low-confidence", seed: 1)
        let whole = run.judged { _ in true }.result
        let merged = try run.merged(shards: shards).result
        self.expectEqual(merged, whole)
        let costs = merged.totals.costs
        #expect(costs.photo.books > 0 && costs.photo.bytes > 0 && costs.text.requests > costs.text.books)
        guard case .measured(let cost?) = merged.metrics.cost(.total, of: .fleet) else {
            Issue.record("no cost")
            return
        }
        #expect(cost == Cost(.total, of: costs.priced, at: try #require(run.plan.scenario.prices)))
        #expect(merged.metrics.cost(.perMonth, of: .fleet) == whole.metrics.cost(.perMonth, of: .fleet))
    }

    /// As that of one process, which stays failed although the whole run satisfies it.
    @Test func `an objective that has ended a shard stays failed`() throws {
        let run = try Run("flaky-network", seed: 1)
        var shards = (0..<UInt32(2)).map { shard in run.judged { $0.raw % 2 == shard } }
        let objectives = run.plan.objectives
        let index = try #require(objectives.firstIndex { $0.selector.metric.name == "scans.lost" })
        let slo = objectives[index]
        let aborting = SLO(
            selector: slo.selector, condition: slo.condition, severity: slo.severity, abort: true)
        var judged = objectives
        judged[index] = aborting
        // What an objective that fails looks like.
        let impossible = SLO(
            selector: slo.selector,
            condition: try SLOCondition(parsing: "count > 1000000", for: slo.selector.metric.kind),
            severity: slo.severity, abort: true)
        shards[1].result.slos[index] = impossible.evaluate(against: shards[1].result.metrics)
        #expect(shards[1].result.slos[index].passed == false)
        #expect(RunResult.merged(shards, objectives: judged, spans: nil)?.result.slos[index].passed == true)
        shards[1].result.endedEarly = "by its objective"
        #expect(RunResult.merged(shards, objectives: judged, spans: nil)?.result.slos[index].passed == false)
    }

    /// A count that may not grow is small in each of two runs and large in their sum, and one that must be reached the other way
    /// round. Only a count that is too large in one of them is too large in any sum.
    @Test(arguments: [
        (metric: "http.202", condition: "count <= 500 over 1s", alone: true, together: nil as Bool?),
        ("http.202", "count < 1 over 1s", false, false), ("http.202", "count >= 0 over 1s", true, nil),
        ("http.202", "count > 500 over 1s", false, nil), ("scan.time", "p(90) < 1h over 1s", true, nil),
        ("scan.time", "p(90) < 1ms over 1s", false, nil),
    ]) func `windows of runs that have no sum are not judged, and a note says so`(
        metric: String, condition: String, alone: Bool, together: Bool?
    ) throws {
        var run = try Run("flaky-network", seed: 1)
        let selector = try MetricSelector(parsing: metric, vocabulary: nil)
        let slo = SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false)
        run.objectives = [slo]
        let shards = (0..<UInt32(2)).map { shard in run.judged { $0.raw % 2 == shard } }
        let merged = try #require(RunResult.merged(shards, objectives: [slo], spans: nil)?.result)
        #expect(merged.slos.map(\.passed) == [together])
        #expect(merged.remarks.contains(.merge(.windowsNotJudged(objectives: [metric]))))
        let one = try #require(RunResult.merged([shards[0]], objectives: [slo], spans: nil)?.result)
        #expect(one.slos.map(\.passed) == [alone])
        #expect(!one.remarks.contains(.merge(.windowsNotJudged(objectives: [metric]))))
        let known = slo.notKnown.recorded(actual: "by the sum", passed: !alone)
        let summed = try #require(
            RunResult.merged(shards, objectives: [slo], spans: { _ in [known] })?.result)
        #expect(summed.slos == [known])
        #expect(!summed.remarks.contains(.merge(.windowsNotJudged(objectives: [metric]))))
    }

    @Test(arguments: ["rate-limited", "token-expiry"])
    func `the part of a group is what a judge of its phones comes to`(scenario: String) throws {
        var run = try Run(scenario, seed: 1)
        let fleet = run.settings.ledger.fleet
        let index = try #require(
            run.observations.lastIndex {
                guard case .phone(.bookAdded) = $0.what else { return false }
                return fleet.group(of: $0.device) == 1
            })
        run.observations.insert(run.observations[index], at: index)
        let whole = run.judged { _ in true }.result
        #expect(whole.groups.count == 2 && whole.part("nobody") == nil)
        for (index, group) in whole.groups.enumerated() {
            let part = try #require(whole.part(group.name))
            let alone = run.judged { fleet.group(of: $0) == index }.result
            #expect(part.groups.map(\.name) == [group.name])
            #expect(Self.sorted(part.totals) == Self.sorted(alone.totals))
            #expect(part.totals.scans.completed > 0)
            #expect(part.disconnections == alone.disconnections)
            #expect(part.verdicts.map(\.invariant) == alone.verdicts.map(\.invariant))
            #expect(part.verdicts.map(\.violations) == alone.verdicts.map(\.violations))
            #expect(part.verdicts.map(\.standing) == alone.verdicts.map(\.standing))
            #expect(part.errors.map(\.trouble) == alone.errors.map(\.trouble))
            #expect(part.errors.map(\.count) == alone.errors.map(\.count))
            let (own, others) = (part.metrics.set(in: MetricGroup(index: 0)), alone.metrics)
            for metric in LatencyMetric.allCases {
                #expect(own.histogram(metric) == others.set(in: MetricGroup(index: index)).histogram(metric))
            }
            for metric in CountMetric.allCases {
                #expect(own.count(metric) == others.set(in: MetricGroup(index: index)).count(metric))
            }
            #expect(part.exit == (index == 1 ? .invariantBroken : .success))
            #expect(part.slos.allSatisfy { $0.slo.concerns(group: group.name) && !$0.noData })
            #expect(!part.slos.isEmpty)
        }
    }

    @Test func `an invariant that is broken in one shard is broken`() throws {
        var run = try Run("flaky-network", seed: 1)
        let index = try #require(
            run.observations.firstIndex {
                guard case .phone(.bookAdded) = $0.what else { return false }
                return $0.device.raw % 2 == 1
            })
        run.observations.insert(run.observations[index], at: index)
        #expect(run.judged { $0.raw % 2 == 0 }.result.exit != .invariantBroken)
        let merged = try run.merged(shards: 2).result
        let verdict = merged.verdicts.first { $0.invariant == .bookNeverDoubleAdded }
        #expect(verdict?.standing == .broken && verdict?.violations == 1)
        #expect(merged.exit == .invariantBroken)
        self.expectEqual(merged, run.judged { _ in true }.result)
    }
}
