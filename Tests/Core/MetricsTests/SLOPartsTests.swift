import SimBase
import Testing

@testable import Metrics

/// Objectives for parts of a run.
@Suite struct SLOPartsTests {
    private static func slo(_ selector: String, _ condition: String, passesWithoutData: Bool? = nil) throws
        -> SLO
    {
        let selector = try MetricSelector(parsing: selector, vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false, passesWithoutData: passesWithoutData)
    }

    /// One connect, so many milliseconds long, in the second that begins at each of these.
    private static func judged(
        _ condition: String, _ times: [(second: Int64, milliseconds: Int64)], end: Int64,
        faults: [FaultEnd] = [], passesWithoutData: Bool? = nil
    ) throws -> SLOResult {
        var parts = SLOParts(
            [try Self.slo("sse.connect.time", condition, passesWithoutData: passesWithoutData)],
            faults: faults)
        var whole = MetricTable(groups: ["a"])
        for (second, milliseconds) in times {
            var table = MetricTable(groups: ["a"])
            table.record(.sseConnectTime, .milliseconds(milliseconds), in: MetricGroup(index: 0))
            whole.add(table)
            parts.add(table, from: .zero + .seconds(second))
        }
        parts.finish(at: .zero + .seconds(end))
        return try #require(parts.results(whole: whole).first)
    }

    private static let times: [(second: Int64, milliseconds: Int64)] = [
        (0, 100), (5, 120), (12, 900), (13, 950), (31, 110), (39, 130), (44, 700),
    ]

    @Test func `every window is judged, and the worst is told`() throws {
        let result = try Self.judged("max < 500ms over 10s", Self.times, end: 46)
        #expect(result.passed == false)
        #expect(result.actual == "950ms from 10s to 20s, 2 of 4 windows missed")
        #expect(
            result.part
                == SLOPart(from: .zero + .seconds(10), to: .zero + .seconds(20), judged: 4, missed: 2))
        // The same run as a whole, and in windows that it holds in.
        #expect(try Self.judged("med < 500ms", Self.times, end: 46).passed == true)
        let held = try Self.judged("max < 1s over 10s", Self.times, end: 46)
        #expect(held.passed == true)
        #expect(held.actual == "950ms from 10s to 20s, 0 of 4 windows missed")
    }

    @Test func `of what must be much the least is the worst`() throws {
        #expect(
            try Self.judged("min >= 100ms over 20s", Self.times, end: 60).actual
                == "100ms from 0s to 20s, 0 of 3 windows missed")
    }

    @Test func `a window that the run cut short is judged where that is fair`() throws {
        func pings(_ condition: String, end: Int64) throws -> SLOResult {
            var parts = SLOParts([try Self.slo("sse.pings", condition)], faults: [])
            var whole = MetricTable(groups: ["a"])
            for second in 0..<end {
                var table = MetricTable(groups: ["a"])
                table.add(1, to: .ssePings, in: MetricGroup(index: 0))
                whole.add(table)
                parts.add(table, from: .zero + .seconds(second))
            }
            parts.finish(at: .zero + .seconds(end))
            return try #require(parts.results(whole: whole).first)
        }
        #expect(
            try pings("count >= 10 over 10s", end: 23).actual == "10 from 0s to 10s, 0 of 2 windows missed")
        #expect(try pings("count <= 10 over 10s", end: 23).part?.judged == 3)
        #expect(try pings("count >= 1 over 30s", end: 23).actual == "no data")
        #expect(try pings("count == 0 over 30s", end: 23).passed == false)
    }

    @Test func `what happens after the end of a fault is judged apart`() throws {
        let end = FaultEnd(id: "offline-1", first: .zero + .seconds(12), last: .zero + .seconds(12))
        let condition = "max < 500ms within 2s of offline-1.end"
        let result = try Self.judged(condition, Self.times, end: 46, faults: [end])
        #expect(result.passed == false)
        #expect(result.actual == "950ms from 12s to 14s")
        let later = FaultEnd(id: "offline-1", first: .zero + .seconds(31), last: .zero + .seconds(36))
        #expect(
            try Self.judged(condition, Self.times, end: 46, faults: [later]).actual == "110ms from 31s to 38s"
        )
        let quiet = FaultEnd(id: "offline-1", first: .zero + .seconds(20), last: .zero + .seconds(20))
        let none = try Self.judged(condition, Self.times, end: 46, faults: [quiet])
        #expect(none.noData && none.passed == false)
        let after = FaultEnd(id: "offline-1", first: .zero + .seconds(90), last: .zero + .seconds(90))
        #expect(try Self.judged(condition, Self.times, end: 46, faults: [after]).noData)
    }

    @Test func `no data is judged as the objective says`() throws {
        for span in ["", " over 10s"] {
            let condition = "max < 1s" + span
            #expect(try Self.judged(condition, [], end: 46).passed == false)
            #expect(try Self.judged(condition, [], end: 46, passesWithoutData: true).passed == true)
            #expect(try Self.judged(condition, [], end: 46, passesWithoutData: false).passed == false)
        }
        let rate = try Self.slo("upload.failed", "rate < 1%", passesWithoutData: false)
        #expect(rate.evaluate(against: MetricTable(groups: [])).passed == false)
    }

    @Test func `what a run cannot know is n/a in its parts, too`() throws {
        var parts = SLOParts([try Self.slo("sse.event.latency", "max < 1s over 10s")], faults: [])
        var table = MetricTable(groups: [])
        table.cannotKnow(.latency(.sseEventLatency))
        parts.add(table, from: .zero)
        parts.finish(at: .zero + .seconds(20))
        let result = try #require(parts.results(whole: table).first)
        #expect(result.passed == nil && result.actual == "n/a")
    }

    @Test func `intervals end where something begins to count`() throws {
        let end = FaultEnd(id: "f", first: .zero + .milliseconds(2_300), last: .zero + .milliseconds(2_300))
        let parts = SLOParts(
            [
                try Self.slo("sse.connect.time", "max < 1s over 1500ms"),
                try Self.slo("sse.connect.time", "max < 1s within 1s of f.end"),
                try Self.slo("sse.connect.time", "max < 1s"),
            ], faults: [end])
        var moment = Instant.zero
        var boundaries: [Int64] = []
        while let next = parts.boundary(after: moment), next <= .zero + .seconds(5) {
            boundaries.append((next - .zero).wholeMilliseconds)
            #expect(parts.boundary(notAfter: next) == next)
            moment = next
        }
        #expect(boundaries == [1_500, 2_300, 3_000, 3_300, 4_500])
        #expect(parts.boundary(notAfter: .zero + .milliseconds(2_999)) == .zero + .milliseconds(2_300))
        let whole = SLOParts([try Self.slo("sse.connect.time", "max < 1s")], faults: [])
        #expect(whole.boundary(after: .zero) == nil && whole.boundary(notAfter: .zero) == nil)
    }
}
