/// The units of time that an SLO may use and that a report prints.
package enum TimeUnit: String, CaseIterable, Sendable {
    case nanoseconds = "ns"
    case microseconds = "us"
    case milliseconds = "ms"
    case seconds = "s"
    case minutes = "m"
    case hours = "h"

    package var nanoseconds: Int64 {
        switch self {
        case .nanoseconds: 1
        case .microseconds: 1_000
        case .milliseconds: 1_000_000
        case .seconds: 1_000_000_000
        case .minutes: 60_000_000_000
        case .hours: 3_600_000_000_000
        }
    }

    /// Digits after the point until a nanosecond, for the decimal units that are printed.
    var decimals: Int {
        switch self {
        case .nanoseconds: 0
        case .microseconds: 3
        case .milliseconds: 6
        case .seconds, .minutes, .hours: 9
        }
    }

    /// Minutes and hours are never chosen: their parts are not decimal, and seconds compare at a glance.
    static func suiting(_ nanoseconds: Int64) -> TimeUnit {
        switch nanoseconds.magnitude {
        case 0: .milliseconds
        case 1..<1_000: .nanoseconds
        case 1_000..<1_000_000: .microseconds
        case 1_000_000..<1_000_000_000: .milliseconds
        default: .seconds
        }
    }
}
