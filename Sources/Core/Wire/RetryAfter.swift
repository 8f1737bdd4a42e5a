package import SimBase

/// A `Retry-After` field (RFC 9110 section 10.2.3).
package enum RetryAfter: Hashable, Sendable {
    /// Whole seconds from now, at most `waitMax`.
    case delay(Interval)
    /// A time, in seconds since 1970.
    case date(Int64)

    /// The maximum wait: ten years, safe to add to any clock.
    package static let waitMax = Interval.hours(24 * 3_650)

    /// Nil for anything but decimal digits or an IMF-fixdate.
    package init?(_ text: String) {
        let bytes = ASCII.trimmed(Array(text.utf8)[...])
        guard let first = bytes.first, ASCII.digit(first) != nil else {
            guard let seconds = HTTPDate.seconds(ASCII.text(bytes)) else { return nil }
            self = .date(seconds)
            return
        }
        let most = Self.waitMax.nanoseconds / 1_000_000_000
        var seconds: Int64 = 0
        for byte in bytes {
            guard let digit = ASCII.digit(byte) else { return nil }
            seconds = min(most, seconds * 10 + digit)  // At most ten times ten years: no overflow.
        }
        self = .delay(.seconds(seconds))
    }

    /// Returns the wait, given the time in seconds since 1970; zero for a date in the past.
    package func wait(at secondsSince1970: Int64) -> Interval {
        switch self {
        case .delay(let delay): delay
        case .date(let date):
            .seconds(
                min(max(0, date - secondsSince1970), Self.waitMax.nanoseconds / 1_000_000_000))
        }
    }
}
