import OriginServer
import SimBase

/// The data in flight to the peer of one connection.
struct Outbox: Sendable {
    enum Item: Sendable {
        case bytes([UInt8])
        /// A piece that goes out in a segment of its own.
        case piece([UInt8])
        /// FIN after everything before.
        case finish
        /// The cut that the connection has pending.
        case cut
        /// The answer to this exchange is cut at its current position, if any of it is still under way.
        case cutRest(ExchangeID, CutOrder)
    }

    private var underway = EventHeap<Item>()
    /// The number of payload bytes among them.
    private(set) var bytes = 0
    /// The most that they ever were.
    private(set) var bytesMost = 0
    /// The earliest time for the next byte, so that the receiver sees the last piece separately.
    private var gate = Instant.zero

    var isEmpty: Bool { self.underway.isEmpty }
    /// The time of the next action.
    var nextAt: Instant? { self.underway.nextAt.map { max($0, self.gate) } }

    mutating func insert(_ item: Item, at arrival: Instant) {
        self.bytes += item.count
        self.bytesMost = max(self.bytesMost, self.bytes)
        self.underway.insert(item, at: arrival)
    }

    /// Takes what has come through the link, one thing at a time.
    mutating func take(at now: Instant) -> Item? {
        guard self.gate <= now, let item = self.underway.popDue(at: now)?.element else { return nil }
        self.bytes -= item.count
        return item
    }

    mutating func closeGate(until moment: Instant) { self.gate = moment }

    /// Drops all data in flight.
    mutating func drop() {
        self.underway = EventHeap()
        self.bytes = 0
    }
}

extension Outbox.Item {
    fileprivate var count: Int {
        switch self {
        case .bytes(let bytes), .piece(let bytes): bytes.count
        case .finish, .cut, .cutRest: 0
        }
    }
}
