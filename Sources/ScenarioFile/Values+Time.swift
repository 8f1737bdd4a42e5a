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

    private static func ordered<Bound: Comparable>(_ low: Bound, _ high: Bound) throws(ValueError)
        -> ClosedRange<Bound>
    {
        guard low <= high else {
            throw ValueError("a range runs from the smaller to the larger", help: "swap its ends")
        }
        return low...high
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
        let form = "arrivals are a number per time, as in `6/s` or `5/m`"
        var scanner = try ValueScanner(text)
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
        try scanner.expectEnd()
        let per = try count.times(unit)
        let scale = (0..<number.decimals).reduce(Int64(1)) { power, _ in
            power.multipliedReportingOverflow(by: 10).partialValue
        }
        let (scaled, overflow) = per.multipliedReportingOverflow(by: scale)
        guard number.mantissa > 0, per > 0 else {
            throw ValueError(
                "nothing would ever arrive", help: "`devices: 0` is not needed: leave the group out")
        }
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

    // MARK: Faults

    /// `1s`, `1s..3s`, `2 events`, `1..4 events`, `100 bytes`, `2KiB`.
    static func trigger(_ text: String, forms: [TriggerForm]) throws(ValueError) -> FaultTrigger {
        let trigger = try Self.anyTrigger(text)
        let form: TriggerForm? =
            switch trigger {
            case .atOnce: nil
            case .afterTime: .time
            case .afterEvents: .events
            case .afterBytes: .bytes
            }
        if let form, !forms.contains(form) {
            throw ValueError(
                "this fault can wait for \(Self.list(forms.map(\.rawValue))), not for \(form.rawValue)")
        }
        return trigger
    }

    private static func anyTrigger(_ text: String) throws(ValueError) -> FaultTrigger {
        let form =
            "`after` is a time, a number of events or of bytes, as in `1s`, `1..4 events` or `120 bytes`"
        var scanner = try ValueScanner(text)
        guard let low = try scanner.takeNumber() else { throw ValueError(form) }
        // `2 events` and `1..4 events`: the word stands at the end, after plain whole numbers.
        var counting = scanner
        let high = counting.take("..") ? try counting.takeNumber() : low
        counting.skipSpaces()
        let word = counting.takeWord()
        if let high, ["event", "events", "byte", "bytes"].contains(word) {
            try counting.expectEnd()
            let limit = Int64(Int32.max)
            let range = try Self.ordered(low.times(1), high.times(1))
            guard range.upperBound <= limit else { throw ValueError("at most \(limit) \(word)") }
            let whole = Int(range.lowerBound)...Int(range.upperBound)
            return word.hasPrefix("event") ? .afterEvents(whole) : .afterBytes(whole)
        }
        if word.isEmpty {
            throw ValueError(
                "`after` needs a unit",
                help: "write `\(low.text)s`, `\(low.text) events` or `\(low.text) bytes`")
        }
        if text.hasSuffix("B"), let size = try? Self.bytes(text) {
            return .afterBytes(min(size, Int(Int32.max))...min(size, Int(Int32.max)))
        }
        return .afterTime(try Self.durations(text, max: ScenarioLimit.timeMax))
    }

    static func count(_ text: String) throws(ValueError) -> FaultCount {
        switch text {
        case "once": return .oncePerScan
        case "each-attempt": return .eachAttempt
        default:
            guard let count = try? Self.integer(text, 1...1_000_000, what: "a count") else {
                throw ValueError(
                    "`count` is `once` or `each-attempt`, or how often at most per scan, not \(Findings.quoted(text))",
                    help: Self.didYouMean(text, ["once", "each-attempt"]))
            }
            return count == 1 ? .oncePerScan : .perScan(count)
        }
    }

    /// `all`, `50% of devices`, `50%`, or the name of a group.
    static func scope(_ text: String, groups: [String]) throws(ValueError) -> FaultScope {
        if text == "all" { return .everyone }
        if groups.contains(text) { return .group(text) }
        var scanner = try ValueScanner(text)
        if text.unicodeScalars.first.map({ ("0"..."9").contains($0) }) ?? false {
            let share = try Self.share(&scanner)
            scanner.skipSpaces()
            _ = scanner.take("of devices")
            try scanner.expectEnd()
            return .share(share)
        }
        throw ValueError(
            "the fleet has no group \(Findings.quoted(text))",
            help: Self.didYouMean(text, groups + ["all"]) ?? "a share is written `50% of devices`")
    }

    static func cut(_ text: String) throws(ValueError) -> Cut {
        switch text {
        case "between-events": return .betweenEvents
        case "inside-event": return .insideEvent
        case "inside-utf8": return .insideUTF8
        case "inside-line-end": return .insideLineEnd
        default:
            var scanner = try ValueScanner(text)
            if scanner.take("after-bytes("), let number = try scanner.takeNumber(), scanner.take(")") {
                try scanner.expectEnd()
                return .afterBytes(Int(try number.times(1)))
            }
            throw ValueError(
                "a cut is \(Self.list(FaultTable.cutWords + ["after-bytes(N)"])), not \(Findings.quoted(text))",
                help: Self.didYouMean(text, FaultTable.cutWords))
        }
    }

    // MARK: Fleet

    static func spacing(_ text: String) throws(ValueError) -> ArrivalSpacing {
        switch text {
        case "uniform": return .uniform
        case "poisson": return .poisson
        default:
            var scanner = try ValueScanner(text)
            if scanner.take("burst("), let number = try scanner.takeNumber(), scanner.take(")") {
                try scanner.expectEnd()
                guard number.decimals == 0, (1...UInt64(ScenarioLimit.devicesMax)).contains(number.mantissa)
                else {
                    throw ValueError("a burst is of 1 to \(ScenarioLimit.devicesMax) arrivals")
                }
                return .burst(Int(number.mantissa))
            }
            throw ValueError(
                "a spacing is `uniform`, `poisson` or `burst(n)`, not \(Findings.quoted(text))",
                help: Self.didYouMean(text, ["uniform", "poisson"]))
        }
    }

    static func folder(_ text: String) throws(ValueError) -> String {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard text.unicodeScalars.count <= ScenarioLimit.nameCharactersMax,
            parts.allSatisfy({ part in
                !part.isEmpty && part != "." && part != ".."
                    && part.unicodeScalars.allSatisfy(Self.isNameScalar)
            })
        else {
            throw ValueError(
                "photos are the name of a folder under `Images/`, or `{paint: 8}`, not \(Findings.quoted(text))"
            )
        }
        return text
    }
}
