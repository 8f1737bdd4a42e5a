import SimBase
import Talaria
import Wire

/// One open stream: bytes in, items out, and what a phone measures on the way.
struct StreamConnection: Sendable {
    /// The reader of an event stream; empty for a WebSocket. In arrays, since what is stored in a stage is moved with it.
    private var reader: [SSEReader]
    /// The reader of a WebSocket; empty for an event stream.
    private var socket: [SocketReader]
    let openedAt: Instant
    /// The time of the last data, including the head.
    private(set) var lastByteAt: Instant
    private var lastPingAt: Instant?
    private var stamp: Stamp?
    /// Whether the time to the first event is still to be measured: it is for streams opened from the start, because
    /// a resumed one owes nothing until something happens.
    private var awaitsFirstEvent: Bool
    /// The time until which the client reads no event; nil while it reads.
    private(set) var blockedUntil: Instant?
    /// What came in the meantime, in its order.
    private var held: [SSEItem] = []
    /// Whether the body is over and this has not been reported yet: what is held comes first.
    private(set) var isOver = false

    /// The time at which the backend passed the next event to the link: from our backend's comment line,
    /// absent elsewhere.
    struct Stamp: Hashable, Sendable {
        var at: Instant
        var isReplayed: Bool
    }

    /// The time that an event traveled, if it is known, and whether the server had sent it before.
    struct Transit: Hashable, Sendable {
        var latency: Interval?
        var isReplayed: Bool
    }

    /// `rules`: how events are read; nil for a WebSocket.
    init(openedAt: Instant, resumed: Bool, rules: SSEReader.Rules?) {
        self.reader = rules.map { [SSEReader(limits: Self.limits, rules: $0)] } ?? []
        self.socket = rules == nil ? [SocketReader()] : []
        self.openedAt = openedAt
        self.lastByteAt = openedAt
        self.awaitsFirstEvent = !resumed
    }

    private static let limits = SSEReader.Limits(
        lineBytesMax: AppLimits.streamLineBytesMax, eventBytesMax: AppLimits.streamEventBytesMax,
        retryMax: .hours(24))

    /// - Returns: What follows from frames; nil for an event stream.
    mutating func received(
        _ bytes: ArraySlice<UInt8>, at now: Instant, wall: Int64, into items: inout [SSEItem]
    ) -> SocketReader.Output? {
        self.lastByteAt = now
        guard self.socket.isEmpty else {
            var output = SocketReader.Output()
            self.socket[0].received(bytes, at: now, wall: wall, into: &items, &output)
            return output
        }
        self.reader[0].receive(bytes, into: &items)
        return nil
    }

    // MARK: Overlays

    /// The client reads nothing more for a time.
    mutating func block(until moment: Instant) { self.blockedUntil = moment }

    /// Holds what came while the client does not read.
    ///
    /// - Returns: Whether there was room for it.
    mutating func hold(_ items: [SSEItem]) -> Bool {
        guard self.held.count + items.count <= AppLimits.heldItemsMax else { return false }
        self.held += items
        return true
    }

    /// The client reads again.
    ///
    /// - Returns: What was held.
    mutating func unblock() -> [SSEItem] {
        self.blockedUntil = nil
        defer { self.held = [] }
        return self.held
    }

    /// The body is over while the client does not read.
    mutating func bodyEnded() { self.isOver = true }

    /// Remembers the stamp `t=<nanoseconds>`, perhaps followed by ` replayed`; any other comment says nothing.
    mutating func commented(_ bytes: ArraySlice<UInt8>, clockZero: Int64?) {
        if let clockZero, let stamp = Stamp(comment: bytes, clockZero: clockZero) { self.stamp = stamp }
    }

    /// Returns the timestamp of the event that is being dispatched, and removes it.
    mutating func takeTransit(at now: Instant) -> Transit {
        guard let stamp = self.stamp else { return Transit(latency: nil, isReplayed: false) }
        self.stamp = nil
        let (nanoseconds, overflow) = now.nanoseconds.subtractingReportingOverflow(stamp.at.nanoseconds)
        guard !overflow, nanoseconds <= AppLimits.latencyMax.nanoseconds,
            nanoseconds >= -AppLimits.stampAheadMax.nanoseconds
        else { return Transit(latency: nil, isReplayed: stamp.isReplayed) }
        return Transit(latency: .nanoseconds(max(0, nanoseconds)), isReplayed: stamp.isReplayed)
    }

    /// Returns the time since the head, for the first event only.
    mutating func takeFirstEvent(at now: Instant) -> Interval? {
        guard self.awaitsFirstEvent else { return nil }
        self.awaitsFirstEvent = false
        return now - self.openedAt
    }

    /// Returns the time since the previous ping on this connection.
    mutating func pinged(at now: Instant) -> Interval? {
        let gap = self.lastPingAt.map { now - $0 }
        self.lastPingAt = now
        self.stamp = nil
        return gap
    }
}

extension StreamConnection.Stamp {
    /// Nil for any comment that is not a stamp, and for one whose number is beyond a clock.
    init?(comment: ArraySlice<UInt8>, clockZero: Int64) {
        guard comment.starts(with: Self.name) else { return nil }
        var absolute: Int64 = 0
        var index = comment.startIndex + Self.name.count
        while index < comment.endIndex, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(comment[index]) {
            let (product, tooLarge) = absolute.multipliedReportingOverflow(by: 10)
            let (sum, stillTooLarge) = product.addingReportingOverflow(
                Int64(comment[index] - UInt8(ascii: "0")))
            guard !tooLarge, !stillTooLarge else { return nil }
            absolute = sum
            index += 1
        }
        let (relative, overflow) = absolute.subtractingReportingOverflow(clockZero)
        guard index > comment.startIndex + Self.name.count, !overflow else { return nil }
        self.isReplayed = index < comment.endIndex
        guard !self.isReplayed || comment[index...].elementsEqual(Self.replayed) else { return nil }
        self.at = Instant(nanoseconds: relative)
    }

    private static let name = Array("t=".utf8)
    private static let replayed = Array(" replayed".utf8)
}
