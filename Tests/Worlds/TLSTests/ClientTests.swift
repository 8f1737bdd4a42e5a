import TLS
import Testing

/// The client's side of the engine against the server's.
@Suite struct ClientTests {
    private static let request = Array("GET / HTTP/1.1\r\n\r\n".utf8)
    private static let answer = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)

    @Test(arguments: ["localhost", "TALARIA.test", "127.0.0.1", "::1"])
    func `a server with the name or the address is accepted`(host: String) throws {
        let pair = try Pair(host)
        pair.connect()
        #expect(pair.isEstablished && pair.protocols == ["http/1.1", "http/1.1"])
        pair.send(Self.request)
        #expect(pair.receivedByServer == Self.request)
        pair.answer(Self.answer)
        #expect(pair.receivedByClient == Self.answer)
    }

    @Test(arguments: [
        ("other.test", "hostname mismatch"), ("sub.talaria.test", "hostname mismatch"),
        ("127.0.0.2", "IP address mismatch"),
    ])
    func `a certificate for others is not accepted`(host: String, reason: String) throws {
        let pair = try Pair(host)
        pair.connect()
        #expect(pair.end == .failed(.untrusted(reason)))
        #expect(!pair.isEstablished && !pair.send(Self.request))
    }

    @Test func `the server is told the name that is meant, but no address`() throws {
        for (host, isNamed) in [("talaria.test", true), ("127.0.0.1", false)] {
            let hello = try Pair(host).hello()
            #expect((hello.firstRange(of: Array(host.utf8)) != nil) == isNamed)
        }
    }

    @Test func `a certificate of an unknown authority is not accepted`() throws {
        let stranger = CertificateAuthority.make(at: Session.now)
        let pair = try Pair("localhost", trusting: stranger.certificate)
        pair.connect()
        guard case .failed(.untrusted) = pair.end else {
            Issue.record("\(String(describing: pair.end))")
            return
        }
    }

    @Test func `a certificate that has expired is not accepted`() throws {
        let authority = try CertificateAuthority(Session.authority, at: Session.now)
        let names = ["localhost"].compactMap(ServerName.init)
        let old = authority.issue(for: names, at: Session.now - 800 * 86_400)
        let context = try TLSContext(
            certificates: old.certificate, key: old.key, at: Session.now - 800 * 86_400)
        let pair = try Pair("localhost", serving: context)
        pair.connect()
        #expect(pair.end == .failed(.untrusted("certificate has expired")))
    }

    /// An alert instead of an answer, and an answer of TLS 1.1.
    @Test(arguments: [
        [0x15, 3, 1, 0, 2, 2, 70],
        [0x16, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2] + [UInt8](repeating: 7, count: 32) + [0, 0xC0, 0x13, 0],
    ])
    func `a server without TLS 1 point 2 is named as that`(answer: [UInt8]) throws {
        let pair = try Pair("localhost")
        _ = pair.hello()
        pair.receive(answer)
        #expect(pair.end == .failed(.serverTooOld))
    }

    @Test func `a server that speaks HTTP is no server with TLS`() throws {
        let pair = try Pair("localhost")
        _ = pair.hello()
        pair.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        #expect(pair.end == .failed(.serverMalformed("wrong version number")))
    }

    @Test func `an alert of the server has its name`() throws {
        let pair = try Pair("localhost")
        _ = pair.hello()
        pair.receive([0x15, 3, 3, 0, 2, 2, 112])
        #expect(pair.end == .failed(.serverAlert("unrecognized name")))
    }

    @Test func `a later connection resumes the session`() throws {
        let first = try Pair("localhost")
        #expect(first.session == nil)
        first.connect()
        #expect(!first.isResumed)
        let session = first.session
        #expect(session != nil)
        // However it ends.
        first.drop()
        let second = try Pair("localhost", resuming: session)
        second.connect()
        #expect(second.isEstablished && second.isResumed)
        second.send(Self.request)
        #expect(second.receivedByServer == Self.request)
    }

    @Test func `close_notify of the server is told from an end without it`() throws {
        let pair = try Pair("localhost")
        pair.connect()
        pair.answer(Self.answer)
        #expect(pair.end == nil)
        pair.closeServer()
        #expect(pair.end == .closed && pair.receivedByClient == Self.answer)
    }

    @Test func `authorities that cannot be read are an error`() {
        #expect(throws: TLSIdentityError.self) {
            try TLSContext(trustedFile: "/nowhere/ca.pem", folder: nil)
        }
    }
}
