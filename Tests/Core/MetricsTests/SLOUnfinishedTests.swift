import Metrics
import SimBase
import Testing

/// Operations that have not ended exceed every upper limit.
@Suite struct SLOUnfinishedTests {
    private static func slo(_ condition: String, passesWithoutData: Bool? = nil) throws -> SLO {
        let selector = try MetricSelector(parsing: "scan.time", vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false, passesWithoutData: passesWithoutData)
    }

    private static let group = MetricGroup(index: 0)

    /// Scans of 1 to so many seconds, and others that are so many seconds old.
    private static func table(finished: Int64, open: [Int64]) -> MetricTable {
        var table = MetricTable(groups: ["a"])
        for second in 0..<finished {
            table.record(.scanTime, .seconds(second + 1), in: Self.group)
        }
        for age in open { table.record(unfinished: .scanTime, age: .seconds(age), in: Self.group) }
        return table
    }

    @Test(arguments: [
        // 20 took 1 s to 20 s: with one open the p95 is the 20th of 21, with two it is the 21st of 22, which is open.
        ("p(95) < 20s", [Int64](), true, "19s"),
        ("p(95) < 60s", [5], true, "20s, 1 unfinished"),
        ("p(95) < 60s", [5, 5], false, "19s, 2 unfinished"),
        ("med < 12s", [5, 5], true, "11s, 2 unfinished"),
        ("med <= 10.5s", [5, 5], false, "11s, 2 unfinished"),
        ("max < 60s", [5], false, "20s, 1 unfinished"),
        ("avg < 20s", [5], true, "10.5s, 1 unfinished"),
        ("avg < 20s", [500], false, "10.5s, 1 unfinished"),
        ("min < 2s", [5], true, "1s, 1 unfinished"),
        // What must be large is not made worse.
        ("max > 10s", [5], true, "20s"),
        ("count == 20", [5], true, "20"),
    ])
    func `an upper limit holds only if it would hold with every open operation above it`(
        condition: String, open: [Int64], passed: Bool, actual: String
    ) throws {
        let result = try Self.slo(condition).evaluate(against: Self.table(finished: 20, open: open))
        #expect(result.passed == passed)
        #expect(result.actual == actual)
    }

    @Test func `where nothing ended an upper limit fails, whatever is said of no data`() throws {
        let table = Self.table(finished: 0, open: [1, 2])
        for passes in [nil, true] {
            let result = try Self.slo("p(95) < 60s", passesWithoutData: passes).evaluate(against: table)
            #expect(result.passed == false)
            #expect(result.actual == "no data, 2 unfinished")
        }
    }

    @Test func `tables add up what is open`() {
        var table = Self.table(finished: 1, open: [3])
        table.add(Self.table(finished: 2, open: [7, 1]))
        #expect(table.unfinished(.scanTime, of: .fleet) == Unfinished(count: 3, oldest: .seconds(7)))
        #expect(table.unfinished(.scanTime, of: .group("a")).count == 3)
        #expect(table.unfinished(.scanTime, of: .group("b")).isEmpty)
        table.reset()
        #expect(table == MetricTable(groups: ["a"]))
    }

    // MARK: Windows

    /// One scan of a second in the first second; then so many are open, the oldest since a time. Something is
    /// observed at each of these seconds.
    private static func judged(
        _ condition: String, open: Int, since: Int64, observed: [Int64], end: Int64
    ) throws -> SLOResult {
        var parts = SLOParts([try Self.slo(condition)], faults: [])
        parts.add(Self.table(finished: 1, open: []), from: .zero)
        for second in observed {
            parts.add(
                MetricTable(groups: ["a"]), from: .zero + .seconds(second),
                open: (
                    Self.table(
                        finished: 0, open: [Int64](repeating: second + 1 - since, count: open)),
                    .zero + .seconds(second + 1)
                ))
        }
        parts.finish(at: .zero + .seconds(end))
        return try #require(parts.results(whole: Self.table(finished: 1, open: [])).first)
    }

    @Test func `a window in which none of the open operations ended fails if the oldest is past the limit`()
        throws
    {
        let result = try Self.judged(
            "p(95) < 8s over 10s", open: 3, since: 5, observed: [5, 11, 19], end: 20)
        #expect(result.passed == false)
        #expect(
            result.actual == "3 unfinished, the oldest after 15s, from 10s to 20s, 1 of 2 windows missed")
        #expect(
            try Self.judged("p(95) < 16s over 10s", open: 3, since: 5, observed: [5, 11, 19], end: 20).passed
                == true)
        #expect(
            try Self.judged("p(95) < 8s over 10s", open: 0, since: 5, observed: [5, 11, 19], end: 20).passed
                == true)
    }

    @Test func `windows in which nothing was observed at all are judged too`() throws {
        let result = try Self.judged("p(95) < 8s over 10s", open: 3, since: 5, observed: [5, 44], end: 45)
        #expect(result.passed == false)
        // From 10 s to 45 s in four windows.
        #expect(
            result.actual == "3 unfinished, the oldest after 40s, from 40s to 45s, 4 of 5 windows missed")
    }

    @Test func `a window in which one ended is judged by that`() throws {
        var parts = SLOParts([try Self.slo("p(95) < 8s over 10s")], faults: [])
        let open = Self.table(finished: 0, open: [9])
        parts.add(Self.table(finished: 1, open: [9]), from: .zero, open: (open, .zero + .seconds(9)))
        parts.finish(at: .zero + .seconds(10))
        #expect(parts.results(whole: open).first?.passed == true)
    }
}
