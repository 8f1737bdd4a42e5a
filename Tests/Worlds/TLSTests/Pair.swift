import Foundation
import TLS
import Testing

/// Both sides of the engine, connected by memory.
final class Pair {
    private var client: TLSEngine
    private var server: TLSEngine
    private(set) var receivedByClient: [UInt8] = []
    private(set) var receivedByServer: [UInt8] = []
    /// How the client's side has ended.
    private(set) var end: TLSEngine.End?

    init(
        _ host: String, trusting authority: [UInt8] = Session.authority.certificate,
        serving context: TLSContext = Session.context, resuming session: TLSSession? = nil
    ) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(authority).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let trust = try TLSContext(trustedFile: file.path, folder: nil)
        self.client = TLSEngine(trust, to: try #require(ServerName(host)), resuming: session)
        self.server = TLSEngine(context)
    }

    /// Whether the client has connected.
    var isEstablished: Bool { self.client.isEstablished }
    var isResumed: Bool { self.client.isResumed }
    /// What the client has of the session.
    var session: TLSSession? { self.client.session }
    /// What each side takes to be agreed.
    var protocols: [String?] { [self.client.agreedProtocol, self.server.agreedProtocol] }

    /// The client's first message.
    func hello() -> [UInt8] {
        var bytes: [UInt8] = []
        self.client.start(into: &bytes)
        return bytes
    }

    /// Makes the handshake.
    func connect() { self.pass(self.hello()) }

    /// Passes bytes of the client to and fro until neither side has any.
    private func pass(_ bytes: [UInt8]) {
        var bytes = bytes
        while !bytes.isEmpty {
            var (back, room) = ([UInt8](), Self.room(for: bytes))
            let result = self.server.receive(bytes[...], into: &room, ciphertext: &back)
            self.receivedByServer += room[..<result.count]
            bytes = self.receive(back)
        }
    }

    /// The client gets bytes of the server; returns what it sends.
    @discardableResult
    func receive(_ bytes: [UInt8]) -> [UInt8] {
        var (sent, room) = ([UInt8](), Self.room(for: bytes))
        let result = self.client.receive(bytes[...], into: &room, ciphertext: &sent)
        self.receivedByClient += room[..<result.count]
        self.end = result.end
        return sent
    }

    private static func room(for bytes: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: TLSEngine.plaintextBytesMax(ofReceived: bytes.count))
    }

    @discardableResult
    func send(_ plaintext: [UInt8]) -> Bool {
        var bytes: [UInt8] = []
        guard self.client.send(plaintext, into: &bytes) else { return false }
        self.pass(bytes)
        return true
    }

    func answer(_ plaintext: [UInt8]) {
        var bytes: [UInt8] = []
        #expect(self.server.send(plaintext, into: &bytes))
        self.receive(bytes)
    }

    func closeServer() {
        var bytes: [UInt8] = []
        self.server.close(into: &bytes)
        self.receive(bytes)
    }

    /// Frees the client's side without a goodbye.
    func drop() { self.client = TLSEngine(Session.context) }
}
