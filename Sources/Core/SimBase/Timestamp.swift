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

    /// Milliseconds since 1970 of a date and time with its zone (RFC 3339); nil for another text.
    package static func unixMilliseconds(iso8601 text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20 else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            guard bytes[range].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return bytes[range].reduce(0) { $0 * 10 + Int64($1) - 0x30 }
        }
        func isMark(_ place: Int, _ marks: String) -> Bool { marks.utf8.contains(bytes[place]) }
        guard let year = number(0..<4), isMark(4, "-"), let month = number(5..<7), isMark(7, "-"),
            let day = number(8..<10), isMark(10, "Tt "), let hour = number(11..<13), isMark(13, ":"),
            let minute = number(14..<16), isMark(16, ":"), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var (place, fraction, unit) = (19, Int64(0), Int64(100))
        if bytes[place] == 0x2E {
            place += 1
            while place < bytes.count, let digit = number(place..<place + 1) {
                fraction += digit * unit
                unit /= 10
                place += 1
            }
        }
        guard let zone = Self.zoneMinutes(bytes[place...]) else { return nil }
        let seconds = Self.days(year: year, month: month, day: day) * 86_400 + hour * 3_600 + second
        return (seconds + (minute - zone) * 60) * 1_000 + fraction
    }

    /// `Z` or `+02:00`, in minutes.
    private static func zoneMinutes(_ bytes: ArraySlice<UInt8>) -> Int64? {
        if bytes.count == 1, let only = bytes.first, only | 0x20 == 0x7A { return 0 }
        let digits = bytes.dropFirst().filter { $0 != 0x3A }
        guard let sign = bytes.first, sign == 0x2B || sign == 0x2D, digits.count == 4,
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let values = digits.map { Int64($0) - 0x30 }
        let minutes = (values[0] * 10 + values[1]) * 60 + values[2] * 10 + values[3]
        return sign == 0x2D ? -minutes : minutes
    }

    /// The day of a date in the Gregorian calendar, counted from the first of 1970 (days-from-civil).
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let yearOfEra = year.flooredRemainder(400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (year - yearOfEra) / 400 * 146_097 + dayOfEra - 719_468
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
