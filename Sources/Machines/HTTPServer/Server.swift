import Backend
package import ClientTrial
import Faults
import Gateway
import Observations
import OriginServer
package import SimBase
package import Talaria

/// The simulated Talaria as its callers meet it: `Backend` behind HTTP, links and faults, on connections that are only
/// numbers. The same machine stands behind real sockets and in the virtual world. In the backend's place there may be
/// the way to a foreign one, `Gateway`, or what one once answered, `RecordingPlayer`.
///
/// A value: a copy of it is a snapshot.
package struct Server: Sendable {
    /// The path of the question after the server's nonce.
    package static let noncePath = "/_sim/nonce"

    var context: ServerContext
    private(set) var origin: Origin
    /// The connections by slot; a free slot holds no state.
    var connections: [ServedConnection] = []
    /// The serial of the connection in each slot; 0 for none. Stored beside the connections, which are large.
    private var serials: [UInt64] = []
    /// The byte counts of the last connection in each slot.
    private var accounts: [LinkAccount] = []
    private var freeSlots: [UInt32] = []
    private var connectionsMade: UInt64 = 0
    /// The moment of each connection's next wake-up, by slot.
    private var wakes = WakeQueue(keys: 0)
    /// Connections that something was done to and that have not been looked after yet.
    private var touched: [ConnectionID] = []
    /// The origin's next wake-up, as it last reported.
    private var originWake: Instant?
    /// The moment of the server's next wake-up; it may be too early, which does no harm. Stored: a query of so large a value
    /// copies it.
    package private(set) var nextWake: Instant?
    private var originEffects: [OriginEffect] = []
    /// Nil if the clients are not judged.
    private var watch: ClientWatch?

    package init(_ setup: HTTPServerConfiguration) {
        self.watch = setup.clientWatch.map { ClientWatch($0, paths: setup.origin.traits.paths) }
        self.context = ServerContext(setup)
        self.origin = Origin(setup.origin, random: setup.random)
    }

    /// Continues with other draws.
    package mutating func redraw(_ random: KeyedRandom) {
        self.context.redraw(random)
        self.origin.redraw(random)
    }

    // MARK: Events

    /// A connection was made. It is over by `.finish`, by a cut that is not a silence, or by `.gone`.
    ///
    /// - Parameter address: The numeric address that it comes from; nil if it has none or nothing depends on it.
    package mutating func accept(from address: String?, at now: Instant) -> ConnectionID {
        self.connectionsMade += 1
        let slot = self.freeSlots.popLast() ?? UInt32(self.connections.count)
        let id = ConnectionID(serial: self.connectionsMade, slot: slot)
        let connection = ServedConnection(id: id, from: address, at: now)
        let wake = connection.nextWake(at: now)
        if Int(slot) == self.connections.count {
            self.connections.append(connection)
            self.serials.append(id.serial)
            self.accounts.append(LinkAccount(serial: 0))
        } else {
            self.connections[Int(slot)] = connection
            self.serials[Int(slot)] = id.serial
        }
        self.wakes.set(key: Int(slot), at: wake, tie: id.serial)
        self.noteNextWake()
        return id
    }

    private mutating func noteNextWake() {
        let origin = self.originWake
        self.nextWake = self.wakes.nextAt.map { min($0, origin ?? $0) } ?? origin
    }

    package mutating func handle(
        _ event: ServerEvent, at now: Instant, into effects: inout [ServerEffect]
    ) {
        let seen = effects.count
        self.watch?.note(event, at: now)
        swap(&effects, &self.context.effects)
        self.context.now = now
        self.handle(event, at: now)
        self.noteNextWake()
        swap(&effects, &self.context.effects)
        if self.context.showsStatus {
            self.context.traffic.count(event)
            for effect in effects[seen...] { self.context.traffic.count(effect) }
        }
        guard self.watch != nil else { return }
        for effect in effects[seen...] { self.watch?.note(effect, at: now) }
    }

    private mutating func handle(_ event: ServerEvent, at now: Instant) {
        switch event {
        case .received(let id, let bytes):
            guard let slot = self.slot(of: id) else { break }
            self.connections[slot].received(bytes, at: now, &self.context)
            self.settle(id, at: now)
        case .receivedFiller(let id, let bytes):
            guard let slot = self.slot(of: id) else { break }
            self.connections[slot].receivedFiller(bytes, at: now, &self.context)
            self.settle(id, at: now)
        case .ended(let id):
            guard let slot = self.slot(of: id) else { break }
            self.connections[slot].peerEnded(at: now, &self.context)
            self.settle(id, at: now)
        case .gone(let id):
            guard let slot = self.slot(of: id) else { break }
            self.connections[slot].leave(&self.context)
            self.settle(id, at: now)
        case .cutDone(let id):
            guard let slot = self.slot(of: id) else { break }
            self.connections[slot].cutDone(at: now, &self.context)
            self.settle(id, at: now)
        case .backlog(let id, let bytes):
            guard let slot = self.slot(of: id) else { break }
            self.connections[slot].backlog = bytes
            self.settle(id, at: now)
        case .upstream(let event):
            self.received(event, at: now)
        case .woke:
            self.wake(at: now)
        }
    }

    /// Returns the slot of a connection that has not ended.
    private func slot(of id: ConnectionID) -> Int? {
        let slot = Int(id.slot)
        return self.serials[slot] == id.serial ? slot : nil
    }

    private mutating func received(_ event: UpstreamEvent, at now: Instant) {
        switch event {
        case .replied(let id, let head): self.context.events.append(.upstreamReplied(id, head))
        case .received(let id, let bytes): self.context.events.append(.upstreamReceived(id, bytes))
        case .ended(let id, let failure): self.context.events.append(.upstreamEnded(id, failure))
        case .bodyLeft(let id, let bytes):
            if let slot = self.touch(id) { self.connections[slot].uploadWaits(id, bytes) }
        }
        self.pump(at: now)
        self.settleTouched(at: now)
    }

    private mutating func wake(at now: Instant) {
        if let due = self.originWake, due <= now {
            self.context.events.append(.woke)
            self.pump(at: now)
            self.settleTouched(at: now)
        }
        // Each once: one that wants to be woken again at once waits for the driver's next turn.
        for _ in 0..<self.connections.count {
            guard let (slot, _) = self.wakes.popDue(at: now) else { return }
            guard self.serials[slot] != 0 else { continue }
            self.settle(ConnectionID(serial: self.serials[slot], slot: UInt32(slot)), at: now)
        }
    }

    /// The end of all trouble: no request meets a fault any more. What has met one already keeps it.
    package mutating func endFaults() { self.context.endFaults() }

    // MARK: Connections

    /// Does whatever is due on a connection, and on those that it touches.
    private mutating func settle(_ id: ConnectionID, at now: Instant) {
        self.pump(at: now)
        if let slot = self.slot(of: id) {
            while self.connections[slot].deliverNext(at: now, &self.context) {
                self.pump(at: now)
            }
        }
        self.touched.append(id)
        self.settleTouched(at: now)
    }

    private mutating func settleTouched(at now: Instant) {
        var next = 0
        while next < self.touched.count {
            let id = self.touched[next]
            next += 1
            guard let slot = self.slot(of: id) else { continue }
            self.connections[slot].turn(at: now, &self.context)
            self.pump(at: now)
            switch self.connections.update(slot, { $0.rest(at: now) }) {
            case .over:
                self.accounts[slot] = self.connections.span[slot].account()
                self.connections[slot] = ServedConnection(
                    id: ConnectionID(serial: 0, slot: id.slot), from: nil, at: now)
                self.serials[slot] = 0
                self.freeSlots.append(id.slot)
                self.wakes.set(key: slot, at: nil)
                if self.context.origin.hasUpstream {
                    self.context.effects.append(.upstream(.hangUp(slot: id.slot)))
                }
            // Two connections that are due at one moment have the order in which they were made.
            case .until(let moment): self.wakes.set(key: slot, at: moment, tie: id.serial)
            }
        }
        self.touched.clear()
    }

    // MARK: The origin

    /// Passes events to the origin and runs its effects. New events wait their turn.
    private mutating func pump(at now: Instant) {
        if !self.context.statusRequests.isEmpty { self.answerStatusRequests(at: now) }
        if !self.context.controls.isEmpty { self.performControls(at: now) }
        guard !self.context.events.isEmpty else { return }
        var next = 0
        while next < self.context.events.count {
            let event = self.context.events[next]
            next += 1
            var effects: [OriginEffect] = []
            swap(&effects, &self.originEffects)
            self.originWake = self.origin.handle(event, at: now, into: &effects)
            for index in effects.indices {
                self.perform(
                    effects.take(index, leaving: .readUpload(ExchangeID(0))), of: event.exchange, at: now)
            }
            effects.clear()
            swap(&effects, &self.originEffects)
        }
        self.context.events.clear()
    }

    private mutating func performControls(at now: Instant) {
        let controls = self.context.controls
        self.context.controls = []
        for (id, control) in controls {
            let reply = self.perform(control, id, at: now)
            self.perform(.reply(id, reply), of: id, at: now)
        }
    }

    private mutating func answerStatusRequests(at now: Instant) {
        let questions = self.context.statusRequests
        self.context.statusRequests = []
        for (id, question) in questions {
            let reply =
                switch question {
                case .state(let accept):
                    StatusPage.reply(
                        self.status(at: now), accept: accept, token: self.context.controlToken)
                case .metrics(let accept): self.metrics(accept: accept, at: now)
                }
            self.perform(.reply(id, reply), of: id, at: now)
        }
    }

    private mutating func perform(
        _ effect: consuming OriginEffect, of cause: ExchangeID?, at now: Instant
    ) {
        switch consume effect {
        case .readUpload(let id): self.on(id) { $0.readUpload(id, at: now, &$1) }
        case .reply(let id, let reply): self.on(id) { $0.reply(id, reply, at: now, &$1) }
        case .openStream(let id, let headers, let lineEnd):
            guard let slot = self.touch(id) else { return }
            self.context.streamOpened(id)
            self.connections[slot].openStream(
                id, headers: headers, lineEnd: lineEnd, at: now, &self.context)
        case .openSocket(let id, let headers):
            guard let slot = self.touch(id) else { return }
            self.context.streamOpened(id)
            self.connections[slot].openSocket(id, headers: headers, at: now, &self.context)
        case .stream(let id, let bytes, let mark):
            guard let slot = self.touch(id) else { return }
            if self.context.showsStatus { self.context.traffic.count(mark) }
            self.connections[slot].stream(id, bytes, mark, at: now, &self.context)
        case .endStream(let id):
            guard let slot = self.touch(id) else { return }
            self.connections[slot].endStream(id, at: now, &self.context)
        case .observe(let observation):
            self.followFault(observation, of: cause)
            self.context.observe(observation)
        case .forward(let id, let resume): self.on(id) { $0.forward(id, resume, at: now, &$1) }
        case .feedUpstream(let id, let bytes): self.on(id) { $0.feedUpstream(id, bytes, &$1) }
        case .passHead(let id, let head): self.on(id) { $0.passHead(id, head, at: now, &$1) }
        case .passBody(let id, let bytes): self.on(id) { $0.passBody(id, bytes, at: now, &$1) }
        case .passEnd(let id): self.on(id) { $0.passEnd(id, at: now, &$1) }
        case .breakOff(let id, let ending): self.on(id) { $0.breakOff(id, ending, at: now, &$1) }
        case .releaseUpstream(let id): self.context.effects.append(.upstream(.release(id)))
        case .probe(let order): self.context.effects.append(.upstream(.probe(order)))
        case .upstreamFailed(let id, let failure):
            self.context.effects.append(.upstream(.failed(id, failure)))
        }
    }

    /// Does something on the connection of an exchange, if it is still there.
    private mutating func on(
        _ id: ExchangeID, _ body: (inout ServedConnection, inout ServerContext) -> Void
    ) {
        guard let slot = self.touch(id) else { return }
        body(&self.connections[slot], &self.context)
    }

    /// A fault of the origin may be the end of the exchange that it met.
    private mutating func followFault(_ observation: borrowing Observation, of cause: ExchangeID?) {
        guard case .fault = observation.side,
            case .fault(.fired(let fault, let operation, let attempt)) = observation.what
        else { return }
        self.context.faultConsumed(
            fault,
            ExchangeKey(
                device: observation.device, scan: observation.scan, operation: operation, attempt: attempt))
        if self.context.endsExchange(fault), let cause, let slot = self.touch(cause) {
            self.connections[slot].serverFaultFired(cause, fault)
        }
    }

    /// The index of the connection that carries an exchange, which will be looked after.
    mutating func touch(_ exchange: ExchangeID) -> Int? {
        guard let id = self.context.connection(of: exchange), let slot = self.slot(of: id) else {
            return nil
        }
        if self.touched.last != id { self.touched.append(id) }
        return slot
    }

    // MARK: Queries

    /// Returns the number of open event streams since the last call.
    package mutating func takeStreamsOpen() -> StreamsOpen { self.context.takeStreamsOpen() }

    /// Returns the byte counts of a connection, until another one takes its slot.
    package func account(of id: ConnectionID) -> LinkAccount? {
        if let slot = self.slot(of: id) { return self.connections.span[slot].account() }
        let account = self.accounts[Int(id.slot)]
        return account.serial == id.serial ? account : nil
    }

    /// Returns the moment from which the link of a connection delivers bytes: after the name lookup and the
    /// handshake. Nil before the first request has identified the link.
    package func linkReady(of id: ConnectionID) -> Instant? {
        guard let slot = self.slot(of: id) else { return nil }
        return self.connections.span[slot].link.readyAt
    }

    /// Bytes that did not arrive, by what this side knows of it.
    package var lostBytes: LostBytes { self.context.lost }

    /// Calls `look` with each of the backend's collections and its limit.
    package func eachBound(_ look: (Bound) -> Void) { self.origin.eachBound(look) }

    /// Whether a request shows a token that is not that of the job it requests.
    package func owner(ofToken authorization: String, target: String) -> TokenOwner {
        self.origin.owner(ofToken: authorization, target: target)
    }

    /// Connections that are not over.
    package var connectionsOpen: Int { self.connections.count - self.freeSlots.count }

    func clientStatus(at now: Instant) -> ClientStatus? {
        guard let watch = self.watch else { return nil }
        return ClientStatus(
            report: watch.trial.report(at: now), expectations: watch.expectations, at: now)
    }

    /// Returns what the trial of the clients has found; nil if they are not judged.
    package func clientReport(at now: Instant) -> ClientReport? { self.watch?.trial.report(at: now) }

    /// Jobs that are neither cleaned up nor expired.
    package var jobsAlive: Int { self.origin.jobsAlive }
}
