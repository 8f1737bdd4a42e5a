import Backend
import EventLoop
import Faults
import JSON
import LiveServer
import SimBase
import TLS
import Talaria
import Testing

/// Connections with TLS on real sockets: what is counted is plaintext, and what ends is the socket.
@Suite struct TLSConnectionTests {
    /// Now, for certificates: 2026-02-01.
    private static let now: Int64 = 1_769_904_000
    private static let authority = CertificateAuthority.make(at: now)

    private static func context() throws -> TLSContext {
        let name = try #require(ServerName("localhost"))
        let files = try CertificateAuthority(Self.authority, at: Self.now).issue(for: [name], at: Self.now)
        return try TLSContext(certificates: files.certificate, key: files.key, at: Self.now)
    }

    private static func server(
        faults: [FaultSpec] = [], jobTime: Interval = .milliseconds(60), books: Int = 3
    ) throws -> TestServer {
        try TestServer(faults: faults, jobTime: jobTime, books: books, tls: Self.context())
    }

    private static func connect(_ server: TestServer) throws -> TestClient {
        try server.connectWithTLS(trusting: Self.authority.certificate)
    }

    private static func spec(
        _ ending: CutEnding, on target: FaultTarget, cut: Cut = .betweenEvents, side: ExchangeSide = .reply,
        after trigger: FaultTrigger = .atOnce
    ) -> FaultSpec {
        FaultSpec(
            id: "cut-1", kind: CutTests.kind(ending, cut, side), target: target, chance: .always,
            window: .always, trigger: trigger, count: .oncePerScan, scope: .everyone)
    }

    private static func job(_ text: String) throws -> UploadAccepted.Job {
        let body = text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
        return try #require(JSON.decode(UploadAccepted.self, from: body)).data
    }

    // MARK: Requests

    @Test func `a photo is uploaded and its stream is followed`() throws {
        let server = try Self.server()
        let client = try Self.connect(server)
        client.send(Script.upload(scan: 1, photoBytes: 300_000))
        server.run(until: { client.text.contains("requestId") })
        #expect(client.text.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
        let job = try Self.job(client.text)
        let stream = try Self.connect(server)
        stream.send(Script.get(try #require(job.sseUrl), token: try #require(job.authToken), .stream))
        server.run(until: { stream.end == .fin })
        #expect(stream.text.contains("event: completed"))
        #expect(stream.text.hasSuffix("0\r\n\r\n"), "a stream ends whole")
        #expect(stream.isNotified && stream.tlsFailure == nil, "and with close_notify")
        #expect(server.tlsFailures.isEmpty)
    }

    @Test func `a long answer to a client that reads late arrives whole`() throws {
        let server = try Self.server(books: 500)
        let client = try Self.connect(server)
        client.setReceiveBuffer(4_096)
        client.send(Script.upload(scan: 1))
        server.run(until: { client.text.contains("requestId") })
        let job = try Self.job(client.text)
        server.run(for: .milliseconds(100))
        client.clear()
        let path = "/v3/jobs/scans/\(job.jobId)/results?format=full"
        client.send(Script.get(path, token: try #require(job.authToken), .results))
        client.isReading = false
        server.run(for: .milliseconds(100))
        client.isReading = true
        let length = { () -> Int? in
            client.text.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) }
        }
        server.run(until: { client.text.contains("\r\n\r\n") })
        let head = try #require(client.text.utf8.firstRange(of: "\r\n\r\n".utf8)).upperBound
        let headBytes = client.text.utf8.distance(from: client.text.utf8.startIndex, to: head)
        server.run(until: { client.bytes.count == headBytes + (length() ?? 0) })
        #expect(length() ?? 0 > 60_000)
        #expect(client.end == .open, "the connection is kept")
    }

    // MARK: Cuts

    @Test(arguments: CutTests.endings, [1, 17, 200])
    func `an answer ends after exactly so many bytes of plaintext`(ending: CutEnding, bytes: Int) throws {
        let server = try Self.server(faults: [Self.spec(ending, on: .upload, cut: .afterBytes(bytes))])
        let client = try Self.connect(server)
        client.send(Script.upload(scan: 1))
        server.run(until: { server.firings(of: 0, .upload).count == 1 }, "the fault fires")
        server.run(until: { client.end == CutTests.seen(ending) })
        if ending == .silence { server.run(for: .milliseconds(60)) }
        #expect(client.bytes.count == bytes)
        #expect("HTTP/1.1 202 Accepted\r\n".utf8.starts(with: client.bytes.prefix(23)))
        #expect(client.isNotified == (ending == .close), "a FIN follows close_notify; nothing else does")
        #expect(client.tlsFailure == nil, "no alert comes")
    }

    @Test(arguments: CutTests.endings, [0, 3_000])
    func `a request is cut off after so many bytes of plaintext and makes no job`(
        ending: CutEnding, bytes: Int
    ) throws {
        let fault = Self.spec(ending, on: .upload, side: .request, after: .afterBytes(bytes...bytes))
        let server = try Self.server(faults: [fault])
        let client = try Self.connect(server)
        client.send(Script.upload(scan: 1, photoBytes: 50_000))
        server.run(until: { server.firings(of: 0, .upload).count == 1 }, "the fault fires")
        server.run(until: { client.end == CutTests.seen(ending) })
        #expect(client.bytes.isEmpty)
        #expect(!server.seen.contains { if case .backend(.accepted) = $0 { true } else { false } })
    }

    @Test func `a request of exactly so many bytes of plaintext has come through`() throws {
        let upload = Script.upload(scan: 1)
        for (count, isCut) in [(upload.count, false), (upload.count - 1, true)] {
            let fault = Self.spec(.close, on: .upload, side: .request, after: .afterBytes(count...count))
            let server = try Self.server(faults: [fault])
            let client = try Self.connect(server)
            client.send(upload)
            server.run(until: { client.end == .fin || client.text.contains("requestId") })
            #expect((client.end == .fin) == isCut)
        }
    }

    @Test(arguments: CutTests.endings) func `a stream is cut inside an event`(ending: CutEnding) throws {
        let fault = Self.spec(ending, on: .stream, cut: .insideEvent, after: .afterEvents(2...2))
        let server = try Self.server(faults: [fault], jobTime: .milliseconds(400))
        let client = try Self.connect(server)
        client.send(Script.upload(scan: 1))
        server.run(until: { client.text.contains("requestId") })
        let job = try Self.job(client.text)
        let stream = try Self.connect(server)
        stream.send(Script.get(try #require(job.sseUrl), token: try #require(job.authToken), .stream))
        server.run(until: { server.firings(of: 0, .stream).count == 1 }, "the fault fires")
        server.run(until: { stream.end == CutTests.seen(ending) })
        if ending == .silence { server.run(for: .milliseconds(60)) }
        #expect(stream.text.ranges(of: "\n\n").count >= 2)
        #expect(!stream.text.hasSuffix("\n\n") && !stream.text.hasSuffix("0\r\n\r\n"))
        #expect(stream.isNotified == (ending == .close))
        let bytes = stream.bytes.count
        server.run(for: .milliseconds(80))
        #expect(stream.bytes.count == bytes && stream.end == CutTests.seen(ending))
    }

    // MARK: Clients that do something else

    @Test func `plain HTTP is answered with a 400 that names https`() throws {
        let server = try Self.server()
        let client = try server.connect()
        client.send("GET /v3 HTTP/1.1\r\nHost: x\r\n\r\n")
        server.run(until: { client.end == .fin })
        #expect(client.text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(client.text.contains("https://"))
        #expect(server.tlsFailures == [.plainHTTP])
    }

    @Test func `a handshake that is none gets an alert and a FIN`() throws {
        let server = try Self.server()
        let client = try server.connect()
        client.send([0x16, 3, 1, 0, 4] + [UInt8](repeating: 9, count: 5_000))
        server.run(until: { client.end == .fin })
        #expect(client.bytes.first == 0x15, "\(client.bytes)")
        #expect(server.tlsFailures.count == 1)
    }

    @Test func `a client that does not trust the certificate is told apart`() throws {
        let server = try Self.server()
        let stranger = CertificateAuthority.make(at: Self.now)
        let client = try server.connectWithTLS(trusting: stranger.certificate)
        server.run(until: { client.end == .fin })
        #expect(server.tlsFailures == [.certificateRejected(alert: "unknown CA")])
    }

    @Test
    func `a client that leaves in the middle of the handshake is told apart from one that says nothing`()
        throws
    {
        let server = try Self.server()
        do {
            let silent = try server.connect()
            server.run(for: .milliseconds(20))
            silent.endSending()
            server.run(until: { silent.end == .fin })
        }
        #expect(server.tlsFailures.isEmpty)
        let client = try server.connect()
        client.send([0x16, 3, 1, 0x40])
        server.run(for: .milliseconds(20))
        client.endSending()
        server.run(until: { client.end == .fin })
        #expect(server.tlsFailures == [.handshakeAbandoned])
    }

    @Test func `links of absolute addresses lead to https`() throws {
        var configuration = BackendConfiguration.contract
        configuration.urlForm = .absoluteToHost
        let server = try TestServer(backend: configuration, tls: Self.context())
        let client = try Self.connect(server)
        client.send(Script.upload(scan: 1))
        server.run(until: { client.text.contains("requestId") })
        #expect(try Self.job(client.text).sseUrl?.hasPrefix("https://x/v3/jobs/scans/") == true)
    }
}
