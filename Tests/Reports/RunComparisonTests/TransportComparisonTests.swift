import Metrics
import ReportSamples
import RunComparison
import RunJudge
import SimBase
import Talaria
import Testing

/// A scenario by two transports, against the limits of the migration.
@Suite struct TransportComparisonTests {
    /// A run in which everything takes this long, with one failure in so many connects.
    private static func result(
        event: Int64 = 10, hasReconnects: Bool = true, connectsPerFailure: Int64 = 1_000, memory: Int64 = 60
    ) -> RunResult {
        var result = Samples.passed()
        var metrics = MetricTable(groups: ["commuters", "readers"])
        let group = MetricGroup(index: 0)
        for metric in [LatencyMetric.sseConnectTime, .sseFirstEventTime, .scanTime] {
            metrics.record(metric, .milliseconds(20), in: group)
        }
        metrics.record(.sseEventLatency, .milliseconds(event), in: group)
        metrics.add(FailureRate(failed: 1, total: connectsPerFailure), to: .sseConnectFailed, in: group)
        metrics.add(FailureRate(failed: 0, total: 10), to: .resultsFailed, in: group)
        if hasReconnects {
            metrics.record(.sseReconnectTime, .seconds(1), in: group)
            metrics.add(FailureRate(failed: 0, total: 10), to: .sseReconnectFailed, in: group)
        }
        result.metrics = metrics
        let usage = Resources.Usage(processor: .seconds(2), residentBytes: memory << 20)
        result.resources = Resources(
            client: usage, backend: usage, streamBytes: .init(sent: 1_500, received: memory * 10_000))
        return result
    }

    private static func comparison(_ new: RunResult) -> TransportComparison {
        TransportComparison((.websocket, self.result()), (.sse, new))
    }

    @Test func `a transport like the other holds every limit`() {
        let comparison = Self.comparison(Self.result())
        #expect(comparison.reasons.exit == .success)
        #expect(comparison.sentence == "SSE holds what the migration asks of it, beside WebSocket")
        #expect(comparison.table.rows.count == 15)
    }

    @Test func `a slower transport is found, below its own limit and above it`() {
        for (event, isAboveLimit) in [(Int64(12), false), (60, true)] {
            let comparison = Self.comparison(Self.result(event: event))
            #expect(comparison.reasons.exit == .sloFailed)
            let broken = comparison.table.rows.filter { $0.mark?.word == "broken" }
            #expect(broken.count == (isAboveLimit ? 2 : 1))
            #expect(broken.allSatisfy { $0.cells[0].text == "event latency p95" })
        }
    }

    @Test func `more failures than the plan allows are found`() {
        #expect(Self.comparison(Self.result(connectsPerFailure: 90)).reasons.exit == .sloFailed)
    }

    @Test func `what was not measured is no pass`() {
        let comparison = Self.comparison(Self.result(hasReconnects: false))
        #expect(comparison.reasons.exit == .untrusted)
        #expect(comparison.sentence.hasPrefix("not judged, for lack of data: reconnect time p95"))
        #expect(comparison.table.rows.count { $0.mark?.word == "no data" } == 2)
    }

    @Test func `the bytes of streams are shown without a limit`() {
        let rows = Self.comparison(Self.result(memory: 90)).table.rows.filter { $0.mark?.word == "no limit" }
        #expect(
            rows.map { $0.cells.map(\.text) } == [
                ["bytes of streams, received", "600 kB", "900 kB", "150 %", "–"],
                ["bytes of streams, sent", "2 kB", "2 kB", "100 %", "–"],
            ])
    }

    @Test func `the memory of this program warns, and decides nothing`() {
        let comparison = Self.comparison(Self.result(memory: 90))
        #expect(comparison.reasons.exit == .success)
        #expect(comparison.table.rows.count { $0.remark == "warns" && $0.mark?.word == "broken" } == 2)
    }
}
