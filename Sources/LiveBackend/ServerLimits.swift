package import SimBase
import Wire

/// The numbers that bound what a peer can make the server hold or wait for.
package enum ServerLimits {
    /// What one read of a socket takes at most.
    package static let readBytesMax = 64 * 1_024
    /// The kernel's receive buffer: small, so that a slow link is felt by the sender.
    package static let receiveBufferBytes: Int32 = 64 * 1_024
    /// A socket is not read while its link is this far behind.
    package static let linkBacklogMax = Interval.milliseconds(50)
    /// Bytes that wait for a peer that does not read; beyond it the connection is reset.
    package static let unsentBytesMax = 4 << 20
    /// From the first byte of a request to its last head byte.
    package static let headTime = Interval.seconds(20)
    /// From the head to the end of the body: a deadline, not an idle time, so that a byte a second does not help.
    package static let bodyTime = Interval.seconds(120)
    /// A connection without a request.
    package static let keepAliveTime = Interval.seconds(180)
    /// After a refusal the rest of what the peer sends is read and thrown away this long, or RST would destroy the
    /// answer on its way.
    package static let lingerTime = Interval.seconds(2)
    /// A refused body is read to its end if it is no longer than this.
    package static let drainBytesMax = 12 << 20
    /// How long a reset waits for the kernel's send queue to empty.
    package static let resetWaitMax = Interval.seconds(2)
    package static let resetPoll = Interval.microseconds(500)
    /// Accepted connections; more are closed at once and counted.
    package static let connectionsMax = 19_000

    /// Photos are counted, not kept: only their first bytes stay, for the magic number.
    static let multipart = MultipartReader.Limits(
        partsMax: 32, headBytesMax: 8_192, partBytesMax: 10_000_000, prefixBytesMax: 64)
}
