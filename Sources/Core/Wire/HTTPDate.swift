import SimBase

/// Dates of header fields in the only form that may be written, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110
/// section 5.6.7, IMF-fixdate). Times are seconds since 1970.
package enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The fixed characters of "ddd, dd mmm yyyy hh:mm:ss GMT".
    private static let marks = [
        (offset: 3, text: ", "), (offset: 7, text: " "), (offset: 11, text: " "), (offset: 16, text: " "),
        (offset: 19, text: ":"), (offset: 22, text: ":"), (offset: 25, text: " GMT"),
    ]

    /// The time, or nil for anything but a real date in that form with the right day of the week.
    package static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29,
            Self.marks.allSatisfy({ bytes[$0.offset...].starts(with: $0.text.utf8) }),
            let weekday = Self.days.firstIndex(of: ASCII.text(bytes[..<3])),
            let month = Self.months.firstIndex(of: ASCII.text(bytes[8..<11])),
            let day = Self.number(bytes[5..<7]), let year = Self.number(bytes[12..<16]),
            let hour = Self.number(bytes[17..<19]), let minute = Self.number(bytes[20..<22]),
            let second = Self.number(bytes[23..<25]),
            // 60 is a leap second; it counts as the next minute's first.
            hour < 24, minute < 60, second <= 60, day >= 1, year >= 1
        else { return nil }
        let days = Self.daysSinceEpoch(year: year, month: Int64(month) + 1, day: day)
        // A day beyond its month's end would come back as another one.
        guard Timestamp.civil(days: days) == (year, Int64(month) + 1, day), Self.weekday(days) == weekday
        else {
            return nil
        }
        return ((days * 24 + hour) * 60 + minute) * 60 + second
    }

    /// The text of a time between the years 1 and 9999.
    package static func text(_ seconds: Int64) -> String {
        let days = Self.floorDivide(seconds, 86_400)
        let clock = seconds - days * 86_400
        let (year, month, day) = Timestamp.civil(days: days)
        precondition((1...9_999).contains(year), "a year of four digits")
        let date = "\(Self.padded(day, 2)) \(Self.months[Int(month) - 1]) \(Self.padded(year, 4))"
        let time = [clock / 3_600, clock / 60 % 60, clock % 60].map { Self.padded($0, 2) }
        return "\(Self.days[Self.weekday(days)]), \(date) \(time.joined(separator: ":")) GMT"
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for byte in digits {
            guard let digit = ASCII.digit(byte) else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
        value >= 0 ? value / by : -((-value + by - 1) / by)
    }

    /// 1970 began on a Thursday.
    private static func weekday(_ days: Int64) -> Int { Int(((days + 4) % 7 + 7) % 7) }

    /// Days since 1970 of a Gregorian date. Years begin in March here, so that the leap day comes last.
    private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = Self.floorDivide(year, 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
