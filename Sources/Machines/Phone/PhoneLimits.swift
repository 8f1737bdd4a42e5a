package import SimBase

/// The times of a run's phones, and what they hold.
package enum PhoneLimits {
    /// Writes that wait for room in a full storage. A phone that has as many unsettled scans as it may, each with eight
    /// writes, has no more.
    package static let heldWritesMax = 8 * AppLimits.unsettledMax
    /// The time for which the connections of an old network stay open and unread: the server's data is lost.
    package static let oldPathTime = Interval.seconds(30)
    /// The time that phones have at the end of a run for their DELETEs and for closing their connections.
    package static let shutdownTime = Interval.seconds(3)
}
