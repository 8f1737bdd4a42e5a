import Faults
import Ledger
import Observations
import Phone
import Plan
import RunJudge
import Search
import SimBase
import Testing
import VirtualWorld

/// Plans of live runs. A virtual run replaces the live one: both report the same observations.
struct LivePlanTests {
    private static func scenario(_ toggles: [ProfileToggle]) -> Scenario {
        SearchBench.scenario(
            devices: 8, toggles: toggles,
            faults: [
                SearchBench.fault(
                    .unknownEvent(nil), on: .stream, id: "unknown", chance: .percent(40),
                    after: .afterEvents(1...3)),
                SearchBench.fault(.stripBooks(.empty), on: .stream, id: "strip", chance: .percent(50)),
                SearchBench.fault(.truncateResults, on: .results, id: "truncate", chance: .percent(50)),
            ])
    }

    /// A run, its observations, and its first violation.
    private static func run(_ toggles: [ProfileToggle]) throws -> (
        plan: WorldPlan, observations: [Observation], outcome: TrialOutcome
    ) {
        let plan = SearchBench.plan(Self.scenario(toggles))
        var observations: [Observation] = []
        let outcome = try #require(Trial.outcome(of: plan, observe: { observations.append($0) }))
        return (plan, observations, outcome)
    }

    private static func record(_ invariant: Invariant, _ device: DeviceNumber) -> LiveRecord {
        LiveRecord(
            command: "swiftwing-sim run x",
            failures: [
                LiveRecord.Failure(
                    .broken(invariant), device: device, scan: ScanNumber(1), at: .zero + .seconds(1),
                    text: "it broke")
            ])
    }

    @Test func `faults that acted are tied to their exchanges, others are not in the plan`() throws {
        let run = try Self.run([])
        let phones = [DeviceNumber(2), DeviceNumber(5)]
        let live = LivePlan(
            run.plan.run, of: phones, run.observations, wallClockAtZero: 7, endedAt: run.outcome.endedAt)
        #expect(live.phones == phones && live.faultsLeftOut == 0)
        #expect(live.plan.wallClockAtZero == 7)
        #expect(live.plan.captures?.map(\.device.raw).sorted() == [2, 2, 5, 5])
        let faults = live.plan.run.scenario.faults
        let fired = run.observations.filter { observation in
            guard case .fault(.fired) = observation.what else { return false }
            return phones.contains(observation.device)
        }
        #expect(!faults.isEmpty && faults.count == fired.count)
        #expect(Set(faults.map(\.id)).count == faults.count)
        for fault in faults {
            #expect(fault.chance == .always && fault.scan != nil && fault.attempt != nil)
        }
        // The same faults act at the same exchanges of the simulated plan.
        var again: [Observation] = []
        _ = Trial.outcome(of: live.plan, observe: { again.append($0) })
        #expect(Self.firings(again, faults) == Self.firings(fired, run.plan.run.scenario.faults))
    }

    /// `phone scan attempt kind` of each firing.
    private static func firings(_ observations: [Observation], _ faults: [FaultSpec]) -> [String] {
        observations.compactMap { observation in
            guard case .fault(.fired(let fault, let operation, let attempt)) = observation.what else {
                return nil
            }
            return
                "\(observation.device.raw) \(observation.scan.raw) \(operation.name) \(attempt) \(faults[fault].kind.name)"
        }.sorted()
    }

    @Test func `what a live run broke is shown by its plan, and shrunk to one fault`() throws {
        let run = try Self.run([.unknownEvents])
        let broken = try #require(run.outcome.breaks.first { $0.kind.name == "stream.parse-robust" })
        let device = try #require(broken.first.device)
        let live = LivePlan(
            run.plan.run, of: [device], run.observations, wallClockAtZero: WorldPlan.wallClockUsual,
            endedAt: run.outcome.endedAt)
        let check = LiveCheck(live.plan, Self.record(.streamParseRobust, device))
        let shown = try #require(check.shown.first)
        #expect(shown.kind == broken.kind && check.runs == 1)
        let result = try #require(Shrinker.shrink(shown.plan, failing: shown.kind))
        #expect(result.plan.run.scenario.faults.map(\.kind.name) == ["unknown-event"])
        #expect(result.plan.captures?.count == 1 && result.plan.run.devices == 1)
    }

    @Test func `a failure of another phone is not the one that is looked for`() throws {
        let run = try Self.run([.unknownEvents])
        let broken = try #require(run.outcome.breaks.first { $0.kind.name == "stream.parse-robust" })
        let device = try #require(broken.first.device)
        let other = DeviceNumber(device.raw + 1)
        let live = LivePlan(
            run.plan.run, of: [device], run.observations, wallClockAtZero: 0, endedAt: run.outcome.endedAt)
        let check = LiveCheck(live.plan, Self.record(.streamParseRobust, other))
        #expect(check.shown.isEmpty)
        #expect(check.others?.kinds.contains(broken.kind) == true)
    }

    @Test func `what the simulation does not show is told by the first step that differs`() throws {
        let run = try Self.run([])
        let device = DeviceNumber(1)
        let live = LivePlan(
            run.plan.run, of: [device], run.observations, wallClockAtZero: 0, endedAt: run.outcome.endedAt)
        let check = LiveCheck(live.plan, Self.record(.bookNeverLost, device))
        #expect(check.shown.isEmpty && check.others == nil && check.runs == LiveCheck.variations)
        let same = LiveDifference(
            live: run.observations, plan: check.plan, device: device, scan: ScanNumber(1))
        #expect(same.live == nil && same.simulated == nil && same.same > 5)
        #expect(same.liveEnd == same.simulatedEnd)
        // The live run ends behind its upload.
        let cut = run.observations.filter { observation in
            guard case .phone(let payload) = observation.what, observation.device == device else {
                return true
            }
            switch payload {
            case .captured, .queued: return true
            case .requestSent(.upload, _, _, _): return true
            default: return false
            }
        }
        let difference = LiveDifference(
            live: cut, plan: check.plan, device: device, scan: ScanNumber(1))
        #expect(difference.live == nil && difference.simulated != nil)
        #expect(difference.liveEnd == .unfinished && difference.simulatedEnd != .unfinished)
    }

    @Test func `an unfinished scan is looked for behind a settled end`() throws {
        let run = try Self.run([.lineReader])
        let device = DeviceNumber(0)
        let live = LivePlan(
            run.plan.run, of: [device], run.observations, wallClockAtZero: 0, endedAt: run.outcome.endedAt)
        let record = LiveRecord(
            command: "swiftwing-sim run x",
            failures: [
                LiveRecord.Failure(
                    .unfinished, device: device, scan: ScanNumber(1), at: run.outcome.endedAt, text: "waits")
            ])
        let check = LiveCheck(live.plan, record)
        #expect(check.plan.settle != nil)
        #expect(check.shown.map(\.kind.name) == ["device.not-stuck"])
    }

    @Test func `a plan is bounded, and says what it leaves out`() throws {
        let run = try Self.run([])
        let phones = (0..<8).map { DeviceNumber($0) }
        let live = LivePlan(
            run.plan.run, of: phones + [DeviceNumber(999)], run.observations, wallClockAtZero: 0,
            endedAt: run.outcome.endedAt)
        #expect(live.phones == phones)
        #expect(live.plan.run.scenario.faults.count <= LivePlan.faultsMax)
        // A phone with more faults than a plan has room for.
        let many = (0..<UInt32(LivePlan.faultsMax) + 5).map { attempt in
            Observation(
                at: .zero + .seconds(1), device: DeviceNumber(3), scan: ScanNumber(1),
                what: .fault(.fired(fault: 0, .stream, attempt: attempt + 1)))
        }
        let captured = Observation(
            at: .zero, device: DeviceNumber(3), scan: ScanNumber(1), what: .phone(.captured(scheduled: .zero))
        )
        let cut = LivePlan(
            run.plan.run, of: [DeviceNumber(3)], [captured] + many, wallClockAtZero: 0,
            endedAt: .zero + .seconds(2))
        #expect(cut.plan.run.scenario.faults.count == LivePlan.faultsMax && cut.faultsLeftOut == 5)
        #expect(cut.plan.run.scenario.faults.last?.attempt == UInt32(LivePlan.faultsMax) + 5)
    }
}
