import Metrics
import SimBase
import Testing

/// Objectives that end a run: judged twice a second, and failure rates as they were lately.
@Suite struct AbortWatchTests {
    /// What a target did: so many operations, and failed ones, in each half second.
    private struct Course {
        var whole = FailureRate()
        var recent = RecentRate()
        var now = Instant.zero

        mutating func pass(halfSeconds: Int, total: Int64, failed: Int64) {
            for _ in 0..<halfSeconds {
                self.now = self.now + .milliseconds(500)
                self.whole.add(FailureRate(failed: failed, total: total))
                self.recent.look(at: self.now, whole: self.whole)
            }
        }
    }

    @Test func `only the last five seconds count where much happens`() {
        var course = Course()
        course.pass(halfSeconds: 600, total: 50, failed: 0)
        #expect(course.recent.rate == FailureRate(failed: 0, total: 500))
        course.pass(halfSeconds: 4, total: 50, failed: 50)
        #expect(course.recent.rate == FailureRate(failed: 200, total: 500))
        #expect(course.recent.length == .seconds(5))
        course.pass(halfSeconds: 6, total: 50, failed: 50)
        #expect(course.recent.rate == FailureRate(failed: 500, total: 500))
        course.pass(halfSeconds: 10, total: 50, failed: 0)
        #expect(course.recent.rate == FailureRate(failed: 0, total: 500))
    }

    @Test func `the last twenty operations count where little happens`() {
        var course = Course()
        // One every two seconds.
        for _ in 0..<100 {
            course.pass(halfSeconds: 1, total: 1, failed: 0)
            course.pass(halfSeconds: 3, total: 0, failed: 0)
        }
        #expect(course.recent.rate.total == RecentRate.operationsMin)
        #expect(course.recent.length == .seconds(40))
    }

    @Test func `memory does not grow with a run`() {
        var course = Course()
        for step in 0..<20_000 {
            course.pass(halfSeconds: 1, total: Int64(step % 7 == 0 ? 1 : 0), failed: 0)
            #expect(course.recent.remembered <= 31)
        }
    }

    // MARK: Objectives

    private func slo(_ metric: RateMetric, _ condition: String) throws -> SLO {
        SLO(
            selector: MetricSelector(metric: .rate(metric), scope: .fleet),
            condition: try SLOCondition(parsing: condition, for: .rate), severity: .error, abort: true)
    }

    /// When a run ends in which so many attempts a second fail after so many seconds of good ones.
    private func ending(
        _ slo: SLO, good: Int, perSecond: Int, failing: Int
    ) -> (at: Instant, ending: RunEnding)? {
        var watch = AbortWatch([slo])
        var table = MetricTable(groups: [])
        for tenth in 0..<(good + failing) * 10 {
            let moment = Instant.zero + .milliseconds(Int64(100 * (tenth + 1)))
            if tenth % max(1, 10 / perSecond) == 0 {
                for _ in 0..<max(1, perSecond / 10) {
                    table.record(.uploadAttemptsFailed, failed: tenth >= good * 10, in: .none)
                }
            }
            guard watch.isDue(at: moment) else { continue }
            let results = [slo.evaluate(against: table)]
            if let ending = watch.look(at: moment, table: table, results: results) { return (moment, ending) }
        }
        return nil
    }

    @Test func `a target that fails after hours of good answers is left alone within seconds`() throws {
        let slo = try self.slo(.uploadAttemptsFailed, "rate < 50%")
        let found = try #require(self.ending(slo, good: 600, perSecond: 10, failing: 30))
        #expect(found.at <= Instant.zero + .milliseconds(603_000))
        #expect(found.ending.objective.passed == false)
        #expect(found.ending.text.hasPrefix("stopped after 603 s: upload.attempts.failed rate was 5"))
        #expect(found.ending.text.hasSuffix(" in the last 5 s, limit < 50%"))
    }

    @Test func `a few failures are no rate`() throws {
        let slo = try self.slo(.uploadAttemptsFailed, "rate < 50%")
        // Two a second: the twentieth comes in the tenth second.
        let found = try #require(self.ending(slo, good: 0, perSecond: 2, failing: 30))
        #expect(found.at >= Instant.zero + .milliseconds(9_500))
        #expect(found.at <= Instant.zero + .milliseconds(10_500))
    }

    @Test func `what must never fail ends the run with its first failure`() throws {
        let slo = try self.slo(.uploadAttemptsFailed, "rate == 0%")
        let found = try #require(self.ending(slo, good: 60, perSecond: 2, failing: 5))
        #expect(found.at <= Instant.zero + .milliseconds(60_500))
        // Also where there are too few operations for any other rate.
        #expect(self.ending(slo, good: 0, perSecond: 2, failing: 5)?.at == Instant.zero + .milliseconds(500))
    }

    @Test func `what ended a run stays broken`() throws {
        let slo = try self.slo(.uploadAttemptsFailed, "rate < 50%")
        let found = try #require(self.ending(slo, good: 60, perSecond: 10, failing: 30))
        var table = MetricTable(groups: [])
        table.record(.uploadAttemptsFailed, failed: false, in: .none)
        let whole = slo.evaluate(against: table)
        #expect(whole.passed == true)
        #expect(found.ending.result(instead: whole).passed == false)
    }
}
