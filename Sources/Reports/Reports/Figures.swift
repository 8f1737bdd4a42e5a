package import Metrics
import RunArchive
package import SimBase
package import Talaria

/// Numbers as reports print them. All by whole numbers, so that a report is the same on every machine.
package enum Figures {
    /// Times from here on are shown as lengths.
    private static let longMin: UInt64 = 600_000_000_000

    /// Three digits and a unit: `812µs`, `48.2ms`, `1.21s`, `312s`; from ten minutes on a length, `5 h 10 min`.
    package static func time(_ nanoseconds: Int64) -> String {
        guard nanoseconds.magnitude < Self.longMin else {
            let length = Self.length(Interval(nanoseconds: Int64(clamping: nanoseconds.magnitude)))
            return Printable.tied((nanoseconds < 0 ? "-" : "") + length)
        }
        let units: [(suffix: String, decimals: Int, nanoseconds: UInt64)] = [
            ("s", 9, 1_000_000_000), ("ms", 6, 1_000_000), ("µs", 3, 1_000),
        ]
        // What rounds up to 1,000 of a unit is 1.00 of the next: hence the half of the last digit below.
        guard
            let unit = units.first(where: {
                nanoseconds.magnitude >= $0.nanoseconds - $0.nanoseconds / 2_000
            })
        else { return "\(nanoseconds)ns" }
        // Where the digits are cut the rounding must not add one: 9.995 is 10.0, not 10.00.
        let digits: Int
        switch nanoseconds.magnitude / (unit.nanoseconds / 1_000) {
        case ..<9_995: digits = 2
        case ..<99_950: digits = 1
        default: digits = 0
        }
        return DecimalText.text(nanoseconds, decimals: unit.decimals, shown: digits...digits) + unit.suffix
    }

    /// `1 scan`, `1,204 batches`.
    package static func count(_ count: some BinaryInteger, _ noun: WorkNoun) -> String {
        Self.count(count, noun.one, noun.many)
    }

    /// Milliseconds with three digits after the point, for machines.
    package static func milliseconds(_ nanoseconds: Int64) -> String {
        DecimalText.text(nanoseconds, decimals: 6, shown: 3...3)
    }

    /// Seconds with three digits after the point, for machines and for times of a run.
    package static func seconds(_ nanoseconds: Int64) -> String {
        DecimalText.text(nanoseconds, decimals: 9, shown: 3...3)
    }

    /// `34.2 s`, `12 min 4 s`, `2 h 5 min`.
    package static func length(_ interval: Interval) -> String {
        let tenths = DecimalText.text(interval.nanoseconds, decimals: 9, shown: 1...1)
        let seconds = interval.nanoseconds / 1_000_000_000
        switch seconds {
        case ..<120: return "\(tenths) s"
        case ..<7_200: return "\(seconds / 60) min \(seconds % 60) s"
        default: return "\(seconds / 3_600) h \(seconds / 60 % 60) min"
        }
    }

    /// `10 s`, `5 min` for lengths of whole seconds.
    package static func length(_ interval: Interval, short: Bool) -> String {
        let seconds = interval.nanoseconds / 1_000_000_000
        guard short, interval.nanoseconds % 1_000_000_000 == 0 else { return Self.length(interval) }
        return seconds % 60 == 0 && seconds > 0 ? "\(seconds / 60) min" : "\(seconds) s"
    }

    /// A time of the run as a clock shows it: `0:07`, `12:30`, `1:02:30`.
    package static func clock(_ nanoseconds: Int64) -> String {
        let seconds = max(0, nanoseconds / 1_000_000_000)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return seconds >= 3_600
            ? "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
            : "\(seconds / 60):\(two(seconds % 60))"
    }

    /// `12`, `12.5`: one digit after the point, unless it is 0.
    package static func tenths(_ value: Double) -> String {
        let tenths = Int(nearest: value * 10)
        return tenths % 10 == 0
            ? String(tenths / 10)
            : "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }

    /// `1,234,567`.
    package static func count(_ count: some BinaryInteger) -> String {
        let digits = Array(String(count.magnitude).utf8)
        var text = count < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }

    /// `1 book`, `2 books`.
    package static func count(_ count: some BinaryInteger, _ one: String, _ many: String) -> String {
        "\(Self.count(count)) \(count == 1 ? one : many)"
    }

    /// `2 books`, `1 row`, without zero counts.
    package static func counts(_ counts: [(count: Int, one: String, many: String)]) -> [String] {
        counts.filter { $0.count > 0 }.map { Self.count($0.count, $0.one, $0.many) }
    }

    /// `a, b and c`; nil for nothing.
    package static func listed(_ parts: [String]) -> String? {
        guard let last = parts.last else { return nil }
        return parts.count == 1 ? last : parts.dropLast().joined(separator: ", ") + " and " + last
    }

    /// The text with a capital at its beginning.
    package static func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }

    /// The share of failed operations in percent: `0.83%`.
    package static func share(_ rate: FailureRate) -> String { Self.percent(Self.perMillion(rate)) }

    /// `0.83%`.
    static func percent(_ perMillion: some BinaryInteger) -> String {
        DecimalText.text(Int64(perMillion), decimals: 4, shown: 0...2) + "%"
    }

    /// Six digits after the point, for machines.
    package static func ratio(_ rate: FailureRate) -> String {
        DecimalText.text(Self.perMillion(rate), decimals: 6, shown: 6...6)
    }

    /// Of no operations, none failed.
    private static func perMillion(_ rate: FailureRate) -> Int64 {
        rate.total == 0 ? 0 : Int64(UInt128(rate.failed) * 1_000_000 / UInt128(rate.total))
    }

    /// `$0.47` in total, `$0.0055` per book, `$1,050.00` per month.
    package static func cost(_ cost: Cost, _ metric: CostMetric) -> String {
        switch metric {
        case .total: Self.dollars(cost.text(shown: 2...4))
        case .perBook: Self.dollars(cost.text(shown: 2...6))
        case .perMonth: Self.dollars(cost.text(shown: 2...2))
        }
    }

    /// `$0.021`.
    static func price(_ microdollars: Int64) -> String { Self.dollars(BookPrices.text(microdollars)) }

    private static func dollars(_ text: String) -> String {
        let whole = text.prefix { $0 != "." }
        return "$" + (UInt64(whole).map { Self.count($0) } ?? String(whole)) + text.dropFirst(whole.count)
    }

    /// `48 MiB`.
    package static func memory(_ bytes: Int64) -> String { "\(Self.count((bytes + (1 << 19)) >> 20)) MiB" }

    /// `2026-11-21 09:30:00 UTC` of an ISO 8601 time.
    package static func date(iso8601 text: String) -> String {
        text.prefix(10) + " " + text.dropFirst(11).prefix(8) + " UTC"
    }
}
