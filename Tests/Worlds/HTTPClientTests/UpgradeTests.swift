import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import SystemIO
import TestServer
import Testing

/// Requests for another protocol, and what goes both ways behind their 101.
@Suite struct UpgradeTests {
    private static let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
    private static let fields = [
        HeaderField("Upgrade", "websocket"), HeaderField("Connection", "keep-alive, upgrade"),
    ]

    private static func request(_ bench: Bench, _ path: String = "/ws") -> TransferRequest {
        bench.request(0, .get, path, headers: Self.fields, receiveBuffer: .stream)
    }

    /// A server that switches, and then says this.
    private static func bench(_ way: Way, greeting: String = "") throws -> Bench {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, request in
            guard request.line.contains("/ws") else { return connection.reply("200 OK", body: "ok") }
            connection.isSwitched = true
            connection.send(Self.switching + greeting)
        }
        return bench
    }

    /// One whose request has been answered with 101.
    private static func switched(_ way: Way) throws -> (bench: Bench, transfer: TransferID) {
        let bench = try Self.bench(way)
        let transfer = bench.pool.start(Self.request(bench))
        #expect(bench.run(until: { bench.seen[transfer] == [.head(101)] }))
        return (bench, transfer)
    }

    @Test(arguments: Way.allCases)
    func `bytes go both ways, the first ones in the read of the head`(way: Way) throws {
        let bench = try Self.bench(way, greeting: "ready?")
        bench.then = { transfer, what in
            if what == .head(101) { bench.pool.transmit(Array("one ".utf8), on: transfer) }
            if what == .body("ready?") { bench.pool.transmit(Array("two ".utf8), on: transfer) }
        }
        let transfer = bench.pool.start(Self.request(bench))
        #expect(bench.run(until: { bench.seen[transfer] == [.head(101), .body("ready?")] }))
        bench.pool.transmit(Array("three".utf8), on: transfer)
        let connection = bench.server.connections[0]
        #expect(bench.run(until: { connection.unread == Array("one two three".utf8) }))
        connection.send("HTTP/1.1 200 OK\r\n\r\n")
        #expect(bench.run(until: { bench.seen[transfer]?.last == .body("HTTP/1.1 200 OK\r\n\r\n") }))
        #expect(bench.heads[transfer]?.headers["Upgrade"] == "websocket")
        #expect(
            bench.server.requests[0].lines == [
                "GET /ws HTTP/1.1", "Host: talaria.test:\(bench.server.port)", "Upgrade: websocket",
                "Connection: keep-alive, upgrade",
            ])
        connection.close()
        #expect(bench.finish(transfer))
        #expect(bench.ends[transfer]?.stats.bytesSent == 13)
        #expect(bench.ends[transfer]?.stats.bytesReceived == 25)
        bench.pool.transmit(Array("late".utf8), on: transfer)
    }

    @Test(arguments: Way.allCases)
    func `a target that speaks HTTP 2 is asked for HTTP 1 by the client of our own`(way: Way) throws {
        let bench = try Self.bench(way)
        var target = bench.target(connectTimeout: .seconds(5), sources: ["127.0.0.4"])
        target.version = .http2
        bench.pool = ClientPool(loop: bench.loop, target: target, phones: 1, client: way.client)
        bench.pool.delegate = bench
        let transfer = bench.pool.start(Self.request(bench))
        // libcurl's exchanges have the low slots.
        #expect(transfer.slot >= 1 << 31)
        #expect(bench.run(until: { bench.seen[transfer] == [.head(101)] }))
        #expect(bench.server.connections[0].peerHost == "127.0.0.4")
        let other = bench.get(0)
        #expect(bench.finish(other))
        #expect(bench.server.connections.count == 2, "a connection that has switched is not shared")
    }

    @Test(arguments: Way.allCases)
    func `what a peer does not take waits, and goes out in order`(way: Way) throws {
        let (bench, transfer) = try Self.switched(way)
        let connection = bench.server.connections[0]
        connection.watch?.interest = []
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        var waiting = 0
        for start in stride(from: 0, to: bytes.count, by: 100_000) {
            waiting = bench.pool.transmit(Array(bytes[start..<start + 100_000]), on: transfer)
        }
        bench.settle()
        #expect(connection.unread.isEmpty)
        connection.watch?.interest = .read
        #expect(bench.run(until: { connection.unread.count == bytes.count }))
        #expect(connection.unread == bytes)
        #expect(bench.seen[transfer] == [.head(101)])
        // The owner can wait until the peer has taken it.
        let left = bench.left[transfer] ?? []
        #expect(left == left.sorted(by: >) && left.allSatisfy { $0 <= waiting })
        #expect(left.isEmpty ? waiting == 0 : left.last == 0)
    }

    @Test(arguments: Way.allCases)
    func `a peer sees that a paused exchange is not read`(way: Way) throws {
        let (bench, transfer) = try Self.switched(way)
        bench.pool.setPaused(transfer, true)
        bench.server.connections[0].send("later")
        bench.settle()
        #expect(bench.seen[transfer] == [.head(101)])
        // It can still send, and go on paused.
        bench.pool.transmit([1], on: transfer)
        #expect(bench.run(until: { bench.server.connections[0].unread == [1] }))
        bench.settle()
        #expect(bench.seen[transfer] == [.head(101)])
        bench.pool.setPaused(transfer, false)
        #expect(bench.run(until: { bench.seen[transfer] == [.head(101), .body("later")] }))
    }

    @Test(arguments: Way.allCases)
    func `a peer that takes nothing ends the exchange`(way: Way) throws {
        let (bench, transfer) = try Self.switched(way)
        bench.server.connections[0].watch?.interest = []
        // More than the buffers of the system take beside it.
        let piece = [UInt8](repeating: 7, count: ClientPool.unsentBytesMax)
        for _ in 0..<8 { bench.pool.transmit(piece, on: transfer) }
        #expect(bench.seen[transfer] == [.head(101)], "never before a command returns")
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.head(101), .failed(.other)])
        #expect(bench.ends[transfer]?.failure?.message.contains("wait to be sent") == true)
        #expect(bench.pool.counts.socketsOpenNow == 0)
    }

    @Test(arguments: Way.allCases)
    func `the end of the connection ends the exchange, and a reset fails it`(way: Way) throws {
        let ends: [((ServerConnection) -> Void, Seen)] = [
            ({ $0.close() }, .complete), ({ $0.cut() }, .complete), ({ $0.reset() }, .failed(.reset)),
        ]
        for (end, seen) in ends {
            let (bench, transfer) = try Self.switched(way)
            bench.server.connections[0].send("last")
            #expect(bench.run(until: { bench.seen[transfer]?.last == .body("last") }))
            end(bench.server.connections[0])
            #expect(bench.finish(transfer))
            #expect(bench.seen[transfer] == [.head(101), .body("last"), seen])
            #expect(bench.pool.counts.socketsOpenNow == 0)
        }
    }

    @Test(arguments: Way.allCases)
    func `a refusal is an answer, and its connection has the next upgrade`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, request in
            switch request.line {
            case "GET /ws/no HTTP/1.1":
                connection.reply("426 Upgrade Required", body: "no", headers: ["Upgrade: websocket"])
            case "GET /ws HTTP/1.1":
                connection.isSwitched = true
                connection.send(Self.switching)
            default: connection.reply("200 OK", body: "ok")
            }
        }
        let refused = bench.pool.start(Self.request(bench, "/ws/no"))
        #expect(bench.finish(refused))
        #expect(bench.seen[refused] == [.head(426), .body("no"), .complete])
        let switched = bench.pool.start(Self.request(bench))
        #expect(bench.run(until: { bench.seen[switched] == [.head(101)] }))
        #expect(bench.server.connections.map(\.requests.count) == [2])
        let other = bench.get(0)
        #expect(bench.finish(other))
        #expect(bench.seen[other]?.last == .complete)
        #expect(bench.server.connections.map(\.requests.count) == [2, 1])
    }

    @Test(arguments: Way.withoutTLS)
    func `libcurl may have the connection of a refused upgrade`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("403 Forbidden", body: "no") }
        let part = TransferRequest.Part(
            name: "photo", filename: nil, contentType: nil, content: PhotoSource(head: [1], shared: nil))
        for _ in 0..<2 {
            let refused = bench.pool.start(Self.request(bench))
            #expect(bench.finish(refused))
            let upload = bench.pool.start(bench.request(0, .post, "/", body: .multipart([part])))
            #expect(bench.finish(upload))
            #expect(bench.seen[refused] == bench.seen[upload])
        }
        // A client without one of its own keeps none for it.
        #expect(bench.server.connections.map(\.requests.count) == (way == .own ? [4] : [3, 1]))
    }

    @Test(arguments: Way.allCases)
    func `a phone that is parked, let go, cancelled or cut off is so with a connection that switched`(
        way: Way
    ) throws {
        let reset = ServerConnection.End.failed(SystemCode.connectionReset)
        var (bench, transfer) = try Self.switched(way)
        bench.pool.park(phone: 0)
        bench.pool.transmit([1], on: transfer)
        bench.settle()
        #expect(!bench.pool.isRunning(transfer) && bench.server.connections[0].end == nil)
        #expect(bench.server.connections[0].unread.isEmpty)
        bench.pool.unpark(phone: 0)
        #expect(bench.run(until: { bench.server.connections[0].end == reset }))
        (bench, transfer) = try Self.switched(way)
        bench.pool.cancel(transfer)
        bench.pool.transmit([1], on: transfer)
        #expect(bench.run(until: { bench.server.connections[0].end == .fin }))
        (bench, transfer) = try Self.switched(way)
        bench.pool.hangUp(phone: 0, by: .reset)
        #expect(bench.run(until: { bench.server.connections[0].end == reset }))
        #expect(bench.seen[transfer] == [.head(101)])
    }

    @Test(arguments: Way.withTLS)
    func `the certificate is that of the host of the URL`(way: Way) throws {
        let bench = try Self.bench(way)
        var request = Self.request(bench)
        request.url = "https://other.test:\(bench.server.port)/ws"
        let transfer = bench.pool.start(request)
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.failed(.tls)])
    }

    @Test(arguments: Way.allCases)
    func `a target is sent as it is written, or not at all`(way: Way) throws {
        let bench = try Self.bench(way)
        let target = "/ws/../a%20b/./c?d=%zz\\.&e?"
        let transfer = bench.pool.start(Self.request(bench, target))
        #expect(bench.run(until: { bench.seen[transfer] == [.head(101)] }))
        #expect(bench.server.requests.map(\.line) == ["GET \(target) HTTP/1.1"])
        for target in ["/ws#a", "/ws a", "/ws/\u{E9}", "?ws"] {
            let transfer = bench.pool.start(Self.request(bench, target))
            #expect(bench.seen[transfer] == nil)
            #expect(bench.finish(transfer))
            #expect(bench.seen[transfer] == [.failed(.other)])
        }
        #expect(bench.server.requests.count == 1)
    }
}
