import Faults
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
                throw ValueError("lognormal times are not available yet", help: "`1s..3s` is a uniform range")
            }
            throw ValueError("a duration is a number with a unit, as in `250ms` or `30s`")
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
        guard time <= max else { throw ValueError("a time of at most \(Units.text(max))") }
        return time
    }

    // MARK: Sizes and rates

    static func bytes(_ text: String) throws(ValueError) -> Int {
        var scanner = try ValueScanner(text)
        guard let number = try scanner.takeNumber() else {
            throw ValueError("a size is a number with a unit, as in `128KiB`")
        }
        let start = scanner.offset
        let word = scanner.takeWord()
        let unit = try Units.size(word, after: number, at: start..<scanner.offset)
        try scanner.expectEnd()
        return Int(try number.times(unit))
    }

    static func bitRate(_ text: String) throws(ValueError) -> Int64 {
        var scanner = try ValueScanner(text)
        guard let number = try scanner.takeNumber() else {
            throw ValueError("the rate of a link is a number with a unit, as in `780kbps`")
        }
        let start = scanner.offset
        let word = scanner.takeWord()
        let unit = try Units.bitRate(word, after: number, at: start..<scanner.offset)
        try scanner.expectEnd()
        let rate = try number.times(unit)
        guard rate > 0 else { throw ValueError("a link of no bits per second", help: "`offline` is a fault") }
        return rate
    }

    /// `6/s`, `5/m`, `1/4s`.
    static func arrivalRate(_ text: String) throws(ValueError) -> ArrivalRate {
        var scanner = try ValueScanner(text)
        let rate = try Self.arrivalRate(&scanner)
        try scanner.expectEnd()
        guard let rate else {
            throw ValueError(
                "nothing would ever arrive", help: "`devices: 0` is not needed: leave the group out")
        }
        return rate
    }

    /// The same where nothing may arrive for a while: nil is `0/s`.
    static func arrivalLevel(_ text: String) throws(ValueError) -> ArrivalRate? {
        var scanner = try ValueScanner(text)
        let rate = try Self.arrivalRate(&scanner)
        try scanner.expectEnd()
        return rate
    }

    /// `5/s..50/s`.
    static func arrivalRamp(_ text: String) throws(ValueError) -> (from: ArrivalRate?, to: ArrivalRate?) {
        var scanner = try ValueScanner(text)
        let from = try Self.arrivalRate(&scanner)
        guard scanner.take("..") else {
            throw ValueError(
                "a ramp runs from one rate to another, as in `5/s..50/s`",
                help: "a stage at one rate is `{rate: \(text), for: 10s}`")
        }
        let to = try Self.arrivalRate(&scanner)
        try scanner.expectEnd()
        return (from, to)
    }

    /// Nil is a rate of none.
    private static func arrivalRate(_ scanner: inout ValueScanner) throws(ValueError) -> ArrivalRate? {
        let form = "arrivals are a number per time, as in `6/s` or `5/m`"
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
        guard per > 0 else { throw ValueError("a rate of arrivals in no time") }
        guard number.mantissa > 0 else { return nil }
        guard !overflow else { throw ValueError("`\(number.text)` has more digits than can be told apart") }
        let rate = ArrivalRate(arrivals: Int64(number.mantissa), per: Interval(nanoseconds: scaled))
        let limit = ScenarioLimit.arrivalsPerSecondMax
        guard UInt128(rate.arrivals) * 1_000_000_000 <= UInt128(limit) * UInt128(rate.per.nanoseconds) else {
            throw ValueError("at most \(limit) arrivals a second")
        }
        return rate
    }

    /// `10 per 20m`.
    static func quota(_ text: String) throws(ValueError) -> Quota {
        let form = "a quota is a number per time, as in `10 per 20m`"
        var scanner = try ValueScanner(text)
        guard let number = try scanner.takeNumber() else { throw ValueError(form) }
        scanner.skipSpaces()
        guard number.decimals == 0, scanner.take("per ") else { throw ValueError(form) }
        scanner.skipSpaces()
        let window = try Self.duration(&scanner, ScenarioLimit.timeMax)
        try scanner.expectEnd()
        guard window > .zero else { throw ValueError("a quota needs a time above zero") }
        return Quota(requests: Int(number.mantissa), window: window)
    }
}
