import JSON
import Metrics
import ReportSamples
import RunJudge
import SimBase
import Testing
import Tracing

@testable import Reports

/// The metrics of a run as a collector gets them.
@Suite struct OTLPMetricsTests {
    @Test func `what metrics.prom has, a collector gets`() throws {
        let result = Samples.passed()
        let writer = OTLPWriter(run: 1, zero: 5, version: "1", resource: [])
        let request = try #require(JSONNode(OTLPMetrics.request(result, writer)))
        let scope = request["resourceMetrics"]?.elements.first?["scopeMetrics"]?.elements.first
        let metrics = try #require(scope?["metrics"]?.elements)
        let families = OpenMetrics.text(result).split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
            .map { $0.split(separator: " ")[2] }
        #expect(metrics.compactMap { $0["name"]?.text.map { Substring($0) } } == families)
        let seconds = try #require(metrics.first { $0["name"]?.text == "swiftwing_run_seconds" })
        let point = seconds["gauge"]?["dataPoints"]?.elements.first
        #expect(seconds["unit"]?.text == "s" && point?["asDouble"] != nil)
        #expect(point?["startTimeUnixNano"]?.text == "5")
        #expect(point?["timeUnixNano"]?.text == String(5 + result.length.nanoseconds))
    }

    @Test func `families of every type become what OTLP has for them`() throws {
        var histogram = HDRHistogram()
        for milliseconds: Int64 in [1, 3, 4, 600_000] { histogram.record(milliseconds * 1_000_000) }
        var samples = MetricSamples()
        samples.add(.faultsFired, [([("fault", #"1,} "2" \"#)], "3")])
        samples.add(.runSeconds, [([], "0.25")])
        samples.add(MetricFamily(.scanTime), [([("group", "g")], histogram)])
        let texts = samples.families.map {
            String(decoding: OTLPMetrics.metric($0.family, $0.values, ("0", "9")), as: UTF8.self)
        }
        #expect(texts[0].contains(#""isMonotonic":true"#) && texts[0].contains(#""asInt":"3""#))
        #expect(texts[0].contains(#"{"key":"fault","value":{"stringValue":"1,} \"2\" \\"}}"#))
        #expect(texts[1].contains(#""unit":"s","gauge""#) && texts[1].contains(#""asDouble":0.25"#))
        #expect(texts[2].contains(#"[{"key":"group","value":{"stringValue":"g"}}]"#))
        let point = JSONNode(Array(texts[2].utf8))?["histogram"]?["dataPoints"]?.elements.first
        let counts = try #require(point?["bucketCounts"]?.elements.compactMap { $0.text })
        #expect(point?["count"]?.text == "4" && point?["sum"]?.digits == "600.008")
        #expect(point?["explicitBounds"]?.elements.count == MetricSamples.bounds.count)
        #expect(counts.count == MetricSamples.bounds.count + 1)
        // At most 1 ms, at most 5 ms, and more than 500 s.
        #expect(counts.enumerated().filter { $0.element != "0" }.map(\.offset) == [0, 2, counts.count - 1])
        #expect(counts.compactMap { Int($0) }.reduce(0, +) == 4)
    }

    @Test func `the summary says what the collector has taken`() {
        var result = Samples.passed()
        #expect(JSONNode(SummaryJSON.bytes(result))?["otlp"] == nil)
        var export = ExportSummary(url: "http://127.0.0.1:4318")
        (export.exported, export.dropped, export.hasMetrics) = (7, 2, true)
        export.trouble = "status 503"
        result.remarks = [.end(.exported(export))]
        let otlp = JSONNode(SummaryJSON.bytes(result))?["otlp"]
        #expect(
            otlp?["spans"]?.integer == 7 && otlp?["dropped"]?.integer == 2 && otlp?["metrics"]?.flag == true)
        let text = "OTLP: 7 spans and the metrics exported to http://127.0.0.1:4318, 2 dropped (status 503)"
        #expect(result.warnings == [text] && result.notes.isEmpty)
        export.dropped = 0
        result.remarks = [.end(.exported(export))]
        #expect(result.warnings.isEmpty && result.notes.count == 1)
    }
}
