import SimBase

extension SLOCondition {
    /// Reads `aggregation operator threshold [span]` (k6's thresholds, with mandatory units) for a metric of this kind:
    /// `p(95) < 400ms`, `rate < 1% over 30s`, `count == 0 within 10s of offline-1.end`.
    package init(parsing text: String, for kind: MetricKind) throws(SLOError) {
        var scanner = try SLOScanner(text)
        scanner.skipSpaces()
        let (aggregation, measure) = try Self.aggregation(&scanner, kind)
        scanner.skipSpaces()
        let comparison = try Self.comparison(&scanner)
        scanner.skipSpaces()
        let threshold = try Self.threshold(&scanner, measure)
        let span = try Self.span(&scanner)
        try scanner.expectEnd(after: span == .wholeRun ? "the threshold" : "the condition")
        self.init(aggregation: aggregation, comparison: comparison, threshold: threshold, span: span)
    }

    // MARK: Aggregation

    private static func aggregation(
        _ scanner: inout SLOScanner, _ kind: MetricKind
    ) throws(SLOError) -> (Aggregation, SLOMeasure) {
        let start = scanner.offset
        let word = scanner.take {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_"
        }
        guard !word.isEmpty else { throw scanner.error("expected \(kind.aggregationsText)", at: start) }
        guard let aggregation = try Self.aggregation(named: word, at: start, &scanner) else {
            throw scanner.error(
                "unknown aggregation `\(SLOScanner.quoted(word))`", at: start,
                suggestion: Self.meantAggregation(word, kind))
        }
        guard let measure = aggregation.measure(of: kind) else {
            throw scanner.error(
                "\(kind.text) has no `\(aggregation)`: use \(kind.aggregationsText)", at: start,
                suggestion: kind.aggregationWords.first)
        }
        return (aggregation, measure)
    }

    private static func aggregation(
        named word: String, at start: Int, _ scanner: inout SLOScanner
    ) throws(SLOError) -> Aggregation? {
        switch word {
        case "avg": .average
        case "min": .minimum
        case "max": .maximum
        case "med": .median
        case "count": .count
        case "rate": .rate
        case "value": .value
        case "p": .percentile(try Self.percentile(&scanner))
        default: nil
        }
    }

    /// Parses the part after `p`.
    private static func percentile(_ scanner: inout SLOScanner) throws(SLOError) -> Percentile {
        scanner.skipSpaces()
        guard scanner.take("(") else {
            throw scanner.error("expected `(` and a percentile, as in `p(95)`")
        }
        scanner.skipSpaces()
        let start = scanner.offset
        let number = try DecimalNumber(&scanner)
        scanner.skipSpaces()
        guard scanner.take(")") else { throw scanner.error("expected `)` after the percentile") }
        switch number.scaled(by: 10_000) {
        case .exactly(let perMillion) where (1...1_000_000).contains(perMillion):
            return Percentile(perMillion: UInt32(perMillion))
        case .exactly, .tooLarge:
            throw scanner.error("a percentile is above 0 and at most 100", at: start)
        case .tooFine:
            throw scanner.error("a percentile has at most 4 digits after the point", at: start)
        }
    }

    /// The word in the grammar for what was written; people come from other tools.
    private static func meantAggregation(_ word: String, _ kind: MetricKind) -> String? {
        let lowercased = word.lowercased()
        let digits = lowercased.dropFirst()
        if kind == .latency, lowercased.hasPrefix("p"), (1...6).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        {
            // p999 is how others write p(99.9).
            if digits.count <= 2 || digits == "100" { return "p(\(digits))" }
            return "p(\(digits.prefix(2)).\(digits.dropFirst(2)))"
        }
        let known = kind.aggregationWords
        let synonyms = [
            ("mean", "avg"), ("average", "avg"), ("median", "med"), ("minimum", "min"), ("maximum", "max"),
            ("p", "p(95)"), ("percentile", "p(95)"), ("perc", "p(95)"), ("total", "count"), ("sum", "count"),
            ("ratio", "rate"),
            ("percent", "rate"),
        ]
        if let meant = synonyms.first(where: { $0.0 == lowercased })?.1, known.contains(meant) {
            return meant
        }
        return Spelling.nearest(to: word, among: known)
    }

    // MARK: Operator

    private static func comparison(_ scanner: inout SLOScanner) throws(SLOError) -> Comparison {
        let start = scanner.offset
        let word = scanner.take { "<>=!~≤≥≠".unicodeScalars.contains($0) }
        if let comparison = Comparison(rawValue: word) { return comparison }
        guard !word.isEmpty else {
            throw scanner.error("expected an operator: <, <=, >, >=, == or !=", at: start)
        }
        let meant = [
            ("=", "=="), ("===", "=="), ("=<", "<="), ("=>", ">="), ("<>", "!="), ("!", "!="), ("!==", "!="),
            ("≤", "<="), ("≥", ">="), ("≠", "!="),
        ]
        throw scanner.error(
            "unknown operator `\(SLOScanner.quoted(word))`", at: start,
            suggestion: meant.first { $0.0 == word }?.1)
    }

    // MARK: Threshold

    private static func threshold(_ scanner: inout SLOScanner, _ measure: SLOMeasure) throws(SLOError)
        -> Threshold
    {
        let start = scanner.offset
        if measure == .money, scanner.next == "$" {
            throw scanner.error("a cost is a number of dollars without a sign, such as `0.01`", at: start)
        }
        let number = try DecimalNumber(&scanner)
        // A unit follows at once, as everywhere in a scenario: after a space it would be some other word.
        let unitStart = scanner.offset
        let unit = scanner.take { $0.properties.isAlphabetic || $0 == "%" }
        switch measure {
        case .time:
            let scale = try Self.timeUnit(unit, at: unitStart, after: number, from: start, scanner)
            switch number.scaled(by: scale.nanoseconds) {
            case .exactly(let nanoseconds): return .time(nanoseconds: nanoseconds)
            case .tooFine: throw scanner.error("a time is a whole number of nanoseconds", at: start)
            case .tooLarge: throw scanner.error("a time of more than 292 years", at: start)
            }
        case .share: return try Self.share(number, unit, at: unitStart, from: start, scanner)
        case .number:
            guard unit.isEmpty else { throw scanner.error("a count has no unit", at: unitStart) }
            switch number.scaled(by: 1) {
            case .exactly(let value): return .number(value)
            case .tooFine: throw scanner.error("a count is a whole number", at: start)
            case .tooLarge: throw scanner.error("a count of more than 63 bits", at: start)
            }
        case .money:
            guard unit.isEmpty else {
                throw scanner.error("a cost is a number of dollars without a unit", at: unitStart)
            }
            switch number.scaled(by: 1_000_000) {
            case .exactly(let microdollars): return .money(microdollars: microdollars)
            case .tooFine:
                throw scanner.error("a cost has at most 6 digits after the point", at: start)
            case .tooLarge: throw scanner.error("a cost of more than 9 trillion dollars", at: start)
            }
        }
    }

    private static func share(
        _ number: DecimalNumber, _ unit: String, at unitStart: Int, from start: Int, _ scanner: SLOScanner
    ) throws(SLOError) -> Threshold {
        guard unit == "%" else {
            throw scanner.error(
                unit.isEmpty
                    ? "a rate needs a unit: %"
                    : "the unit of a rate is %, not `\(SLOScanner.quoted(unit))`",
                at: unit.isEmpty ? start : unitStart, suggestion: unit.isEmpty ? number.asShare : "%")
        }
        switch number.scaled(by: 10_000) {
        case .exactly(let perMillion) where perMillion <= 1_000_000: return .share(perMillion: perMillion)
        case .exactly, .tooLarge: throw scanner.error("a rate is at most 100%", at: start)
        case .tooFine: throw scanner.error("a rate has at most 4 digits after the point", at: start)
        }
    }

    // MARK: Span

    private static func span(_ scanner: inout SLOScanner) throws(SLOError) -> SLOSpan {
        scanner.skipSpaces()
        let start = scanner.offset
        let word = scanner.take { $0.properties.isAlphabetic }
        switch word {
        case "": return .wholeRun
        case "over": return .everyWindow(try Self.length(&scanner, after: word))
        case "within":
            let length = try Self.length(&scanner, after: word)
            return .afterFault(id: try Self.faultEnd(&scanner), within: length)
        default:
            throw scanner.error(
                "unexpected `\(SLOScanner.quoted(word))` after the threshold", at: start,
                suggestion: Spelling.nearest(to: word, among: ["over", "within"])
                    ?? ["every", "per", "each", "in"].first { $0 == word }.map { _ in "over" })
        }
    }

    private static func length(_ scanner: inout SLOScanner, after word: String) throws(SLOError) -> Interval {
        scanner.skipSpaces()
        let start = scanner.offset
        guard scanner.next != nil else {
            throw scanner.error("expected a time after `\(word)`, as in `\(word) 30s`")
        }
        guard case .time(let nanoseconds) = try Self.threshold(&scanner, .time), nanoseconds > 0 else {
            throw scanner.error("the time after `\(word)` is above 0", at: start)
        }
        return Interval(nanoseconds: nanoseconds)
    }

    /// `of <fault id>.end`
    private static func faultEnd(_ scanner: inout SLOScanner) throws(SLOError) -> String {
        scanner.skipSpaces()
        let start = scanner.offset
        guard scanner.take(while: { $0.properties.isAlphabetic }) == "of" else {
            throw scanner.error("expected `of` and the end of a fault, as in `of offline-1.end`", at: start)
        }
        scanner.skipSpaces()
        let offset = scanner.offset
        let word = scanner.take { $0 != " " && $0 != "\t" }
        guard word.hasSuffix(".end"), word.count > ".end".count else {
            throw scanner.error(
                "expected the end of a fault, as in `offline-1.end`", at: offset,
                suggestion: word.isEmpty || word.contains(".") ? nil : "\(SLOScanner.quoted(word)).end")
        }
        return String(word.dropLast(".end".count))
    }

    private static func timeUnit(
        _ word: String, at unitStart: Int, after number: DecimalNumber, from start: Int, _ scanner: SLOScanner
    ) throws(SLOError) -> TimeUnit {
        if let unit = TimeUnit(rawValue: word) { return unit }
        guard !word.isEmpty else {
            var error = scanner.error("a time needs a unit: ns, us, ms, s, m or h", at: start)
            error.choices = "write `\(number.digits)s` or `\(number.digits)ms`"
            throw error
        }
        let synonyms = [
            ("sec", "s"), ("secs", "s"), ("second", "s"), ("seconds", "s"), ("msec", "ms"), ("millis", "ms"),
            ("usec", "us"), ("µs", "us"), ("μs", "us"), ("min", "m"), ("mins", "m"), ("minutes", "m"),
            ("hr", "h"), ("hour", "h"), ("hours", "h"),
        ]
        throw scanner.error(
            "unknown unit `\(SLOScanner.quoted(word))`: the units of a time are ns, us, ms, s, m and h",
            at: unitStart,
            suggestion: synonyms.first { $0.0 == word }?.1
                ?? Spelling.nearest(to: word, among: TimeUnit.allCases.map(\.rawValue)))
    }
}

extension MetricKind {
    /// The kind with its article, for error messages.
    fileprivate var text: String {
        switch self {
        case .latency: "a latency"
        case .rate: "a failure rate"
        case .count: "a count"
        case .answers: "a count of answers"
        case .cost: "a cost"
        }
    }

    fileprivate var aggregationWords: [String] {
        switch self {
        case .latency: ["p(95)", "avg", "min", "max", "med", "count"]
        case .rate: ["rate", "count"]
        case .count: ["count", "value"]
        case .answers: ["rate", "count", "value"]
        case .cost: ["value"]
        }
    }

    fileprivate var aggregationsText: String {
        switch self {
        case .latency: "avg, min, max, med, p(N) or count"
        case .rate: "rate or count"
        case .count: "count or value"
        case .answers: "rate, count or value"
        case .cost: "value"
        }
    }
}
