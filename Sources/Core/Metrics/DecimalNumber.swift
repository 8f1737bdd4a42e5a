/// A decimal number as it was written: it becomes a whole number of some small unit, or it does not fit.
struct DecimalNumber {
    enum Scaled: Equatable {
        case exactly(Int64)
        /// Something is left over below one unit.
        case tooFine
        case tooLarge
    }

    /// More digits than any nanosecond of a run needs.
    private static let digitsMax = 18

    /// The text, which consists of digits and at most one point.
    let digits: String
    private let mantissa: UInt128
    private let fractionDigits: Int

    init(_ scanner: inout SLOScanner) throws(SLOError) {
        let start = scanner.offset
        if scanner.next == "-" { throw scanner.error("a number here cannot be negative") }
        let whole = scanner.take { ("0"..."9").contains($0) }
        guard !whole.isEmpty else { throw scanner.error("expected a number") }
        var fraction = ""
        if scanner.take(".") {
            fraction = scanner.take { ("0"..."9").contains($0) }
            guard !fraction.isEmpty else { throw scanner.error("expected a digit after the point") }
        }
        guard whole.utf8.count + fraction.utf8.count <= Self.digitsMax else {
            throw scanner.error("a number of more than \(Self.digitsMax) digits", at: start)
        }
        self.digits = fraction.isEmpty ? whole : whole + "." + fraction
        self.mantissa = (whole + fraction).utf8.reduce(0) { $0 * 10 + UInt128($1 - 0x30) }
        self.fractionDigits = fraction.utf8.count
    }

    /// Returns the number in small units. One unit of the number is `units` of them. Never overflows: 10^18 ×
    /// 3.6 × 10^12 ns per hour is far below 2^128.
    func scaled(by units: Int64) -> Scaled {
        let divisor = (0..<self.fractionDigits).reduce(UInt128(1)) { power, _ in power * 10 }
        let (quotient, remainder) = (self.mantissa * UInt128(units)).quotientAndRemainder(dividingBy: divisor)
        guard remainder == 0 else { return .tooFine }
        return Int64(exactly: quotient).map { .exactly($0) } ?? .tooLarge
    }

    /// The likely meaning of a rate without `%`: a fraction if possible, otherwise percent.
    var asShare: String {
        guard self.fractionDigits > 0, case .exactly(let perMillion) = self.scaled(by: 1_000_000),
            perMillion <= 1_000_000
        else { return self.digits + "%" }
        return DecimalText.text(perMillion, decimals: 4, shown: 0...4) + "%"
    }
}
