import SimBase

/// The limits of what dashboard clients can make a run hold or wait for.
package enum DashboardLimits {
    /// The limit of pages that follow the run. Further ones get 503.
    package static let followersMax = 64
    /// The limit of connections of any kind. Further ones are closed at once.
    static let connectionsMax = 96
    /// The file descriptors of the dashboard: connections, listener, loop, mailboxes and files.
    package static let descriptors = Self.connectionsMax + 16
    /// The limit from accepting a connection to the end of its request, and from the response to the end of the connection.
    static let requestTime = Interval.seconds(5)
    /// A connection that takes no byte for this long while data waits is closed.
    static let stallMax = Interval.seconds(10)
    /// The send buffer of a connection (Linux doubles it).
    static let sendBufferBytes: Int32 = 256 * 1_024
    /// The wait at the end of the run for connections that are still taking bytes.
    static let flushMax = Interval.milliseconds(250)
    /// The wait at the end of the run for the dashboard's thread, which has the lowest priority.
    static let closingMax = Interval.seconds(1)
    /// The interval at which time limits are checked.
    static let pollEvery = Interval.milliseconds(500)
    /// The `retry` of the event stream.
    static let retry = Interval.seconds(1)
}
