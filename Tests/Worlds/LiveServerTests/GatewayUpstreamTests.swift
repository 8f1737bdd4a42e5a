import Backend
import EventLoop
import Faults
import Foundation
import JSON
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Upstreams that are not what they should be, and bodies that must not be held.
struct GatewayUpstreamTests {
    private static let job = "11111111-2222-4333-8444-555555555555"
    private static let streamRequest = Script.get(
        "/v3/jobs/scans/\(Self.job)/stream", token: "t", .stream)
    private static let sseHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

    @Test(arguments: [
        ([RawUpstream.Answer.close], 502, "connection-died"),
        ([.reset], 502, "connection-reset"),
        ([.bytes("nonsense\r\n\r\n"), .close], 502, "not-http"),
        ([.hang], 504, "reply-timed-out"),
    ])
    func `each failure of the upstream has its name`(answers: [RawUpstream.Answer], status: Int, name: String)
        throws
    {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(loop: loop, answers)
        let gateway = try TestGateway(to: upstream.port, loop: loop, replyTime: .milliseconds(200))
        let reply = try gateway.ask(Self.streamRequest)
        #expect(reply.status == status)
        #expect(reply.header("X-Gateway-Error") == name)
        #expect(reply.header("Content-Type") == "application/problem+json")
        let problem = JSON.decode(Problem.self, from: reply.body)
        #expect(problem?.status == status)
        #expect(problem?.retryable == true)
    }

    @Test func `nobody listens`() throws {
        let loop = try Loop(clock: .startingNow())
        let closed = try StreamSocket.reserveClosedPort()
        let gateway = try TestGateway(to: try StreamSocket.localPort(of: closed.number), loop: loop)
        let reply = try gateway.ask(Self.streamRequest)
        #expect(reply.status == 502)
        #expect(reply.header("X-Gateway-Error") == "connect-refused")
    }

    /// A cut stays a cut: what had come is passed, and no clean end is made up.
    @Test(arguments: [true, false]) func `an upstream dies in mid-stream`(byReset: Bool) throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(
            loop: loop, [.bytes(Self.sseHead + "Transfer-Encoding: chunked\r\n\r\n")])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let client = try gateway.connect()
        client.send(Self.streamRequest)
        gateway.run(until: { client.text.contains("\r\n\r\n") })
        _ = upstream.send("11\r\nid: 1-progress\nev\r\n")
        gateway.run(for: .milliseconds(50))
        if byReset { upstream.resetAll() } else { upstream.closeAll() }
        gateway.run(until: { client.end != .open })
        #expect(client.end == (byReset ? .reset : .fin))
        #expect(!client.isChunkedToItsEnd)
        #expect(client.payloadBeforeCut == "id: 1-progress\nev")
    }

    @Test func `a heartbeat passes at once, though no blank line follows`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(
            loop: loop, [.bytes(Self.sseHead + "Transfer-Encoding: chunked\r\n\r\n")])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let client = try gateway.connect()
        client.send(Self.streamRequest)
        gateway.run(until: { client.text.contains("\r\n\r\n") })
        _ = upstream.send("d\r\n: heartbeat\r\n\r\n")
        gateway.run(until: { client.unchunked == ": heartbeat\r\n" })
    }

    @Test func `what belongs to one connection is not passed on, and the host is the upstream's`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(
            loop: loop,
            [
                .bytes(
                    "HTTP/1.1 200 OK\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nX-Kept: 2\r\n"
                        + "Keep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok")
            ])
        let gateway = try TestGateway(
            to: upstream.port, loop: loop, base: "/api", headers: [.init("X-Staging", "key")])
        let reply = try gateway.ask(
            "GET /health?a=b%20c HTTP/1.1\r\nHost: phone.test\r\nConnection: X-Mine\r\nX-Mine: 1\r\n"
                + "X-Staging: no\r\nTE: trailers\r\nX-Passed: 3\r\n\r\n")
        #expect(reply.status == 200)
        #expect(reply.body == "ok")
        #expect(reply.header("X-Kept") == "2")
        #expect(reply.header("X-Hop") == nil)
        #expect(reply.header("Keep-Alive") == nil)
        let request = upstream.requests
        #expect(request.hasPrefix("GET /api/health?a=b%20c HTTP/1.1\r\nHost: 127.0.0.1:\(upstream.port)\r\n"))
        #expect(!request.contains("X-Mine"))
        #expect(!request.contains("TE:"))
        #expect(request.contains("X-Passed: 3\r\n"))
        #expect(request.contains("X-Staging: key\r\n"))
        #expect(!request.contains("X-Staging: no"))
    }

    @Test func `a client of HTTP 1.0 that asks for it is told that its connection goes on`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(loop: loop, [.bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let reply = try gateway.ask("GET /a HTTP/1.0\r\nHost: phone.test\r\nConnection: keep-alive\r\n\r\n")
        #expect(reply.header("Connection") == "keep-alive")
        #expect(reply.body == "ok")
    }

    /// In the next turn it would be behind everything else that has come by then.
    @Test func `a request goes on in the turn in which it comes`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(loop: loop, [.bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let client = try gateway.connect()
        client.send("GET /first HTTP/1.1\r\nHost: phone.test\r\n\r\n")
        gateway.run(until: { client.isReplyComplete })
        // Both connections are open by now.
        let turns = (0..<10).map { number in
            client.clear()
            client.send("GET /\(number) HTTP/1.1\r\nHost: phone.test\r\n\r\n")
            var turns = 0
            while turns < 100, !upstream.requests.contains("GET /\(number) ") {
                loop.runOnce()
                turns += 1
            }
            gateway.run(until: { client.isReplyComplete })
            return turns
        }
        // One each for the phone to send, the gateway, and the upstream to read. A timer may take another in between.
        #expect(turns.min() == 3)
    }

    /// A phone's upload is not read faster than the upstream takes it.
    @Test func `an upload waits for the upstream and is not held`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(loop: loop, [])
        upstream.reads = false
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let client = try gateway.connect()
        let bytes = 9_000_000
        client.send(Script.upload(scan: 1, photoBytes: bytes))
        gateway.run(for: .milliseconds(700))
        // What is neither with the client nor in its kernel is in ours, the gateway's and the upstream's.
        #expect(client.stuckBytes > 2_000_000)
    }

    @Test func `an event stream waits for its phone and is not held`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(loop: loop, [.bytes(Self.sseHead + "\r\n")])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let client = try gateway.connect()
        client.isReading = false
        client.send(Self.streamRequest)
        gateway.run(for: .milliseconds(50))
        let event = "id: 1-progress\nevent: progress\ndata: \(String(repeating: "x", count: 64_000))\n\n"
        var sent = 0
        for _ in 0..<800 {
            sent += upstream.send(event)
            gateway.loop.turnBriefly()
        }
        #expect(sent < 800 * event.utf8.count, "the upstream was held up")
        client.isReading = true
        // What follows the last blank line passes with the end.
        upstream.closeAll()
        gateway.run(until: { client.end != .open })
        #expect(client.unchunked.utf8.count == sent)
    }

    @Test func `an upload that is refused early is answered, and the phone hears it`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(
            loop: loop,
            [
                .bytes("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\n{}"),
                .hang,
            ])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let client = try gateway.connect()
        client.send(Script.upload(scan: 1, photoBytes: 3_000_000))
        gateway.run(until: { client.isReplyComplete })
        #expect(client.status == 429)
        #expect(client.header("Retry-After") == "3")
        #expect(client.end == .open)
    }

    /// What the gateway reads must come as it is; what no journey has may come as the client likes.
    @Test(arguments: [
        ("/v3/jobs/scans/j/results", false), ("/api/v2/scans/scan_j/results", false),
        ("/v1/jobs/enrichment_j/results", false), ("/api/v2/imports/import_j/results", false),
        ("/api/v2/books/enrich", false), ("/api/v2/books/9780141439587", true),
    ]) func `an encoding is asked for only where nobody reads`(path: String, isPassed: Bool) throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(
            loop: loop, [.bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let reply = try gateway.ask("GET \(path) HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
        #expect(reply.status == 200)
        #expect(upstream.requests.contains("GET \(path) HTTP/1.1\r\n"))
        #expect(upstream.requests.contains("Accept-Encoding: gzip\r\n") == isPassed)
    }

    @Test func `chunked uploads stay chunked`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(loop: loop, [])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let client = try gateway.connect()
        client.send(
            "POST /v3/jobs/scans HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        )
        gateway.run(until: { upstream.requests.contains("5\r\nhello\r\n0\r\n\r\n") })
        #expect(upstream.requests.contains("Transfer-Encoding: chunked\r\n"))
        #expect(!upstream.requests.contains("Content-Length"))
    }
}

extension Loop {
    func turnBriefly() {
        let timer = LoopTimer(loop: self) { _ in }
        timer.arm(after: .microseconds(500))
        self.runOnce()
    }
}

extension RawUpstream {
    func closeAll() { self.dropAll(byReset: false) }
    func resetAll() { self.dropAll(byReset: true) }
}
