import Foundation
import Ledger
import Metrics
import Observations
import Plan
import ReportSamples
import Reports
import RunArchive
import RunJudge
import RunSetup
import ScenarioFile
import SimBase
import SimTestSupport
import Testing
import VirtualWorld

@testable import RunDriver

/// The state of a run folds: whichever phones each part has, the sum of the parts' files is the result of one process that has
/// all phones, byte for byte. A backend's observation goes with its phone, and those of the whole fleet stay in the first part.
@Suite struct FoldTests {
    /// What a fleet did, and the facts of its driver.
    private struct Run {
        let plan: RunPlan
        let world: WorldPlan
        let observations: [Observation]
        let facts: RunFacts

        init(_ name: String) throws {
            let file = Checkout.root.appending(path: "Scenarios/\(name).scenario")
            var scenario = try ScenarioLoader.load(
                path: file.lastPathComponent, bytes: Array(Data(contentsOf: file)), overrides: [],
                environment: [:]
            ).scaled(devices: 10)
            scenario.seed = 3
            self.plan = RunPlan(scenario, target: .embedded)
            var world = World(WorldPlan(self.plan))
            self.world = WorldPlan(self.plan)
            var observations: [Observation] = []
            var batch: [Observation] = []
            repeat {
                world.take(&batch)
                observations += batch
                batch = []
            } while try world.steps(4_096)
            world.take(&batch)
            self.observations = observations + batch
            var facts = RunFacts(
                endedAt: world.now, length: world.phonesEnded - .zero, waiting: world.waitingOnDisk,
                observationsMade: self.observations.count, drain: scenario.drain,
                resources: Resources(client: nil, backend: nil))
            facts.arrivals = ArrivalAccount(
                self.plan, self.plan.expectedArrivals, stepped: nil, closedDue: world.closedDue,
                achieved: world.captured, late: 0)
            facts.remains = world.remains
            self.facts = facts
        }

        /// What a process with these phones leaves in its folder; `part` is the index of its shard of `count`.
        func write(_ part: Int, of count: Int, to folder: String, has: (DeviceNumber) -> Bool) throws
            -> RunResult
        {
            func isOwn(_ device: DeviceNumber) -> Bool {
                device.raw < UInt32(self.plan.devices) ? has(device) : part == 0
            }
            let chosen = self.observations.filter { isOwn($0.device) }
            var head = RunHead(
                tool: "swiftwing-sim", machine: nil,
                scenario: ScenarioIdentity(name: self.plan.scenario.name, description: "", sha256: ""),
                seed: self.plan.scenario.seed, world: .virtual, started: 0, hasBackendView: true,
                groups: self.plan.groups.map {
                    .init(name: $0.spec.name, devices: $0.spec.devices, journey: $0.profile.journey)
                },
                shard: FleetShard(index: part, count: count),
                faults: self.plan.scenario.faults.map(\.id), command: [])
            head.conditions = RunConditions(self.plan)
            let directory = try RunDirectory.create(
                .exactly(folder), log: ObservationLog(isTracing: false, faults: head.faults))
            directory.write(scenarioResolved: ScenarioWriter.resolved(self.plan.scenario))
            directory.begin(head)
            var judge = RunJudge(self.settings(isWhole: count == 1))
            for observation in chosen { judge.receive(observation, into: directory) }
            var facts = self.facts
            facts.observationsMade = chosen.count
            facts.waiting.removeAll { !isOwn($0.device) }
            facts.remains?.keep(isOwn)
            if part > 0 { facts.arrivals = nil }
            if count == 1 { facts.remarks = [judge.coverage?.remark].compactMap { $0 } }
            let result = judge.finish(facts, of: head, into: directory)
            #expect(judge.harnessError == nil)
            directory.write(scans: judge.scans)
            directory.write(evidence: judge.evidence, of: result, judge.timeline)
            // A merge reads no other report.
            _ = try directory.finish(result, judge.timeline, failures: []) {
                [ReportFile(name: RunDirectory.FileName.summary, bytes: SummaryJSON.bytes($0.result))]
            }
            return result
        }

        private func settings(isWhole: Bool) -> JudgeSettings {
            var settings = JudgeSettings(self.plan, world: .virtual, hasBackendView: true)
            settings.harness = HarnessSettings(self.plan, hasBackendView: true, hasGateway: false)
            settings.invariants = SimulationInvariantSettings(self.world)
            settings.coverage = CoverageTable(
                self.plan.scenario, expected: self.plan.scenario.sometimes, slotsMax: settings.ledger.slotsMax
            )
            if isWhole { settings.schedule = CaptureSchedule(self.plan, captures: self.world.captures) }
            return settings
        }
    }

    private let scratch: Scratch

    init() throws { self.scratch = try Scratch() }

    /// The summary, without what it says of the merge itself.
    private static func summary(_ result: RunResult) -> [Substring] {
        var result = result
        result.remarks.removeAll { if case .merge(.merged) = $0 { true } else { false } }
        result.command = []
        return String(decoding: SummaryJSON.bytes(result), as: UTF8.self).split(separator: "\n")
    }

    @Test(arguments: [
        "flaky-network", "sudden-kills", "token-expiry", "rate-limited", "bookshelf-v2", "stripped-books",
        "several-photos", "csv-import", "reordered-results", "torn-writes", "hybrid-low-confidence",
    ]) func `the sum of the parts is the whole`(scenario: String) throws {
        let run = try Run(scenario)
        let whole = Self.summary(try run.write(0, of: 1, to: self.scratch.at("whole")) { _ in true })
        let random = KeyedRandom(seed: 3)
        func sum(_ count: Int, part: (DeviceNumber) -> Int) throws -> [Substring] {
            let folders = (0..<count).map { self.scratch.at("\($0)-of-\(count)") }
            for (index, folder) in folders.enumerated() {
                _ = try run.write(index, of: count, to: folder) { part($0) == index }
            }
            return Self.summary(try MergedShards.report(of: MergedShards.folders(folders)).result)
        }
        for count in [2, 3, 7] {
            self.expect(try sum(count) { Int($0.raw) % count }, whole, "\(count) parts")
        }
        self.expect(try sum(4) { Int(random.below(4, .test, UInt64($0.raw))) }, whole, "parts at random")
    }

    private func expect(_ sum: [Substring], _ whole: [Substring], _ what: Comment) {
        let difference = sum.difference(from: whole).map { change in
            switch change {
            case .insert(_, let line, _): "+\(line)"
            case .remove(_, let line, _): "-\(line)"
            }
        }
        #expect(difference == [], what)
    }
}

extension FinalWorldState {
    fileprivate mutating func keep(_ isOwn: (DeviceNumber) -> Bool) {
        self.stuck = self.stuck.filter(isOwn)
        self.restless = self.restless.filter(isOwn)
        self.broken = self.broken.filter(isOwn)
        self.waiting = self.waiting.filter { isOwn($0.device) }
    }
}
