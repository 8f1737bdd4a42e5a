package import SimBase
import Talaria
import Wire

/// The limits of what a caller can make the server hold or wait for.
package enum HTTPServerLimits {
    /// A connection is not read while its link is this far behind.
    package static let linkBacklogMax = Interval.milliseconds(50)
    /// Bytes of a body that wait for the upstream of a gateway; with more the phone is not read.
    package static let uploadWaitingMax = 256 * 1_024
    /// Bytes of an answer that wait for the phone; with more the upstream is not read.
    package static let downloadWaitingMax = 256 * 1_024
    /// Bytes of the simulated backend that are under way to one phone: twice the longest answer that a phone reads.
    package static let underwayMax = 8 << 20
    /// The maximum time from the first byte of a request to the end of its head.
    package static let headTime = Interval.seconds(20)
    /// The maximum time from the head to the end of the body: a deadline, not an idle time, so that a byte
    /// per second does not help.
    package static let bodyTime = Interval.seconds(120)
    /// A connection without a request.
    package static let keepAliveTime = Interval.seconds(180)
    /// The time in which data in flight is still sent to a peer that has closed its side.
    package static let shutdownTime = Interval.seconds(2)
    /// A refused body is read to its end if it is no longer than this.
    package static let drainBytesMax = 12 << 20

    /// Photos are counted, not kept: only their first bytes stay, for the magic number.
    static let multipart = MultipartReader.Limits(
        partsMax: 32, headBytesMax: 8_192, partBytesMax: 10_000_000, prefixBytesMax: 64)

    /// A body that is not a form is kept whole up to this length.
    static func plainBodyBytesMax(_ path: String) -> Int {
        path == EnrichmentRequest.path ? EnrichmentRequest.bodyBytesMax : BatchRequest.bodyBytesMax
    }

    /// A library file is kept whole, and is the only part of its upload. The backend bounds how many are read at a time.
    static let libraryFile = MultipartReader.Limits(
        partsMax: 1, headBytesMax: 8_192, partBytesMax: ImportLimits.fileBytesMax,
        prefixBytesMax: ImportLimits.fileBytesMax)
}
