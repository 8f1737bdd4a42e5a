import JSON
import Metrics
package import RunJudge
import SimBase
package import Tracing

/// The metrics of a run as a request of OTLP. They are those of `metrics.prom`, family by family and with the same names: each
/// counter is a sum, each histogram one with explicit buckets, and everything else a gauge.
package enum OTLPMetrics {
    /// The whole request. Times are those of the run's start and end.
    package static func request(_ result: RunResult, _ writer: OTLPWriter) -> [UInt8] {
        let times = (
            start: String(writer.time(.zero)), end: String(writer.time(.zero + result.length))
        )
        return writer.metrics(
            OpenMetrics.samples(result).families.map { Self.metric($0.family, $0.values, times) })
    }

    typealias Times = (start: String, end: String)

    /// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
    private static let cumulative: Int64 = 2

    static func metric(_ family: MetricFamily, _ values: MetricSamples.Values, _ times: Times) -> [UInt8] {
        JSONWriter.bytes { writer in
            writer.object { metric in
                metric.member("name", family.name)
                metric.member("description", family.help)
                metric.member("unit", Self.unit(family.unit))
                switch values {
                case .histograms(let histograms):
                    metric.object("histogram") { Self.points(histograms, times, to: &$0) }
                case .samples(let samples) where family.kind == .counter:
                    metric.object("sum") { sum in
                        sum.member("aggregationTemporality", Self.cumulative)
                        sum.member("isMonotonic", true)
                        Self.points(samples, times, to: &sum)
                    }
                case .samples(let samples):
                    metric.object("gauge") { Self.points(samples, times, to: &$0) }
                }
            }
        }
    }

    /// By the names of UCUM.
    private static func unit(_ unit: MetricFamily.Unit?) -> String {
        switch unit {
        case .seconds: "s"
        case .bytes: "By"
        case .dollars: "{USD}"
        case nil: "1"
        }
    }

    private static func points(_ samples: MetricSamples.Samples, _ times: Times, to writer: inout JSONWriter)
    {
        writer.array("dataPoints", samples) { writer, sample in
            writer.object { point in
                Self.head(sample.0, times, to: &point)
                if let whole = Int64(sample.1) {
                    point.member("asInt", String(whole))
                } else {
                    point.key("asDouble")
                    point.raw(sample.1)
                }
            }
        }
    }

    private static func points(
        _ histograms: [(MetricSamples.Labels, HDRHistogram)], _ times: Times, to writer: inout JSONWriter
    ) {
        writer.member("aggregationTemporality", Self.cumulative)
        writer.array("dataPoints", histograms) { writer, entry in
            let (labels, histogram) = entry
            writer.object { point in
                Self.head(labels, times, to: &point)
                point.member("count", String(histogram.total))
                point.key("sum")
                point.raw(MetricSamples.sum(histogram))
                point.array("explicitBounds", MetricSamples.bounds) { $0.raw(MetricSamples.seconds($1)) }
                let below = MetricSamples.bounds.map { histogram.count(atOrBelow: $0) } + [histogram.total]
                let counts = zip(below, [0] + below).map { String($0 - $1) }
                point.array("bucketCounts", counts) { $0.text($1) }
            }
        }
    }

    private static func head(_ labels: MetricSamples.Labels, _ times: Times, to point: inout JSONWriter) {
        point.array("attributes", labels) { writer, label in
            writer.object { attribute in
                attribute.member("key", label.0)
                attribute.object("value") { $0.member("stringValue", Printable.line(label.1)) }
            }
        }
        point.member("startTimeUnixNano", times.start)
        point.member("timeUnixNano", times.end)
    }
}
