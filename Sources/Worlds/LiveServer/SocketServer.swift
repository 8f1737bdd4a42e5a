package import Backend
package import ClientTrial
package import EventLoop
package import Faults
package import Gateway
package import HTTPServer
package import Observations
package import SimBase
package import SystemIO
package import TLS
package import Talaria
package import Wire

/// The origin of a server's responses.
package enum ServerOrigin: Sendable {
    case simulated(BackendConfiguration, Shelf)
    /// A foreign backend, behind the fault gateway.
    case upstream(UpstreamConfiguration)
    /// See `OriginConfiguration.recorded`.
    case recorded(Recording, wallClockAtZero: Int64)
}

/// The configuration of a server on real sockets.
package struct LiveServerConfiguration: Sendable {
    /// A numeric address.
    package var host: String
    /// 0 lets the system choose.
    package var port: UInt16
    package var origin: ServerOrigin
    package var random: KeyedRandom
    package var faults: [FaultSpec]
    package var links: FleetLinks
    /// The response of `GET /_sim/nonce`, with which a caller verifies that it reached the server that it
    /// started.
    package var nonce: String
    /// Called for every completed request.
    package var served: (@Sendable (ServedRequest) -> Void)?
    /// Called for everything that passes, for a recording.
    package var record: (@Sendable (RecordingLine) -> Void)?
    /// The certificate with which connections are encrypted; nil for plain HTTP.
    package var tls: TLSContext?
    /// Called for every connection that fails because of TLS.
    package var connectionFailed: (@Sendable (TLSFailure) -> Void)?
    /// See `HTTPServerConfiguration.showsStatus`.
    package var showsStatus = false
    /// See `HTTPServerConfiguration.controlToken`.
    package var controlToken: String?
    /// See `HTTPServerConfiguration.faultsOnDemand`.
    package var faultsOnDemand: [FaultSpec] = []
    /// See `HTTPServerConfiguration.clientWatch`.
    package var clientWatch: ClientWatchConfiguration?
    /// See `HTTPServerConfiguration.isForBrowsers`.
    package var isForBrowsers = false
    /// See `HTTPServerConfiguration.crossSite`.
    package var crossSite: CrossSiteGuard?

    package init(
        host: String, port: UInt16, origin: ServerOrigin, random: KeyedRandom, faults: [FaultSpec],
        links: FleetLinks, nonce: String
    ) {
        self.host = host
        self.port = port
        self.origin = origin
        self.random = random
        self.faults = faults
        self.links = links
        self.nonce = nonce
    }
}

extension LiveServerConfiguration {
    /// The origin, with links that lead to this server.
    fileprivate var servedOrigin: OriginConfiguration {
        switch self.origin {
        case .simulated(var configuration, let shelf):
            configuration.isSecure = self.tls != nil
            return .simulated(configuration, shelf)
        case .upstream(let upstream):
            var gateway = upstream.gateway
            gateway.isSecure = self.tls != nil
            return .upstream(gateway)
        case .recorded(let recording, let wallClockAtZero):
            return .recorded(recording, wallClockAtZero: wallClockAtZero)
        }
    }
}

/// The simulated Talaria, or the gateway to a foreign one, on real sockets: it carries out the effects of
/// `Server` and passes events to it.
///
/// Belongs to its loop's thread. It never shares its port: two servers on one port would answer each other's phones.
package final class SocketServer {
    package static let noncePath = Server.noncePath

    let loop: Loop
    /// One buffer for every read: its content is used before the next read.
    var readBuffer = [UInt8](repeating: 0, count: ServerLimits.readBytesMax)

    let tls: TLSContext?
    /// As `readBuffer`, after decryption.
    var plaintextBuffer: [UInt8]

    private let connectionFailed: (@Sendable (TLSFailure) -> Void)?
    private let observe: (Observation) -> Void
    private let served: (@Sendable (ServedRequest) -> Void)?
    private var recorder: Recorder?
    private let record: (@Sendable (RecordingLine) -> Void)?
    private var recorded: [RecordingLine] = []
    private let listener: Descriptor
    private var watch: Watch?
    private var timer: LoopTimer?
    private var server: Server
    private var upstream: Upstream?
    private let connectionsMax: Int
    /// Whether the address of a client decides anything.
    private let limitsAddresses: Bool
    private var connections: [ConnectionID: Connection] = [:]
    private var closedConnections: [Connection] = []
    private var burial: LoopTimer?
    private var effects: [ServerEffect] = []
    private var isHandling = false
    private var waiting: [ServerEvent] = []

    /// Connections closed at once because there were too many, or no descriptor was left.
    package private(set) var connectionsRefused = 0
    /// Exchanges whose upstream failed.
    package private(set) var upstreamFailures = 0

    /// Listens at once. `observe` is called for everything seen, in order.
    package init(_ setup: LiveServerConfiguration, loop: Loop, observe: @escaping (Observation) -> Void)
        throws(SystemError)
    {
        self.loop = loop
        self.tls = setup.tls
        self.plaintextBuffer = [UInt8](
            repeating: 0,
            count: setup.tls == nil
                ? 0 : TLSEngine.plaintextBytesMax(ofReceived: ServerLimits.readBytesMax))
        self.connectionFailed = setup.connectionFailed
        self.observe = observe
        switch setup.origin {
        case .upstream(let upstream):
            (self.connectionsMax, self.limitsAddresses) = (upstream.connectionsMax, false)
        case .simulated(let backend, _):
            (self.connectionsMax, self.limitsAddresses) = (
                ServerLimits.connectionsMax, backend.limitsAddresses
            )
        case .recorded:
            (self.connectionsMax, self.limitsAddresses) = (ServerLimits.connectionsMax, false)
        }
        var serving = HTTPServerConfiguration(
            origin: setup.servedOrigin, random: setup.random, faults: setup.faults, links: setup.links,
            clockZero: loop.clock.zero, nonce: setup.nonce)
        serving.reportsRequests = setup.served != nil
        serving.showsStatus = setup.showsStatus
        serving.controlToken = setup.controlToken
        serving.isForBrowsers = setup.isForBrowsers
        serving.faultsOnDemand = setup.faultsOnDemand
        serving.clientWatch = setup.clientWatch
        serving.crossSite = setup.crossSite
        self.served = setup.served
        self.record = setup.record
        self.recorder = setup.record.map { _ in Recorder() }
        self.server = Server(serving)
        self.listener = try StreamSocket.listen(host: setup.host, port: setup.port)
        if case .upstream(let upstream) = setup.origin {
            self.upstream = Upstream(upstream, loop: loop) { [unowned self] in self.handle(.upstream($0)) }
        }
        self.timer = LoopTimer(loop: loop) { [unowned self] _ in self.handle(.woke) }
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

    /// Returns the open streams since the last call.
    package func takeStreamsOpen() -> StreamsOpen { self.server.takeStreamsOpen() }

    /// Returns what the trial of the clients has found; nil if they are not judged.
    package func clientReport() -> ClientReport? { self.server.clientReport(at: self.loop.now()) }

    /// Whether it matters to anybody that a peer does not take what is sent.
    var wantsBacklogs: Bool { self.upstream != nil }

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
                guard self.connections.count < self.connectionsMax else {
                    self.connectionsRefused += 1
                    StreamSocket.close(socket)
                    continue
                }
                let address = self.limitsAddresses ? try? StreamSocket.peerHost(of: socket) : nil
                let id = self.server.accept(from: address, at: self.loop.now())
                self.connections[id] = Connection(id: id, socket: socket, server: self)
                self.armTimer()
            }
        }
    }

    /// Handles bytes read into the buffer.
    func received(_ count: Int, on connection: Connection) {
        self.handle(.received(connection.id, self.readBuffer[..<count]))
    }

    /// Handles bytes that were decrypted into the buffer.
    func decrypted(_ count: Int, on connection: Connection) {
        self.handle(.received(connection.id, self.plaintextBuffer[..<count]))
    }

    func failed(_ failure: TLSFailure) { self.connectionFailed?(failure) }

    func closed(_ connection: Connection) {
        self.connections[connection.id] = nil
        // Let go in a turn of its own: the connection is still on the stack.
        self.closedConnections.append(connection)
        self.burial?.arm(at: self.loop.now())
        self.handle(.gone(connection.id))
    }

    // MARK: The machine

    /// Passes an event to the machine and runs its effects. New events wait their turn.
    func handle(_ event: ServerEvent) {
        self.waiting.append(event)
        guard !self.isHandling else { return }
        self.isHandling = true
        self.handleWaiting()
        // Once: what results from it waits for the next turn of the loop, in which everything else has its
        // turn too.
        if let upstream = self.upstream {
            upstream.flushPending()
            self.handleWaiting()
        }
        self.isHandling = false
        self.armTimer()
    }

    private func handleWaiting() {
        var next = 0
        while next < self.waiting.count {
            let event = self.waiting[next]
            next += 1
            var effects: [ServerEffect] = []
            swap(&effects, &self.effects)
            self.note(event)
            self.server.handle(event, at: self.loop.now(), into: &effects)
            for effect in effects { self.carryOut(effect) }
            effects.removeAll(keepingCapacity: true)
            swap(&effects, &self.effects)
        }
        self.waiting.removeAll(keepingCapacity: true)
    }

    private func armTimer() {
        guard let wake = self.server.nextWake else {
            self.timer?.disarm()
            return
        }
        if self.timer?.armedFor != wake { self.timer?.arm(at: wake) }
    }

    private func carryOut(_ effect: ServerEffect) {
        self.note(effect)
        switch effect {
        case .send(let id, let bytes): self.connections[id]?.send(bytes, apart: false)
        case .sendApart(let id, let bytes): self.connections[id]?.send(bytes, apart: true)
        case .finish(let id): self.connections[id]?.finish()
        case .cut(let id, let ending): self.connections[id]?.cut(ending)
        case .read(let id, let isRead): self.connections[id]?.read(isRead)
        case .observe(let observation): self.observe(observation)
        case .served(let request): self.served?(request)
        case .upstream(.failed): self.upstreamFailures += 1
        case .upstream(let effect): self.upstream?.carryOut(effect)
        }
    }

    // MARK: Recording

    private func note(_ event: ServerEvent) {
        guard self.recorder != nil else { return }
        switch event {
        case .received(let id, let bytes):
            self.recorder?.received(bytes, on: id, at: self.loop.now(), into: &self.recorded)
        case .gone(let id), .ended(let id):
            self.recorder?.ended(.left, id, at: self.loop.now(), into: &self.recorded)
        case .receivedFiller, .cutDone, .backlog, .upstream, .woke: return
        }
        self.flushRecordedLines()
    }

    private func note(_ effect: ServerEffect) {
        guard self.recorder != nil else { return }
        switch effect {
        case .send(let id, let bytes), .sendApart(let id, let bytes):
            self.recorder?.sent(bytes, on: id, at: self.loop.now(), into: &self.recorded)
        case .finish(let id):
            self.recorder?.ended(.close, id, at: self.loop.now(), into: &self.recorded)
        case .cut(let id, let ending):
            self.recorder?.ended(RecordedEnd(ending), id, at: self.loop.now(), into: &self.recorded)
        case .read, .observe, .served, .upstream: return
        }
        self.flushRecordedLines()
    }

    private func flushRecordedLines() {
        for line in self.recorded { self.record?(line) }
        self.recorded.removeAll(keepingCapacity: true)
    }
}
