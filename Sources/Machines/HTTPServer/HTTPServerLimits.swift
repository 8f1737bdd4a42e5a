package import SimBase
import Wire

/// The numbers that bound what a caller can make the server hold or wait for.
package enum HTTPServerLimits {
    /// A connection is not read while its link is this far behind.
    package static let linkBacklogMax = Interval.milliseconds(50)
    /// Bytes of a body that wait for the upstream of a gateway; with more the phone is not read.
    package static let uploadWaitingMax = 256 * 1_024
    /// Bytes of an answer that wait for the phone; with more the upstream is not read.
    package static let downloadWaitingMax = 256 * 1_024
    /// Bytes of the simulated backend that are under way to one phone: twice the longest answer that a phone reads.
    package static let underwayMax = 8 << 20
    /// From the first byte of a request to its last head byte.
    package static let headTime = Interval.seconds(20)
    /// From the head to the end of the body: a deadline, not an idle time, so that a byte a second does not help.
    package static let bodyTime = Interval.seconds(120)
    /// A connection without a request.
    package static let keepAliveTime = Interval.seconds(180)
    /// What is under way to a peer that has said its last word still goes out for this long.
    package static let shutdownTime = Interval.seconds(2)
    /// A refused body is read to its end if it is no longer than this.
    package static let drainBytesMax = 12 << 20

    /// Photos are counted, not kept: only their first bytes stay, for the magic number.
    static let multipart = MultipartReader.Limits(
        partsMax: 32, headBytesMax: 8_192, partBytesMax: 10_000_000, prefixBytesMax: 64)
}
