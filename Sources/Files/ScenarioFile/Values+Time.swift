import Faults
import Metrics
import Plan
import SimBase

extension Values {
    static func duration(_ text: String, max: Interval) throws(ValueError) -> Interval {
        var scanner = try ValueScanner(text)
        let time = try Self.duration(&scanner, max)
        try scanner.expectEnd()
        return time
    }

    /// `1s..3s`, or one time for both ends.
    static func durations(_ text: String, max: Interval) throws(ValueError) -> ClosedRange<Interval> {
        var scanner = try ValueScanner(text)
        let low = try Self.duration(&scanner, max)
        guard scanner.take("..") else {
            try scanner.expectEnd()
            return low...low
        }
        let high = try Self.duration(&scanner, max)
        try scanner.expectEnd()
        return try Self.ordered(low, high)
    }

    private static func duration(_ scanner: inout ValueScanner, _ max: Interval) throws(ValueError)
        -> Interval
    {
        guard let number = try scanner.takeNumber() else {
            if scanner.takeRest().hasPrefix("lognormal") {
                throw ValueError(
                    "lognormal times are not available yet", help: "use a uniform range such as `1s..3s`")
            }
            throw ValueError("a duration must be a number with a unit, such as `250ms` or `30s`")
        }
        return try Self.duration(number, &scanner, max)
    }

    private static func duration(
        _ number: Decimal, _ scanner: inout ValueScanner, _ max: Interval
    ) throws(ValueError) -> Interval {
        let start = scanner.offset
        let word = scanner.takeWord()
        let unit = try Units.time(word, after: number, at: start..<scanner.offset)
        let time = Interval(nanoseconds: try number.times(unit))
        guard time <= max else { throw ValueError("the maximum time is \(Units.text(max))") }
        return time
    }

    // MARK: Sizes and rates

    static func bytes(_ text: String) throws(ValueError) -> Int {
        var scanner = try ValueScanner(text)
        let size = try Self.bytes(&scanner)
        try scanner.expectEnd()
        return size
    }

    /// `100kB..1MB`, or one size for both ends.
    static func byteRange(_ text: String) throws(ValueError) -> ClosedRange<Int> {
        var scanner = try ValueScanner(text)
        let low = try Self.bytes(&scanner)
        guard scanner.take("..") else {
            try scanner.expectEnd()
            return low...low
        }
        let high = try Self.bytes(&scanner)
        try scanner.expectEnd()
        return try Self.ordered(low, high)
    }

    private static func bytes(_ scanner: inout ValueScanner) throws(ValueError) -> Int {
        guard let number = try scanner.takeNumber() else {
            throw ValueError("a size must be a number with a unit, such as `128KiB`")
        }
        let start = scanner.offset
        let word = scanner.takeWord()
        let unit = try Units.size(word, after: number, at: start..<scanner.offset)
        return Int(try number.times(unit))
    }

    static func bitRate(_ text: String) throws(ValueError) -> Int64 {
        var scanner = try ValueScanner(text)
        guard let number = try scanner.takeNumber() else {
            throw ValueError("the rate of a link must be a number with a unit, such as `780kbps`")
        }
        let start = scanner.offset
        let word = scanner.takeWord()
        let unit = try Units.bitRate(word, after: number, at: start..<scanner.offset)
        try scanner.expectEnd()
        let rate = try number.times(unit)
        guard rate > 0 else {
            throw ValueError(
                "the rate of a link must be above zero", help: "use an `offline` fault for an outage")
        }
        return rate
    }

    /// `6/s`, `5/m`, `1/4s`.
    static func arrivalRate(_ text: String) throws(ValueError) -> ArrivalRate {
        var scanner = try ValueScanner(text)
        let rate = try Self.arrivalRate(&scanner)
        try scanner.expectEnd()
        guard let rate else {
            throw ValueError(
                "the arrival rate is always zero", help: "use a rate above zero, or leave out the group")
        }
        return rate
    }

    /// Parses an arrival rate that may be zero; `0/s` is nil.
    static func arrivalLevel(_ text: String) throws(ValueError) -> ArrivalRate? {
        var scanner = try ValueScanner(text)
        let rate = try Self.arrivalRate(&scanner)
        try scanner.expectEnd()
        return rate
    }

    /// A rate of steps: above zero, and a whole number per hour.
    static func stepRate(_ text: String) throws(ValueError) -> StepRate {
        guard let rate = try Self.arrivalLevel(text) else {
            throw ValueError("the rate of a step must be above zero", help: "for example `10/s`")
        }
        guard let hourly = rate.perHour else {
            throw ValueError(
                "the rate of a step must be a whole number of arrivals per hour",
                help: "for example `10/s`, `2.5/s` or `30/m`")
        }
        return hourly
    }

    /// `5/s..50/s`.
    static func arrivalRamp(_ text: String) throws(ValueError) -> (from: ArrivalRate?, to: ArrivalRate?) {
        var scanner = try ValueScanner(text)
        let from = try Self.arrivalRate(&scanner)
        guard scanner.take("..") else {
            throw ValueError(
                "a ramp needs two rates, such as `5/s..50/s`",
                help: "for a constant rate, write `{rate: \(text), for: 10s}`")
        }
        let to = try Self.arrivalRate(&scanner)
        try scanner.expectEnd()
        return (from, to)
    }

    /// Nil is a rate of none.
    private static func arrivalRate(_ scanner: inout ValueScanner) throws(ValueError) -> ArrivalRate? {
        let form = "arrivals must be a number per time, such as `6/s` or `5/m`"
        guard let number = try scanner.takeNumber() else { throw ValueError(form) }
        scanner.skipSpaces()
        guard scanner.take("/") else {
            throw ValueError(
                scanner.isAtEnd ? "a rate needs a unit" : form,
                help: scanner.isAtEnd ? "write `\(number.text)/s` or `\(number.text)/m`" : nil)
        }
        scanner.skipSpaces()
        let count = try scanner.takeNumber() ?? Decimal(mantissa: 1, decimals: 0, text: "1")
        let start = scanner.offset
        let word = scanner.takeWord()
        let unit = try Units.time(word, after: count, at: start..<scanner.offset)
        let per = try count.times(unit)
        let scale = (0..<number.decimals).reduce(Int64(1)) { power, _ in
            power.multipliedReportingOverflow(by: 10).partialValue
        }
        let (scaled, overflow) = per.multipliedReportingOverflow(by: scale)
        guard per > 0 else { throw ValueError("the time of an arrival rate must be above zero") }
        guard number.mantissa > 0 else { return nil }
        guard !overflow else { throw ValueError("`\(number.text)` has too many digits") }
        let rate = ArrivalRate(arrivals: Int64(number.mantissa), per: Interval(nanoseconds: scaled))
        let limit = ScenarioLimit.arrivalsPerSecondMax
        guard UInt128(rate.arrivals) * 1_000_000_000 <= UInt128(limit) * UInt128(rate.per.nanoseconds) else {
            throw ValueError("the maximum is \(limit) arrivals per second")
        }
        return rate
    }

    /// `10 per 20m`.
    static func quota(_ text: String) throws(ValueError) -> Quota {
        let form = "a quota must be a number per time, such as `10 per 20m`"
        var scanner = try ValueScanner(text)
        guard let number = try scanner.takeNumber() else { throw ValueError(form) }
        scanner.skipSpaces()
        guard number.decimals == 0, scanner.take("per ") else { throw ValueError(form) }
        scanner.skipSpaces()
        let window = try Self.duration(&scanner, ScenarioLimit.timeMax)
        try scanner.expectEnd()
        guard window > .zero else { throw ValueError("the time of a quota must be above zero") }
        return Quota(requests: Int(number.mantissa), window: window)
    }
}
