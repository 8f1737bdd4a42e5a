import CurlLoop
import EventLoop
import SimBase
import TLS

/// One connection of a `ClientPool` with its socket and the measurements of its exchange. Its place in the pool is used again.
final class ClientChannel {
    let slot: UInt32
    /// How many exchanges the place has had.
    private(set) var generation: UInt32 = 0
    private(set) var phone = 0
    private(set) var hasExchange = false
    var machine = ClientConnection.closed
    /// The line of libcurl's that the connection is borrowed from; nil for one of this client's own.
    var line: Int?
    /// -1 without one.
    var socket: Int32 = -1
    var watch: Watch?
    /// The host whose certificate is asked for on the connection; nil without TLS.
    var server: ServerName?
    /// Nil without TLS, and before its handshake.
    var tls: TLSEngine?
    /// The request that waits for a new connection.
    var request: [UInt8] = []
    /// What the system has not taken.
    var unsent: ArraySlice<UInt8> = []

    /// The present exchange is a stream.
    private(set) var isStream = false

    /// Nothing is read of the present exchange.
    var isPaused = false

    /// The port of this host that is connected to instead of the target.
    var connectPort: UInt16?
    private var scheduled: Instant?
    private(set) var started = Instant.zero
    private(set) var connected: Instant?
    private var secured: Instant?
    private var sent: Instant?
    private var replied: Instant?
    private var bodySent = 0
    private var bodyReceived = 0
    private var localPort: UInt16?

    init(slot: UInt32) { self.slot = slot }

    /// What the socket is watched for, once it is connected.
    var interest: Readiness {
        let reading: Readiness = self.isPaused ? [] : .read
        return self.unsent.isEmpty ? reading : reading.union(.write)
    }

    var id: TransferID { TransferID(slot: self.slot, generation: self.generation) }

    func has(_ id: TransferID) -> Bool { self.hasExchange && self.generation == id.generation }

    /// Is a connection of the phone's from now on.
    func open(for phone: Int) { self.phone = phone }

    func begin(_ request: TransferRequest, at now: Instant) {
        self.hasExchange = true
        self.connectPort = request.connectPort
        self.scheduled = request.scheduled
        self.started = now
        self.connected = nil
        self.secured = nil
        self.sent = nil
        self.replied = nil
        (self.bodySent, self.bodyReceived) = (0, 0)
        self.isStream = request.receiveBuffer == .stream
        if case .bytes(let bytes) = request.body { self.bodySent = bytes.count }
    }

    /// The exchange has made a connection.
    func noteConnected(at now: Instant) {
        self.connected = now
        self.localPort = try? StreamSocket.localPort(of: self.socket)
    }

    func noteSecured(at now: Instant) { self.secured = now }

    /// The exchange sends bytes of another protocol.
    func noteTransmitted(_ count: Int) { self.bodySent += count }

    /// The request is about to be sent.
    func noteSent(at now: Instant) { self.sent = now }

    func noteHead(at now: Instant) { self.replied = now }

    func noteBody(_ count: Int) { self.bodyReceived += count }

    /// Whoever knows the exchange's id means no other by it.
    func end() {
        self.hasExchange = false
        self.generation &+= 1
        (self.request, self.unsent) = ([], [])
        self.isPaused = false
    }

    var stats: TransferStats {
        var stats = TransferStats(
            scheduled: self.scheduled, started: self.started, sent: self.sent, replied: self.replied,
            nameLookup: .zero, connect: self.connected.map { $0 - self.started } ?? .zero,
            appConnect: self.secured.map { $0 - self.started } ?? .zero,
            bytesSent: Int64(self.sent == nil ? 0 : self.bodySent), bytesReceived: Int64(self.bodyReceived),
            isNewConnection: self.connected != nil, localPort: self.localPort,
            httpVersion: self.replied == nil ? 0 : self.machine.isHTTP10 ? 10 : 11)
        stats.hasExcess = self.machine.hasExcess
        return stats
    }
}
