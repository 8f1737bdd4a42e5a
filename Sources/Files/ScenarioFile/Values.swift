import Faults
import Metrics
import Plan
import SimBase

/// The values of scenario files: text in, typed value out, or an error that says what to write instead.
enum Values {
    // MARK: Words

    static func boolean(_ text: String) throws(ValueError) -> Bool {
        switch text {
        case "on", "true": true
        case "off", "false": false
        case "yes", "Yes", "YES", "True", "TRUE", "On", "ON", "1":
            throw ValueError(
                "expected `on` or `off`, not \(Findings.quoted(text))", help: "did you mean `on`?")
        case "no", "No", "NO", "False", "FALSE", "Off", "OFF", "0":
            throw ValueError(
                "expected `on` or `off`, not \(Findings.quoted(text))", help: "did you mean `off`?")
        default:
            throw ValueError("expected `on` or `off`, not \(Findings.quoted(text))")
        }
    }

    /// Parses one of some words.
    static func choice(_ text: String, of words: [String], what: String) throws(ValueError) -> String {
        guard words.contains(text) else {
            throw ValueError(
                "\(what) must be \(Self.list(words)), not \(Findings.quoted(text))",
                help: Self.didYouMean(text, words))
        }
        return text
    }

    /// A name that is allowed in paths, in metrics and in other names.
    static func name(_ text: String, what: String) throws(ValueError) -> String {
        let limit = ScenarioLimit.nameCharactersMax
        guard text.unicodeScalars.count <= limit else {
            throw ValueError("\(what) can have at most \(limit) characters")
        }
        guard let first = text.unicodeScalars.first, first != ".", first != "-",
            text.unicodeScalars.allSatisfy(Self.isNameScalar)
        else {
            throw ValueError(
                "\(what) must consist of letters, digits, `-`, `_` and `.`, and begin with a letter, digit or `_`"
            )
        }
        return text
    }

    static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "-_.".unicodeScalars.contains(scalar))
    }

    // MARK: Numbers

    static func integer(_ text: String, _ range: ClosedRange<Int>, what: String) throws(ValueError) -> Int {
        var scanner = try ValueScanner(text)
        let value = try Self.integer(&scanner, what)
        try scanner.expectEnd()
        return try Self.check(value, range, what)
    }

    /// `3..8`, or one number for both ends.
    static func integers(_ text: String, _ range: ClosedRange<Int>, what: String) throws(ValueError)
        -> ClosedRange<Int>
    {
        var scanner = try ValueScanner(text)
        let low = try Self.check(Self.integer(&scanner, what), range, what)
        guard scanner.take("..") else {
            try scanner.expectEnd()
            return low...low
        }
        let high = try Self.check(Self.integer(&scanner, what), range, what)
        try scanner.expectEnd()
        return try Self.ordered(low, high)
    }

    /// `0.3..0.99`, or one number for both ends, in thousandths.
    static func thousandths(_ text: String, _ key: String) throws(ValueError) -> ClosedRange<Int> {
        var scanner = try ValueScanner(text)
        let low = try Self.thousandths(&scanner, key)
        let high = scanner.take("..") ? try Self.thousandths(&scanner, key) : low
        try scanner.expectEnd()
        return try Self.ordered(low, high)
    }

    private static func thousandths(_ scanner: inout ValueScanner, _ key: String) throws(ValueError) -> Int {
        let start = scanner.offset
        guard let number = try scanner.takeNumber() else {
            throw ValueError("`\(key)` must be a number from 0 to 1, or a range such as `0.3..0.99`")
        }
        guard let value = try? number.times(1_000), value <= 1_000 else {
            throw ValueError(
                "`\(key)` must be from 0 to 1 with at most three decimals, not `\(number.text)`",
                at: start..<scanner.offset)
        }
        return Int(value)
    }

    /// An amount in dollars, in millionths.
    static func dollars(_ text: String, _ key: String) throws(ValueError) -> Int64 {
        var scanner = try ValueScanner(text)
        let hasSign = scanner.take("$")
        guard let number = try scanner.takeNumber() else {
            throw ValueError("`\(key)` must be an amount in dollars, such as `0.021`")
        }
        guard !hasSign else {
            throw ValueError("`\(key)` must be a number, without a sign", help: "write `\(number.text)`")
        }
        try scanner.expectEnd()
        let max = BookPrices.priceMax
        guard let amount = try? number.times(1_000_000), amount <= max else {
            throw ValueError(
                "`\(key)` must be from 0 to \(BookPrices.text(max)) dollars with at most \(BookPrices.decimals) decimals, not `\(number.text)`"
            )
        }
        return amount
    }

    static func seed(_ text: String) throws(ValueError) -> UInt64 {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seed = UInt64(text)
        else {
            throw ValueError("a seed must be a whole number from 0 to \(UInt64.max)")
        }
        return seed
    }

    private static func integer(_ scanner: inout ValueScanner, _ what: String) throws(ValueError) -> Int {
        guard let number = try scanner.takeNumber() else {
            throw ValueError("\(what) must be a whole number")
        }
        guard number.decimals == 0 else {
            throw ValueError("\(what) must be a whole number, not `\(number.text)`")
        }
        return Int(number.mantissa)
    }

    private static func check(_ value: Int, _ range: ClosedRange<Int>, _ what: String) throws(ValueError)
        -> Int
    {
        guard range.contains(value) else {
            throw ValueError(
                "\(what) must be a number from \(range.lowerBound) to \(range.upperBound), not \(value)")
        }
        return value
    }

    static func ordered<Bound: Comparable>(_ low: Bound, _ high: Bound) throws(ValueError)
        -> ClosedRange<Bound>
    {
        guard low <= high else {
            throw ValueError("a range must begin with its smaller value", help: "swap the two values")
        }
        return low...high
    }

    // MARK: Shares

    static func share(_ text: String) throws(ValueError) -> Odds {
        var scanner = try ValueScanner(text)
        let share = try Self.share(&scanner)
        try scanner.expectEnd()
        return share
    }

    static func share(_ scanner: inout ValueScanner) throws(ValueError) -> Odds {
        let perMillion = try Self.perMillion(&scanner)
        guard perMillion <= 1_000_000 else { throw ValueError("the maximum share is 100%") }
        return Odds(perMillion: UInt32(perMillion))
    }

    /// A number in per cent, as large as it may be.
    static func perMillion(_ scanner: inout ValueScanner) throws(ValueError) -> Int64 {
        guard let number = try scanner.takeNumber() else {
            throw ValueError("a share must be a percentage, such as `30%`")
        }
        let unitStart = scanner.offset
        let unit = scanner.takeWord()
        guard unit == "%" else {
            guard unit.isEmpty else {
                throw ValueError("the unit of a share is %, not `\(unit)`", at: unitStart..<scanner.offset)
            }
            scanner.skipSpaces()
            if scanner.takeWord() == "%" {
                throw ValueError("a space before the unit of a share", help: "write `\(number.text)%`")
            }
            // 0.3 may be meant as a fraction, 30 hardly.
            let fraction = number.decimals > 0 ? try? number.times(10_000 * 100) : nil
            let meant = fraction.map { Units.percent(Int64(min($0, 1_000_000))) }
            throw ValueError(
                "a share needs a unit", help: "write `\(number.text)%`" + (meant.map { " or `\($0)`" } ?? ""))
        }
        return try number.times(10_000)
    }

    // MARK: Lists of words

    static func list(_ words: [String]) -> String {
        let quoted = words.map { "`\($0)`" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "nothing" }
        return quoted.dropLast().joined(separator: ", ") + " or " + last
    }

    /// The word that was probably meant, and all that there are.
    static func choices(_ word: String, _ words: [String]) -> String {
        let all = "use \(self.list(words))"
        return self.didYouMean(word, words).map { "\($0) \(all)" } ?? all
    }

    static func didYouMean(_ word: String, _ words: [String]) -> String? {
        Spelling.nearest(to: word, among: words).map { "did you mean `\($0)`?" }
    }
}
