import Metrics
import Testing

/// The error of a text that must not parse.
private func conditionError(_ text: String, _ kind: MetricKind) -> SLOError? {
    do {
        _ = try SLOCondition(parsing: text, for: kind)
        return nil
    } catch {
        return error
    }
}

private func selectorError(_ text: String, _ vocabulary: SLOVocabulary?) -> SLOError? {
    do {
        _ = try MetricSelector(parsing: text, vocabulary: vocabulary)
        return nil
    } catch {
        return error
    }
}

struct GoodCondition: Sendable {
    let text: String
    let kind: MetricKind
    let aggregation: Aggregation
    let comparison: Comparison
    let threshold: Threshold
    let canonical: String

    static let p95 = Aggregation.percentile(.p95)

    static let all: [GoodCondition] = [
        .init("p(95) < 400ms", .latency, p95, .less, .time(nanoseconds: 400_000_000), "p(95) < 400ms"),
        .init("p(95)<400ms", .latency, p95, .less, .time(nanoseconds: 400_000_000), "p(95) < 400ms"),
        .init(
            " p ( 95 )\t<=  0.4s ", .latency, p95, .lessOrEqual, .time(nanoseconds: 400_000_000),
            "p(95) <= 400ms"),
        .init(
            "p(99.9) >= 1.5s", .latency, .percentile(.p999), .greaterOrEqual,
            .time(nanoseconds: 1_500_000_000),
            "p(99.9) >= 1.5s"),
        .init(
            "p(99.9999) < 2m", .latency, .percentile(Percentile(perMillion: 999_999)), .less,
            .time(nanoseconds: 120_000_000_000), "p(99.9999) < 2m"),
        .init(
            "p(100) < 90s", .latency, .percentile(Percentile(perMillion: 1_000_000)), .less,
            .time(nanoseconds: 90_000_000_000), "p(100) < 90s"),
        .init("avg > 12us", .latency, .average, .greater, .time(nanoseconds: 12_000), "avg > 12us"),
        .init("min == 7ns", .latency, .minimum, .equal, .time(nanoseconds: 7), "min == 7ns"),
        .init("max < 1.5h", .latency, .maximum, .less, .time(nanoseconds: 5_400_000_000_000), "max < 90m"),
        .init("med != 0ms", .latency, .median, .notEqual, .time(nanoseconds: 0), "med != 0ms"),
        .init("count >= 100", .latency, .count, .greaterOrEqual, .number(100), "count >= 100"),
        .init("rate < 1%", .rate, .rate, .less, .share(perMillion: 10_000), "rate < 1%"),
        .init("rate<=0.05%", .rate, .rate, .lessOrEqual, .share(perMillion: 500), "rate <= 0.05%"),
        .init("rate < 0.0001%", .rate, .rate, .less, .share(perMillion: 1), "rate < 0.0001%"),
        .init("rate <= 100%", .rate, .rate, .lessOrEqual, .share(perMillion: 1_000_000), "rate <= 100%"),
        .init("count < 3", .rate, .count, .less, .number(3), "count < 3"),
        .init("count == 0", .count, .count, .equal, .number(0), "count == 0"),
        .init("value != 12", .count, .value, .notEqual, .number(12), "value != 12"),
        .init("count < 2.0", .count, .count, .less, .number(2), "count < 2"),
        .init("value < 0.01", .cost, .value, .less, .money(microdollars: 10_000), "value < 0.01"),
        .init(
            "value>=0.000001", .cost, .value, .greaterOrEqual, .money(microdollars: 1), "value >= 0.000001"),
        .init(
            "value <= 250.50", .cost, .value, .lessOrEqual, .money(microdollars: 250_500_000),
            "value <= 250.5"),
    ]

    init(
        _ text: String, _ kind: MetricKind, _ aggregation: Aggregation, _ comparison: Comparison,
        _ threshold: Threshold, _ canonical: String
    ) {
        self.text = text
        self.kind = kind
        self.aggregation = aggregation
        self.comparison = comparison
        self.threshold = threshold
        self.canonical = canonical
    }
}

struct BadText: Sendable {
    let text: String
    let kind: MetricKind
    let offset: Int
    let message: String
    let suggestion: String?

    init(_ text: String, _ kind: MetricKind, _ offset: Int, _ message: String, _ suggestion: String? = nil) {
        self.text = text
        self.kind = kind
        self.offset = offset
        self.message = message
        self.suggestion = suggestion
    }

    static let units = "a time needs a unit: ns, us, ms, s, m or h"
    static let operators = "expected an operator: <, <=, >, >=, == or !="

    static let conditions: [BadText] = [
        // Aggregations.
        .init("", .latency, 0, "expected avg, min, max, med, p(N) or count"),
        .init("  < 1%", .rate, 2, "expected rate or count"),
        .init("== 0", .count, 0, "expected count or value"),
        .init("p95 < 400ms", .latency, 0, "unknown aggregation `p95`", "p(95)"),
        .init("p999 < 400ms", .latency, 0, "unknown aggregation `p999`", "p(99.9)"),
        .init("P100 < 400ms", .latency, 0, "unknown aggregation `P100`", "p(100)"),
        .init("P(95) < 400ms", .latency, 0, "unknown aggregation `P`", "p(95)"),
        .init("mean < 400ms", .latency, 0, "unknown aggregation `mean`", "avg"),
        .init("  median < 1s", .latency, 2, "unknown aggregation `median`", "med"),
        .init("axg < 1s", .latency, 0, "unknown aggregation `axg`", "avg"),
        .init("cuont == 0", .count, 0, "unknown aggregation `cuont`", "count"),
        .init("elephant < 1s", .latency, 0, "unknown aggregation `elephant`"),
        .init("p95 == 0", .count, 0, "unknown aggregation `p95`"),
        .init("p(95) == 0", .count, 0, "a count has no `p(95)`: use count or value", "count"),
        .init(
            "rate < 1%", .latency, 0, "a latency has no `rate`: use avg, min, max, med, p(N) or count",
            "p(95)"),
        .init("avg < 1%", .rate, 0, "a failure rate has no `avg`: use rate or count", "rate"),
        .init("rate < 1%", .count, 0, "a count has no `rate`: use count or value", "count"),
        // Percentiles.
        .init("p < 1s", .latency, 2, "expected `(` and a percentile, as in `p(95)`"),
        .init("p() < 1s", .latency, 2, "expected a number"),
        .init("p(95 < 1s", .latency, 5, "expected `)` after the percentile"),
        .init("p(0) < 1s", .latency, 2, "a percentile is above 0 and at most 100"),
        .init("p(100.1) < 1s", .latency, 2, "a percentile is above 0 and at most 100"),
        .init("p(99.99999) < 1s", .latency, 2, "a percentile has at most 4 digits after the point"),
        .init("p(-5) < 1s", .latency, 2, "a number here cannot be negative"),
        // Operators.
        .init("p(95) 400ms", .latency, 6, operators),
        .init("count", .count, 5, operators),
        .init("count = 0", .count, 6, "unknown operator `=`", "=="),
        .init("count === 0", .count, 6, "unknown operator `===`", "=="),
        .init("rate =< 1%", .rate, 5, "unknown operator `=<`", "<="),
        .init("rate ≤ 1%", .rate, 5, "unknown operator `≤`", "<="),
        .init("count <<< 1", .count, 6, "unknown operator `<<<`"),
        // Numbers.
        .init("p(95) <", .latency, 7, "expected a number"),
        .init("p(95) < fast", .latency, 8, "expected a number"),
        .init("p(95) < -5ms", .latency, 8, "a number here cannot be negative"),
        .init("p(95) < .5s", .latency, 8, "expected a number"),
        .init("p(95) < 5.s", .latency, 10, "expected a digit after the point"),
        .init("p(95) < 0.5ns", .latency, 8, "a time is a whole number of nanoseconds"),
        .init("p(95) < 9999999999999h", .latency, 8, "a time of more than 292 years"),
        .init("count < 1234567890123456789", .count, 8, "a number of more than 18 digits"),
        .init("count == 0.5", .count, 9, "a count is a whole number"),
        .init("rate < 100.1%", .rate, 7, "a rate is at most 100%"),
        .init("rate < 0.00001%", .rate, 7, "a rate has at most 4 digits after the point"),
        .init("value < 0.0000001", .cost, 8, "a cost has at most 6 digits after the point"),
        .init("value < 99999999999999", .cost, 8, "a cost of more than 9 trillion dollars"),
        // Units.
        .init("value < $0.01", .cost, 8, "a cost is a number of dollars without a sign, such as `0.01`"),
        .init("value < 0.01USD", .cost, 12, "a cost is a number of dollars without a unit"),
        .init("count < 1", .cost, 0, "a cost has no `count`: use value", "value"),
        .init("p(95) < 400", .latency, 8, units),
        .init("avg < 1.5", .latency, 6, units),
        .init(
            "p(95) < 4sec", .latency, 9, "unknown unit `sec`: the units of a time are ns, us, ms, s, m and h",
            "s"),
        .init(
            "p(95) < 4µs", .latency, 9, "unknown unit `µs`: the units of a time are ns, us, ms, s, m and h",
            "us"),
        .init(
            "p(95) < 4mss", .latency, 9, "unknown unit `mss`: the units of a time are ns, us, ms, s, m and h",
            "ms"),
        .init(
            "p(95) < 4MS", .latency, 9, "unknown unit `MS`: the units of a time are ns, us, ms, s, m and h",
            "ms"),
        .init("p(95) < 5%", .latency, 9, "unknown unit `%`: the units of a time are ns, us, ms, s, m and h"),
        .init("rate < 0.01", .rate, 7, "a rate needs a unit: %", "1%"),
        .init("rate < 5", .rate, 7, "a rate needs a unit: %", "5%"),
        .init("rate < 0.000001", .rate, 7, "a rate needs a unit: %", "0.0001%"),
        .init("rate < 5ms", .rate, 8, "the unit of a rate is %, not `ms`", "%"),
        .init("count == 5ms", .count, 10, "a count has no unit"),
        .init("count == 5%", .rate, 10, "a count has no unit"),
        .init("p(95) < 400 ms", .latency, 8, units),
        .init("rate < 5 %", .rate, 7, "a rate needs a unit: %", "5%"),
        // What follows.
        .init("count == 0 every 30s", .count, 11, "unexpected `every` after the threshold", "over"),
        .init("count == 0 ovr 30s", .count, 11, "unexpected `ovr` after the threshold", "over"),
        .init("count == 0 over", .count, 15, "expected a time after `over`, as in `over 30s`"),
        .init("count == 0 over 30", .count, 16, units),
        .init("count == 0 over 0s", .count, 16, "the time after `over` is above 0"),
        .init("count == 0 over 30s over 30s", .count, 20, "unexpected `over 30s` after the condition"),
        .init(
            "count == 0 within 10s", .count, 21,
            "expected `of` and the end of a fault, as in `of offline-1.end`"),
        .init(
            "count == 0 within 10s of reset-1", .count, 25,
            "expected the end of a fault, as in `offline-1.end`", "reset-1.end"),
        .init(
            "count == 0 within 10s of reset-1.start", .count, 25,
            "expected the end of a fault, as in `offline-1.end`"),
        .init("count == 0, count < 4", .count, 10, "unexpected `, count < 4` after the threshold"),
        .init("count == 0\u{1B}[31m", .count, 10, "unexpected `?[31m` after the threshold"),
        .init(
            "count == 0 " + String(repeating: "ab", count: 30), .count, 11,
            "unexpected `" + String(repeating: "ab", count: 20) + "...` after the threshold"),
        .init(String(repeating: "x", count: 100_000), .count, 512, "longer than 512 characters"),
    ]

    static let selectors: [BadText] = [
        .init("", .count, 0, "expected a metric, such as `sse.connect.time`"),
        .init("  {group:commuters}", .count, 2, "expected a metric, such as `sse.connect.time`"),
        .init("sse.conect.time", .count, 0, "unknown metric `sse.conect.time`", "sse.connect.time"),
        .init(" scan.lost", .count, 1, "unknown metric `scan.lost`", "scans.lost"),
        .init("http_req_duration", .count, 0, "unknown metric `http_req_duration`"),
        .init(
            "http.4x9", .count, 0,
            "`http.4x9` names no answers: expected a status or a class, with or without an operation, as in `http.429`, `http.5xx` and `http.upload.503`"
        ),
        .init("faults.reset", .count, 0, "the scenario has no fault `reset`", "faults.reset-1"),
        .init("faults.", .count, 0, "unknown metric `faults.`"),
        .init("scans.lost{grup:commuters}", .count, 11, "unknown tag `grup`", "group"),
        .init("scans.lost{}", .count, 11, "expected `group:` and the name of a group"),
        .init("scans.lost{group}", .count, 16, "expected `:` after `group`"),
        .init("scans.lost{group:}", .count, 17, "expected the name of a group"),
        .init("scans.lost{group: comuters}", .count, 18, "the fleet has no group `comuters`", "commuters"),
        .init("scans.lost{group:commuters", .count, 26, "expected `}`"),
        .init("scans.lost{group:commuters,group:readers}", .count, 26, "only one group can be named"),
        .init("scans.lost{group:commuters} now", .count, 28, "unexpected `now` after the selector"),
        .init("scans.lost now", .count, 11, "unexpected `now` after the metric"),
        .init(String(repeating: "x", count: 600), .count, 512, "longer than 512 characters"),
    ]
}

struct SLOParseTests {
    @Test(arguments: GoodCondition.all)
    func `a condition is read to the unit`(good: GoodCondition) throws {
        let condition = try SLOCondition(parsing: good.text, for: good.kind)
        #expect(condition.aggregation == good.aggregation)
        #expect(condition.comparison == good.comparison)
        #expect(condition.threshold == good.threshold)
        #expect(condition.description == good.canonical)
        #expect(try SLOCondition(parsing: good.canonical, for: good.kind) == condition)
    }

    @Test(arguments: [
        ("max < 1s", SLOSpan.wholeRun, "max < 1s"),
        ("max < 1s  over 30s ", .everyWindow(.seconds(30)), "max < 1s over 30s"),
        ("max<1s over 0.5m", .everyWindow(.seconds(30)), "max < 1s over 30s"),
        (
            "max < 1s within 1500ms of offline-1.end",
            .afterFault(id: "offline-1", within: .milliseconds(1_500)),
            "max < 1s within 1.5s of offline-1.end"
        ),
    ]) func `a condition may be for a part of the run`(text: String, span: SLOSpan, canonical: String) throws
    {
        let condition = try SLOCondition(parsing: text, for: .latency)
        #expect(condition.span == span)
        #expect(condition.description == canonical)
        #expect(try SLOCondition(parsing: canonical, for: .latency) == condition)
    }

    @Test(arguments: BadText.conditions)
    func `a bad condition is refused with its offset and a way out`(bad: BadText) throws {
        let error = try #require(conditionError(bad.text, bad.kind))
        #expect(error.offset == bad.offset)
        #expect(error.message == bad.message)
        #expect(error.suggestion == bad.suggestion)
    }

    @Test(arguments: BadText.selectors)
    func `a bad selector is refused with its offset and a way out`(bad: BadText) throws {
        let vocabulary = SLOVocabulary(groups: ["readers", "commuters"], faults: ["close-1", "reset-1"])
        let error = try #require(selectorError(bad.text, vocabulary))
        #expect(error.offset == bad.offset)
        #expect(error.message == bad.message)
        #expect(error.suggestion == bad.suggestion)
    }

    @Test(arguments: [
        ("sse.connect.time", Metric.latency(.sseConnectTime), MetricScope.fleet, "sse.connect.time"),
        (
            " scans.lost { group : commuters } ", .count(.scansLost), .group("commuters"),
            "scans.lost{group:commuters}"
        ),
        (
            "http.429{group:readers}", .http(AnswerMetric(status: 429)), .group("readers"),
            "http.429{group:readers}"
        ),
        ("faults.reset-1", .fault(id: "reset-1"), .fleet, "faults.reset-1"),
    ])
    func `a selector names a metric and perhaps a group`(
        text: String, metric: Metric, scope: MetricScope, canonical: String
    ) throws {
        let vocabulary = SLOVocabulary(groups: ["readers", "commuters"], faults: ["close-1", "reset-1"])
        let selector = try MetricSelector(parsing: text, vocabulary: vocabulary)
        #expect(selector == MetricSelector(metric: metric, scope: scope))
        #expect(selector.description == canonical)
    }

    @Test func `without a vocabulary any group and fault is taken`() throws {
        let selector = try MetricSelector(parsing: "faults.any{group:one}", vocabulary: nil)
        #expect(selector == MetricSelector(metric: .fault(id: "any"), scope: .group("one")))
    }

    @Test func `an error reads as one sentence with its suggestion`() {
        #expect(
            conditionError("p95 < 400ms", .latency)?.description
                == "unknown aggregation `p95`; did you mean `p(95)`?")
        #expect(conditionError("count", .count)?.description == BadText.operators)
        #expect(
            conditionError("p(95) < 20", .latency)?.description
                == BadText.units + "; write `20s` or `20ms`")
    }

    @Test func `no group is judged by what is measured of the whole fleet`() {
        for name in ["arrivals.planned", "arrivals.late", "generator.lateness"] {
            #expect(throws: SLOError.self) {
                try MetricSelector(parsing: name + "{group:a}", vocabulary: nil)
            }
            #expect(throws: Never.self) { try MetricSelector(parsing: name, vocabulary: nil) }
        }
    }
}
