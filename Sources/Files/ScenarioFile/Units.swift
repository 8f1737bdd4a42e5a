import Faults
import Metrics
import SimBase

/// The units of scenario files, both ways.
enum Units {
    // MARK: Times

    private static let times: [(word: String, nanoseconds: Int64)] = TimeUnit.allCases.map {
        ($0.rawValue, $0.nanoseconds)
    }
    private static let timeSynonyms = [
        "sec": "s", "secs": "s", "second": "s", "seconds": "s", "S": "s", "msec": "ms", "millis": "ms",
        "milliseconds": "ms", "usec": "us", "µs": "us", "μs": "us", "min": "m", "mins": "m", "minute": "m",
        "minutes": "m", "hr": "h", "hour": "h", "hours": "h",
    ]

    /// The length of the unit, or why the word is not a unit. `number` is the text before it.
    static func time(_ word: String, after number: Decimal, at range: Range<Int>) throws(ValueError) -> Int64
    {
        if let unit = self.times.first(where: { $0.word == word }) { return unit.nanoseconds }
        guard !word.isEmpty else {
            throw ValueError("a duration needs a unit", help: "write `\(number.text)ms` or `\(number.text)s`")
        }
        if word == "d" || word == "days" || word == "day" {
            throw ValueError(
                "the units of a duration are ns, us, ms, s, m and h", help: "write a day as 24h", at: range)
        }
        throw ValueError(
            "unknown unit \(Findings.quoted(word)): the units of a duration are ns, us, ms, s, m and h",
            help: self.timeSynonyms[word].map { "did you mean `\(number.text)\($0)`?" }, at: range)
    }

    /// Returns the time in the largest unit that needs no decimal point.
    static func text(_ time: Interval) -> String {
        guard time != .zero else { return "0s" }
        let unit = self.times.last { time.nanoseconds % $0.nanoseconds == 0 } ?? self.times[0]
        return "\(time.nanoseconds / unit.nanoseconds)\(unit.word)"
    }

    static func text(_ range: ClosedRange<Interval>) -> String {
        range.lowerBound == range.upperBound
            ? self.text(range.lowerBound) : "\(self.text(range.lowerBound))..\(self.text(range.upperBound))"
    }

    // MARK: Counts

    static func text(_ count: FaultCount) -> String {
        switch count {
        case .oncePerScan: "once"
        case .eachAttempt: "each-attempt"
        case .perScan(let count): String(count)
        }
    }

    // MARK: Sizes

    private static let sizes: [(word: String, bytes: Int64)] = [
        ("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ]

    static func size(_ word: String, after number: Decimal, at range: Range<Int>) throws(ValueError) -> Int64
    {
        if let unit = self.sizes.first(where: { $0.word == word }) { return unit.bytes }
        guard !word.isEmpty else {
            throw ValueError("a size needs a unit", help: "write `\(number.text)B` or `\(number.text)KiB`")
        }
        let meant = self.sizes.first { $0.word.lowercased() == word.lowercased() }
        throw ValueError(
            "unknown unit \(Findings.quoted(word)): the units of a size are B, kB, MB, GB, KiB, MiB and GiB",
            help: meant.map { "did you mean `\(number.text)\($0.word)`?" }, at: range)
    }

    static func text(bytes: Int) -> String {
        let largest = self.sizes.filter { bytes > 0 && Int64(bytes) % $0.bytes == 0 }.max {
            $0.bytes < $1.bytes
        }
        let unit = largest ?? self.sizes[0]
        return "\(Int64(bytes) / unit.bytes)\(unit.word)"
    }

    static func text(byteRange range: ClosedRange<Int>) -> String {
        let low = self.text(bytes: range.lowerBound)
        return range.count == 1 ? low : "\(low)..\(self.text(bytes: range.upperBound))"
    }

    // MARK: Rates of a link

    private static let bitRates: [(word: String, bits: Int64)] = [
        ("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000),
    ]

    static func bitRate(_ word: String, after number: Decimal, at range: Range<Int>) throws(ValueError)
        -> Int64
    {
        if let unit = self.bitRates.first(where: { $0.word == word }) { return unit.bits }
        guard !word.isEmpty else {
            throw ValueError(
                "the rate of a link needs a unit", help: "write `\(number.text)kbps` or `\(number.text)Mbps`")
        }
        let meant = self.bitRates.first { $0.word.lowercased() == word.lowercased() }
        throw ValueError(
            "unknown unit \(Findings.quoted(word)): the units of a link rate are bps, kbps, Mbps and Gbps",
            help: meant.map { "did you mean `\(number.text)\($0.word)`?" }, at: range)
    }

    static func text(bitsPerSecond rate: Int64) -> String {
        let unit = self.bitRates.last { rate % $0.bits == 0 } ?? self.bitRates[0]
        return "\(rate / unit.bits)\(unit.word)"
    }

    // MARK: Shares

    static func percent(_ perMillion: Int64) -> String {
        DecimalText.text(perMillion, decimals: 4, shown: 0...4) + "%"
    }

    static func text(thousandths range: ClosedRange<Int>) -> String {
        let ends = [range.lowerBound, range.upperBound].map {
            DecimalText.text(Int64($0), decimals: 3, shown: 0...3)
        }
        return ends[0] == ends[1] ? ends[0] : ends.joined(separator: "..")
    }
}
