import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import TestServer
import Testing

@Suite struct FailureTests {
    @Test(arguments: Way.allCases)
    func `no one listening is a refused connect`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        let listener = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        let port = try StreamSocket.localPort(of: listener.number)
        StreamSocket.close(listener.release())
        let transfer = bench.pool.start(bench.request(0, connectPort: port))
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.failed(.connectRefused)])
    }

    @Test(
        arguments: Way.allCases,
        [
            ("", TransportFailure.closedBeforeReply, [Seen]()),
            ("HTTP/1.1 200 OK\r\nContent-", .closedEarly, []),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", .closedEarly, [.head(200), .body("half")]),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf", .closedEarly,
                [.head(200), .body("half")]
            ),
            ("SSH-2.0-OpenSSH\r\n", .malformed, []),
        ])
    func `a connection that closes too soon`(
        way: Way, course: (sent: String, kind: TransportFailure, before: [Seen])
    ) throws {
        let (sent, kind, before) = course
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.send(sent)
            connection.close()
        }
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == before + [.failed(kind)])
    }

    @Test(arguments: Way.allCases)
    func `the end of a body without a length is its end`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\n\r\nall of it")
            connection.close()
        }
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.head(200), .body("all of it"), .complete])
    }

    @Test(arguments: Way.allCases)
    func `a reset inside the body comes after what arrived before it`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        }
        let transfer = bench.get(0)
        #expect(bench.run(until: { bench.seen[transfer] == [.head(200), .body("half")] }))
        bench.server.connections[0].reset()
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.head(200), .body("half"), .failed(.reset)])
        #expect(bench.ends[transfer]?.failure?.message.isEmpty == false)
    }

    @Test(arguments: Way.allCases)
    func `a reset before any reply is a reset`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reset() }
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.failed(.reset)])
    }

    @Test(arguments: Way.allCases)
    func `a head without end is cut off`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\n")
            for _ in 0..<200 {
                connection.send("X-Padding: " + String(repeating: "x", count: 1_000) + "\r\n")
            }
        }
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.failed(.malformed)])
    }

    @Test(arguments: Way.withoutTLS)
    func `a TLS handshake that never answers times out as connecting does`(way: Way) throws {
        let bench = try Bench(way, phones: 1, connectTimeout: .milliseconds(80))
        var request = bench.request(0)
        request.url = "https://talaria.test:\(bench.server.port)/"
        let before = bench.loop.now()
        let transfer = bench.pool.start(request)
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.failed(.connectTimedOut)])
        #expect(bench.loop.now() - before >= .milliseconds(80))
    }

    @Test(arguments: Way.withoutTLS)
    func `a server that speaks no TLS fails as TLS`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        var request = bench.request(0)
        request.url = "https://talaria.test:\(bench.server.port)/"
        let transfer = bench.pool.start(request)
        #expect(bench.run(until: { !bench.server.connections.isEmpty }))
        bench.server.connections[0].send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.failed(.tls)])
    }

    @Test(arguments: Way.allCases)
    func `too few descriptors are counted and told, and not for ever`(way: Way) throws {
        let bench = try Bench(way, phones: 3)
        bench.pool.socketsMax = 2
        bench.server.answer = { connection, _ in
            connection.reply("200 OK", body: "ok", headers: ["Connection: close"])
        }
        let transfers = (0..<3).map { bench.get($0) }
        #expect(bench.run(until: { bench.ends.count == 3 }))
        #expect(
            transfers.map { bench.seen[$0]?.last } == [.complete, .complete, .failed(.descriptorsExhausted)])
        #expect(bench.pool.counts.descriptorsExhausted == 1)
        let later = bench.get(2)
        #expect(bench.finish(later))
        #expect(bench.seen[later]?.last == .complete)
    }
}
