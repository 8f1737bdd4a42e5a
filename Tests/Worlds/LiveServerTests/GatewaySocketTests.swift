import EventLoop
import Faults
import SimBase
import Talaria
import Testing
import Wire

/// WebSockets through the gateway, on real sockets.
struct GatewaySocketTests {
    private static let job = "scan_11111111-2222-4333-8444-555555555555"
    private static let switching =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: a\r\n\r\n"

    private static func handshake(_ path: String = "/ws/progress?jobId=\(Self.job)") -> String {
        """
        GET \(path) HTTP/1.1\r
        Host: phone.test\r
        traceparent: \(Script.trace(scan: 1, .stream))\r
        Connection: keep-alive, Upgrade\r
        Upgrade: websocket\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Protocol: a, b\r
        Sec-WebSocket-Extensions: permessage-deflate\r
        \r

        """
    }

    private static func bytes(_ frame: WebSocketFrame) -> [UInt8] {
        ByteBuilder.bytes { WebSocketWriter.frame(frame, into: &$0) }
    }

    /// An unmasked frame with a message about the job.
    private static func message(_ type: String) -> [UInt8] {
        let text = "{\"type\":\"\(type)\",\"jobId\":\"\(Self.job)\",\"timestamp\":1,\"payload\":{}}"
        return Self.bytes(WebSocketFrame(text: text))
    }

    /// A connection that has switched, its gateway and its upstream.
    private struct Scene {
        let upstream: RawUpstream
        let gateway: TestGateway
        let client: TestClient

        init(_ path: String? = nil, greeting: [UInt8] = [], faults: [FaultSpec] = []) throws {
            let loop = try Loop(clock: .startingNow())
            let upstream = try RawUpstream(
                loop: loop, [.frames(Array(GatewaySocketTests.switching.utf8) + greeting)])
            self.upstream = upstream
            self.gateway = try TestGateway(to: upstream.port, loop: loop, base: "/base", faults: faults)
            let client = try self.gateway.connect()
            self.client = client
            client.send(path.map { GatewaySocketTests.handshake($0) } ?? GatewaySocketTests.handshake())
            self.gateway.run(until: { client.text.contains("\r\n\r\n") })
            upstream.isSwitched = true
        }
    }

    @Test(arguments: ["/ws/progress?jobId=\(Self.job)", "/ws/progress", "/a%20b/../other?c=%2F"])
    func `a handshake passes, and bytes go both ways as they are`(path: String) throws {
        let scene = try Scene(path, greeting: Self.message("ready_ack"))
        let (client, upstream) = (scene.client, scene.upstream)
        let greeted = Array(Self.switching.utf8) + Self.message("ready_ack")
        scene.gateway.run(until: { client.bytes == greeted })
        let request = upstream.requests
        #expect(request.hasPrefix("GET /base\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(upstream.port)\r\n"))
        #expect(request.components(separatedBy: "Connection: Upgrade\r\n").count == 2)
        #expect(request.components(separatedBy: "Upgrade: websocket\r\n").count == 2)
        #expect(!request.contains("keep-alive"))
        #expect(request.contains("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"))
        #expect(request.contains("Sec-WebSocket-Protocol: a, b\r\n"))
        // What the gateway reads must not be compressed.
        #expect(request.contains("permessage-deflate") == !path.contains("jobId"))
        client.send("one")
        scene.gateway.run(until: { upstream.requests == request + "one" })
        client.send(" two")
        scene.gateway.run(until: { upstream.requests == request + "one two" })
        client.clear()
        // The last is no frame of a server, and passes all the same.
        let sent =
            Self.message("job_started") + Self.message("else") + Self.bytes(WebSocketFrame(.ping, [1]))
            + [0x09, 0x01, 0x21]
        _ = upstream.send(sent)
        scene.gateway.run(until: { client.bytes == sent })
        upstream.closeAll()
        scene.gateway.run(until: { client.end == .fin })
        #expect(client.bytes == sent)
    }

    @Test func `what a client sends behind its handshake waits for the answer`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(loop: loop, [])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let client = try gateway.connect()
        client.send(Self.handshake() + "early")
        gateway.run(until: { upstream.requests.hasSuffix("\r\n\r\n") })
        gateway.run(for: .milliseconds(30))
        #expect(upstream.requests.hasSuffix("\r\n\r\n"))
        _ = upstream.send(Self.switching)
        gateway.run(until: { upstream.requests.hasSuffix("\r\n\r\nearly") })
    }

    @Test(arguments: ["/ws/progress?jobId=\(Self.job)", "/other"])
    func `the end of one side is that of the other`(path: String) throws {
        let reset = try Scene(path)
        reset.upstream.resetAll()
        reset.gateway.run(until: { reset.client.end == .reset })
        let left = try Scene(path)
        left.client.endSending()
        left.gateway.run(until: { left.upstream.closedByPeer == 1 })
    }

    @Test func `a refusal is an answer, and the connection goes on`() throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(
            loop: loop,
            [
                .bytes(
                    "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nX-Kept: 1\r\n"
                        + "Content-Length: 2\r\n\r\nno")
            ])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let client = try gateway.connect()
        for _ in 0..<2 {
            client.clear()
            client.send(Self.handshake())
            gateway.run(until: { client.isReplyComplete })
            #expect(client.status == 426)
            #expect(client.body == "no")
            #expect(client.header("X-Kept") == "1")
        }
        #expect(client.end == .open)
        // The connection to the upstream was kept for it.
        #expect(upstream.closedByPeer == 0)
        client.endSending()
        gateway.run(until: { upstream.closedByPeer == 1 })
    }

    @Test(arguments: ["Upgrade: h2c", "Upgrade: websocket"])
    func `no other upgrade passes`(field: String) throws {
        let loop = try Loop(clock: .startingNow())
        let upstream = try RawUpstream(loop: loop, [.bytes(Self.switching)])
        let gateway = try TestGateway(to: upstream.port, loop: loop)
        let method = field.hasSuffix("h2c") ? "GET" : "POST"
        let reply = try gateway.ask(
            "\(method) /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n\(field)\r\nContent-Length: 0\r\n\r\n"
        )
        #expect(!upstream.requests.lowercased().contains("upgrade"))
        #expect(reply.status == 502)
    }

    @Test func `neither side is read faster than the other takes it`() throws {
        let scene = try Scene()
        let (client, upstream) = (scene.client, scene.upstream)
        client.isReading = false
        let message = Self.bytes(WebSocketFrame(text: String(repeating: "x", count: 64_000)))
        var sent = 0
        for _ in 0..<800 {
            sent += upstream.send(message)
            scene.gateway.loop.turnBriefly()
        }
        #expect(sent < 800 * message.count, "the upstream was held up")
        client.clear()
        client.isReading = true
        scene.gateway.run(until: { client.bytes.count >= sent })
        upstream.read(false)
        let bytes = 24_000_000
        let before = upstream.requests.utf8.count
        client.send([UInt8](repeating: 7, count: bytes))
        scene.gateway.run(for: .milliseconds(700))
        #expect(client.stuckBytes > 2_000_000 && client.end == .open)
        upstream.read(true)
        scene.gateway.run(until: { upstream.requests.utf8.count == before + bytes })
    }

    @Test(arguments: [
        (FaultTrigger.afterEvents(1...1), "ready_ack job_started"),
        (.afterEvents(2...2), "ready_ack job_started job_progress"),
    ])
    func `a cut of the link comes between messages`(trigger: FaultTrigger, passed: String) throws {
        let fault = FaultSpec(
            id: "f", kind: .reset(.betweenEvents, .reply), target: .stream, chance: .always, window: .always,
            trigger: trigger, count: .oncePerScan, scope: .everyone)
        let scene = try Scene(faults: [fault])
        let client = scene.client
        client.clear()
        for type in ["ready_ack", "job_started", "job_progress", "job_progress", "job_complete"] {
            _ = scene.upstream.send(Self.message(type) + Self.bytes(WebSocketFrame(.ping, [])))
        }
        scene.gateway.run(until: { client.end != .open })
        #expect(client.end == .reset)
        let types = client.text.components(separatedBy: "{\"type\":\"").dropFirst().map {
            String($0.prefix { $0 != "\"" })
        }
        #expect(types.joined(separator: " ") == passed)
        #expect(scene.gateway.fired == [0])
        scene.gateway.run(until: { scene.upstream.closedByPeer == 1 })
    }
}
