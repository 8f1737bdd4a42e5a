import JSON
package import RunJudge
import SimBase
package import Tracing

/// The metrics of a run as a request of OTLP. They are those of `metrics.prom`, family by family and with the same names: each
/// counter is a sum, each summary a summary, each histogram one with explicit buckets.
package enum OTLPMetrics {
    /// The whole request. Times are those of the run's start and end.
    package static func request(_ result: RunResult, _ writer: OTLPWriter) -> [UInt8] {
        let times = (
            start: String(writer.time(.zero)), end: String(writer.time(.zero + result.length))
        )
        return writer.metrics(
            MetricsTextReader.families(OpenMetrics.text(result)).map { Self.metric($0, times) })
    }

    typealias Times = (start: String, end: String)
    private typealias Sample = MetricsTextReader.Sample

    /// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
    private static let cumulative: Int64 = 2

    static func metric(_ family: MetricsTextReader.Family, _ times: Times) -> [UInt8] {
        JSONWriter.bytes { writer in
            writer.object { metric in
                metric.member("name", family.name)
                metric.member("description", family.help)
                metric.member("unit", Self.unit(family.unit))
                switch family.type {
                case "counter":
                    metric.object("sum") { sum in
                        sum.member("aggregationTemporality", Self.cumulative)
                        sum.member("isMonotonic", true)
                        Self.numbers(family.samples, times, to: &sum)
                    }
                case "summary":
                    metric.object("summary") { Self.points(family, "quantile", times, to: &$0, Self.summary) }
                case "histogram":
                    metric.object("histogram") { histogram in
                        histogram.member("aggregationTemporality", Self.cumulative)
                        Self.points(family, "le", times, to: &histogram, Self.histogram)
                    }
                default:
                    metric.object("gauge") { Self.numbers(family.samples, times, to: &$0) }
                }
            }
        }
    }

    /// By the names of UCUM.
    private static func unit(_ unit: String?) -> String {
        switch unit {
        case "seconds": "s"
        case "bytes": "By"
        case "dollars": "{USD}"
        default: unit ?? "1"
        }
    }

    private static func numbers(_ samples: [Sample], _ times: Times, to writer: inout JSONWriter) {
        writer.array("dataPoints", samples) { writer, sample in
            writer.object { point in
                Self.head(sample.labels, times, to: &point)
                if let whole = Int64(sample.value) {
                    point.member("asInt", String(whole))
                } else {
                    point.key("asDouble")
                    point.raw(sample.value)
                }
            }
        }
    }

    private static func head(
        _ labels: [MetricsTextReader.Label], _ times: Times, to point: inout JSONWriter
    ) {
        point.array("attributes", labels) { writer, label in
            writer.object { attribute in
                attribute.member("key", label.key)
                attribute.object("value") { $0.member("stringValue", label.value) }
            }
        }
        point.member("startTimeUnixNano", times.start)
        point.member("timeUnixNano", times.end)
    }

    /// Points of several samples each, which differ in one label.
    private static func points(
        _ family: MetricsTextReader.Family, _ label: String, _ times: Times, to writer: inout JSONWriter,
        _ parts: (_ samples: [(at: String, value: String)], _ point: inout JSONWriter) -> Void
    ) {
        var groups: [(labels: [MetricsTextReader.Label], samples: [Sample])] = []
        for sample in family.samples {
            let labels = sample.labels.filter { $0.key != label }
            if groups.last?.labels != labels { groups.append((labels, [])) }
            groups[groups.count - 1].samples.append(sample)
        }
        writer.array("dataPoints", groups) { writer, group in
            writer.object { point in
                Self.head(group.labels, times, to: &point)
                if let count = group.samples.first(where: { $0.suffix == "_count" }) {
                    point.member("count", count.value)
                }
                if let sum = group.samples.first(where: { $0.suffix == "_sum" }) {
                    point.key("sum")
                    point.raw(sum.value)
                }
                parts(
                    group.samples.compactMap { sample in
                        sample.labels.first { $0.key == label }.map { ($0.value, sample.value) }
                    }, &point)
            }
        }
    }

    private static func summary(_ samples: [(at: String, value: String)], _ point: inout JSONWriter) {
        point.array("quantileValues", samples) { writer, sample in
            writer.object { quantile in
                quantile.key("quantile")
                quantile.raw(sample.at)
                quantile.key("value")
                quantile.raw(sample.value)
            }
        }
    }

    /// In the text, each bucket counts what is in those before it as well.
    private static func histogram(_ samples: [(at: String, value: String)], _ point: inout JSONWriter) {
        point.array("explicitBounds", samples.filter { $0.at != "+Inf" }) { $0.raw($1.at) }
        var before: Int64 = 0
        let counts = samples.map { sample in
            let count = Int64(sample.value) ?? before
            defer { before = count }
            return String(count - before)
        }
        point.array("bucketCounts", counts) { $0.text($1) }
    }
}

/// Reads the text that `OpenMetrics` writes.
enum MetricsTextReader {
    struct Label: Equatable {
        let key: String
        let value: String
    }

    struct Sample: Equatable {
        /// What follows the family's name, such as `_total`.
        let suffix: String
        let labels: [Label]
        let value: String
    }

    struct Family: Equatable {
        let name: String
        let type: String
        var unit: String?
        var help = ""
        var samples: [Sample] = []
    }

    static func families(_ text: String) -> [Family] {
        var families: [Family] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            if line.hasPrefix("# TYPE "), words.count == 4 {
                families.append(Family(name: String(words[2]), type: String(words[3])))
            }
            guard let index = families.indices.last else { continue }
            if line.hasPrefix("# UNIT "), words.count == 4 { families[index].unit = String(words[3]) }
            if line.hasPrefix("# HELP "), words.count == 4 { families[index].help = Self.plain(words[3]) }
            if !line.hasPrefix("#") {
                families[index].samples.append(Self.sample(line, of: families[index].name))
            }
        }
        return families
    }

    /// `swiftwing_scans_total{group="a"} 3`
    private static func sample(_ line: Substring, of family: String) -> Sample {
        let name = line.prefix { $0 != "{" && $0 != " " }
        var labels: [Label] = []
        var rest = line.dropFirst(name.count)
        while rest.first == "{" || rest.first == ",", let equals = rest.firstIndex(of: "=") {
            let label = rest[rest.index(after: rest.startIndex)..<equals]
            let value = rest[equals...].dropFirst(2)
            var (end, isEscaped) = (value.startIndex, false)
            while end < value.endIndex, isEscaped || value[end] != "\"" {
                isEscaped = !isEscaped && value[end] == "\\"
                end = value.index(after: end)
            }
            labels.append(Label(key: String(label), value: Self.plain(value[..<end])))
            rest = value[end...].dropFirst()
        }
        if rest.first == "}" { rest = rest.dropFirst() }
        return Sample(
            suffix: String(name.dropFirst(family.count)), labels: labels, value: String(rest.dropFirst()))
    }

    /// A text without its escapes.
    private static func plain(_ text: Substring) -> String {
        var plain = ""
        var isEscaped = false
        for sign in text {
            if sign == "\\", !isEscaped {
                isEscaped = true
            } else {
                plain.append(sign)
                isEscaped = false
            }
        }
        return plain
    }
}
