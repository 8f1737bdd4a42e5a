import Backend
import CurlLoop
import EventLoop
import Faults
import Gateway
import HTTPServer
import JSON
import LiveServer
import Observations
import SimBase
import SimTestSupport
import SystemIO
import Talaria
import Testing

/// A gateway in front of somebody on the same loop.
final class TestGateway: TestOrigin {
    init(
        to upstream: UInt16, loop: Loop, base: String = "", faults: [FaultSpec] = [],
        link: LinkProfile = .perfect, replyTime: Interval = .seconds(5),
        connectTimeout: Interval = .seconds(2),
        headers: [HeaderField] = []
    ) throws {
        let setup = LiveServerConfiguration(
            host: "127.0.0.1", port: 0,
            origin: .upstream(
                UpstreamConfiguration(
                    base: "http://127.0.0.1:\(upstream)\(base)",
                    target: CurlTarget(
                        port: upstream, addresses: ["127.0.0.1"], certificateAuthorities: nil,
                        version: .http1,
                        connectTimeout: connectTimeout, sourceAddresses: []),
                    headers: headers,
                    gateway: GatewayConfiguration(
                        basePath: base, replyTime: replyTime, wallClockAtZero: 1_700_000_000_000),
                    connectionsMax: 64)),
            random: KeyedRandom(seed: 7), faults: faults,
            links: Self.links(.always(NamedLink(name: "test", profile: link))), nonce: "gateway-7")
        try super.init(setup, loop: loop)
    }

    var fired: [Int] {
        self.seen.compactMap { if case .fault(.fired(let fault, _, _)) = $0 { fault } else { nil } }
    }

    /// Uploads, and answers what the 202 said.
    func upload(scan: UInt32 = 1) throws -> UploadAccepted {
        let client = try self.connect()
        client.send(Script.upload(scan: scan))
        self.run(until: { client.text.contains("\"authToken\"") && client.text.hasSuffix("}") })
        let body = client.text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
        return try #require(JSON.decode(UploadAccepted.self, from: body), "\(client.text)")
    }

    /// The stream to its end, as bytes behind the head.
    func stream(_ job: UploadAccepted.Job, attempt: UInt32 = 1, after id: String? = nil) throws -> TestClient
    {
        let client = try self.connect()
        client.send(
            Script.get(
                "/v3/jobs/scans/\(job.jobId)/stream", token: job.authToken ?? "", .stream, attempt: attempt,
                lastEventID: id))
        self.run(until: { client.end != .open })
        return client
    }

    func ask(_ request: String) throws -> TestClient {
        let client = try self.connect()
        client.send(request)
        self.run(until: { client.isReplyComplete || client.end != .open })
        return client
    }
}

extension TestClient {
    var status: Int { Int(self.text.dropFirst(9).prefix(3)) ?? 0 }

    var body: String {
        self.text.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
    }

    func header(_ name: String) -> String? {
        let head = self.text.components(separatedBy: "\r\n\r\n")[0]
        for line in head.components(separatedBy: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1)
            if halves.count == 2, halves[0].lowercased() == name.lowercased() {
                return String(halves[1].drop { $0 == " " })
            }
        }
        return nil
    }

    var isReplyComplete: Bool {
        guard self.text.contains("\r\n\r\n") else { return false }
        if let length = self.header("Content-Length").flatMap({ Int($0) }) {
            return self.body.utf8.count >= length
        }
        return self.header("Transfer-Encoding") == nil || self.text.hasSuffix("0\r\n\r\n")
    }

    /// The chunks put together.
    var unchunked: String {
        var rest = Array(self.body.utf8)[...]
        var whole: [UInt8] = []
        while let end = rest.firstIndex(of: 13),
            let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16)
        {
            rest = rest[end...].dropFirst(2)
            whole += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        return String(decoding: whole, as: UTF8.self)
    }

    var isChunkedToItsEnd: Bool { self.text.hasSuffix("0\r\n\r\n") }
}

/// An upstream that does what the test orders, byte for byte.
final class RawUpstream {
    enum Answer {
        case bytes(String)
        case frames([UInt8])
        case close
        case reset
        /// Says nothing more.
        case hang
    }

    let port: UInt16
    private let listener: Descriptor
    private let loop: Loop
    private var watch: Watch?
    private var sockets: [(socket: Int32, watch: Watch)] = []
    private(set) var requests = ""
    private(set) var closedByPeer = 0
    private let answers: [Answer]
    var reads = true
    /// Whether what comes is a request.
    var isSwitched = false

    init(loop: Loop, _ answers: [Answer]) throws {
        self.loop = loop
        self.answers = answers
        self.listener = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        self.port = try StreamSocket.localPort(of: self.listener.number)
        self.watch = loop.watch(self.listener.number, .read) { [unowned self] _ in self.accept() }
    }

    deinit {
        self.watch?.cancel()
        for (socket, watch) in self.sockets {
            watch.cancel()
            StreamSocket.close(socket)
        }
    }

    private func accept() {
        guard case .connection(let socket) = StreamSocket.accept(self.listener.number) else { return }
        if !self.reads { StreamSocket.setReceiveBuffer(socket, bytes: 8_192) }
        let watch = self.loop.watch(socket, self.reads ? .read : []) { [unowned self] _ in self.read(socket) }
        self.sockets.append((socket, watch))
    }

    /// Sent to the last connection.
    func send(_ text: String) -> Int { self.send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) -> Int {
        guard let socket = self.sockets.last?.socket,
            case .bytes(let count) = StreamSocket.send(socket, bytes[...])
        else { return 0 }
        return count
    }

    private func read(_ socket: Int32) {
        var bytes: [UInt8] = []
        switch StreamSocket.receive(socket, appendingTo: &bytes, limit: 65_536) {
        case .bytes: self.requests += String(decoding: bytes, as: UTF8.self)
        case .wouldBlock: return
        case .end, .failed:
            self.closedByPeer += 1
            self.drop(socket)
            return
        }
        guard !self.isSwitched, self.requests.contains("\r\n\r\n") else { return }
        for answer in self.answers {
            switch answer {
            case .bytes(let text): _ = StreamSocket.send(socket, Array(text.utf8)[...])
            case .frames(let bytes): _ = StreamSocket.send(socket, bytes[...])
            case .close: self.drop(socket)
            case .reset:
                StreamSocket.resetOnClose(socket)
                self.drop(socket)
            case .hang: break
            }
        }
    }

    /// Whether the connections that are open are read.
    func read(_ isRead: Bool) { for (_, watch) in self.sockets { watch.interest = isRead ? .read : [] } }

    func dropAll(byReset: Bool) {
        for (socket, _) in self.sockets {
            if byReset { StreamSocket.resetOnClose(socket) }
            self.drop(socket)
        }
    }

    private func drop(_ socket: Int32) {
        guard let index = self.sockets.firstIndex(where: { $0.socket == socket }) else { return }
        self.sockets.remove(at: index).watch.cancel()
        StreamSocket.close(socket)
    }
}
