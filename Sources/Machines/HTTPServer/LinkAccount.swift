/// The bytes that one side sent in one direction of a connection, by outcome.
package struct LinkFlow: Hashable, Sendable {
    package var sent = 0
    package var delivered = 0
    /// Lost by a cause that has a name.
    package var destroyed = 0

    package init() {}

    /// Whether that is all of them, but for so many that are under way.
    package func isConserved(underway: Int) -> Bool {
        self.sent == self.delivered + self.destroyed + underway
    }
}

/// Why bytes that were sent do not arrive.
package enum LossOfBytes: Int, CaseIterable, Hashable, Sendable {
    /// A fault cut the connection.
    case fault
    /// The connection is half-open.
    case silence
    /// The peer has said its last word, or is dead.
    case peerGone
    /// The bytes after a request after which nothing is read.
    case unread
    /// The phone closed the connection: it gave up, or its app went to the background.
    case phoneClosed
    /// The phone left the connection without a word: its path is gone, or the process that had it.
    case parked
    /// The server has ended the connection.
    case serverClosed
}

/// Bytes that did not arrive, by their causes.
package struct LostBytes: Hashable, Sendable {
    private var counts = [Int](repeating: 0, count: LossOfBytes.allCases.count)

    package init() {}

    package subscript(cause: LossOfBytes) -> Int { self.counts[cause.rawValue] }

    package mutating func add(_ bytes: Int, _ cause: LossOfBytes) { self.counts[cause.rawValue] += bytes }

    package static func + (left: LostBytes, right: LostBytes) -> LostBytes {
        var sum = left
        for cause in LossOfBytes.allCases { sum.add(right[cause], cause) }
        return sum
    }
}

/// The bytes of one connection, as the server's end of the phone's link has them.
package struct LinkAccount: Hashable, Sendable {
    package var serial: UInt64
    /// The bytes from the phone. They are read when they enter the link; only their meaning is delayed.
    package var up = LinkFlow()
    /// Read, and not looked at.
    package var upWaiting = 0
    /// The bytes from the server.
    package var down = LinkFlow()
    /// Counted apart from what came and went.
    package var downWaiting = 0
    /// The most that ever waited.
    package var downWaitingMost = 0
}
