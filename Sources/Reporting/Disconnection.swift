package import Metrics
package import Talaria

/// What became of the streams that were lost for one cause.
package struct Disconnection: Equatable, Sendable {
    package var cause: LossCause
    /// Losses noticed.
    package var count: Int64
    /// A new stream went on where the lost one was.
    package var resumed: Int64
    /// A new stream began from the start.
    package var restarted: Int64
    package var gaveUp: Int64
    /// From the loss to the next 200 head.
    package var reconnectTime: HDRHistogram

    package init(
        cause: LossCause, count: Int64, resumed: Int64, restarted: Int64, gaveUp: Int64,
        reconnectTime: HDRHistogram
    ) {
        self.cause = cause
        self.count = count
        self.resumed = resumed
        self.restarted = restarted
        self.gaveUp = gaveUp
        self.reconnectTime = reconnectTime
    }
}
