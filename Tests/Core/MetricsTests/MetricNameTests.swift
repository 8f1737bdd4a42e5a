import Metrics
import Testing

struct MetricNameTests {
    @Test func `ordinals are the indexes of the cases`() {
        #expect(LatencyMetric.allCases.map(\.ordinal) == Array(LatencyMetric.allCases.indices))
        #expect(RateMetric.allCases.map(\.ordinal) == Array(RateMetric.allCases.indices))
        #expect(CountMetric.allCases.map(\.ordinal) == Array(CountMetric.allCases.indices))
        #expect(CostMetric.allCases.map(\.ordinal) == Array(CostMetric.allCases.indices))
    }

    @Test func `every name leads back to its metric and no two share one`() {
        #expect(Set(Metric.names).count == Metric.names.count)
        #expect(Metric.names.map { Metric(name: $0)?.name } == Metric.names)
    }

    @Test(arguments: [
        ("sse.connect.time", Metric.latency(.sseConnectTime), MetricKind.latency),
        ("sse.connect.failed", .rate(.sseConnectFailed), .rate),
        ("scans.lost", .count(.scansLost), .count),
        ("http.429", .http(AnswerMetric(status: 429)), .answers),
        ("http.other", .http(AnswerMetric(status: 0)), .answers),
        ("http.upload.503", .http(AnswerMetric(.upload, status: 503)), .answers),
        ("faults.reset-1", .fault(id: "reset-1"), .count),
        ("cost.per-book", .cost(.perBook), .cost),
    ])
    func `a name tells the kind`(name: String, metric: Metric, kind: MetricKind) {
        #expect(Metric(name: name) == metric)
        #expect(metric.name == name)
        #expect(metric.kind == kind)
    }

    @Test(arguments: [
        ("http.5xx", 500...599), ("http.stream.4xx", 400...499), ("http.cleanup.404", 404...404),
    ])
    func `a name of answers tells their statuses`(name: String, statuses: ClosedRange<Int>) throws {
        guard case .http(let metric) = Metric(name: name) else {
            Issue.record("\(name) is no metric of answers")
            return
        }
        #expect(metric.statuses == statuses)
        #expect(metric.name == name)
    }

    @Test(arguments: [
        "http.6xx", "http.0xx", "http.xxx", "http.5XX", "http.uploads.5xx", "http.cancel.204", "http.upload",
        "http.upload.", "http..5xx", "http.upload.stream.5xx", "http.5xx.", "http.+50",
        "", "sse", "sse.connect", "SSE.CONNECT.TIME", "http.", "http.42", "http.042", "http.4290", "http.4x9",
        "http.٤٢٩", "faults.", "faults", "scans.lost ",
    ])
    func `what is no name is no metric`(name: String) {
        #expect(Metric(name: name) == nil)
    }

    @Test func `what needs the simulated backend is known`() {
        #expect(
            Metric.needingBackend == [
                .latency(.sseEventLatency), .latency(.sseEventDelay), .rate(.reconcileWrong),
                .count(.booksExpected),
                .count(.booksMissing), .count(.jobsOrphaned), .count(.booksPending),
                .count(.lookupsBilled), .count(.lookupsRepeated),
            ])
    }

    @Test func `latencies and failure rates improve downwards`() {
        #expect(
            LatencyMetric.allCases.filter { $0.better != .lower } == [.ssePingGap])
        #expect(RateMetric.allCases.allSatisfy { $0.better == .lower })
        #expect(Metric.count(.scansCompleted).better == .higher)
        #expect(Metric.count(.scansLost).better == .lower)
        #expect(Metric.http(AnswerMetric(status: 200)).better == .neither)
    }
}
