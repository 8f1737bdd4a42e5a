/// Why a value could not be read.
struct ValueError: Error, Hashable {
    /// The range in the value, in Unicode scalars; nil for the whole value.
    var range: Range<Int>?
    var message: String
    var help: String?

    init(_ message: String, help: String? = nil, at range: Range<Int>? = nil) {
        self.range = range
        self.message = message
        self.help = help
    }
}

/// A decimal number as it was written: `mantissa` x 10^-`decimals`.
struct Decimal: Hashable {
    let mantissa: UInt64
    let decimals: Int
    let text: String

    /// The number times `unit`, if that is whole and fits.
    func times(_ unit: Int64) throws(ValueError) -> Int64 {
        let product = UInt128(self.mantissa) * UInt128(unit)
        let divisor = (0..<self.decimals).reduce(UInt128(1)) { power, _ in power * 10 }
        guard product % divisor == 0 else {
            throw ValueError("`\(self.text)` has too many digits")
        }
        guard let value = Int64(exactly: product / divisor) else {
            throw ValueError("`\(self.text)` is too large")
        }
        return value
    }
}

/// Reads a short value from left to right.
struct ValueScanner {
    /// The maximum length of a value of a scenario, except the description.
    static let scalarsMax = 256
    /// More digits than any value needs; within them nothing overflows.
    private static let digitsMax = 18

    private let scalars: [Unicode.Scalar]
    private(set) var offset = 0

    init(_ text: String) throws(ValueError) {
        self.scalars = Array(text.unicodeScalars.prefix(Self.scalarsMax + 1))
        guard self.scalars.count <= Self.scalarsMax else {
            throw ValueError("a value of more than \(Self.scalarsMax) characters")
        }
    }

    var isAtEnd: Bool { self.offset == self.scalars.count }
    var count: Int { self.scalars.count }

    mutating func skipSpaces() { _ = self.take { $0 == " " } }

    mutating func take(while fits: (Unicode.Scalar) -> Bool) -> String {
        let start = self.offset
        while self.offset < self.scalars.count, fits(self.scalars[self.offset]) { self.offset += 1 }
        return String(String.UnicodeScalarView(self.scalars[start..<self.offset]))
    }

    /// Takes this text if it is next.
    mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard self.scalars[self.offset...].starts(with: wanted) else { return false }
        self.offset += wanted.count
        return true
    }

    /// Letters, `%` and whatever else units are made of.
    mutating func takeWord() -> String {
        self.take { $0.properties.isAlphabetic || $0 == "%" || $0 == "-" }
    }

    /// Everything that is left.
    mutating func takeRest() -> String { self.take { _ in true } }

    /// A number; nil, taking nothing, when there is none here. A point counts only before a digit: `1..4` is a range.
    mutating func takeNumber() throws(ValueError) -> Decimal? {
        let start = self.offset
        let whole = self.take { Self.isDigit($0) }
        guard !whole.isEmpty else { return nil }
        var fraction = ""
        if self.offset + 1 < self.scalars.count, self.scalars[self.offset] == ".",
            Self.isDigit(self.scalars[self.offset + 1])
        {
            self.offset += 1
            fraction = self.take { Self.isDigit($0) }
        }
        let text = fraction.isEmpty ? whole : "\(whole).\(fraction)"
        guard whole.count + fraction.count <= Self.digitsMax, let mantissa = UInt64(whole + fraction) else {
            throw ValueError("a number of more than \(Self.digitsMax) digits", at: start..<self.offset)
        }
        return Decimal(mantissa: mantissa, decimals: fraction.count, text: text)
    }

    func expectEnd() throws(ValueError) {
        guard !self.isAtEnd else { return }
        let rest = String(String.UnicodeScalarView(self.scalars[self.offset...]))
        throw ValueError("unexpected \(Findings.quoted(rest))", at: self.offset..<self.count)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}
