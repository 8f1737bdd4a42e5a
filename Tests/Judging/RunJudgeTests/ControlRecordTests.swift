import Ledger
import Metrics
import Observations
import RunJudge
import SimBase
import Talaria
import Testing

/// What a report says about a run that was controlled while it ran.
@Suite struct ControlRecordTests {
    private static func control(_ action: ControlObservation, at seconds: Int64) -> Observation {
        Observation(
            at: .zero + .seconds(seconds), device: DeviceNumber(0), scan: .none, what: .control(action))
    }

    private static let observations = [
        control(.paused, at: 12), control(.resumed, at: 20), control(.fault(0), at: 31),
        control(.phones(group: "commuters", active: 7, phones: 12), at: 65),
        control(.offline(for: .seconds(5)), at: 70), control(.stopped, at: 75),
    ]

    private static func judge() -> RunJudge {
        var settings = JudgeSettings.small()
        settings.faults = ["offline-1"]
        return RunJudge(settings)
    }

    private static func finished(heldBack: Int) -> RunResult {
        var judge = Self.judge()
        let log = LogCounts()
        for observation in Self.observations { judge.receive(observation, into: log) }
        #expect(log.observations == Self.observations.count, "each is in the log")
        var facts = RunFacts(at: .zero + .seconds(80), made: Self.observations.count)
        facts.skipped.heldBack = heldBack
        return judge.finish(facts, of: .small(), into: log)
    }

    @Test func `a result has every action with its time, and says so first`() {
        let result = Self.finished(heldBack: 4)
        #expect(
            result.controls.map(\.text) == [
                "arrivals paused", "arrivals resumed", "fault offline-1 started",
                "7 of 12 phones of commuters active", "all phones offline for 5 s", "run stopped",
            ])
        #expect(result.remarks.first == .load(.controlled))
        #expect(result.heldBack == 4)
    }

    @Test func `a run that nobody controlled says nothing of it`() {
        var judge = Self.judge()
        let result = judge.finish(
            RunFacts(at: .zero + .seconds(1), made: 0), of: .small(), into: LogCounts())
        #expect(result.controls == [] && !result.remarks.contains(.load(.controlled)))
    }

    @Test func `a killed run tells of its control, too`() {
        var judge = Self.judge()
        for observation in Self.observations { judge.receive(observation) }
        let result = judge.breakOff(of: .small(), measured: MetricTable(groups: []))
        #expect(result.controls.count == 6)
        #expect(result.remarks == [.load(.controlled)])
    }

    @Test func `actions beyond the listed ones are counted, and beyond the limit only logged`() {
        var judge = Self.judge()
        for second in 0..<Int64(ControlRecord.recordsMax + 10) {
            judge.receive(Self.control(second % 2 == 0 ? .paused : .resumed, at: second))
        }
        let result = judge.breakOff(of: .small(), measured: MetricTable(groups: []))
        #expect(result.controls.count == ControlRecord.recordsMax)
    }

    @Test func `what was done to two shards alike is listed once, and what they held back is added`() throws {
        let (first, second) = (Self.finished(heldBack: 1), Self.finished(heldBack: 2))
        let merged = try #require(
            RunResult.merged(
                [(first, RunJudge(.small()).timeline), (second, RunJudge(.small()).timeline)],
                objectives: [], spans: nil))
        #expect(merged.result.controls.count == 6 && merged.result.heldBack == 3)
        #expect(merged.result.controls == first.controls)
    }
}
