import JSON
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
        let families = MetricsTextReader.families(
            """
            # TYPE a counter
            # HELP a Say \\"so\\".
            a_total{x="1,} \\"2\\"",y="\\\\"} 3
            # TYPE b_seconds summary
            # UNIT b_seconds seconds
            b_seconds{group="g",quantile="0.5"} 0.25
            b_seconds_count{group="g"} 4
            b_seconds_sum{group="g"} 1.5
            # TYPE c histogram
            c_bucket{le="0.1"} 1
            c_bucket{le="1.0"} 3
            c_bucket{le="+Inf"} 4
            c_count 4
            c_sum 9.5
            # EOF
            """)
        #expect(families.map(\.type) == ["counter", "summary", "histogram"])
        #expect(families[0].help == #"Say "so"."#)
        #expect(
            families[0].samples == [
                .init(
                    suffix: "_total",
                    labels: [.init(key: "x", value: #"1,} "2""#), .init(key: "y", value: #"\"#)], value: "3"
                )
            ])
        let texts = families.map { String(decoding: OTLPMetrics.metric($0, ("0", "9")), as: UTF8.self) }
        #expect(texts[0].contains(#""isMonotonic":true"#) && texts[0].contains(#""asInt":"3""#))
        #expect(texts[1].contains(#""unit":"s""#))
        #expect(texts[1].contains(#""count":"4","sum":1.5,"quantileValues":[{"quantile":0.5,"value":0.25}]"#))
        #expect(texts[1].contains(#"[{"key":"group","value":{"stringValue":"g"}}]"#))
        #expect(
            texts[2].contains(
                #""count":"4","sum":9.5,"explicitBounds":[0.1,1.0],"bucketCounts":["1","2","1"]"#))
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
