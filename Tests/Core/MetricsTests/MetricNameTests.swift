import Metrics
import Testing

struct MetricNameTests {
    @Test func `ordinals are the indexes of the cases`() {
        #expect(LatencyMetric.allCases.map(\.ordinal) == Array(LatencyMetric.allCases.indices))
        #expect(RateMetric.allCases.map(\.ordinal) == Array(RateMetric.allCases.indices))
        #expect(CountMetric.allCases.map(\.ordinal) == Array(CountMetric.allCases.indices))
    }

    @Test func `every name leads back to its metric and no two share one`() {
        #expect(Set(Metric.names).count == Metric.names.count)
        #expect(Metric.names.map { Metric(name: $0)?.name } == Metric.names)
    }

    @Test(arguments: [
        ("sse.connect.time", Metric.latency(.sseConnectTime), MetricKind.latency),
        ("sse.connect.failed", .rate(.sseConnectFailed), .rate),
        ("scans.lost", .count(.scansLost), .count),
        ("http.429", .http(status: 429), .count),
        ("faults.reset-1", .fault(id: "reset-1"), .count),
    ])
    func `a name tells the kind`(name: String, metric: Metric, kind: MetricKind) {
        #expect(Metric(name: name) == metric)
        #expect(metric.name == name)
        #expect(metric.kind == kind)
    }

    @Test(arguments: [
        "", "sse", "sse.connect", "SSE.CONNECT.TIME", "http.", "http.42", "http.042", "http.4290", "http.4x9",
        "http.٤٢٩", "faults.", "faults", "scans.lost ",
    ])
    func `what is no name is no metric`(name: String) {
        #expect(Metric(name: name) == nil)
    }

    @Test func `what needs the simulated backend is known`() {
        #expect(
            Metric.needingBackend == [
                .latency(.sseEventLatency), .latency(.sseEventDelay), .count(.booksExpected),
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
        #expect(Metric.http(status: 200).better == .neither)
    }
}
