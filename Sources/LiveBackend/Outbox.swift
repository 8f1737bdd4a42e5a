import Backend
import EventLoop
import Faults
import SimBase
import Talaria

/// A cut of a connection, decided and on its way.
struct CutOrder {
    let fault: Int
    let key: ExchangeKey
    let ending: CutEnding
}

/// What goes out on one connection: still under way on the link first, then waiting for the kernel to take it.
struct Outbox {
    enum Item {
        case bytes([UInt8])
        /// A piece that goes out in a segment of its own.
        case piece([UInt8])
        /// FIN after everything before.
        case finish
        case cut(CutOrder)
        /// The answer to this exchange is cut where it stands, if any of it is still under way.
        case cutRest(ExchangeID, CutOrder)
    }

    /// What became of handing bytes to the kernel.
    enum Flushed {
        case all
        /// The peer does not read.
        case blocked
        case dead
    }

    private var underway = EventHeap<Item>()
    private var unsent: [UInt8] = []
    private var start = 0
    /// Nothing leaves the link before, so that a receiver sees the piece that has just gone for itself.
    private var gate = Instant.zero

    /// Nothing is under way on the link.
    var isLinkEmpty: Bool { self.underway.isEmpty }
    /// Bytes that left the link and that the kernel has not taken.
    var unsentCount: Int { self.unsent.count - self.start }
    var isEmpty: Bool { self.isLinkEmpty && self.unsentCount == 0 }
    /// When there is something to do.
    var nextAt: Instant? { self.underway.nextAt.map { max($0, self.gate) } }

    mutating func insert(_ item: Item, at arrival: Instant) { self.underway.insert(item, at: arrival) }

    /// Takes what has come through the link, one thing at a time.
    mutating func take(at now: Instant) -> Item? {
        guard self.gate <= now else { return nil }
        return self.underway.popDue(at: now)?.element
    }

    mutating func closeGate(until moment: Instant) { self.gate = moment }

    /// What is under way will not arrive.
    mutating func dropUnderway() { self.underway = EventHeap() }

    mutating func dropUnsent() {
        self.unsent = []
        self.start = 0
    }

    mutating func append(_ bytes: [UInt8]) {
        if self.start > 0 && self.start == self.unsent.count {
            self.unsent.removeAll(keepingCapacity: true)
            self.start = 0
        }
        self.unsent.append(contentsOf: bytes)
    }

    /// Hands to the kernel what it takes.
    mutating func flush(to socket: Int32) -> Flushed {
        while self.start < self.unsent.count {
            switch StreamSocket.send(socket, self.unsent[self.start...]) {
            case .bytes(let count): self.start += count
            case .wouldBlock: return .blocked
            case .end, .failed: return .dead
            }
        }
        self.unsent.removeAll(keepingCapacity: self.unsent.count <= 4_096)
        self.start = 0
        return .all
    }
}
