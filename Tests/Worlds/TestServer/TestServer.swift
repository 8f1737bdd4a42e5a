package import EventLoop
internal import SimBase
internal import SystemIO
package import TLS

/// A server of raw sockets, with or without TLS, on the test's own loop. It records everything and answers only what `answer` sends.
package final class TestServer {
    package let port: UInt16
    package private(set) var connections: [ServerConnection] = []
    /// Called for every complete request.
    package var answer: (ServerConnection, ServerRequest) -> Void = { _, _ in }

    private let loop: Loop
    private let tls: TLSContext?
    private var listener: Descriptor?
    private var watch: Watch?

    package init(loop: Loop, tls: TLSContext?) throws {
        self.loop = loop
        self.tls = tls
        let listener = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        let number = listener.number
        self.port = try StreamSocket.localPort(of: number)
        self.listener = consume listener
        self.watch = loop.watch(number, .read) { [unowned self] _ in self.accept(from: number) }
    }

    deinit {
        self.watch?.cancel()
        for connection in self.connections { connection.close() }
    }

    /// All requests in the order of their connections.
    package var requests: [ServerRequest] { self.connections.flatMap(\.requests) }

    /// Further connections are refused.
    package func stopListening() {
        self.watch?.cancel()
        self.listener = nil
    }

    private func accept(from listener: Int32) {
        while case .connection(let socket) = StreamSocket.accept(listener) {
            let connection = ServerConnection(
                number: self.connections.count, socket: socket, tls: self.tls)
            self.connections.append(connection)
            connection.watch = self.loop.watch(socket, .read) { [unowned self, unowned connection] _ in
                connection.receive { self.answer(connection, $0) }
            }
        }
    }
}

/// A request as its bytes were.
package struct ServerRequest: Equatable {
    package var connection: Int
    /// With the request line, without the blank line.
    package var lines: [String]
    package var body: [UInt8]

    package var line: String { self.lines.first ?? "" }

    package func header(_ name: String) -> String? {
        self.lines.dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ":") }.map {
            String($0.dropFirst(name.count + 1).drop { $0 == " " })
        }
    }
}

/// One accepted connection.
package final class ServerConnection {
    package enum End: Equatable {
        case fin
        case failed(Int32)
    }

    package let number: Int
    package let peerPort: UInt16?
    package let peerHost: String
    package private(set) var requests: [ServerRequest] = []
    /// What reading came to in the end, if it did.
    package private(set) var end: End?
    /// Whether the client has resumed the session of an earlier connection.
    package private(set) var isResumed = false
    /// Whether the client has sent close_notify.
    package private(set) var isNotified = false
    package var watch: Watch?
    private var socket: Int32?
    /// Nil without TLS.
    private var engine: TLSEngine?
    /// What has come behind the requests.
    package private(set) var unread: [UInt8] = []
    /// Whether what comes is of another protocol, and no request.
    package var isSwitched = false
    private var ciphertext: [UInt8] = []
    /// Bytes of a request that is not complete.
    package var unreadCount: Int { self.unread.count }

    init(number: Int, socket: Int32, tls: TLSContext?) {
        if let tls { self.engine = TLSEngine(tls) }
        self.number = number
        self.socket = socket
        self.peerPort = try? StreamSocket.peerPort(of: socket)
        self.peerHost = (try? StreamSocket.peerHost(of: socket)) ?? ""
    }

    func receive(_ handler: (ServerRequest) -> Void) {
        guard let socket = self.socket else { return }
        var bytes: [UInt8] = []
        switch StreamSocket.receive(socket, appendingTo: &bytes, limit: 1 << 20) {
        case .bytes:
            self.unread += self.decrypted(bytes)
            while !self.isSwitched, let request = self.nextRequest() {
                self.requests.append(request)
                handler(request)
            }
        case .wouldBlock: break
        case .end: self.ended(.fin)
        case .failed(let code): self.ended(.failed(code))
        }
    }

    /// Takes what has come behind the requests.
    package func takeUnread() -> [UInt8] {
        defer { self.unread = [] }
        return self.unread
    }

    package func send(_ text: String) { self.send(Array(text.utf8)) }

    private func decrypted(_ bytes: [UInt8]) -> [UInt8] {
        guard self.engine != nil else { return bytes }
        var plaintext = [UInt8](
            repeating: 0, count: TLSEngine.plaintextBytesMax(ofReceived: bytes.count))
        let result = self.engine?.receive(bytes[...], into: &plaintext, ciphertext: &self.ciphertext)
        if self.engine?.isResumed == true { self.isResumed = true }
        if result?.end == .closed { self.isNotified = true }
        self.sendCiphertext()
        return Array(plaintext[..<(result?.count ?? 0)])
    }

    package func send(_ bytes: [UInt8]) {
        guard self.engine?.send(bytes, into: &self.ciphertext) != nil else { return self.write(bytes[...]) }
        self.sendCiphertext()
    }

    private func sendCiphertext() {
        self.write(self.ciphertext[...])
        self.ciphertext = []
    }

    /// Sends bytes that are no records of TLS.
    package func sendUnencrypted(_ bytes: [UInt8]) { self.write(bytes[...]) }

    private func write(_ bytes: ArraySlice<UInt8>) {
        guard let socket = self.socket else { return }
        var rest = bytes
        while !rest.isEmpty, case .bytes(let count) = StreamSocket.send(socket, rest) {
            rest = rest.dropFirst(count)
        }
    }

    package func reply(_ status: String, body: String, headers: [String] = []) {
        let lines = ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.utf8.count)", "", body]
        self.send(lines.joined(separator: "\r\n"))
    }

    /// FIN, if everything was read, and close_notify before it.
    package func close() {
        self.engine?.close(into: &self.ciphertext)
        self.sendCiphertext()
        self.cut()
    }

    /// FIN without close_notify.
    package func cut() {
        guard let socket = self.socket else { return }
        self.watch?.cancel()
        self.socket = nil
        StreamSocket.close(socket)
    }

    package func reset() {
        if let socket = self.socket { StreamSocket.resetOnClose(socket) }
        self.cut()
    }

    private func ended(_ end: End) {
        self.end = end
        self.watch?.cancel()
    }

    private func nextRequest() -> ServerRequest? {
        let blank = Array("\r\n\r\n".utf8)
        guard
            let end = self.unread.indices.first(where: {
                self.unread[$0] == blank[0] && self.unread[$0...].starts(with: blank)
            })
        else { return nil }
        let text = String(decoding: self.unread[..<end], as: UTF8.self)
        var request = ServerRequest(
            connection: self.number, lines: text.split(separator: "\r\n").map(String.init), body: [])
        let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
        let from = end + blank.count
        guard self.unread.count >= from + length else { return nil }
        request.body = Array(self.unread[from..<(from + length)])
        self.unread.removeFirst(from + length)
        return request
    }
}
