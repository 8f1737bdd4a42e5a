package import SimBase

/// Wall-clock text for bodies, made from a number so that no clock is asked.
package enum Timestamp {
    /// `2026-02-01T12:00:00.000Z` for milliseconds since 1970 (proleptic Gregorian, civil-from-days).
    package static func iso8601(unixMilliseconds: Int64) -> String {
        ByteDraft.text { self.append(unixMilliseconds: unixMilliseconds, to: &$0) }
    }

    /// The same behind what is there.
    package static func append(unixMilliseconds: Int64, to text: inout ByteDraft) {
        let milliseconds = unixMilliseconds.flooredRemainder(1_000)
        let seconds = (unixMilliseconds - milliseconds) / 1_000
        let ofDay = seconds.flooredRemainder(86_400)
        let date = Self.civil(days: (seconds - ofDay) / 86_400)
        if (0...9_999).contains(date.year) {
            Decimal.append(UInt64(date.year), digits: 4, to: &text)
        } else {
            Decimal.append(date.year, to: &text)
        }
        text.append(UInt8(ascii: "-"))
        Self.append(date.month, "-", date.day, to: &text)
        text.append(UInt8(ascii: "T"))
        Self.append(ofDay / 3_600, ":", ofDay / 60 % 60, to: &text)
        text.append(UInt8(ascii: ":"))
        Self.append(ofDay % 60, ".", milliseconds / 10, to: &text)
        Decimal.append(UInt64(milliseconds % 10), digits: 1, to: &text)
        text.append(UInt8(ascii: "Z"))
    }

    /// Two digits, a mark and two digits: five of one number, and the mark in place of the middle one, which is 0.
    private static func append(
        _ left: Int64, _ mark: Unicode.Scalar, _ right: Int64, to text: inout ByteDraft
    ) {
        let digits = Decimal.word(of: UInt64(left * 1_000 + right), digits: 5)
        let toMark = UInt64(UInt8(ascii: "0") ^ UInt8(ascii: mark))
        text.append(word: digits ^ toMark << 16, count: 5)
    }

    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let dayOfEra = shifted.flooredRemainder(146_097)
        let era = (shifted - dayOfEra) / 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * march + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func flooredRemainder(_ divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
