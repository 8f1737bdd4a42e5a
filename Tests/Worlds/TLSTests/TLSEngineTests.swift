import COpenSSL
import SimTestSupport
import TLSClient
import Testing

@testable import TLS

/// The engine against a client in memory.
@Suite struct TLSEngineTests {
    private static let request = Array("GET /v3 HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    private static let answer = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)

    private static func settings(
        _ change: (inout TLSClient.Settings) -> Void
    ) -> TLSClient.Settings {
        var settings = TLSClient.Settings(authority: Session.authority.certificate)
        change(&settings)
        return settings
    }

    // MARK: Plaintext

    @Test func `each side reads what the other sent`() {
        let session = Session()
        session.connect()
        #expect(session.isEstablished && session.client.isEstablished)
        #expect(session.client.failure == nil)
        session.exchange(session.client.send(Self.request))
        #expect(session.received == Self.request)
        #expect(session.client.receive(session.send(Self.answer) ?? []).isEmpty)
        #expect(session.client.plaintext == Self.answer)
        #expect(session.end == nil)
    }

    @Test func `it does not matter where the bytes of the client are cut`() {
        let whole = Session()
        whole.connect()
        whole.exchange(whole.client.send(Self.request))
        // A signature of the handshake has no fixed length, so some sessions end a few bytes earlier.
        for position in 1..<whole.clientBytes {
            let session = Session()
            session.connect(cutAt: [position])
            session.exchange(session.client.send(Self.request), cutAt: [position])
            #expect(session.received == Self.request && session.end == nil, "cut at \(position)")
        }
        let session = Session()
        session.connect(cutAt: Set(0...whole.clientBytes))
        session.exchange(session.client.send(Self.request), cutAt: Set(0...2 * whole.clientBytes))
        #expect(session.received == Self.request)
    }

    @Test func `data of many records arrives in its order, in both directions`() {
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 251 ^ $0) }
        let session = Session()
        session.connect()
        session.exchange(session.client.send(body))
        #expect(session.received == body)
        _ = session.client.receive(session.send(body) ?? [])
        #expect(session.client.plaintext == body)
    }

    @Test func `what was sent can be read up to its last byte`() {
        let session = Session()
        session.connect()
        for count in [1, 2, 16_383, 16_384, 16_385, 40_000] {
            let bytes = [UInt8](repeating: UInt8(count % 251), count: count)
            let before = session.client.plaintext.count
            _ = session.client.receive(session.send(bytes) ?? [])
            #expect(session.client.plaintext.count - before == count)
        }
    }

    @Test func `an engine without a handshake sends nothing`() {
        let session = Session()
        #expect(session.send(Self.answer) == nil)
        #expect(session.close().isEmpty)
        #expect(!session.isEstablished)
    }

    // MARK: What is agreed on

    @Test(arguments: [(TLS1_2_VERSION, "TLSv1.2"), (TLS1_3_VERSION, "TLSv1.3")])
    func `TLS 1.2 and 1.3 are spoken`(version: Int32, name: String) {
        let session = Session(Self.settings { $0.versionMax = version })
        session.connect()
        session.exchange(session.client.send(Self.request))
        #expect(session.client.version == name && session.received == Self.request)
    }

    @Test(arguments: [TLS1_VERSION, TLS1_1_VERSION]) func `older versions are refused`(version: Int32) {
        let session = Session(Self.settings { $0.versionMax = version })
        session.connect()
        #expect(session.end == .failed(.versionTooOld))
        #expect(session.client.failure == .openssl("tlsv1 alert protocol version"))
    }

    @Test(arguments: [
        ([], nil), (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"),
        (["http/1.0", "http/1.1", "h2"], "http/1.1"),
    ]) func `a client that can speak HTTP/1.1 does`(offered: [String], chosen: String?) {
        let session = Session(Self.settings { $0.protocols = offered })
        session.connect()
        #expect(session.client.chosenProtocol == chosen)
        #expect(session.isEstablished)
    }

    @Test(arguments: [["h2"], ["h2", "http/1.0"], ["http/1.11", "http/1."]])
    func `a client that cannot speak HTTP/1.1 is refused`(offered: [String]) {
        let session = Session(Self.settings { $0.protocols = offered })
        session.connect()
        #expect(session.end == .failed(.noHTTP1))
        #expect(session.client.failure == .openssl("tlsv1 alert no application protocol"))
    }

    @Test(arguments: ["localhost", "127.0.0.1", "::1", "talaria.test"])
    func `the certificate is for every name that it was made for`(host: String) {
        let session = Session(Self.settings { $0.host = host })
        session.connect()
        #expect(session.client.failure == nil && session.isEstablished)
    }

    @Test func `a client that does not trust the certificate says so`() {
        let stranger = CertificateAuthority.make(at: Session.now)
        let session = Session(Self.settings { $0.authority = stranger.certificate })
        session.connect()
        #expect(session.end == .failed(.certificateRejected(alert: "unknown CA")))
        #expect(!session.isEstablished && session.send(Self.answer) == nil)
    }

    @Test func `a client that means another name rejects the certificate`() {
        let session = Session(Self.settings { $0.host = "other.test" })
        session.connect()
        #expect(session.client.failure == .certificate("hostname mismatch"))
        #expect(session.end == .failed(.certificateRejected(alert: "bad certificate")))
    }

    // MARK: Ends

    @Test func `close_notify of the client ends what it sends, and it still reads`() {
        let session = Session()
        session.connect()
        session.exchange(session.client.send(Self.request) + session.client.close())
        #expect(session.received == Self.request)
        #expect(session.end == .closed)
        #expect(session.send(Self.answer) != nil)
        // What follows it is not read.
        #expect(session.deliver([1, 2, 3]).isEmpty)
        #expect(session.received == Self.request && session.end == .closed)
    }

    @Test func `close sends close_notify once, and nothing after it`() {
        let session = Session()
        session.connect()
        _ = session.client.receive(session.send(Self.answer) ?? [])
        #expect(!session.client.isClosed)
        _ = session.client.receive(session.close())
        #expect(session.client.isClosed && session.client.plaintext == Self.answer)
        #expect(session.close().isEmpty)
        #expect(session.send(Self.answer) == nil)
        session.exchange(session.client.send(Self.request))
        #expect(session.received == Self.request, "the client may still send")
    }

    // MARK: What is wrong

    @Test func `a handshake that stops anywhere is waited for`() {
        let hello = TLSClient(.init(authority: Session.authority.certificate)).receive([])
        for count in 0..<hello.count {
            let session = Session()
            #expect(session.deliver(Array(hello[..<count])).isEmpty)
            #expect(session.end == nil && !session.isEstablished, "\(count) bytes")
        }
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n", "DELETE /v3 HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n", "P"])
    func `plain HTTP is told from what is no protocol at all`(text: String) {
        withEverySplit(of: Array(text.utf8)) { pieces in
            let session = Session()
            for piece in pieces { #expect(session.deliver(piece).isEmpty) }
            #expect(session.end == .failed(.plainHTTP))
        }
        #expect(TLSFailure.plainHTTP.description.contains("use https://"))
    }

    @Test func `garbage is refused with a reason`() {
        for first: UInt8 in [0, 0x15, 0x16, 0x17, 0x80, 0xFF] {
            let session = Session()
            _ = session.deliver([first] + [UInt8](repeating: 0x5A, count: 20_000))
            guard case .failed(.malformed(let reason)) = session.end else {
                Issue.record("\(first): \(String(describing: session.end))")
                continue
            }
            #expect(!reason.isEmpty)
            #expect(session.deliver([0x16]).isEmpty, "it has ended")
        }
    }

    @Test func `a damaged record is refused, and what came before it is read`() {
        let session = Session()
        session.connect()
        let good = session.client.send(Self.request)
        var bad = session.client.send(Self.request)
        bad[bad.count - 1] ^= 1
        _ = session.client.receive(session.deliver(good + bad))
        #expect(session.received == Self.request)
        #expect(session.end == .failed(.malformed("decryption failed or bad record mac")))
        #expect(session.client.failure == .openssl("sslv3 alert bad record mac"))
        #expect(session.send(Self.answer) == nil && session.close().isEmpty)
    }
}
