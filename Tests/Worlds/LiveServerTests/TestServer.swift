import Backend
import EventLoop
import Faults
import HTTPServer
import LiveServer
import Observations
import SimBase
import TLS
import TLSClient
import Talaria
import Testing

/// A server and its clients on one loop: real sockets, no thread, no sleep.
class TestOrigin {
    let loop: Loop
    let port: UInt16
    private let server: SocketServer
    private let sink = Sink()

    private final class Sink { var observations: [Observation] = [] }

    init(_ setup: LiveServerConfiguration, loop: Loop) throws {
        let sink = self.sink
        self.loop = loop
        self.server = try SocketServer(setup, loop: loop) { sink.observations.append($0) }
        self.port = try self.server.port()
    }

    deinit { self.server.shutDown() }

    static func links(_ itinerary: Itinerary) -> FleetLinks {
        FleetLinks(groups: [.init(name: "all", devices: 0..<100, link: itinerary)])
    }

    var observations: [Observation] { self.sink.observations }

    var seen: [ObservationPayload] { self.observations.map(\.what) }

    /// Turns the loop until it holds, at most ten seconds.
    func run(until holds: () -> Bool, _ what: Comment = "", sourceLocation: SourceLocation = #_sourceLocation)
    {
        let timer = LoopTimer(loop: self.loop) { _ in }
        let end = self.loop.now() + .seconds(10)
        while !holds() && self.loop.now() < end {
            timer.arm(after: .milliseconds(5))
            self.loop.runOnce()
        }
        #expect(holds(), what, sourceLocation: sourceLocation)
    }

    /// Turns the loop for so long, to see that nothing happens.
    func run(for time: Interval) {
        let timer = LoopTimer(loop: self.loop) { _ in }
        let end = self.loop.now() + time
        while self.loop.now() < end {
            timer.arm(at: min(end, self.loop.now() + .milliseconds(5)))
            self.loop.runOnce()
        }
    }

    /// A new connection.
    func connect() throws -> TestClient { try TestClient(port: self.port, loop: self.loop) }
}

/// The simulated backend.
final class TestServer: TestOrigin {
    private let failures = Guarded<[TLSFailure]>([])

    init(
        faults: [FaultSpec] = [], link: LinkProfile = .perfect, ping: Interval = .seconds(30),
        jobTime: Interval = .milliseconds(60), books: Int = 3, itinerary: Itinerary? = nil,
        backend: BackendConfiguration = .contract, tls: TLSContext? = nil
    ) throws {
        var configuration = backend
        configuration.jobTime = jobTime...jobTime
        configuration.ping = ping
        var setup = LiveServerConfiguration(
            host: "127.0.0.1", port: 0,
            origin: .simulated(configuration, Shelf(seed: 7, booksMin: books, booksMax: books)),
            random: KeyedRandom(seed: 7), faults: faults,
            links: Self.links(itinerary ?? .always(NamedLink(name: "test", profile: link))), nonce: "nonce-7")
        setup.tls = tls
        let failures = self.failures
        setup.connectionFailed = { failure in failures.withLock { $0.append(failure) } }
        try super.init(setup, loop: Loop(clock: .startingNow()))
    }

    /// The connections that failed because of TLS.
    var tlsFailures: [TLSFailure] { self.failures.withLock { $0 } }

    func now() -> Instant { self.loop.now() }

    /// The times at which a fault took effect.
    func firings(of fault: Int, _ operation: Talaria.Operation) -> [Instant] {
        self.observations.filter {
            guard case .fault(.fired(fault, operation, _)) = $0.what else { return false }
            return true
        }.map(\.at)
    }

    /// A new connection that begins with a handshake. `authority`: PEM.
    func connectWithTLS(trusting authority: [UInt8]) throws -> TestClient {
        try TestClient(
            port: self.port, loop: self.loop, tls: TLSClient(TLSClient.Settings(authority: authority)))
    }
}

/// A raw connection that keeps whatever comes.
final class TestClient {
    enum End: Equatable { case open, fin, reset }

    private let socket: Int32
    private var watch: Watch?
    private(set) var bytes: [UInt8] = []
    /// How many bytes each read brought.
    private(set) var reads: [Int] = []
    private(set) var end = End.open
    /// A client that does not read is one whose window closes.
    var isReading = true {
        didSet {
            if self.isReading {
                self.watch?.interest.insert(.read)
            } else {
                self.watch?.interest.remove(.read)
            }
        }
    }
    private var unsent: [UInt8] = []
    /// Nil for a connection without TLS.
    private let tls: TLSClient?
    /// What waits for the end of the handshake.
    private var early: [UInt8] = []

    init(port: UInt16, loop: Loop, tls: TLSClient? = nil) throws {
        self.tls = tls
        self.socket = try StreamSocket.connect(host: "127.0.0.1", port: port).release()
        self.watch = loop.watch(self.socket, [.read, .write]) { [unowned self] readiness in
            if readiness.contains(.write) { self.flush() }
            if readiness.contains(.read) { self.read() }
        }
        if let tls { self.unsent = tls.receive([]) }
    }

    /// Whether the server sent close_notify.
    var isNotified: Bool { self.tls?.isClosed == true }

    var tlsFailure: TLSClient.Failure? { self.tls?.failure }

    deinit {
        self.watch?.cancel()
        StreamSocket.close(self.socket)
    }

    var text: String { String(decoding: self.bytes, as: UTF8.self) }

    func send(_ text: String) { self.send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        if let tls = self.tls {
            guard tls.isEstablished else { return self.early += bytes }
            self.unsent += tls.send(bytes)
        } else {
            self.unsent += bytes
        }
        self.watch?.interest.insert(.write)
    }

    func endSending() { StreamSocket.endSending(self.socket) }

    func clear() {
        self.bytes = []
        self.reads = []
    }

    /// Bytes that were sent and that no kernel has taken yet, ours or the server's.
    var stuckBytes: Int { self.unsent.count + (StreamSocket.unsentBytes(self.socket) ?? 0) }

    func setReceiveBuffer(_ bytes: Int32) { StreamSocket.setReceiveBuffer(self.socket, bytes: bytes) }

    private func flush() {
        if !self.unsent.isEmpty, case .bytes(let count) = StreamSocket.send(self.socket, self.unsent[...]) {
            self.unsent.removeFirst(count)
        }
        if self.unsent.isEmpty { self.watch?.interest.remove(.write) }
    }

    private func read() {
        switch StreamSocket.receive(self.socket, appendingTo: &self.bytes, limit: 65_536) {
        case .bytes(let count):
            self.reads.append(count)
            if let tls = self.tls { self.decrypt(count, tls) }
        case .wouldBlock: break
        case .end:
            self.end = .fin
            self.watch?.interest.remove(.read)
        case .failed:
            self.end = .reset
            self.watch?.cancel()
        }
    }
}

extension TestClient {
    /// What was read last is encrypted.
    private func decrypt(_ count: Int, _ tls: TLSClient) {
        let ciphertext = Array(self.bytes.suffix(count))
        self.bytes.removeLast(count)
        let before = tls.plaintext.count
        self.unsent += tls.receive(ciphertext)
        self.bytes += tls.plaintext[before...]
        if tls.isEstablished, !self.early.isEmpty {
            self.unsent += tls.send(self.early)
            self.early = []
        }
        self.watch?.interest.insert(.write)
    }
}

/// Requests written out by hand.
enum Script {
    static let device = "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB"

    static func trace(scan: UInt32, _ operation: Talaria.Operation, attempt: UInt32 = 1) -> String {
        TraceContext(
            run: 1, device: DeviceNumber(1), scan: ScanNumber(scan), operation: operation, attempt: attempt
        ).headerValue
    }

    static func upload(scan: UInt32, photoBytes: Int = 1_000, attempt: UInt32 = 1) -> [UInt8] {
        let photo: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: photoBytes)
        var body = Array(
            "--B\r\nContent-Disposition: form-data; name=\"photos[]\"; filename=\"spine.jpg\"\r\n".utf8)
        body += Array("Content-Type: image/jpeg\r\n\r\n".utf8) + photo + Array("\r\n--B--\r\n".utf8)
        let head = """
            POST /v3/jobs/scans HTTP/1.1\r
            Host: x\r
            X-Device-ID: \(Self.device)\r
            traceparent: \(Self.trace(scan: scan, .upload, attempt: attempt))\r
            Content-Type: multipart/form-data; boundary=B\r
            Content-Length: \(body.count)\r
            \r

            """
        return Array(head.utf8) + body
    }

    static func get(
        _ path: String, token: String, _ operation: Talaria.Operation, method: String = "GET",
        attempt: UInt32 = 1,
        lastEventID: String? = nil
    ) -> String {
        """
        \(method) \(path) HTTP/1.1\r
        Host: x\r
        X-Device-ID: \(Self.device)\r
        traceparent: \(Self.trace(scan: 1, operation, attempt: attempt))\r
        Authorization: Bearer \(token)\r
        Accept: text/event-stream\r
        \(lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? "")\r

        """
    }
}
