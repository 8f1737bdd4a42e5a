import SimBase

/// The numbers that bound what those who look on can make a run hold or wait for.
package enum DashboardLimits {
    /// Pages that follow the run at the same time; one more is answered with 503.
    package static let viewersMax = 64
    /// Connections of any kind; one more is closed at once.
    static let connectionsMax = 96
    /// What the page takes of the process's descriptors: its connections, listener, loop, mailboxes and open files.
    package static let descriptors = Self.connectionsMax + 16
    /// From accepting a connection to the end of its request, and from an answer to the end of the connection.
    static let requestTime = Interval.seconds(5)
    /// A viewer that takes nothing for so long while something waits for it is dropped.
    static let stallMax = Interval.seconds(10)
    /// The kernel's memory for what a viewer has not taken (Linux doubles it).
    static let sendBufferBytes: Int32 = 256 * 1_024
    /// At the end of the run, for those who are taking their last bytes. Nobody else is waited for.
    static let farewellMax = Interval.milliseconds(250)
    /// What the end of the run waits for the page's thread, which goes after all others: a machine that is too busy to
    /// let it run is not waited for either.
    static let closingMax = Interval.seconds(1)
    /// How often it is looked at who has had his time.
    static let watchEvery = Interval.milliseconds(500)
    /// What an event stream's reader is told to wait before it comes again.
    static let retry = Interval.seconds(1)
}
