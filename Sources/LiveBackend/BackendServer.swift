package import Backend
package import EventLoop
package import Faults
package import SimBase
package import Talaria
import Wire

/// What a simulated Talaria on real sockets is made of.
package struct ServerSetup: Sendable {
    /// A numeric address.
    package var host: String
    /// 0 lets the system choose.
    package var port: UInt16
    package var backend: BackendConfiguration
    package var shelf: Shelf
    package var random: KeyedRandom
    package var faults: [FaultSpec]
    package var links: FleetLinks
    /// What `GET /_sim/nonce` answers, so that a caller can know that it speaks to the server it started.
    package var nonce: String

    package init(
        host: String, port: UInt16, backend: BackendConfiguration, shelf: Shelf, random: KeyedRandom,
        faults: [FaultSpec], links: FleetLinks, nonce: String
    ) {
        self.host = host
        self.port = port
        self.backend = backend
        self.shelf = shelf
        self.random = random
        self.faults = faults
        self.links = links
        self.nonce = nonce
    }
}

/// The simulated Talaria on real sockets: `Backend` behind links and faults.
///
/// Belongs to its loop's thread. It never shares its port: two servers on one port would answer each other's phones.
package final class BackendServer {
    package static let noncePath = "/_sim/nonce"

    let loop: Loop
    let links: FleetLinks
    private let random: KeyedRandom
    /// Connections of each phone of the fleet so far.
    private var connectionsOf: [DeviceNumber: UInt64] = [:]
    /// One buffer for every read: what is read is used up before the next read.
    var readBuffer = [UInt8](repeating: 0, count: ServerLimits.readBytesMax)

    private let nonce: String
    private let observe: (Observation) -> Void
    private let listener: Descriptor
    private var watch: Watch?
    private var timer: LoopTimer?
    private var backend: Backend
    private var desk: FaultDesk
    private var callers = CallerDirectory()
    private var connections: [UInt64: Connection] = [:]
    private var exchanges: [ExchangeID: (connection: Connection, caller: Caller, isStream: Bool)] = [:]
    private var closedConnections: [Connection] = []
    private var burial: LoopTimer?
    private var connectionsMade: UInt64 = 0
    private var exchangesMade: UInt64 = 0
    private var streamsOpenNow = 0
    private var streamsOpen = StreamsOpen(least: 0, most: 0)
    private var effects: [BackendEffect] = []
    private var isHandling = false
    private var waiting: [BackendEvent] = []
    /// The exchange of the event that is being handled.
    private var cause: ExchangeID?

    /// Connections closed at once because there were too many, or no descriptor was left.
    package private(set) var connectionsRefused = 0

    /// Listens at once. `observe` is called for everything seen, in order.
    package init(_ setup: ServerSetup, loop: Loop, observe: @escaping (Observation) -> Void)
        throws(SystemError)
    {
        self.loop = loop
        self.links = setup.links
        self.random = setup.random
        self.nonce = setup.nonce
        self.observe = observe
        self.backend = Backend(configuration: setup.backend, shelf: setup.shelf, random: setup.random)
        self.desk = FaultDesk(specs: setup.faults, random: setup.random)
        self.listener = try StreamSocket.listen(host: setup.host, port: setup.port)
        self.timer = LoopTimer(loop: loop) { [unowned self] _ in self.tell(.woke, at: self.loop.now()) }
        self.burial = LoopTimer(loop: loop) { [unowned self] _ in self.closedConnections.removeAll() }
        self.watch = loop.watch(self.listener.number, .read) { [unowned self] _ in self.accept() }
    }

    package func port() throws(SystemError) -> UInt16 { try StreamSocket.localPort(of: self.listener.number) }

    /// Stops listening and closes every connection.
    package func shutDown() {
        self.watch?.cancel()
        self.timer?.disarm()
        for connection in Array(self.connections.values) { connection.shutDown() }
    }

    // MARK: Connections

    private static let acceptsPerTurnMax = 64

    private func accept() {
        for _ in 0..<Self.acceptsPerTurnMax {
            switch StreamSocket.accept(self.listener.number) {
            case .wouldBlock: return
            case .failed:
                self.connectionsRefused += 1
                return
            case .connection(let socket):
                guard self.connections.count < ServerLimits.connectionsMax else {
                    self.connectionsRefused += 1
                    StreamSocket.close(socket)
                    continue
                }
                self.connectionsMade += 1
                let connection = Connection(id: self.connectionsMade, socket: socket, server: self)
                self.connections[connection.id] = connection
            }
        }
    }

    func closed(_ connection: Connection) {
        self.connections[connection.id] = nil
        // Let go in a turn of its own: the connection is still on the stack.
        self.closedConnections.append(connection)
        self.burial?.arm(at: self.loop.now())
    }

    // MARK: Exchanges

    /// A request has begun: who sends it, and what number it gets.
    func nextExchange(_ head: RequestHead, connection: Connection) -> (ExchangeID, ExchangeKey?) {
        self.exchangesMade += 1
        let id = ExchangeID(self.exchangesMade)
        let endpoint = Endpoint(path: head.path)
        let operation = endpoint.flatMap { Self.operation($0, method: head.method) }
        let caller = self.callers.caller(of: head, operation: operation, jobId: endpoint?.jobId)
        self.exchanges[id] = (connection, caller, false)
        let key = operation.map {
            ExchangeKey(device: caller.device, scan: caller.scan, operation: $0, attempt: caller.attempt)
        }
        return (id, key)
    }

    private static func operation(_ endpoint: Endpoint, method: String) -> Operation? {
        switch (endpoint, method) {
        case (.upload, "POST"): .upload
        case (.stream, "GET"): .stream
        case (.results, "GET"): .results
        case (.cleanup, "DELETE"): .cleanup
        case (.job, "GET"): .status
        case (.job, "DELETE"): .cancel
        default: nil
        }
    }

    /// The head of a request has come through the link.
    func requested(_ exchange: Exchange, connection: Connection, at now: Instant) {
        let head = exchange.head
        guard head.path != Self.noncePath else {
            connection.reply(
                exchange.id,
                BackendReply(
                    status: 200, headers: [HeaderLine("Content-Type", "text/plain")],
                    body: Array(self.nonce.utf8)),
                at: now)
            return
        }
        guard let caller = self.exchanges[exchange.id]?.caller else { return }
        if connection.isFirstRequest() { self.emit(.connected(connection: connection.id), caller, at: now) }
        let length: Int? = if case .length(let length) = head.body { length } else { nil }
        let request = BackendRequest(
            method: head.method, path: head.path, query: head.query,
            deviceID: head.headers[HeaderName.deviceID],
            authorization: head.headers[HeaderName.authorization], accept: head.headers["Accept"],
            contentType: head.headers["Content-Type"], contentLength: length,
            lastEventID: head.headers[HeaderName.lastEventID])
        self.tell(
            .requested(exchange.id, request, caller, connection: connection.id, faults: exchange.faults),
            at: now)
    }

    /// What a request is to meet. Decided when its head is read, before its link has carried it: some of it happens
    /// to its bytes on their way.
    func openFaults(_ key: ExchangeKey, at now: Instant) -> [ArmedFault] {
        var decisions: [Observation] = []
        let armed = self.desk.open(
            key, group: self.links.group(of: key.device).name, at: now, into: &decisions)
        for decision in decisions { self.emit(decision) }
        return armed.untilFirstEnd
    }

    /// What decides which segments a phone's next connection loses.
    func nextLinkRandom(of device: DeviceNumber?) -> KeyedRandom {
        guard let device, self.links.group(of: device).name != "" else {
            return KeyedRandom(seed: self.random.seed)  // A perfect link loses nothing.
        }
        let ordinal = self.connectionsOf[device, default: 0]
        self.connectionsOf[device] = ordinal + 1
        return KeyedRandom(seed: self.random.draw(.link, UInt64(device.raw), ordinal))
    }

    /// Nothing more is to be heard of an exchange that was answered in full.
    func forget(_ id: ExchangeID) { self.remove(id) }

    @discardableResult
    private func remove(_ id: ExchangeID) -> Bool {
        guard let exchange = self.exchanges.removeValue(forKey: id) else { return false }
        if exchange.isStream { self.countStreams(-1) }
        return true
    }

    private func countStreams(_ change: Int) {
        self.streamsOpenNow += change
        self.streamsOpen.saw(self.streamsOpenNow)
    }

    /// Since this was last asked.
    package func takeStreamsOpen() -> StreamsOpen {
        defer { self.streamsOpen = StreamsOpen(least: self.streamsOpenNow, most: self.streamsOpenNow) }
        return self.streamsOpen
    }

    /// An exchange ended without its answer.
    func abandon(_ id: ExchangeID, at now: Instant) {
        guard self.remove(id) else { return }
        self.tell(.aborted(id), at: now)
    }

    /// A cut is on its way: it will not be armed for this scan again.
    func faultConsumed(_ fault: Int, _ key: ExchangeKey) { self.desk.fired(fault, key) }

    func faultFired(_ fault: Int, _ key: ExchangeKey, at now: Instant) {
        self.emit(
            Observation(
                at: now, device: key.device, scan: key.scan,
                what: .fault(.fired(fault: fault, key.operation, attempt: key.attempt))))
    }

    /// What a request that is not HTTP is answered.
    func refusal(of error: RequestError) -> BackendReply {
        let code: ProblemCode =
            switch error.status {
            case 413: .fileTooLarge
            case 414, 431: .headerTooLarge
            case 501, 505: .featureNotAvailable
            default: .invalidRequest
            }
        var reply = self.refusal(code, "the request is not HTTP that can be served: \(error)")
        reply.status = error.status
        return reply
    }

    func refusal(_ code: ProblemCode, _ detail: String) -> BackendReply {
        let problem = Problem(code, detail: detail, instance: nil, retryAfterMs: nil, metadata: nil)
        return BackendReply(
            status: code.status, headers: [HeaderLine("Content-Type", Problem.contentType)],
            body: JSON.encode(problem))
    }

    // MARK: The machine

    /// Hands an event to the machine and carries out what it wants. What happens meanwhile waits its turn.
    func tell(_ event: BackendEvent, at now: Instant) {
        self.waiting.append(event)
        guard !self.isHandling else { return }
        self.isHandling = true
        var next = 0
        while next < self.waiting.count {
            let event = self.waiting[next]
            next += 1
            self.cause = event.exchange
            var effects: [BackendEffect] = []
            swap(&effects, &self.effects)
            self.backend.handle(event, at: now, into: &effects)
            for effect in effects { self.carryOut(effect, at: now) }
            effects.removeAll(keepingCapacity: true)
            swap(&effects, &self.effects)
        }
        self.waiting.removeAll(keepingCapacity: true)
        self.isHandling = false
        self.armTimer()
    }

    private func armTimer() {
        guard let wake = self.backend.nextWake else {
            self.timer?.disarm()
            return
        }
        if self.timer?.armedFor != wake { self.timer?.arm(at: wake) }
    }

    private func carryOut(_ effect: BackendEffect, at now: Instant) {
        switch effect {
        case .readUpload(let id): self.exchanges[id]?.connection.readUpload(id, at: now)
        case .reply(let id, let reply): self.exchanges[id]?.connection.reply(id, reply, at: now)
        case .openStream(let id, let headers):
            guard self.exchanges[id] != nil else { return }
            self.exchanges[id]?.isStream = true
            self.countStreams(1)
            self.exchanges[id]?.connection.openStream(id, headers: headers, at: now)
        case .stream(let id, let bytes, let mark):
            self.exchanges[id]?.connection.stream(id, bytes, mark, at: now)
        case .endStream(let id): self.exchanges[id]?.connection.endStream(id, at: now)
        case .observe(let observation):
            if case .fault(.fired(let fault, let operation, let attempt)) = observation.what {
                self.desk.fired(
                    fault,
                    ExchangeKey(
                        device: observation.device, scan: observation.scan, operation: operation,
                        attempt: attempt))
                if self.desk.specs[fault].kind.endsExchange, let id = self.cause {
                    self.exchanges[id]?.connection.serverFaultFired(id, fault)
                }
            }
            self.emit(observation)
        }
    }

    private func emit(_ sighting: BackendSighting, _ caller: Caller, at now: Instant) {
        self.emit(Observation(at: now, device: caller.device, scan: caller.scan, what: .backend(sighting)))
    }

    private func emit(_ observation: Observation) {
        self.callers.saw(observation)
        self.observe(observation)
    }
}

extension BackendEvent {
    fileprivate var exchange: ExchangeID? {
        switch self {
        case .requested(let id, _, _, _, _), .uploaded(let id, _), .uploadFailed(let id, _),
            .aborted(let id):
            id
        case .woke: nil
        }
    }
}

extension Endpoint {
    /// The job that the path names.
    fileprivate var jobId: String? {
        switch self {
        case .upload: nil
        case .stream(let jobId), .results(let jobId), .cleanup(let jobId), .job(let jobId): jobId
        }
    }
}
