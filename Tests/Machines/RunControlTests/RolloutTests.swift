import Metrics
import Observations
import SimBase
import Talaria
import Testing

@testable import RunControl

@Suite struct RolloutTests {
    private static let errors = "rate > 5% over 60s"

    private static func trigger(_ measure: RolloutMeasure, _ text: String) throws -> RolloutTrigger {
        try #require(RolloutTrigger(measure, try SLOCondition(parsing: text, for: measure.kind)))
    }

    /// 5 % for a day of a minute, then 50 %, with triggers that need ten samples.
    private static func plan(_ triggers: [RolloutTrigger]) -> RolloutPlan {
        var plan = RolloutPlan()
        plan.stages = [
            .init(share: .percent(5), length: .hours(24)), .init(share: .percent(50), length: .hours(48)),
        ]
        plan.timeScale = .init(stated: .hours(24), inRun: .seconds(60))
        plan.samplesMin = 10
        plan.triggers = triggers
        return plan
    }

    private static func set(_ percent: UInt32, isSticky: Bool = true) -> RolloutEffect {
        .set(
            RolloutFlag(
                arms: RolloutArms(from: .websocket, to: .sse), share: .percent(percent), isSticky: isSticky))
    }

    // MARK: Stages

    @Test func `stages begin in their order, in the time of the run, and the last one lasts`() {
        var bench = Bench(Self.plan([]))
        #expect(
            bench.handle(.began, at: 0) == [
                Self.set(5), .observe(.rolloutStage(1, share: .percent(5))),
            ])
        #expect(bench.rollout.nextWake == .zero + .seconds(60))
        #expect(bench.handle(.woke, at: 59) == [])
        #expect(
            bench.handle(.woke, at: 60) == [
                Self.set(50), .observe(.rolloutStage(2, share: .percent(50))),
            ])
        #expect(bench.rollout.nextWake == nil)
        #expect(bench.handle(.woke, at: 1_000) == [])
    }

    @Test func `the flag says whether cohorts are sticky`() {
        var plan = Self.plan([])
        plan.isSticky = false
        var bench = Bench(plan)
        #expect(bench.handle(.began, at: 0).first == Self.set(5, isSticky: false))
    }

    // MARK: Triggers

    @Test func `a rollout is rolled back at once when its errors are above the limit, and for good`() throws {
        var bench = Bench(Self.plan([try Self.trigger(.errors, Self.errors)]))
        bench.begin()
        bench.scans(.sse, count: 19, at: 10)
        bench.scans(.sse, count: 1, failed: true, at: 20)
        #expect(bench.woken(at: 20) == [])  // Exactly 5 %.
        bench.scans(.sse, count: 1, failed: true, at: 21)
        #expect(bench.rollout.nextWake == .zero + .seconds(21))
        #expect(
            bench.woken(at: 21) == [
                Self.set(0),
                .observe(
                    .rolledBack(.errors, value: Odds(perMillion: 2_000_000 / 21), limit: .percent(5))),
            ])
        #expect(bench.rollout.nextWake == nil)
        bench.scans(.sse, count: 20, failed: true, at: 30)
        #expect(bench.woken(at: 100) == [])
        #expect(bench.handle(.began, at: 101) == [])
    }

    @Test func `what is older than the window does not count, and few samples say nothing`() throws {
        var bench = Bench(Self.plan([try Self.trigger(.errors, Self.errors)]))
        bench.begin()
        bench.scans(.sse, count: 9, failed: true, at: 10)
        #expect(bench.woken(at: 10) == [])
        bench.scans(.sse, count: 9, at: 71)
        #expect(bench.woken(at: 71).count == 2)  // The stage, and no rollback.
        bench.scans(.sse, count: 1, failed: true, at: 72)
        #expect(bench.woken(at: 72).count == 2)
    }

    @Test func `the old arm rolls nothing back`() throws {
        var bench = Bench(Self.plan([try Self.trigger(.errors, Self.errors)]))
        bench.begin()
        bench.scans(.websocket, count: 100, failed: true, at: 10)
        #expect(bench.woken(at: 10) == [])
    }

    @Test func `connects are counted by their success`() throws {
        var bench = Bench(Self.plan([try Self.trigger(.connects, "rate < 95% over 60s")]))
        bench.begin()
        bench.connects(.sse, succeeded: 19, failed: 1, at: 5)
        #expect(bench.woken(at: 5) == [])
        bench.connects(.sse, succeeded: 0, failed: 1, at: 6)
        #expect(
            bench.woken(at: 6).last
                == .observe(
                    .rolledBack(
                        .connects, value: Odds(perMillion: 19_000_000 / 21), limit: .percent(95))))
    }

    @Test func `complaints are compared with those of the other arm`() throws {
        let complaints = try Self.trigger(.complaints, "value > 2 over 60s")
        var bench = Bench(Self.plan([complaints]))
        bench.begin()
        bench.scans(.websocket, count: 95, at: 10)
        bench.scans(.websocket, count: 5, failed: true, at: 10)
        bench.scans(.sse, count: 18, at: 11)
        bench.scans(.sse, count: 2, failed: true, at: 11)
        #expect(bench.woken(at: 11) == [])  // Exactly twice 5 %.
        bench.scans(.sse, count: 1, failed: true, at: 12)
        #expect(
            bench.woken(at: 12).last
                == .observe(
                    .rolledBack(
                        .complaints, value: Odds(perMillion: 3_000_000 / 21), limit: .percent(10))))
    }

    @Test func `a baseline that is gone is the last one, and one without complaints counts one`() throws {
        let complaints = try Self.trigger(.complaints, "value > 2 over 60s")
        var bench = Bench(Self.plan([complaints]))
        bench.begin()
        bench.scans(.sse, count: 20, failed: true, at: 5)
        #expect(bench.woken(at: 5) == [])  // Nothing to compare with.
        bench = Bench(Self.plan([complaints]))
        bench.begin()
        bench.scans(.websocket, count: 20, at: 10)
        bench.scans(.sse, count: 19, at: 90)
        bench.scans(.sse, count: 1, failed: true, at: 90)
        #expect(bench.woken(at: 90).count == 2)  // The stage: 5 % is not above twice 5 %.
        bench.scans(.sse, count: 2, failed: true, at: 91)
        #expect(
            bench.woken(at: 91).last
                == .observe(
                    .rolledBack(
                        .complaints, value: Odds(perMillion: 3_000_000 / 22), limit: .percent(10))))
    }

    @Test func `without triggers nothing is rolled back`() {
        var bench = Bench(Self.plan([]))
        bench.begin()
        bench.scans(.sse, count: 100, failed: true, at: 10)
        #expect(bench.woken(at: 10) == [])
    }

    @Test(arguments: [
        (RolloutMeasure.errors, "rate > 5%"), (.errors, "count > 5 over 60s"),
        (.complaints, "count > 2 over 60s"),
    ])
    func `a condition that is not of a window, or not of the measure, is no trigger`(
        measure: RolloutMeasure, text: String
    ) throws {
        #expect(RolloutTrigger(measure, try SLOCondition(parsing: text, for: measure.kind)) == nil)
    }

    @Test func `a window with many samples forgets the oldest`() {
        var share = SlidingShare(window: .hours(1))
        share.record(true, at: .zero)
        for _ in 0..<SlidingShare.samplesMax { share.record(false, at: .zero + .seconds(1)) }
        #expect(share.counts.counted == 0)
        #expect(share.counts.all == Int64(SlidingShare.samplesMax))
        share.pass(to: .zero + .hours(2))
        #expect(share.counts == ShareCounts())
    }
}

/// A rollout with phones that are only observations.
private struct Bench {
    var rollout: Rollout
    private var scan: UInt32 = 0

    init(_ plan: RolloutPlan) { self.rollout = Rollout(plan) }

    mutating func handle(_ event: RolloutEvent, at second: Int64) -> [RolloutEffect] {
        var effects: [RolloutEffect] = []
        self.rollout.handle(event, at: .zero + .seconds(second), into: &effects)
        return effects
    }

    mutating func begin() { _ = self.handle(.began, at: 0) }

    mutating func woken(at second: Int64) -> [RolloutEffect] { self.handle(.woke, at: second) }

    private mutating func see(_ payloads: [PhoneObservation], at second: Int64) {
        self.scan += 1
        for payload in payloads {
            _ = self.handle(
                .observed(
                    Observation(
                        at: .zero + .seconds(second), device: DeviceNumber(1), scan: ScanNumber(self.scan),
                        what: .phone(payload))), at: second)
        }
    }

    mutating func scans(_ arm: StreamTransport, count: Int, failed: Bool = false, at second: Int64) {
        for _ in 0..<count {
            self.see(
                [
                    .captured(scheduled: .zero + .seconds(second)), .armTaken(arm, share: .percent(5)),
                    .uploadAccepted(job: "j", took: .zero, service: .zero),
                    failed ? .refused(code: "X", cause: nil) : .completed(took: .zero),
                ], at: second)
        }
    }

    mutating func connects(_ arm: StreamTransport, succeeded: Int, failed: Int, at second: Int64) {
        let opened = PhoneObservation.streamOpened(job: "j", attempt: 1, after: nil, took: .zero)
        let refused = PhoneObservation.replied(.stream, attempt: 1, status: 503, took: .zero)
        self.see(
            [.captured(scheduled: .zero + .seconds(second)), .armTaken(arm, share: .percent(5))]
                + Array(repeating: opened, count: succeeded) + Array(repeating: refused, count: failed),
            at: second)
    }
}
