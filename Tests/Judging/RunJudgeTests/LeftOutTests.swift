import Ledger
import Metrics
import Observations
import RunJudge
import SimBase
import Talaria
import Testing

/// Phones that the objectives leave out: what is meant to stay broken is not a failure of the others.
@Suite struct LeftOutTests {
    private static func slo(_ selector: String, _ condition: String) throws -> SLO {
        let selector = try MetricSelector(parsing: selector, vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false)
    }

    /// Whether the objectives hold in a run in which one phone refuses its scan and the other's waits.
    private static func judged(leavingOut phones: Set<DeviceNumber>) throws -> [Bool?] {
        let log = LogCounts()
        let objectives = [
            try Self.slo("scans.waiting", "count == 0"), try Self.slo("scan.time", "count == 1"),
            try Self.slo("scan.time", "p(95) < 1m"), try Self.slo("scan.time", "max < 2s over 2s"),
        ]
        var settings = JudgeSettings.small(objectives: objectives)
        settings.leftOut = phones
        var judge = RunJudge(settings)
        func see(_ phone: UInt32, _ second: Int64, _ payload: PhoneObservation) {
            judge.receive(
                Observation(
                    at: .zero + .seconds(second), device: DeviceNumber(phone), scan: ScanNumber(1),
                    what: .phone(payload)),
                into: log)
        }
        for phone: UInt32 in 0...1 {
            see(phone, 0, .launched(restored: 0))
            see(phone, 0, .captured(scheduled: .zero))
            see(phone, 0, .queued(.captured))
        }
        see(0, 1, .completed(took: .seconds(1)))
        see(1, 9, .suspended)
        let waiting = WaitingRecord(device: DeviceNumber(1), scan: ScanNumber(1), cause: .offline)
        let facts = RunFacts(at: .zero + .seconds(9), made: judge.observations, waiting: [waiting])
        return judge.finish(facts, of: .small(), into: log).slos.map(\.passed)
    }

    /// Whether the windows of a run hold in which the second phone's scan takes five seconds.
    private static func windows(leavingOut phones: Set<DeviceNumber>) throws -> [Bool?] {
        let log = LogCounts()
        var settings = JudgeSettings.small(
            objectives: [try Self.slo("scan.time", "max < 2s over 10s")])
        settings.leftOut = phones
        var judge = RunJudge(settings)
        for (phone, second) in [(UInt32(0), Int64(1)), (1, 5)] {
            judge.receive(
                Observation(
                    at: .zero + .seconds(second), device: DeviceNumber(phone), scan: ScanNumber(1),
                    what: .phone(.completed(took: .seconds(second)))),
                into: log)
        }
        let facts = RunFacts(at: .zero + .seconds(10), made: judge.observations)
        return judge.finish(facts, of: .small(), into: log).slos.map(\.passed)
    }

    @Test func `parts of a run are judged without them as well`() throws {
        #expect(try Self.windows(leavingOut: []) == [false])
        #expect(try Self.windows(leavingOut: [DeviceNumber(1)]) == [true])
    }

    @Test func `objectives judge all phones, and none that is left out`() throws {
        #expect(try Self.judged(leavingOut: []) == [false, true, false, false])
        #expect(try Self.judged(leavingOut: [DeviceNumber(1)]) == [true, true, true, true])
        #expect(try Self.judged(leavingOut: [DeviceNumber(0)]) == [false, false, false, false])
    }
}
