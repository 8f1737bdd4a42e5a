import SimBase

/// The conversion of whole numbers of small units to decimal text, by integer arithmetic: the text is exactly
/// the compared value.
package enum DecimalText {
    /// `value` × 10^-`decimals`, with as many digits after the point as needed but within `shown`; what does not fit
    /// is rounded (halves away from zero). `text(1_250, decimals: 3, shown: 0...2)` is `1.25`.
    package static func text(_ value: Int64, decimals: Int, shown: ClosedRange<Int>) -> String {
        let rounded = Self.rounded(
            value.magnitude, decimals: decimals, to: Swift.min(decimals, shown.upperBound))
        let scale = Self.powerOfTen(decimals)
        let (whole, rest) = rounded.quotientAndRemainder(dividingBy: scale)
        var (fraction, digits) = (rest, decimals)
        while digits > Swift.min(decimals, shown.lowerBound), fraction.isMultiple(of: 10) {
            fraction /= 10
            digits -= 1
        }
        var text: [UInt8] = []
        text.reserveCapacity(32)
        if value < 0 { text.append(UInt8(ascii: "-")) }
        text.append(text: String(whole))
        if digits > 0 {
            text.append(UInt8(ascii: "."))
            Decimal.append(fraction, digits: digits, to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nanoseconds with the unit that suits their size, as the SLO grammar writes it: `312.4ms`.
    package static func time(_ nanoseconds: Int64, digits shown: Int) -> String {
        let unit = TimeUnit.suiting(nanoseconds)
        return Self.text(nanoseconds, decimals: unit.decimals, shown: 0...shown) + unit.rawValue
    }

    /// Nanoseconds as they are once shown with so many digits.
    static func shownTime(_ nanoseconds: Int64, digits shown: Int) -> Int64 {
        let decimals = TimeUnit.suiting(nanoseconds).decimals
        let magnitude = Self.rounded(
            nanoseconds.magnitude, decimals: decimals, to: Swift.min(decimals, shown))
        let value = Int64(clamping: magnitude)
        return nanoseconds < 0 ? -value : value
    }

    static func rounded(_ value: UInt64, decimals: Int, to kept: Int) -> UInt64 {
        let step = Self.powerOfTen(decimals - kept)
        let (sum, overflow) = value.addingReportingOverflow(step / 2)
        return overflow ? value / step * step : sum / step * step
    }

    private static func powerOfTen(_ exponent: Int) -> UInt64 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}
