package import SimBase

/// One direction of a phone's link.
package struct LinkDirection: Hashable, Sendable {
    /// The time that a byte travels in one direction.
    package var delay: Interval
    /// The rate in bits per second; nil for no limit. (A kilobit has 1,000 bits.)
    package var bitsPerSecond: Int64?
    /// The share of the segments that is lost, which a connection feels as stalls: see `SegmentLoss`.
    package var loss: Odds

    /// The value for a link that loses nothing.
    package init(delay: Interval, bitsPerSecond: Int64?) {
        self.init(delay: delay, bitsPerSecond: bitsPerSecond, loss: .never)
    }

    package init(delay: Interval, bitsPerSecond: Int64?, loss: Odds) {
        precondition(delay >= .zero, "a link cannot deliver before it was handed anything")
        precondition(bitsPerSecond.map { $0 > 0 } ?? true, "a link of no bits per second is `offline`")
        self.delay = delay
        self.bitsPerSecond = bitsPerSecond
        self.loss = loss
    }

    /// Returns the time to send a number of bytes, rounded up to whole nanoseconds; saturates at the largest
    /// interval.
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

/// A phone's link: the network between it and the backend.
package struct LinkProfile: Hashable, Sendable {
    /// From the phone to the backend.
    package var up: LinkDirection
    /// From the backend to the phone.
    package var down: LinkDirection
    /// The duration of a name lookup, before every new connection: phones do not share a cache, and a slow
    /// resolver is slow every time.
    package var nameLookup: Interval

    /// The value for a link whose resolver answers at once.
    package init(up: LinkDirection, down: LinkDirection) {
        self.init(up: up, down: down, nameLookup: .zero)
    }

    package init(up: LinkDirection, down: LinkDirection, nameLookup: Interval) {
        precondition(nameLookup >= .zero, "a resolver cannot answer before it is asked")
        self.up = up
        self.down = down
        self.nameLookup = nameLookup
    }

    /// Delays nothing and limits nothing.
    package static let perfect = LinkProfile(
        up: LinkDirection(delay: .zero, bitsPerSecond: nil),
        down: LinkDirection(delay: .zero, bitsPerSecond: nil))

    package var roundTrip: Interval { self.up.delay + self.down.delay }

    /// The two queues of a new connection that was accepted at `time`.
    ///
    /// On loopback the kernel's handshake takes no time, so the round trip that SYN and SYN-ACK would have taken is
    /// charged here, after the lookup of the name: nothing that the phone sends enters the link before it. A lost SYN or SYN-ACK costs a second, then
    /// two, then four (RFC 6298 section 2 and 5.5). `random` is the connection's own.
    package func connection(acceptedAt moment: Instant, random: KeyedRandom) -> (
        up: LinkQueue, down: LinkQueue
    ) {
        var ready = moment + self.nameLookup + self.roundTrip
        for attempt in UInt64(0)..<Self.handshakesMax {
            let isLost = LinkWay.allCases.contains { way in
                self.direction(way).loss.happens(random.draw(.link, way.rawValue, attempt, 1))
            }
            guard isLost else { break }
            ready = ready + .seconds(1 << Int64(attempt))
        }
        func queue(_ way: LinkWay) -> LinkQueue {
            LinkQueue(self.direction(way), readyAt: ready, losing: self.losses(way, random: random))
        }
        return (queue(.up), queue(.down))
    }

    /// More are not tried (Linux: `tcp_syn_retries`).
    private static let handshakesMax: UInt64 = 6

    package func direction(_ way: LinkWay) -> LinkDirection {
        switch way {
        case .up: self.up
        case .down: self.down
        }
    }

    /// Returns the losses of a connection with this randomness in one direction.
    package func losses(_ way: LinkWay, random: KeyedRandom) -> SegmentLoss {
        SegmentLoss(
            self.direction(way).loss, random: random, way: way,
            stall: SegmentLoss.stall(roundTrip: self.roundTrip))
    }
}

/// The queue of one direction of one connection: it computes when its bytes arrive.
///
/// Bytes are sent one after the other at the link's rate and then travel for its delay, so their order never changes.
package struct LinkQueue: Hashable, Sendable {
    private var direction: LinkDirection
    private var losses: SegmentLoss?
    /// The time at which the last admitted byte has been sent.
    package private(set) var idleAt: Instant

    /// The time at which the last of them arrives.
    private var arrivedAt = Instant.zero

    /// `readyAt`: nothing is sent before. `losing`: which segments are lost; nil when none is.
    package init(_ direction: LinkDirection, readyAt: Instant, losing: SegmentLoss?) {
        self.direction = direction
        self.losses = losing
        self.idleAt = readyAt
    }

    /// The value for a link that loses nothing.
    package init(_ direction: LinkDirection, readyAt: Instant) {
        self.init(direction, readyAt: readyAt, losing: nil)
    }

    /// The link is another from now on. What was admitted before arrives as it would have.
    package mutating func change(to profile: LinkProfile, _ way: LinkWay) {
        self.direction = profile.direction(way)
        self.losses?.change(
            to: self.direction.loss, stall: SegmentLoss.stall(roundTrip: profile.roundTrip))
    }

    /// Admits bytes and returns the time at which the last of them arrives. Saturates at the end of time.
    package mutating func admit(bytes: Int, at now: Instant) -> Instant {
        let start = max(now, self.idleAt)
        self.idleAt = Self.later(start, by: self.direction.time(toSend: bytes))
        var arrival = Self.later(self.idleAt, by: self.direction.delay)
        if let stall = self.losses?.stall(of: bytes) { arrival = Self.later(arrival, by: stall) }
        self.arrivedAt = max(self.arrivedAt, arrival)
        return self.arrivedAt
    }

    /// Returns the time for which admitted bytes still keep the link busy.
    package func backlog(at now: Instant) -> Interval {
        max(self.idleAt - now, .zero)
    }

    private static func later(_ moment: Instant, by interval: Interval) -> Instant {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(interval.nanoseconds)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }
}
