import Faults
import OriginServer
import SimBase
import Wire

/// One connection as the server has it, with the link of the phone.
///
/// Bytes that are read count as sent by the phone now and arrive at the backend when the link lets them; what the
/// backend answers goes the same way back. Faults cut here, on exact bytes.
///
/// Reading and requests are in `ServedConnection+Requests`, answers in `ServedConnection+Answers`, what goes out and how it
/// ends in `ServedConnection+Sending`.
struct ServedConnection: Sendable {
    /// Data that reaches the backend when the link delivers it.
    enum Inbound: Sendable {
        case head(ExchangeID)
        /// Bytes of a body that is passed on.
        case body(ExchangeID, [UInt8])
        case end(ExchangeID)
        /// Bytes behind a request that was answered with a switch to WebSocket.
        case frames(ExchangeID, [UInt8])
        /// A fault ends the connection here, unless the request is complete.
        case cut(ExchangeID, CutOrder)
        case malformed(RequestError)
        /// FIN from the peer.
        case ended
    }

    /// The state of the connection (Docs/machines/connection.md).
    enum State: Sendable {
        /// Leaves to any other.
        case open
        /// The peer has said its last word; what is under way to it still goes out. Leaves to `over`.
        case closing(until: Instant)
        /// A cut is under way to the peer: nothing is sent after it, and nothing that is received has an effect. Leaves to
        /// `cutting` or `over`.
        case cutPending(CutOrder)
        /// The driver is making a cut. Leaves to `silent` or `over`.
        case cutting(CutOrder)
        /// Half-open: neither read nor written any more. Leaves to `over`.
        case silent
        /// Out of the server's hands.
        case over
    }

    let id: ConnectionID
    let address: String?
    var state = State.open

    var reader = RequestReader(limits: .standard)
    var link: ConnectionLink
    var inbound = EventHeap<Inbound>()
    var outbox = Outbox()
    var exchange: ServedExchange?
    /// Whether the exchange meets any fault. Stored outside the exchange, because reading the exchange copies
    /// it.
    var isArmed = false
    /// Bytes of the present request so far, its head included.
    var requestBytes = 0
    /// The bytes after a request that is not answered yet.
    var early: [UInt8] = []
    /// The last exchange that got its answer.
    var answered: ExchangeID?
    /// The time by which the peer must act.
    var deadline: Instant
    var isPeerDone = false
    /// Bytes of the present request that wait for the upstream.
    var uploadWaiting = 0
    /// Bytes that the peer has not taken, as the driver reported last.
    var backlog = 0
    /// The upstream is held up, because what it sends is not taken.
    var isUpstreamPaused = false
    /// The bytes of both directions by outcome.
    var up = LinkFlow()
    var down = LinkFlow()
    /// The last value that the driver was given.
    private var isRead = true
    private var hasCaller = false

    init(id: ConnectionID, from address: String?, at now: Instant) {
        self.id = id
        self.address = address
        self.link = ConnectionLink(acceptedAt: now)
        self.deadline = now + HTTPServerLimits.keepAliveTime
    }

    var isOpen: Bool { if case .open = self.state { true } else { false } }

    // MARK: Turns

    /// Takes the next thing that has come through the link; false when there is none.
    mutating func deliverNext(at now: Instant, _ context: inout ServerContext) -> Bool {
        guard self.isOpen, let due = self.inbound.popDue(at: now) else { return false }
        self.deliver(due.element, at: now, &context)
        return true
    }

    /// Does what else is due.
    mutating func turn(at now: Instant, _ context: inout ServerContext) {
        if self.isArmed { self.checkCutters(at: now, &context) }
        self.sendDue(at: now, &context)
        self.checkEnds(at: now, &context)
        self.checkBackPressure(&context)
        self.updateReading(at: now, &context)
    }

    /// Returns the time of the next wake-up. `now` must be that of `updateReading`: a link that catches up
    /// between two readings of the clock would otherwise leave the connection unread and without a wake-up
    /// for good.
    func nextWake(at now: Instant) -> Instant? {
        var next = self.outbox.nextAt ?? .distantFuture
        switch self.state {
        // A wake-up that a pending cut does not need is harmless, but the digest of a simulated run counts it.
        case .open, .cutPending:
            next = min(next, self.deadline)
            if self.isOpen, let moment = self.inbound.nextAt { next = min(next, moment) }
            if self.isOpen, self.isArmed, let moment = self.nextCutterDue { next = min(next, moment) }
            if !self.isPeerDone, !self.isReaderFull,
                let moment = self.link.upResumes(at: now, impairedUntil: self.upImpairedUntil)
            {
                next = min(next, moment)
            }
        case .closing(let until): next = min(next, until)
        case .cutting, .silent, .over: return nil
        }
        return next == .distantFuture ? nil : next
    }

    private mutating func updateReading(at now: Instant, _ context: inout ServerContext) {
        let isRead: Bool
        switch self.state {
        case .open: isRead = !self.isReadingPaused(at: now)
        case .cutPending: isRead = false
        case .closing, .cutting, .silent, .over: return
        }
        guard isRead != self.isRead else { return }
        self.isRead = isRead
        context.effects.append(.read(self.id, isRead))
    }

    /// True once, for the first request that comes through.
    mutating func takeFirstRequest() -> Bool {
        defer { self.hasCaller = true }
        return !self.hasCaller
    }

    // MARK: Ends

    private mutating func checkEnds(at now: Instant, _ context: inout ServerContext) {
        switch self.state {
        case .open:
            guard self.deadline <= now else { return }
            self.peerIsTooSlow(at: now, &context)
        case .closing(let until):
            if until <= now || self.outbox.isEmpty { self.finishNow(&context) }
        case .cutPending, .cutting, .silent, .over: break
        }
    }

    /// FIN after what was sent; the rest is the driver's.
    mutating func finishNow(_ context: inout ServerContext) {
        context.effects.append(.finish(self.id))
        self.leave(&context)
    }

    /// The connection is dead, or out of our hands.
    mutating func leave(_ context: inout ServerContext) {
        switch self.state {
        case .cutPending(let order), .cutting(let order):
            if let (fault, key) = order.cause { context.faultMissed(fault, key) }
        case .open, .closing, .silent, .over: break
        }
        self.state = .over
        self.loseUnderway(to: .peerGone, &context)
        self.loseEarly(&context)
        self.abandonExchange(&context)
    }

    // MARK: Bytes

    /// Discards the data in flight to the peer.
    mutating func loseUnderway(to cause: LossOfBytes, _ context: inout ServerContext) {
        guard !self.outbox.isEmpty else { return }
        self.down.destroyed += self.outbox.bytes
        context.lost.add(self.outbox.bytes, cause)
        self.outbox.drop()
    }

    mutating func loseUp(_ bytes: Int, to cause: LossOfBytes, _ context: inout ServerContext) {
        self.up.destroyed += bytes
        context.lost.add(bytes, cause)
    }

    /// Discards the bytes after a request.
    mutating func loseEarly(_ context: inout ServerContext) {
        guard !self.early.isEmpty else { return }
        self.loseUp(self.early.count, to: .unread, &context)
        self.early = []
    }

    func account() -> LinkAccount {
        var account = LinkAccount(serial: self.id.serial)
        (account.up, account.down) = (self.up, self.down)
        account.upWaiting = self.early.count
        account.downWaiting = self.outbox.bytes
        account.downWaitingMost = self.outbox.bytesMost
        return account
    }

    /// The backend hears that nothing more can be written, unless it has already ended the exchange itself.
    mutating func abandonExchange(_ context: inout ServerContext) {
        guard let exchange = self.exchange else { return }
        self.exchange = nil
        context.abandon(exchange.id)
    }

    enum Rest: Sendable {
        case over
        /// Nil is until something happens.
        case until(Instant?)
    }

    /// Returns its state until the next turn.
    func rest(at now: Instant) -> Rest {
        if case .over = self.state { .over } else { .until(self.nextWake(at: now)) }
    }
}
