import Foundation
import Metrics
import Testing

@Suite struct MetricsTextTests {
    @Test func `every family has a name of its own by the conventions, and a help text of one line`() {
        let families = MetricFamily.all
        let names = families.flatMap(\.sampleNames)
        #expect(Set(names).count == names.count)
        #expect(Set(families.map(\.name)).count == families.count)
        for family in families {
            #expect(family.name.wholeMatch(of: /swiftwing_[a-z][a-z0-9_]*/) != nil, "\(family.name)")
            #expect(!family.name.hasSuffix("_total") && !family.name.hasSuffix("_info"), "\(family.name)")
            #expect(!family.help.isEmpty && !family.help.contains(/["\\\n]/), "\(family.help)")
            for unit in [MetricFamily.Unit.seconds, .bytes, .dollars] {
                #expect(family.name.hasSuffix("_\(unit.rawValue)") == (family.unit == unit), "\(family.name)")
            }
        }
        #expect(MetricFamily(.scanTime).sampleNames[0] == "swiftwing_scan_time_seconds_bucket")
        #expect(MetricFamily(.scansLost).sampleNames == ["swiftwing_scans_lost_total"])
    }

    private static func text(_ format: MetricsText.Format) -> String {
        var histogram = HDRHistogram()
        for milliseconds: Int64 in [1, 2, 3, 600_000] { histogram.record(milliseconds * 1_000_000) }
        var text = MetricSamples()
        text.add(.run, [([("scenario", "a \"b\" \\c\nd")], "1")])
        text.add(.phones, 3)
        text.add(.scansPlanned, Int?.none)
        text.add(.faultsFired, [([("fault", "reset-1")], "4"), ([("fault", "stall-1")], "0")])
        text.add(MetricFamily(.scanTime), [([], histogram), ([("group", "g")], HDRHistogram())])
        return text.text(as: format)
    }

    @Test func `OpenMetrics has types, units, buckets that add up, and an end`() {
        let lines = Self.text(.openMetrics).split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(11) == [
                "# TYPE swiftwing_run info", "# HELP swiftwing_run name and configuration of the run",
                #"swiftwing_run_info{scenario="a \"b\" \\c d"} 1"#,
                "# TYPE swiftwing_phones gauge", "# HELP swiftwing_phones phones of the fleet",
                "swiftwing_phones 3",
                "# TYPE swiftwing_faults_fired counter", "# HELP swiftwing_faults_fired firings by fault",
                #"swiftwing_faults_fired_total{fault="reset-1"} 4"#,
                #"swiftwing_faults_fired_total{fault="stall-1"} 0"#,
                "# TYPE swiftwing_scan_time_seconds histogram",
            ])
        #expect(lines[11] == "# UNIT swiftwing_scan_time_seconds seconds")
        let buckets = lines.filter { $0.contains("_bucket") }
        #expect(buckets.count == MetricSamples.bounds.count + 1, "an empty histogram has none")
        #expect(
            buckets.prefix(3) == [
                #"swiftwing_scan_time_seconds_bucket{le="0.001"} 1"#,
                #"swiftwing_scan_time_seconds_bucket{le="0.002"} 2"#,
                #"swiftwing_scan_time_seconds_bucket{le="0.005"} 3"#,
            ])
        #expect(buckets.contains(#"swiftwing_scan_time_seconds_bucket{le="1.0"} 3"#))
        #expect(
            lines.suffix(5) == [
                #"swiftwing_scan_time_seconds_bucket{le="500.0"} 3"#,
                #"swiftwing_scan_time_seconds_bucket{le="+Inf"} 4"#,
                "swiftwing_scan_time_seconds_count 4", "swiftwing_scan_time_seconds_sum 600.006", "# EOF",
            ])
    }

    @Test func `the older format names a counter as its samples, and knows no units and no end`() {
        let text = Self.text(.prometheus)
        #expect(text.contains("# TYPE swiftwing_run_info gauge\nswiftwing_run_info{"))
        #expect(text.contains("# TYPE swiftwing_faults_fired_total counter\nswiftwing_faults_fired_total{"))
        #expect(text.contains("# TYPE swiftwing_scan_time_seconds histogram\nswiftwing_scan_time_seconds_b"))
        #expect(!text.contains("# UNIT") && !text.contains("# EOF") && text.hasSuffix(" 600.006\n"))
    }

    @Test(arguments: [
        (nil, MetricsText.Format.openMetrics), ("*/*", .openMetrics), ("text/html,*/*;q=0.8", .openMetrics),
        ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics),
        ("text/plain;version=0.0.4", .prometheus), ("text/plain", .prometheus),
    ]) func `the format is the one that the scraper accepts`(accept: String?, format: MetricsText.Format) {
        #expect(MetricsText.Format(accept: accept) == format)
    }

    @Test func `the dashboard for Grafana asks for names that the program has, and for no others`() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let dashboard = try String(
            contentsOf: root.appending(path: "Distributed/grafana/swiftwing-sim.json"), encoding: .utf8)
        let asked = Set(dashboard.matches(of: /swiftwing_[a-z0-9_]+/).map { String($0.output) })
        let names = Set(MetricFamily.all.flatMap(\.sampleNames))
        // In the words of a panel, and in the choice of a job.
        let families = Set(["swiftwing_scan_time_quantile_seconds", "swiftwing_"])
        #expect(asked.subtracting(names).subtracting(families) == [])
        #expect(asked.intersection(names).count > 40)
    }
}
