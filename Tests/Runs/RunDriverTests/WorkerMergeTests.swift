import Foundation
import Metrics
import Observations
import Plan
import Reports
import RunArchive
import RunJudge
import RunSetup
import ScenarioFile
import SimBase
import SimTestSupport
import Testing
import VirtualWorld

/// What the phones of one run did, divided among the workers of a test: the report of what they hand over is that of one worker.
@Suite struct WorkerMergeTests {
    private static let started: Int64 = 1_795_253_400_000

    /// A small fleet of a shipped scenario, with objectives for windows of the run.
    private struct Recorded {
        let plan: RunPlan
        var observations: [Observation] = []
        let end: Instant

        init(_ name: String) throws {
            let file = Checkout.root.appending(path: "Scenarios/\(name).scenario")
            let loaded = try ScenarioLoader.load(
                path: file.lastPathComponent, bytes: Array(Data(contentsOf: file)),
                overrides: [
                    "slo={scan.time: p(90) < 4s over 5s, upload.time: count < 12 over 2s, scans.lost: count == 0}"
                ], environment: [:])
            self.plan = RunPlan(loaded.scaled(devices: 12), target: .embedded)
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

        var settings: JudgeSettings { JudgeSettings(self.plan, world: .live, hasBackendView: true) }

        /// The folder of the worker that has these phones, as it hands it over: without the log.
        func write(to path: String, _ isChosen: (DeviceNumber) -> Bool) throws {
            let head = RunHead(
                tool: "swiftwing-sim 1.0.0", machine: "a machine",
                scenario: ScenarioIdentity(name: self.plan.scenario.name, description: "", file: []),
                seed: self.plan.scenario.seed, world: .live, started: WorkerMergeTests.started,
                hasBackendView: true,
                groups: self.plan.groups.map { .init(name: $0.spec.name, devices: $0.spec.devices) },
                faults: self.plan.scenario.faults.map(\.id), command: ["locust"])
            let directory = try RunDirectory.create(
                .exactly(path), log: ObservationLog(isTracing: false, faults: head.faults))
            directory.write(scenarioResolved: ScenarioWriter.resolved(self.plan.scenario))
            directory.begin(head)
            var judge = RunJudge(self.settings)
            var captures = 0
            for observation in self.observations where isChosen(observation.device) {
                if case .phone(.captured) = observation.what { captures += 1 }
                judge.receive(observation, into: directory)
            }
            var facts = RunFacts(
                endedAt: self.end, length: self.end - .zero, waiting: [],
                observationsMade: judge.observations, drain: .seconds(30),
                resources: Resources(client: nil, backend: nil))
            facts.arrivals = ArrivalAccount(planned: captures, achieved: captures, late: 0)
            var result = judge.finish(facts, of: head, into: directory)
            let fleet = head.fleet
            for index in result.groups.indices {
                result.groups[index].devices = (0..<UInt32(fleet.count)).count { number in
                    isChosen(DeviceNumber(number)) && fleet.group(of: DeviceNumber(number)) == index
                }
            }
            #expect(judge.harnessError == nil)
            directory.write(scans: judge.scans)
            _ = try directory.finish(result, judge.timeline)
            let evidence = RunDirectory.evidence(of: path, devices: result.groups.map(\.devices))
            try FileManager.default.removeItem(atPath: path)
            _ = try ReportFile.write(evidence, to: path)
        }

        func read(_ path: String) throws -> PastRun {
            try PastRun(folder: path, head: try PastRun.head(of: path), settings: self.settings)
        }
    }

    /// Without how it came about.
    private static func summary(_ result: RunResult) -> String {
        var result = result
        result.remarks = []
        return String(decoding: SummaryJSON.bytes(result), as: UTF8.self)
    }

    @Test(arguments: ["flaky-network", "token-expiry"])
    func `the phones of one run come to the same in one, two and three folders`(name: String) throws {
        let recorded = try Recorded(name)
        let scratch = FileManager.default.temporaryDirectory.appending(path: "workers-\(UUID())")
        defer { try? FileManager.default.removeItem(at: scratch) }
        func folders(_ count: UInt32) throws -> [String] {
            try (0..<count).map { worker in
                let path = scratch.appending(path: "\(worker)-of-\(count)").path
                // Leases are not shards: numbers come as the users do.
                try recorded.write(to: path) { $0.raw * count / UInt32(recorded.plan.devices) == worker }
                return path
            }
        }
        let whole = try recorded.read(try folders(1)[0]).result
        #expect(whole.totals.scans.completed > 0)
        #expect(whole.slos.allSatisfy { $0.passed != nil } && whole.slos.count > 2)
        for count in [UInt32(2), 3] {
            let runs = try folders(count).map { try recorded.read($0) }
            let merged = try #require(try PastRun.merged(runs, recorded.settings)).result
            #expect(Self.summary(merged) == Self.summary(whole), "\(count) workers")
        }
    }
}
