import Faults
import Metrics
import Observations
import Phone
import Plan
import RunControl
import SimBase
import Talaria
import Testing
import VirtualWorld

/// Whole runs whose phones move from one transport to another.
struct RolloutWorldTests {
    /// 400 scans in 100 s, of 40 phones, half of them on the new arm after 20 s.
    private static func scenario(
        devices: Int = 40, faults: [FaultSpec] = [], isSticky: Bool = true, rollback: String? = nil
    ) throws -> Scenario {
        var plan = RolloutPlan()
        plan.stages = [
            .init(share: .never, length: .hours(24)), .init(share: .percent(50), length: .hours(24)),
        ]
        plan.timeScale = .init(stated: .hours(24), inRun: .seconds(20))
        plan.isSticky = isSticky
        if let rollback {
            let condition = try SLOCondition(parsing: rollback, for: RolloutMeasure.connects.kind)
            plan.triggers = [try #require(RolloutTrigger(.connects, condition))]
        }
        let group = Bench.group(devices: devices, scans: 400 / devices) { $0.journey = .bookshelfScan }
        var scenario = Bench.scenario(groups: [group], faults: faults)
        scenario.rollout = plan
        return scenario
    }

    private static func failsStreams(from second: Int64) -> FaultSpec {
        var fault = Bench.fault(
            .httpError(
                HTTPFault(
                    status: 503, code: nil, retryable: nil, retryAfter: nil, retryAfterLocation: .both)),
            on: .stream, chance: .percent(30),
            window: FaultWindow(at: .seconds(second), length: .seconds(30)), count: .eachAttempt)
        fault.transport = .sse
        return fault
    }

    @Test func `phones take the arm of their stage, and keep it within the stage`() throws {
        let outcome = try Bench.run(Self.scenario())
        #expect(outcome.broken == [])
        #expect(
            outcome.controls.map(\.what) == [
                .rolloutStage(1, share: .never), .rolloutStage(2, share: .percent(50)),
            ])
        #expect(outcome.controls.map(\.at) == [.zero, .zero + .seconds(20)])
        let arms = outcome.arms
        #expect(arms.filter { $0.at < .zero + .seconds(20) }.allSatisfy { $0.arm == .websocket })
        let later = arms.filter { $0.at > .zero + .seconds(20) }
        #expect(Set(later.map(\.arm)) == [.sse, .websocket])
        #expect(Self.flips(later) == 0)
    }

    @Test func `without cohorts that stay, phones change their arm within a stage`() throws {
        let later = try Bench.run(Self.scenario(isSticky: false)).arms.filter {
            $0.at > .zero + .seconds(20)
        }
        #expect(Self.flips(later) > 40)
    }

    @Test func `a job is followed by the arm of its upload, whatever the phone does meanwhile`() throws {
        let outcome = try Bench.run(Self.scenario(devices: 4, isSticky: false))
        #expect(outcome.broken == [])
        var arms: [[UInt32]: StreamTransport] = [:]
        for observation in outcome.observations {
            let scan = [observation.device.raw, observation.scan.raw]
            if case .phone(.armTaken(let arm, _)) = observation.what { arms[scan] = arm }
            if case .phone(.jobFollowed(_, let transport)) = observation.what {
                #expect(arms[scan] == transport)
                arms[scan] = nil
            }
        }
        // Only a job by WebSocket says so.
        #expect(Set(arms.values) == [.sse])
        #expect((100..<200).contains(arms.count))
    }

    @Test func `a condition that holds moves all phones back, and jobs that were under way go on`() throws {
        let outcome = try Bench.run(
            Self.scenario(faults: [Self.failsStreams(from: 30)], rollback: "rate < 90% over 10s"))
        #expect(outcome.broken == [])
        let back = try #require(outcome.controls.last)
        guard case .rolledBack(.connects, let value, limit: .percent(90)) = back.what else {
            Issue.record("\(outcome.controls)")
            return
        }
        #expect(value < .percent(90))
        #expect((.zero + .seconds(30)...(.zero + .seconds(40))).contains(back.at))
        #expect(outcome.arms.filter { $0.at > back.at }.allSatisfy { $0.arm == .websocket })
        #expect(outcome.arms.contains { $0.at < back.at && $0.arm == .sse })
        #expect(outcome.ledger.totals.scans.completed == 400)
        #expect(outcome.failedConnects(.sse) > 5 && outcome.failedConnects(.websocket) == 0)
    }

    @Test func `a rollout is repeated event by event`() throws {
        let scenario = try Self.scenario(
            faults: [Self.failsStreams(from: 30)], rollback: "rate < 90% over 10s")
        let (first, second) = (try Bench.run(scenario), try Bench.run(scenario))
        #expect(first.world.chain.value == second.world.chain.value)
        #expect(first.observations == second.observations)
    }

    /// How often a phone took another arm than before.
    private static func flips(_ arms: [(at: Instant, device: DeviceNumber, arm: StreamTransport)]) -> Int {
        var last: [DeviceNumber: StreamTransport] = [:]
        return arms.count { taken in
            last.updateValue(taken.arm, forKey: taken.device).map { $0 != taken.arm } ?? false
        }
    }
}

extension Bench.Outcome {
    /// Connects that failed on an arm.
    fileprivate func failedConnects(_ arm: StreamTransport) -> Int {
        var (journal, events) = (ArmJournal(patience: .hours(1)), [ArmEvent]())
        for observation in self.observations { journal.record(observation, into: &events) }
        return events.count { $0.arm == arm && $0.what == .connected(succeeded: false) }
    }

    fileprivate var arms: [(at: Instant, device: DeviceNumber, arm: StreamTransport)] {
        self.observations.compactMap {
            guard case .phone(.armTaken(let arm, _)) = $0.what else { return nil }
            return ($0.at, $0.device, arm)
        }
    }

    fileprivate var controls: [(at: Instant, what: ControlObservation)] {
        self.observations.compactMap {
            guard case .control(let control) = $0.what else { return nil }
            return ($0.at, control)
        }
    }
}
