import JSON
import Metrics
import Observations
import SimBase

/// `latency.hlog`: HdrHistogram's log of histograms, format 1.3. A line is one metric in one second; its tag is the
/// metric's name, and where there are several groups `name:group` for each of them as well.
///
/// Times are seconds since the start of the run, values nanoseconds, the maximum in the line milliseconds.
enum HistogramLog {
    static func head(started: Int64, tool: String) -> String {
        let seconds = DecimalText.text(started, decimals: 3, shown: 3...3)
        return """
            #[Logged with \(Printable.line(tool))]
            #[Histogram log format version 1.3]
            #[StartTime: \(seconds) (seconds since epoch)]
            "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"

            """
    }

    static func lines(_ table: MetricTable, from: Instant, length: Interval) -> String {
        var lines = ""
        let scopes: [(scope: MetricScope, group: String?)] =
            [(.fleet, nil)] + (table.groups.count > 1 ? table.groups.map { (.group($0), $0) } : [])
        for metric in LatencyMetric.allCases {
            for (scope, group) in scopes {
                guard case .measured(let histogram) = table.histogram(metric, of: scope), !histogram.isEmpty,
                    let line = Self.line(
                        tag: Self.tag(metric, group: group), from: from, length: length, histogram)
                else { continue }
                lines += line
            }
        }
        return lines
    }

    /// Nil when there is nothing to write.
    static func line(tag: String, from: Instant, length: Interval, _ histogram: HDRHistogram)
        -> String?
    {
        guard let maximum = histogram.maximum, let code = HistogramCode.text(histogram) else { return nil }
        // Three digits after the point.
        let (start, seconds) = (from.nanoseconds, length.nanoseconds)
        let numbers = [(start, 9), (seconds, 9), (maximum, 6)].map { number, decimals in
            DecimalText.text(number, decimals: decimals, shown: 3...3)
        }
        return "Tag=\(tag),\(numbers.joined(separator: ",")),\(code)\n"
    }

    static func tag(_ metric: LatencyMetric, group: String?) -> String {
        guard let group else { return metric.rawValue }
        // Characters with a meaning in the format are not allowed in a tag.
        let safe = group.unicodeScalars.map { scalar -> Character in
            scalar.isASCII && scalar.value > 0x20 && scalar != "," && scalar != "=" && scalar.value < 0x7F
                ? Character(scalar) : "_"
        }
        return metric.rawValue + ":" + String(safe)
    }

    /// One line that was read back.
    struct Entry {
        var metric: LatencyMetric
        /// Nil for the whole fleet.
        var group: String?
        var from: Instant
        var length: Interval
        var histogram: HDRHistogram
    }

    /// Nil for a comment, the head, and what is not whole.
    static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0].starts(with: "Tag=".utf8),
            let from = Self.nanoseconds(fields[1]), let length = Self.nanoseconds(fields[2]), length >= 0
        else { return nil }
        let tag = String(decoding: fields[0].dropFirst(4), as: UTF8.self)
        let parts = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let metric = LatencyMetric(rawValue: String(parts[0])),
            let histogram = HistogramCode.histogram(fields[4]), histogram.total <= JSONNode.countMax
        else { return nil }
        return Entry(
            metric: metric, group: parts.count == 2 ? String(parts[1]) : nil,
            from: Instant(nanoseconds: from), length: Interval(nanoseconds: length), histogram: histogram)
    }

    static func isComment(_ line: ArraySlice<UInt8>) -> Bool {
        line.isEmpty || line.first == UInt8(ascii: "#") || line.first == UInt8(ascii: "\"")
    }

    /// The nanoseconds of a number of seconds with three digits after the point.
    private static func nanoseconds(_ text: ArraySlice<UInt8>) -> Int64? {
        guard text.count < 16 else { return nil }
        let digits = String(decoding: text.filter { $0 != UInt8(ascii: ".") }, as: UTF8.self)
        let nanoseconds = Int64(digits).map { $0.multipliedSaturating(by: 1_000_000) }
        return nanoseconds.flatMap { ObservationRange.time.contains($0) ? $0 : nil }
    }
}
