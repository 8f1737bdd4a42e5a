import OriginServer
import SimBase

/// What is under way to the peer of one connection.
struct Outbox: Sendable {
    enum Item: Sendable {
        case bytes([UInt8])
        /// A piece that goes out in a segment of its own.
        case piece([UInt8])
        /// FIN after everything before.
        case finish
        case cut(CutOrder)
        /// The answer to this exchange is cut where it stands, if any of it is still under way.
        case cutRest(ExchangeID, CutOrder)
    }

    private var underway = EventHeap<Item>()
    /// Of the bytes among them.
    private(set) var bytes = 0
    /// The most that they ever were.
    private(set) var bytesMost = 0
    /// Nothing leaves the link before, so that a receiver sees the piece that has just gone for itself.
    private var gate = Instant.zero

    var isEmpty: Bool { self.underway.isEmpty }
    /// When there is something to do.
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

    /// What is under way will not arrive.
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
