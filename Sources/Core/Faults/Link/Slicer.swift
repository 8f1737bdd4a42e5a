package import SimBase

/// Cuts a block of bytes into pieces for an armed `slice` fault.
///
/// The length of each piece is drawn by the number of the piece. A block has at most `piecesMax` pieces: if the
/// lengths of the scenario could make more, all of them are multiplied, because a large response would
/// otherwise use seconds of CPU time. An event of half a kilobyte is cut as finely as requested.
package struct Slicer: Hashable, Sendable {
    package static let piecesMax = 512
    /// The time between two pieces, so that the receiver reads them separately.
    package static let spacing = Interval.microseconds(500)

    /// The fault's index in the scenario's list.
    package let fault: Int
    /// The length of a piece in bytes.
    private let bytes: ClosedRange<Int>
    private let window: FaultWindow
    private let random: KeyedRandom
    /// The pieces of all blocks so far.
    private var pieces: UInt64 = 0

    /// Is nil if the fault is not a `slice`.
    package init?(_ armed: ArmedFault) {
        guard case .slice(let bytes) = armed.kind else { return nil }
        precondition(bytes.lowerBound > 0, "a piece has a byte")
        self.fault = armed.fault
        self.bytes = bytes
        self.window = armed.window
        self.random = KeyedRandom(seed: armed.draw)
    }

    /// Returns the lengths of the pieces of a block of `count` bytes; nil if the fault is not active at `now` or
    /// the block stays in one piece.
    package mutating func cut(_ count: Int, at now: Instant) -> [Int]? {
        guard self.window.contains(now), count > 1 else { return nil }
        let finest = (count + self.bytes.lowerBound - 1) / self.bytes.lowerBound
        let factor = (finest + Self.piecesMax - 1) / Self.piecesMax
        var lengths: [Int] = []
        var left = count
        while left > 0 {
            let drawn = self.random.draw(.link, self.pieces)
            self.pieces += 1
            let length = self.bytes.lowerBound + Int(drawn.scaled(below: UInt64(self.bytes.count)))
            lengths.append(min(left, length * factor))
            left -= lengths[lengths.count - 1]
        }
        return lengths.count > 1 ? lengths : nil
    }
}

extension UInt64 {
    /// Returns these 64 uniform bits as a number below `bound`.
    func scaled(below bound: UInt64) -> UInt64 { self.multipliedFullWidth(by: bound).high }
}
