import TLS
import TLSClient

/// A client and the engine, connected by memory.
final class Session {
    /// Now, for certificates: 2026-02-01.
    static let now: Int64 = 1_769_904_000

    static let authority = CertificateAuthority.make(at: now)
    static let server: CertificateAuthority.Files = {
        do {
            let names = ["localhost", "127.0.0.1", "::1", "talaria.test"].compactMap(ServerName.init)
            return try CertificateAuthority(authority, at: now).issue(for: names, at: now)
        } catch { preconditionFailure("\(error)") }
    }()
    static let context: TLSContext = {
        do {
            return try TLSContext(certificates: server.certificate, key: server.key, at: now)
        } catch { preconditionFailure("\(error)") }
    }()

    let client: TLSClient
    private var engine: TLSEngine
    /// What the engine decrypted.
    private(set) var received: [UInt8] = []
    private(set) var end: TLSEngine.End?
    /// Of the client's bytes so far, how many went to the engine in how many calls.
    private(set) var clientBytes = 0
    private var buffer: [UInt8] = []

    var isEstablished: Bool { self.engine.isEstablished }

    init(_ settings: TLSClient.Settings = .init(authority: Session.authority.certificate)) {
        self.client = TLSClient(settings)
        self.engine = TLSEngine(Self.context)
    }

    /// Hands bytes to the engine, cut at these positions of all bytes of the client. Returns what it answers.
    func deliver(_ bytes: [UInt8], cutAt positions: Set<Int> = []) -> [UInt8] {
        var answer: [UInt8] = []
        var start = 0
        for end in 1...max(1, bytes.count)
        where end >= bytes.count || positions.contains(self.clientBytes + end) {
            answer += self.receive(bytes[start..<min(end, bytes.count)])
            start = end
        }
        self.clientBytes += bytes.count
        return answer
    }

    private func receive(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var answer: [UInt8] = []
        let room = TLSEngine.plaintextBytesMax(ofReceived: bytes.count)
        if self.buffer.count < room { self.buffer = [UInt8](repeating: 0, count: room) }
        let result = self.engine.receive(bytes, into: &self.buffer, ciphertext: &answer)
        self.received += self.buffer[..<result.count]
        self.end = result.end
        return answer
    }

    /// Passes bytes to and fro until neither side has any.
    func exchange(_ fromClient: [UInt8] = [], cutAt positions: Set<Int> = []) {
        var bytes = fromClient
        repeat {
            bytes = self.client.receive(self.deliver(bytes, cutAt: positions))
        } while !bytes.isEmpty
    }

    /// Makes the handshake.
    func connect(cutAt positions: Set<Int> = []) {
        self.exchange(self.client.receive([]), cutAt: positions)
    }

    /// The records of a plaintext; nil if the engine cannot send.
    func send(_ plaintext: [UInt8]) -> [UInt8]? {
        var records: [UInt8] = []
        return self.engine.send(plaintext, into: &records) ? records : nil
    }

    func close() -> [UInt8] {
        var records: [UInt8] = []
        self.engine.close(into: &records)
        return records
    }
}
