package import SimBase

/// Packet loss as a reliable connection shows it: a stall.
///
/// Bytes travel in segments, and each admitted block begins a new one. A segment is lost once with the given
/// probability, by a draw of its number. It arrives again after a retransmission timeout, and later segments
/// wait for it, since bytes are delivered in order. Losses within one block stall together, as with selective
/// acknowledgments.
package struct SegmentLoss: Hashable, Sendable {
    /// The payload of a TCP segment over IPv4 in an Ethernet frame.
    package static let segmentBytes = 1_460

    private var share: Odds
    private let random: KeyedRandom
    private let way: LinkWay
    private var time: Interval
    private var segments: UInt64 = 0

    package init(_ share: Odds, random: KeyedRandom, way: LinkWay, stall: Interval) {
        self.share = share
        self.random = random
        self.way = way
        self.time = stall
    }

    /// Changes the loss, beginning with the next segment.
    mutating func change(to share: Odds, stall: Interval) {
        self.share = share
        self.time = stall
    }

    /// Returns the retransmission timeout: Linux never waits less than 200 ms (RFC 6298 requires a second),
    /// and a smoothed estimate with its variance is about two round trips.
    package static func stall(roundTrip: Interval) -> Interval { max(.milliseconds(200), roundTrip * 2) }

    /// Returns the additional delay of a block; nil if none of its segments is lost.
    package mutating func stall(of bytes: Int) -> Interval? {
        let first = self.segments
        self.segments += UInt64((bytes + Self.segmentBytes - 1) / Self.segmentBytes)
        guard self.share > .never else { return nil }
        // Draws are keyed by number, so that none depends on one before: the first loss settles it.
        let isLost = (first..<self.segments).contains {
            self.share.happens(self.random.draw(.link, self.way.rawValue, $0))
        }
        return isLost ? self.time : nil
    }
}
