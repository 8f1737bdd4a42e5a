package import SimBase

/// Lost packets as a reliable connection shows them: a stall.
///
/// Bytes travel in segments, and what is handed over at once begins a new one. Each is lost once with the given odds,
/// by a draw of its number; it comes again after a retransmission timeout, and what is behind it waits, since bytes
/// are delivered in order. Losses within one block stall together, as selective acknowledgments have it.
package struct SegmentLoss: Hashable, Sendable {
    /// What an Ethernet frame leaves for the payload of TCP over IPv4.
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

    /// From the next segment on.
    mutating func change(to share: Odds, stall: Interval) {
        self.share = share
        self.time = stall
    }

    /// The retransmission timeout: Linux never waits less than 200 ms (RFC 6298 asks for a second), and two round
    /// trips are what a smoothed estimate with its variance comes to.
    package static func stall(roundTrip: Interval) -> Interval { max(.milliseconds(200), roundTrip * 2) }

    /// How much later a block arrives; nil when none of its segments is lost.
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
