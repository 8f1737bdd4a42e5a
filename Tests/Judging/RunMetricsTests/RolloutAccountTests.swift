import Metrics
import Observations
import RunMetrics
import SimBase
import Talaria
import Testing

@Suite struct RolloutAccountTests {
    private static let settings = RolloutSettings(
        arms: RolloutArms(from: .websocket, to: .sse), patience: .seconds(10))

    @Test func `scans are counted on their arm, in their stage and in the whole run`() {
        var bench = Bench()
        bench.see(.rolloutStage(1, share: .percent(5)), at: 0)
        bench.scan(1, on: .websocket, at: 1, .completed(took: .seconds(2)))
        bench.scan(2, on: .sse, at: 2, .refused(code: "X", cause: nil))
        bench.see(.rolloutStage(2, share: .percent(50)), at: 60)
        bench.scan(2, on: .sse, share: 50, at: 61, .completed(took: .seconds(4)))
        bench.scan(3, on: .sse, share: 50, at: 62, .completed(took: .seconds(6)))

        let summary = bench.account.summary
        #expect(summary.arms.map(\.transport) == [.websocket, .sse])
        #expect(summary.arms.map(\.phones) == [1, 2])
        #expect(summary.arms.map(\.scans) == [1, 3])
        #expect(summary.arms.map(\.completed) == [1, 2])
        #expect(summary.arms[1].failures == [.init(cause: "X", count: 1)])
        #expect(summary.arms[1].jobs == FailureRate(failed: 1, total: 3))
        #expect(summary.arms[1].connects == FailureRate(failed: 0, total: 3))
        #expect(summary.arms[1].complaints == FailureRate(failed: 1, total: 3))
        #expect(summary.harmed == 1)
        #expect(summary.arms[0].p50 == .seconds(2))
        #expect(summary.periods.map(\.stage) == [1, 2])
        #expect(summary.periods.map(\.from) == [.zero, .zero + .seconds(60)])
        #expect(summary.periods.map { $0.arms.map(\.scans) } == [[1, 1], [0, 2]])
        #expect(summary.periods.map { $0.arms[1].jobs.failed } == [1, 0])
        #expect(summary.rollback == nil)
    }

    @Test func `a phone changes its arm if the share does not explain it`() {
        var bench = Bench()
        bench.take(1, .websocket, share: 5)
        bench.take(1, .sse, share: 50)
        #expect(bench.account.summary.changes == 0)
        bench.take(1, .websocket, share: 50)
        bench.take(1, .websocket, share: 50)
        bench.take(1, .sse, share: 50)
        bench.take(2, .sse, share: 50)
        #expect(bench.account.summary.changes == 2)
        #expect(bench.account.summary.changedPhones == 1)
    }

    @Test func `errors have fallen when a minute of all phones is within the limit`() {
        var bench = Bench()
        bench.see(.rolloutStage(1, share: .percent(50)), at: 0)
        bench.see(.rolledBack(.errors, value: .percent(20), limit: .percent(10)), at: 100)
        // The first minute is bad, the second is without a job, the third is good.
        for _ in 1...4 { bench.scan(1, on: .sse, at: 110, .refused(code: "X", cause: nil)) }
        for _ in 1...9 { bench.scan(2, on: .websocket, at: 225, .completed(took: .seconds(1))) }
        bench.scan(2, on: .sse, at: 226, .refused(code: "X", cause: nil))
        #expect(bench.account.summary.rollback?.recovery == nil)
        bench.scan(2, on: .websocket, at: 281, .completed(took: .seconds(1)))
        #expect(
            bench.account.summary.rollback
                == .init(
                    at: .zero + .seconds(100), measure: .errors, value: .percent(20), limit: .percent(10),
                    recovery: .minutes(3)))
        #expect(bench.account.summary.periods.map(\.stage) == [1, nil])
        #expect(bench.account.summary.periods[1].share == .never)
    }

    @Test func `connects have recovered when enough of them succeed`() {
        var bench = Bench()
        bench.see(.rolledBack(.connects, value: .percent(50), limit: .percent(95)), at: 0)
        bench.scan(1, on: .websocket, at: 10, .completed(took: .seconds(1)))
        bench.scan(1, on: .websocket, at: 61, .completed(took: .seconds(1)))
        #expect(bench.account.summary.rollback?.recovery == .minutes(1))
    }

    /// Observations as a run has them.
    private struct Bench {
        var account = RolloutAccount(RolloutAccountTests.settings)
        private var number: UInt32 = 0

        mutating func see(_ control: ControlObservation, at second: Int64) {
            self.account.record(
                Observation(
                    at: .zero + .seconds(second), device: DeviceNumber(0), scan: .none,
                    what: .control(control)))
        }

        private mutating func see(_ payload: PhoneObservation, _ device: UInt32, at second: Int64) {
            self.account.record(
                Observation(
                    at: .zero + .seconds(second), device: DeviceNumber(device),
                    scan: ScanNumber(self.number), what: .phone(payload)))
        }

        mutating func take(_ device: UInt32, _ arm: StreamTransport, share: UInt32) {
            self.number += 1
            self.see(.captured(scheduled: .zero), device, at: 0)
            self.see(.armTaken(arm, share: .percent(share)), device, at: 0)
        }

        mutating func scan(
            _ device: UInt32, on arm: StreamTransport, share: UInt32 = 5, at second: Int64,
            _ end: PhoneObservation
        ) {
            self.number += 1
            let story: [PhoneObservation] = [
                .captured(scheduled: .zero + .seconds(second)), .armTaken(arm, share: .percent(share)),
                .uploadAccepted(job: "j", took: .zero, service: .zero),
                .streamOpened(job: "j", attempt: 1, after: nil, took: .zero), end,
            ]
            for payload in story { self.see(payload, device, at: second) }
        }
    }
}
