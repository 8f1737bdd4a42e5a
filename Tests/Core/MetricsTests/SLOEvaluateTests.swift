import Metrics
import SimBase
import Testing

private func slo(
    _ selector: String, _ condition: String, severity: SLO.Severity = .error, abort: Bool = false
) throws -> SLO {
    let selector = try MetricSelector(parsing: selector, vocabulary: nil)
    return SLO(
        selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
        severity: severity, abort: abort)
}

private let commuters = MetricGroup(index: 0)
private let readers = MetricGroup(index: 1)

private func table(_ fill: (inout MetricTable) -> Void) -> MetricTable {
    var table = MetricTable(groups: ["commuters", "readers"])
    fill(&table)
    return table
}

/// 1 to 1,000 ms in the first group, 5 s once in the second; 5 failures of 600; 3 books; 2 replies 429; a fault.
private let observed = table { table in
    for value in 1...1_000 { table.record(.sseConnectTime, .milliseconds(Int64(value)), in: commuters) }
    table.record(.sseConnectTime, .seconds(5), in: readers)
    for number in 0..<600 { table.record(.uploadFailed, failed: number < 5, in: commuters) }
    table.add(3, to: .booksReceived, in: readers)
    table.answered(status: 429, in: commuters)
    table.answered(status: 429, in: readers)
    table.fired(fault: "reset-1", in: commuters)
}

private let nothing = table { _ in }

struct SLOEvaluateTests {
    @Test(arguments: [
        ("sse.connect.time", "p(50) < 502ms", "501.2ms", true),
        ("sse.connect.time", "p(95) < 900ms", "951.1ms", false),
        ("sse.connect.time", "max == 5s", "5s", true),
        ("sse.connect.time", "max != 5s", "5s", false),
        ("sse.connect.time", "min >= 1ms", "1ms", true),
        ("sse.connect.time", "min > 1ms", "1ms", false),
        ("sse.connect.time{group:commuters}", "max <= 1s", "1s", true),
        ("sse.connect.time{group:commuters}", "avg == 500.5ms", "500.5ms", true),
        ("sse.connect.time{group:readers}", "med < 1s", "5s", false),
        ("sse.connect.time", "count == 1001", "1001", true),
        ("upload.failed", "rate < 1%", "0.83% (5 of 600)", true),
        ("upload.failed", "rate > 0.8333%", "0.8333% (5 of 600)", true),
        ("upload.failed", "rate < 0.5%", "0.83% (5 of 600)", false),
        ("upload.failed", "count <= 5", "5", true),
        ("books.received", "count == 3", "3", true),
        ("books.received{group:commuters}", "value > 0", "0", false),
        ("http.429", "count < 2", "2", false),
        ("http.429{group:readers}", "count < 2", "1", true),
        ("http.500", "count == 0", "0", true),
        ("http.4xx", "rate < 50%", "100% (2 of 2)", false),
        ("http.5xx", "rate < 1%", "0% (0 of 2)", true),
        ("faults.reset-1", "count >= 1", "1", true),
    ])
    func `an objective is judged by what was observed`(
        selector: String, condition: String, actual: String, passed: Bool
    ) throws {
        let result = try slo(selector, condition).evaluate(against: observed)
        #expect(result.passed == passed)
        #expect(!result.noData)
        #expect(result.actual == actual)
    }

    @Test func `a latency without a sample fails`() throws {
        for condition in ["p(95) < 400ms", "max < 1h", "avg > 0ms", "min >= 0ms"] {
            let result = try slo("sse.connect.time", condition).evaluate(against: nothing)
            #expect(result.passed == false && result.noData && result.value == nil)
            #expect(result.actual == "no data" && result.isBreach)
        }
    }

    @Test func `a group without a sample fails though others have some`() throws {
        let result = try slo("scan.time{group:nobody}", "p(95) < 1h").evaluate(against: observed)
        #expect(result.passed == false && result.noData)
    }

    @Test func `a failure rate of no operations passes`() throws {
        for metric in ["upload.failed", "http.5xx", "http.upload.503"] {
            let result = try slo(metric, "rate < 1%").evaluate(against: nothing)
            #expect(
                result.passed == true && result.noData && result.actual == "no data" && result.value == nil)
        }
    }

    @Test func `a count of zero is data`() throws {
        let lost = try slo("scans.lost", "count == 0").evaluate(against: nothing)
        #expect(lost.passed == true && !lost.noData && lost.value == .number(0))
        let received = try slo("books.received", "count > 0").evaluate(against: nothing)
        #expect(received.passed == false && !received.noData && received.value == .number(0))
        let samples = try slo("scan.time", "count >= 1").evaluate(against: nothing)
        #expect(samples.passed == false && !samples.noData)
    }

    @Test(arguments: [
        ("sse.event.latency", "p(95) < 1ms"), ("jobs.orphaned", "count == 0"), ("upload.failed", "rate < 1%"),
        ("http.500", "count == 0"), ("faults.reset-1", "count > 0"),
    ])
    func `what cannot be known neither passes nor fails`(selector: String, condition: String) throws {
        let objective = try slo(selector, condition, abort: true)
        var unknowing = observed
        unknowing.cannotKnow(objective.selector.metric)
        let result = objective.evaluate(against: unknowing)
        #expect(result.passed == nil && !result.noData && result.value == nil && result.actual == "n/a")
        #expect(!result.isBreach && !result.endsRun)
    }

    @Test func `verdicts on a mean and on a rate are not rounded`() throws {
        // A mean of 2 1/3 ns shows as 2 ns and is above it; a rate of one third is above 33.3333 %.
        let thirds = table { table in
            for value in [2, 2, 3] as [Int64] { table.record(.scanTime, .nanoseconds(value), in: commuters) }
            for failed in [true, false, false] { table.record(.uploadFailed, failed: failed, in: commuters) }
        }
        let mean = try slo("scan.time", "avg > 2ns").evaluate(against: thirds)
        #expect(mean.passed == true && mean.value == .time(nanoseconds: 2))
        let rate = try slo("upload.failed", "rate > 33.3333%").evaluate(against: thirds)
        #expect(rate.passed == true && rate.value == .share(FailureRate(failed: 1, total: 3)))
        #expect(rate.actual == "33.3333% (1 of 3)")
    }

    @Test(
        arguments: [
            (400_000_001, "400.000001ms", false), (400_000_000, "400ms", false),
            (399_999_999, "399.999999ms", true),
            (399_960_000, "399.96ms", true), (312_449_000, "312.4ms", true), (90_500, "90.5us", true),
            (0, "0ms", true),
            (7, "7ns", true), (61_000_000_000, "61s", false),
        ] as [(Int64, String, Bool)])
    func `a time is printed on its own side of the threshold`(value: Int64, actual: String, passed: Bool)
        throws
    {
        let one = table { $0.record(.uploadTime, .nanoseconds(value), in: commuters) }
        let result = try slo("upload.time", "max < 400ms").evaluate(against: one)
        #expect(result.actual == actual)
        #expect(result.passed == passed)
    }

    @Test func `a rate is printed on its own side of the threshold`() throws {
        let many = table { table in
            for number in 0..<60_000 { table.record(.uploadFailed, failed: number < 601, in: commuters) }
        }
        let result = try slo("upload.failed", "rate <= 1%").evaluate(against: many)
        #expect(result.passed == false && result.actual == "1.002% (601 of 60000)")
    }

    @Test func `an hour and more fails a percentile that is saturated`() throws {
        let slow = table { table in
            table.record(.scanTime, .hours(3), in: commuters)
        }
        #expect(try slo("scan.time", "p(99) < 2h").evaluate(against: slow).passed == false)
    }

    @Test(arguments: [
        ("sse.connect.time", "p(95) < 900ms", "sse.connect.time p(95) was 951.1ms, limit < 900ms"),
        (
            "sse.connect.time{group:readers}", "med <= 1m over 30s",
            "sse.connect.time{group:readers} med was 5s, limit <= 1m over 30s"
        ),
        ("books.received", "count == 4", "books.received count was 3, limit == 4"),
        ("upload.failed", "rate < 0.5%", "upload.failed rate was 0.83% (5 of 600), limit < 0.5%"),
        ("scan.time", "p(95) < 1s", "scan.time p(95) had no data, limit < 1s"),
    ])
    func `a sentence names the statistic, the value and the limit`(
        selector: String, condition: String, sentence: String
    ) throws {
        let result = try slo(selector, condition).evaluate(against: observed)
        #expect(result.sentence(observed: result.actual) == sentence)
    }

    @Test func `a warning is no breach`() throws {
        let warned = try slo("scans.lost", "count > 0", severity: .warn).evaluate(against: nothing)
        #expect(warned.passed == false && !warned.isBreach)
        let failed = try slo("scans.lost", "count > 0").evaluate(against: nothing)
        #expect(failed.passed == false && failed.isBreach)
        let held = try slo("scans.lost", "count == 0").evaluate(against: nothing)
        #expect(!held.isBreach)
    }

    @Test func `a failure rate ends the run only once there are operations enough to make one`() throws {
        func failures(_ failed: Int, of total: Int) -> MetricTable {
            table { table in
                for number in 0..<total {
                    table.record(.uploadFailed, failed: number < failed, in: commuters)
                }
            }
        }
        let objective = try slo("upload.failed", "rate < 20%", abort: true)
        #expect(!objective.evaluate(against: failures(19, of: 19)).endsRun)
        #expect(objective.evaluate(against: failures(4, of: 20)).endsRun)
        #expect(!objective.evaluate(against: failures(3, of: 20)).endsRun)
    }

    @Test(arguments: [
        ("books.received", "count < 3", true), ("books.received", "count <= 2", true),
        ("books.received", "count == 2", true), ("books.received", "count == 4", false),
        ("books.received", "count > 3", false), ("books.received", "count >= 4", false),
        ("books.received", "count != 3", false), ("books.received", "count == 3", false),
        ("sse.connect.time", "max < 1s", true), ("upload.failed", "rate == 0%", true),
        ("scan.time", "max < 1s", false),
    ])
    func `only a miss that cannot mend itself ends the run`(selector: String, condition: String, ends: Bool)
        throws
    {
        #expect(try slo(selector, condition, abort: true).evaluate(against: observed).endsRun == ends)
        #expect(try !slo(selector, condition).evaluate(against: observed).endsRun)
    }
}
