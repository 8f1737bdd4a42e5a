/// Wall-clock text for bodies, made from a number so that no clock is asked.
package enum Timestamp {
    /// `2026-02-01T12:00:00.000Z` for milliseconds since 1970 (proleptic Gregorian, civil-from-days).
    package static func iso8601(unixMilliseconds: Int64) -> String {
        ByteBuilder.text { self.append(unixMilliseconds: unixMilliseconds, to: &$0) }
    }

    /// Appends the timestamp to a text.
    package static func append(unixMilliseconds: Int64, to text: inout ByteBuilder) {
        let milliseconds = unixMilliseconds.flooredRemainder(1_000)
        let seconds = (unixMilliseconds - milliseconds) / 1_000
        let ofDay = seconds.flooredRemainder(86_400)
        let date = Self.civil(days: (seconds - ofDay) / 86_400)
        // With a year of four digits it is three words. 2D, 54, 3A, 2E and 5A are `-`, `T`, `:`, `.` and `Z`.
        let monthOf = 0x2D00_002D | Self.pair(date.month) << 8
        if (0...9_999).contains(date.year) {
            text.append(
                word: Self.pair(date.year / 100) | Self.pair(date.year % 100) << 16 | monthOf << 32, count: 8)
        } else {
            Decimal.append(date.year, to: &text)
            text.append(word: monthOf, count: 4)
        }
        let minuteOf = Self.pair(date.day) | 0x54 << 16 | Self.pair(ofDay / 3_600) << 24 | 0x3A << 40
        text.append(word: minuteOf | Self.pair(ofDay / 60 % 60) << 48, count: 8)
        let millisecond = (0x30 + UInt64(milliseconds / 100)) << 32 | Self.pair(milliseconds % 100) << 40
        text.append(
            word: 0x3A | Self.pair(ofDay % 60) << 8 | 0x2E << 24 | millisecond | 0x5A << 56, count: 8)
    }

    /// Two digits, the first of them the least byte.
    private static func pair(_ number: Int64) -> UInt64 {
        let ten = UInt64(number) / 10
        return 0x3030 | ten | (UInt64(number) - ten * 10) << 8
    }

    /// The date in the Gregorian calendar of a day counted from the first of 1970.
    package static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
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
