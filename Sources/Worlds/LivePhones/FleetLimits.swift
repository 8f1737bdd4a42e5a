package import SimBase

/// Numbers of the driver that bound its waiting.
package enum FleetLimits {
    /// The interval at which observations are sent to the main thread.
    package static let handOverInterval = Interval.milliseconds(20)
    /// The number of observations at which they are sent sooner.
    package static let handOverMost = 8_192
    /// The number of unjudged observations at which the fleet's threads wait for the main thread.
    package static let backlogMost = 65_536
    /// The interval at which phones that are about to close are looked at.
    package static let closingInterval = Interval.milliseconds(50)
    /// The number of reports per count of the phones.
    package static let handOversPerGauge = 10
    /// A capture that is passed to its phone later than this did not start in time.
    package static let arrivalLatenessMax = Interval.seconds(1)
    /// If more than one in a hundred timers are later than this, the phones' own process could not keep up.
    package static let timerLatenessMax = Interval.milliseconds(250)
    /// If more than one in a hundred photos wait longer than this for a processor, the phones' own process could not keep up: it is
    /// a fifth of what the app grants a scan.
    package static let photoWaitMax = Interval.seconds(5)
}
