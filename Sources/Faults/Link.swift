package import SimBase

/// One direction of a phone's link.
package struct LinkDirection: Hashable, Sendable {
    /// How long a byte is under way once it is sent, one way.
    package var delay: Interval
    /// How fast bytes can be sent; nil is without limit. The unit is bits (1,000 of them in a kilobit).
    package var bitsPerSecond: Int64?

    package init(delay: Interval, bitsPerSecond: Int64?) {
        precondition(delay >= .zero, "a link cannot deliver before it was handed anything")
        precondition(bitsPerSecond.map { $0 > 0 } ?? true, "a link of no bits per second is `offline`")
        self.delay = delay
        self.bitsPerSecond = bitsPerSecond
    }

    /// How long it takes to send so many bytes, rounded up to whole nanoseconds; saturates at the largest interval.
    package func time(toSend bytes: Int) -> Interval {
        guard let rate = self.bitsPerSecond, bytes > 0 else { return .zero }
        let product = UInt64(bytes).multipliedFullWidth(by: 8_000_000_000)
        let divisor = UInt64(rate)
        guard product.high < divisor else { return Interval(nanoseconds: .max) }
        let (quotient, remainder) = divisor.dividingFullWidth(product)
        let rounded = remainder > 0 ? quotient &+ 1 : quotient
        return Interval(nanoseconds: Int64(clamping: rounded))
    }
}

/// A phone's link: what lies between it and the backend.
package struct LinkProfile: Hashable, Sendable {
    /// From the phone to the backend.
    package var up: LinkDirection
    /// From the backend to the phone.
    package var down: LinkDirection

    package init(up: LinkDirection, down: LinkDirection) {
        self.up = up
        self.down = down
    }

    /// Delays nothing and limits nothing.
    package static let perfect = LinkProfile(
        up: LinkDirection(delay: .zero, bitsPerSecond: nil),
        down: LinkDirection(delay: .zero, bitsPerSecond: nil))

    package var roundTrip: Interval { self.up.delay + self.down.delay }

    /// The two queues of a new connection that was accepted at `moment`.
    ///
    /// On loopback the kernel's handshake takes no time, so the round trip that SYN and SYN-ACK would have taken is
    /// charged here: nothing that the phone sends enters the link before it.
    package func connection(acceptedAt moment: Instant) -> (up: LinkQueue, down: LinkQueue) {
        let ready = moment + self.roundTrip
        return (LinkQueue(self.up, readyAt: ready), LinkQueue(self.down, readyAt: ready))
    }
}

/// One direction of one connection: when what is handed to it arrives.
///
/// Bytes are sent one after the other at the link's rate and then travel for its delay, so their order never changes.
package struct LinkQueue: Hashable, Sendable {
    private let direction: LinkDirection
    /// When the last byte admitted so far has been sent.
    package private(set) var idleAt: Instant

    /// `readyAt`: nothing is sent before.
    package init(_ direction: LinkDirection, readyAt: Instant) {
        self.direction = direction
        self.idleAt = readyAt
    }

    /// Hands over bytes and answers when the last of them arrives. Saturates at the end of time.
    package mutating func admit(bytes: Int, at now: Instant) -> Instant {
        let start = max(now, self.idleAt)
        self.idleAt = Self.later(start, by: self.direction.time(toSend: bytes))
        return Self.later(self.idleAt, by: self.direction.delay)
    }

    /// How long what has been admitted still keeps the link busy.
    package func backlog(at now: Instant) -> Interval {
        max(self.idleAt - now, .zero)
    }

    private static func later(_ moment: Instant, by interval: Interval) -> Instant {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(interval.nanoseconds)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }
}
