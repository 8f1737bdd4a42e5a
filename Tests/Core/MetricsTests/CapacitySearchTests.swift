import SimBase
import Testing

@testable import Metrics

/// Steps up, bisection and verdict of a load that looks for the capacity of a backend.
@Suite struct CapacitySearchTests {
    private static func rate(_ perSecond: Int64) -> StepRate { StepRate(perHour: perSecond * 3_600) }

    private static func steps(to: Int64 = 50, refine: Int = 0) -> RateSteps {
        RateSteps(
            from: Self.rate(10), by: Self.rate(10), to: Self.rate(to), every: .seconds(30), refine: refine)
    }

    private static func slo() throws -> SLO {
        let selector = try MetricSelector(parsing: "scan.time", vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: "p(95) < 5s", for: selector.metric.kind),
            severity: .error, abort: false)
    }

    /// What a step shows whose p95 is so many seconds long.
    private static func evidence(
        p95: Int64?, unfinished: Int64 = 0, lag: GeneratorLag? = nil
    ) throws -> StepEvidence {
        var table = MetricTable(groups: [])
        if let p95 { table.record(.scanTime, .seconds(p95), in: .none) }
        var samples = StepSamples([try Self.slo()], groups: [])
        samples.add(table, from: .zero + .seconds(20))
        var evidence = samples.evidence(
            of: .zero..<(.zero + .seconds(30)), begun: .zero, open: [], lag: lag)
        evidence.unfinished = unfinished
        return evidence
    }

    /// Decides step after step, each with the p95 that its rate has, and returns the decisions.
    private static func course(
        _ search: inout CapacitySearch, p95: (StepRate) -> Int64
    ) throws -> [CapacityDecision] {
        var decisions: [CapacityDecision] = []
        while search.ending == nil, decisions.count < 100 {
            let now = search.rateNow
            decisions.append(search.decide(try Self.evidence(p95: now.map(p95))))
        }
        return decisions
    }

    @Test func `steps go up until an objective fails`() throws {
        var search = CapacitySearch(Self.steps())
        let decisions = try Self.course(&search) { $0 > Self.rate(30) ? 6 : 1 }
        #expect(
            decisions == [.next(Self.rate(20)), .next(Self.rate(30)), .next(Self.rate(40)), .stop(.found)])
        let summary = CapacityResult(steps: search.steps, done: search.done, ending: search.ending).summary
        #expect(summary.text == "30/s held, 40/s did not: scan.time p(95) was 6s, limit < 5s")
    }

    @Test func `bisection narrows the answer, each time after the backend has recovered`() throws {
        var search = CapacitySearch(Self.steps(refine: 3))
        // It holds up to 36.3/s.
        let decisions = try Self.course(&search) { $0.perHour > 363 * 360 ? 6 : 1 }
        #expect(
            decisions == [
                .next(Self.rate(20)), .next(Self.rate(30)), .next(Self.rate(40)), .recover(.seconds(10)),
                .bisect(Self.rate(35)), .bisect(StepRate(perHour: 375 * 360)), .recover(.seconds(10)),
                .bisect(StepRate(perHour: 362 * 360)), .stop(.found),
            ])
        let result = CapacityResult(steps: search.steps, done: search.done, ending: search.ending)
        #expect(result.summary.held?.rate == StepRate(perHour: 362 * 360))
        #expect(result.summary.failed?.rate == StepRate(perHour: 375 * 360))
        #expect(search.done.filter(\.isRefinement).count == 3)
    }

    @Test func `a backend that does not recover ends the search with what is known`() throws {
        var search = CapacitySearch(Self.steps(refine: 1))
        _ = search.decide(try Self.evidence(p95: 1))
        #expect(search.decide(try Self.evidence(p95: 6)) == .recover(.seconds(10)))
        var looks = 0
        var busy = try Self.evidence(p95: nil, unfinished: 7)
        // 9 s of 15/s are 135 scans: 1 % of them are more than one.
        busy.completed = 2
        while search.decide(busy) == .recover(.seconds(10)) { looks += 1 }
        #expect(looks == 29 && search.ending == .found && search.done.count == 2)
    }

    @Test func `every step that holds is an answer that was not reached`() throws {
        var search = CapacitySearch(Self.steps(to: 25))
        let decisions = try Self.course(&search) { _ in 1 }
        // The last step has the rate `to`.
        #expect(decisions == [.next(Self.rate(20)), .next(Self.rate(25)), .stop(.notReached)])
        let summary = CapacityResult(steps: search.steps, done: search.done, ending: search.ending).summary
        #expect(summary.text == "not reached: held at 25/s, the fastest step" && summary.failed == nil)
    }

    @Test func `a first step that fails leaves nothing to search`() throws {
        var search = CapacitySearch(Self.steps(refine: 3))
        #expect(search.decide(try Self.evidence(p95: 6)) == .stop(.firstStepFailed))
        let result = CapacityResult(steps: search.steps, done: search.done, ending: search.ending)
        #expect(result.result(instead: try Self.slo().notKnown).passed == false)
    }

    @Test func `a late generator is the limit of the machine, however well the step went`() throws {
        var search = CapacitySearch(Self.steps())
        _ = search.decide(try Self.evidence(p95: 1))
        let lag = GeneratorLag.capturesLate(30, of: 600)
        #expect(search.decide(try Self.evidence(p95: 6, lag: lag)) == .stop(.machineLimit))
        let summary = CapacityResult(steps: search.steps, done: search.done, ending: search.ending).summary
        #expect(
            summary.text
                == "limit of this machine, not of the backend: 30 of 600 captures were late at 20/s; 10/s held"
        )
        #expect(summary.failed == nil)
    }

    @Test func `a step lasts three times p95, its first third is not judged`() throws {
        func at(_ second: Int64) -> Instant { .zero + .seconds(second) }
        var search = CapacitySearch(
            RateSteps(
                from: Self.rate(10), by: Self.rate(10), to: Self.rate(20), every: .seconds(9), refine: 0))
        #expect(search.window == at(3)..<at(8))
        #expect(search.decidesAt == at(8))
        // 3 x 4 s are 12 s.
        #expect(search.decide(try Self.evidence(p95: 4)) == .hold(.seconds(3)))
        #expect(search.window == at(4)..<at(11))
        #expect(search.decide(try Self.evidence(p95: 4)) == .next(Self.rate(20)))
        #expect(search.window == at(15)..<at(20))
        #expect(search.done.map(\.to) == [at(12)])
    }

    @Test func `a step that fails is not made longer without end`() throws {
        var search = CapacitySearch(
            RateSteps(
                from: Self.rate(10), by: Self.rate(10), to: Self.rate(20), every: .seconds(6), refine: 0))
        #expect(search.decide(try Self.evidence(p95: 20)) == .hold(.seconds(12)))
        #expect(search.decide(try Self.evidence(p95: 20)) == .stop(.firstStepFailed))
    }

    @Test func `a step in which nothing is completed says nothing`() throws {
        var search = CapacitySearch(
            RateSteps(
                from: Self.rate(10), by: Self.rate(10), to: Self.rate(20), every: .seconds(6), refine: 0))
        var held = 0
        while case .hold = search.decide(try Self.evidence(p95: nil)) { held += 1 }
        #expect(held == 9 && search.ending == .unsettled && search.done.first?.held == .some(nil))
    }

    @Test(arguments: [
        ("scan.time", "p(95) < 5s", true), ("scan.time", "p(95) < 5s over 10s", true),
        ("http.503", "count == 0", true), ("http.503", "count > 3", false),
        ("scans.lost", "count == 0", false),
        ("upload.failed", "rate < 1%", true), ("scan.time", "p(95) < 5s within 10s of reset-1.end", false),
    ])
    func `an objective decides a step if a part of a run can be judged by it`(
        metric: String, condition: String, decides: Bool
    ) throws {
        let selector = try MetricSelector(parsing: metric, vocabulary: nil)
        let condition = try SLOCondition(parsing: condition, for: selector.metric.kind)
        func slo(_ severity: SLO.Severity) -> SLO {
            SLO(selector: selector, condition: condition, severity: severity, abort: false)
        }
        #expect(slo(.error).decidesStep == decides)
        #expect(!slo(.warn).decidesStep)
    }

    @Test func `a backend has recovered when next to nothing ends any more, though phones wait`() throws {
        var search = CapacitySearch(Self.steps(refine: 1))
        _ = search.decide(try Self.evidence(p95: 1))
        _ = search.decide(try Self.evidence(p95: 6))
        var quiet = try Self.evidence(p95: nil, unfinished: 7)
        quiet.completed = 1
        #expect(search.decide(quiet) == .bisect(Self.rate(15)))
    }

    /// Scans that ended in these seconds, and took so long.
    private static func samples(_ ended: [(second: Int64, time: Int64)]) throws -> StepSamples {
        var samples = StepSamples([try Self.slo()], groups: [])
        for (second, time) in ended {
            var table = MetricTable(groups: [])
            table.record(.scanTime, .seconds(time), in: .none)
            samples.add(table, from: .zero + .seconds(second))
        }
        return samples
    }

    private static let part = Instant.zero + .seconds(10)..<(.zero + .seconds(29))

    @Test func `seconds outside of the part are not judged, nor what began before the step`() throws {
        let samples = try Self.samples([(0, 9), (10, 1), (29, 9)])
        let evidence = samples.evidence(of: Self.part, begun: .zero, open: [], lag: nil)
        #expect(evidence.failed.isEmpty && evidence.completed == 1 && evidence.objectives.count == 1)
        // The scan that took 19 s began in the step before.
        let later = try Self.samples([(12, 1), (14, 19)])
        let begun = Instant.zero + .seconds(2)
        #expect(later.evidence(of: Self.part, begun: begun, open: [], lag: nil).failed.isEmpty)
        #expect(
            later.evidence(of: Self.part, begun: .zero - .seconds(5), open: [], lag: nil).failed.count == 1)
    }

    @Test(arguments: [(40, true), (55, true), (90, false), (150, false)])
    func `a queue that no longer ends within the limit fails the step`(open: Int, holds: Bool) throws {
        // Ten scans end in each second, so that 50 end within the limit of 5 s.
        let samples = try Self.samples(
            (10..<29).flatMap { second in (0..<10).map { _ in (Int64(second), 1) } })
        let queue = (0..<open).map { _ in
            OpenOperation(metric: .scanTime, group: .none, age: .seconds(2))
        }
        let evidence = samples.evidence(of: Self.part, begun: .zero, open: queue, lag: nil)
        #expect(evidence.failed.isEmpty == holds)
        // What began before the step does not count against it.
        let later = samples.evidence(of: Self.part, begun: .zero + .seconds(28), open: queue, lag: nil)
        #expect(later.failed.isEmpty)
    }

    @Test func `what is open and older than the limit has failed it, if it began in the step`() throws {
        let samples = try Self.samples([(12, 1), (13, 1)])
        func evidence(_ ages: [Int64]) -> StepEvidence {
            let open = ages.map { OpenOperation(metric: .scanTime, group: .none, age: .seconds($0)) }
            return samples.evidence(of: Self.part, begun: .zero, open: open, lag: nil)
        }
        #expect(evidence([4, 4, 4]).failed.isEmpty)
        #expect(evidence([7]).failed.count == 1)
        // From before the step.
        #expect(evidence([40]).failed.isEmpty)
        // The curve has them too, with the time that they have taken so far.
        #expect(evidence([7]).p95 == .seconds(7) && evidence([7, 40]).unfinished == 2)
        let none = try Self.samples([(12, 1)]).evidence(
            of: .zero + .seconds(20)..<Self.part.upperBound, begun: .zero, open: [], lag: nil)
        #expect(none.objectives.isEmpty && none.p95 == nil)
    }

    @Test func `rates are written as a scenario has them`() {
        #expect(Self.rate(10).description == "10/s")
        #expect(StepRate(perHour: 425 * 360).description == "42.5/s")
        #expect(StepRate(perHour: 300).description == "5/m")
        #expect(StepRate(perHour: 7).description == "7/h")
        #expect(StepRate.middle(Self.rate(10), Self.rate(20)) == Self.rate(15))
        #expect(StepRate.middle(StepRate(perHour: 7), StepRate(perHour: 8)) == nil)
    }
}
