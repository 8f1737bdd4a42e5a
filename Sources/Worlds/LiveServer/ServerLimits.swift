package import SimBase

/// The numbers that bound what a peer's socket can make the server hold or wait for. Those that need no socket are
/// `HTTPServerLimits`.
package enum ServerLimits {
    /// The maximum size of one read of a socket.
    package static let readBytesMax = 64 * 1_024
    /// The kernel's receive buffer: small, so that a slow link is felt by the sender.
    package static let receiveBufferBytes: Int32 = 64 * 1_024
    /// Bytes that wait for a peer that does not read; beyond it the connection is reset.
    package static let unsentBytesMax = 4 << 20
    /// Fewer waiting bytes are not reported.
    package static let backlogToldMin = 32 * 1_024
    /// The time for which the peer's data is read and discarded after a refusal; otherwise an RST would
    /// destroy the response on its way.
    package static let lingerTime = Interval.seconds(2)
    /// The maximum time that a cut waits for the peer to read earlier data: only for a peer that does not
    /// read at all, the cut is at another position.
    package static let cutWaitMax = Interval.seconds(15)
    /// The interval at which a reset checks whether the kernel's send queue is empty, at first and at last.
    package static let resetPoll = Interval.microseconds(500)
    package static let resetPollMax = Interval.milliseconds(50)
    /// The time for which a half-open connection is kept. No phone waits that long.
    package static let silenceTime = Interval.seconds(300)
    /// The interval at which it is checked whether its peer has given up.
    package static let silencePoll = Interval.seconds(1)
    /// Accepted connections; more are closed at once and counted.
    package static let connectionsMax = 19_000
}
