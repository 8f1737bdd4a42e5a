import Backend
import EventLoop
import Faults
import SimBase
import Wire

/// One accepted connection, with the link of the phone behind it.
///
/// Bytes that are read count as sent by the phone now and arrive at the backend when the link lets them; what the
/// backend answers goes the same way back. Faults cut here, on exact bytes.
///
/// Reading and requests are in `Connection+Requests`, answers in `Connection+Answers`, what goes out and how it ends
/// in `Connection+Sending`.
final class Connection {
    /// What reaches the backend when the link lets it.
    enum Inbound {
        case head(ExchangeID)
        case end(ExchangeID)
        /// A fault ends the connection here, unless the request is complete.
        case cut(ExchangeID, CutOrder)
        case malformed(RequestError)
        /// FIN from the peer.
        case ended
    }

    /// Where the connection stands.
    enum State {
        case open
        /// Answered for the last time: what still comes is thrown away until the peer closes or the time is over.
        case lingering(until: Instant)
        /// Cut: waiting until what is before the cut has been sent.
        case ending(CutOrder, since: Instant)
        /// Half-open: neither read nor written any more.
        case silent(until: Instant)
        case closed
    }

    let id: UInt64
    unowned let server: BackendServer
    let socket: Int32
    var watch: Watch?
    private var timer: LoopTimer?
    var state = State.open

    var reader = RequestReader(limits: .standard)
    var link: ConnectionLink
    var inbound = EventHeap<Inbound>()
    var outbox = Outbox()
    var exchange: Exchange?
    /// Bytes of the present request so far, its head included.
    var requestBytes = 0
    /// What came behind a request that is not answered yet.
    var early: [UInt8] = []
    /// The last exchange that got its answer.
    var answered: ExchangeID?
    /// When the peer must have done its next thing.
    var deadline: Instant
    var isPeerDone = false
    /// A cut is on its way: nothing goes out behind it, and nothing that comes in means anything.
    var isCut = false
    private var hasCaller = false

    init(id: UInt64, socket: Int32, server: BackendServer) {
        self.id = id
        self.socket = socket
        self.server = server
        let now = server.loop.now()
        self.link = ConnectionLink(acceptedAt: now)
        self.deadline = now + ServerLimits.keepAliveTime
        StreamSocket.setNoDelay(socket)
        StreamSocket.setReceiveBuffer(socket, bytes: ServerLimits.receiveBufferBytes)
        self.timer = LoopTimer(loop: server.loop) { [unowned self] _ in self.turn() }
        self.watch = server.loop.watch(socket, .read) { [unowned self] readiness in
            if readiness.contains(.read) { self.readable() }
            if readiness.contains(.write) { self.flush() }
            self.turn()
        }
        self.armTimer(at: now)
    }

    // MARK: Turns

    /// Does whatever is due.
    private func turn() {
        let now = self.server.loop.now()
        while case .open = self.state, !self.isCut, let due = self.inbound.popDue(at: now) {
            self.deliver(due.element, at: now)
        }
        self.checkCutters(at: now)
        self.sendDue(at: now)
        self.checkEnds(at: now)
        if case .closed = self.state { return }
        self.updateInterest(at: now)
        self.armTimer(at: now)
    }

    /// For the same moment as `updateInterest`: a link that catches up between two readings of the clock would leave the
    /// connection unread by the first and without a timer by the second, for good.
    func armTimer(at now: Instant) {
        var next = Instant.distantFuture
        if let moment = self.outbox.nextAt { next = min(next, moment) }
        switch self.state {
        case .open:
            next = min(next, self.deadline)
            if !self.isCut, let moment = self.inbound.nextAt { next = min(next, moment) }
            if let moment = self.nextCutterDue { next = min(next, moment) }
            if !self.isPeerDone, !self.isReaderFull,
                let moment = self.link.upResumes(at: now, self.exchange?.up)
            {
                next = min(next, moment)
            }
        case .lingering(let until): next = min(next, until)
        case .ending(_, let since):
            // More and more patiently, where the peer does not read.
            let pause = min(
                max((now - since) / 4, ServerLimits.resetPoll), ServerLimits.resetPollMax)
            next = min(next, now + pause)
        case .silent(let until): next = min(until, now + ServerLimits.silencePoll)
        case .closed: return
        }
        if next == .distantFuture {
            self.timer?.disarm()
        } else if self.timer?.armedFor != next {
            self.timer?.arm(at: next)
        }
    }

    func updateInterest(at now: Instant) {
        var interest: Readiness = []
        switch self.state {
        case .open: if !self.isReadingPaused(at: now) { interest.insert(.read) }
        case .lingering: if !self.isPeerDone { interest.insert(.read) }
        case .ending: break
        case .silent:
            if self.watch?.interest != [] { self.watch?.interest = [] }
            return
        case .closed: return
        }
        if self.outbox.unsentCount > 0 { interest.insert(.write) }
        if self.watch?.interest != interest { self.watch?.interest = interest }
    }

    /// True once, for the first request that comes through.
    func isFirstRequest() -> Bool {
        defer { self.hasCaller = true }
        return !self.hasCaller
    }

    // MARK: Ends

    private func checkEnds(at now: Instant) {
        switch self.state {
        case .open:
            guard self.deadline <= now, !self.isCut else { return }
            self.peerIsTooSlow(at: now)
        case .lingering(let until):
            if until <= now || (self.isPeerDone && self.outbox.isEmpty) { self.close() }
        case .ending(let order, let since): self.checkCut(order, since: since, at: now)
        case .silent(let until):
            // A peer that has given up says goodbye to nobody; its socket here is of no more use to anyone.
            if until <= now || StreamSocket.isPeerGone(self.socket) { self.close() }
        case .closed: break
        }
    }

    func linger(at now: Instant) {
        switch self.state {
        case .open, .ending: break
        case .lingering, .silent, .closed: return
        }
        self.state = .lingering(until: now + ServerLimits.lingerTime)
        if self.outbox.isEmpty { StreamSocket.endSending(self.socket) }
    }

    /// The backend hears that nothing more can be written, unless it has already ended the exchange itself.
    func abandonExchange(at now: Instant) {
        guard let exchange = self.exchange else { return }
        self.exchange = nil
        self.server.abandon(exchange.id, at: now)
    }

    func close() {
        if case .closed = self.state { return }
        self.state = .closed
        self.watch?.cancel()
        self.timer?.disarm()
        StreamSocket.close(self.socket)
        self.abandonExchange(at: self.server.loop.now())
        self.server.closed(self)
    }

    /// For the end of the server.
    func shutDown() { self.close() }
}
