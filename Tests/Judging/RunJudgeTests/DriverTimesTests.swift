import Metrics
import RunJudge
import SimBase
import Talaria
import Testing

/// Times that no observation has, because the driver measures them by its own clock.
@Suite struct DriverTimesTests {
    private static func result(
        _ world: WorldKind, _ journey: Journey, _ times: [Int64]?
    ) -> RunResult {
        var judge = RunJudge(.small(fleet: PhoneGroups([("all", 1)])))
        var facts = RunFacts(at: .zero + .seconds(1), made: 0)
        facts.reconcileTimes = times.map { times in
            times.reduce(into: HDRHistogram()) { $0.record($1) }
        }
        var head = RunHead.small(groups: [.init(name: "all", devices: 1, journey: journey)])
        head.world = world
        return judge.finish(facts, of: head, into: LogCounts())
    }

    private static func verdict(_ result: RunResult) throws -> SLOResult {
        let slo = SLO(
            selector: MetricSelector(metric: .latency(.reconcileTime), scope: .fleet),
            condition: try SLOCondition(parsing: "p(95) < 50ms", for: .latency), severity: .error,
            abort: false)
        return slo.evaluate(against: result.metrics)
    }

    @Test func `a live run is judged by the times that its driver measured`() throws {
        #expect(try Self.verdict(Self.result(.live, .textEnrichment, [20_000, 90_000])).passed == true)
        #expect(try Self.verdict(Self.result(.live, .textEnrichment, [20_000, 90_000_000])).passed == false)
    }

    @Test func `on a simulated clock no computation takes time, and nothing can be judged`() throws {
        let result = Self.result(.virtual, .textEnrichment, nil)
        let verdict = try Self.verdict(result)
        #expect(verdict.passed == nil && result.whyOpen(verdict) == .simulatedClock)
        #expect(!result.metrics.isAvailable(.latency(.reconcileTime)))
        #expect(Self.result(.virtual, .scan, nil).metrics.isAvailable(.latency(.reconcileTime)))
    }

    @Test func `without a value nothing has passed`() throws {
        #expect(try Self.verdict(Self.result(.live, .textEnrichment, [])).passed != true)
    }
}
