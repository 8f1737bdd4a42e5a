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
    /// How long a cut waits for the peer to take what is before it: only a peer that does not read at all makes it
    /// land elsewhere.
    package static let cutWaitMax = Interval.seconds(15)
    /// How often a reset looks whether the kernel's send queue is empty, at first and at last.
    package static let resetPoll = Interval.microseconds(500)
    package static let resetPollMax = Interval.milliseconds(50)
    /// How long a half-open connection is kept. No phone waits that long.
    package static let silenceTime = Interval.seconds(300)
    /// How often it is looked at whether its peer has given up.
    package static let silencePoll = Interval.seconds(1)
    /// Accepted connections; more are closed at once and counted.
    package static let connectionsMax = 19_000

    /// Photos are counted, not kept: only their first bytes stay, for the magic number.
    static let multipart = MultipartReader.Limits(
        partsMax: 32, headBytesMax: 8_192, partBytesMax: 10_000_000, prefixBytesMax: 64)
}
