package import SimBase

/// The times of a run's phones, and what they hold.
package enum PhoneLimits {
    /// Writes that wait for room in a full storage. A phone that has as many unsettled scans as it may, each with eight
    /// writes, has no more.
    package static let heldWritesMax = 8 * AppLimits.unsettledMax
    /// How long the connections of a network that a phone has left stay open and unread: what a server sends meanwhile
    /// goes nowhere.
    package static let oldPathTime = Interval.seconds(30)
    /// What phones get at the end of a run to finish their cleanup requests and close their connections.
    package static let shutdownTime = Interval.seconds(3)
}
