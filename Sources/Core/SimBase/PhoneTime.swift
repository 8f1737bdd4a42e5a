/// Time of many phones together, in whole milliseconds: a million phones have a week each.
package struct PhoneTime: Hashable, Sendable {
    /// More than phones can have.
    private static let millisecondsMax: Int64 = 1_000_000_000_000_000

    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = min(max(0, milliseconds), Self.millisecondsMax)
    }

    package init(_ interval: Interval) { self.init(milliseconds: interval.wholeMilliseconds) }

    package static let zero = PhoneTime(milliseconds: 0)

    package static func += (left: inout Self, right: Self) { left.milliseconds += right.milliseconds }

    package static func * (left: Self, phones: Int64) -> Self {
        PhoneTime(milliseconds: left.milliseconds * phones)
    }
}
