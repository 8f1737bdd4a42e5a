/// Wall-clock text for bodies, made from a number so that no clock is asked.
package enum Timestamp {
    /// `2026-02-01T12:00:00.000Z` for milliseconds since 1970 (proleptic Gregorian, civil-from-days).
    package static func iso8601(unixMilliseconds: Int64) -> String {
        let milliseconds = unixMilliseconds.flooredRemainder(1_000)
        let seconds = (unixMilliseconds - milliseconds) / 1_000
        let ofDay = seconds.flooredRemainder(86_400)
        let date = Self.civil(days: (seconds - ofDay) / 86_400)
        return Self.padded(date.year, 4) + "-" + Self.padded(date.month, 2) + "-" + Self.padded(date.day, 2)
            + "T"
            + Self.padded(ofDay / 3_600, 2) + ":" + Self.padded(ofDay / 60 % 60, 2) + ":"
            + Self.padded(ofDay % 60, 2) + "." + Self.padded(milliseconds, 3) + "Z"
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

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}

extension Int64 {
    fileprivate func flooredRemainder(_ divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
