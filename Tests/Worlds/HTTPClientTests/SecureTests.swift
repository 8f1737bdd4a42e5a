import CurlLoop
import HTTPClient
import SimBase
import TestServer
import Testing

/// What both clients do over TLS alone.
@Suite struct SecureTests {
    @Test(arguments: Way.withTLS)
    func `the certificate is held against the host of the URL`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        var request = bench.request(0)
        request.url = "https://other.test:\(bench.server.port)/"
        let other = bench.pool.start(request)
        #expect(bench.finish(other))
        #expect(bench.seen[other] == [.failed(.tls)])
        #expect(bench.ends[other]?.failure?.message.contains("certificate") == true)
        request.url = "https://talaria.test.:\(bench.server.port)/"
        let same = bench.pool.start(request)
        #expect(bench.finish(same))
        #expect(bench.seen[same]?.last == .complete)
        #expect(bench.server.requests.count == 1)
    }

    @Test(arguments: Way.withTLS)
    func `authorities that cannot be read fail as TLS`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        var target = bench.target(connectTimeout: .seconds(5))
        target.certificateAuthorities = "/nowhere/ca.pem"
        bench.pool = ClientPool(loop: bench.loop, target: target, phones: 1, client: way.client)
        bench.pool.delegate = bench
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.failed(.tls)])
    }

    @Test(arguments: Way.withTLS)
    func `a body without a length ends with the connection, also without close_notify`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, request in
            connection.send("HTTP/1.1 200 OK\r\n\r\nall of it")
            if request.line.contains("/cut") { connection.cut() } else { connection.close() }
        }
        for path in ["/whole", "/cut"] {
            let transfer = bench.get(0, path)
            #expect(bench.finish(transfer))
            #expect(bench.seen[transfer] == [.head(200), .body("all of it"), .complete])
        }
    }

    @Test(arguments: Way.withTLS, ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
    func `a record that cannot be decrypted ends the answer`(way: Way, sent: String) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.send(sent)
            connection.sendUnencrypted([0x17, 3, 3, 0, 20] + [UInt8](repeating: 7, count: 20))
        }
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        #expect(
            bench.seen[transfer]
                == (sent.isEmpty
                    ? [.failed(.closedBeforeReply)]
                    : [.head(200), .body("half"), .failed(.closedEarly)]))
    }

    @Test(arguments: Way.withTLS)
    func `close_notify comes before the end of a connection`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.reply("200 OK", body: "ok", headers: ["Connection: close"])
        }
        #expect(bench.finish(bench.get(0)))
        #expect(bench.run(until: { bench.server.connections[0].end == .fin }))
        #expect(bench.server.connections[0].isNotified)
    }

    @Test func `a phone resumes its own session and no other phone's`() throws {
        let bench = try Bench(.ownWithTLS, phones: 2)
        bench.server.answer = { connection, _ in
            connection.reply("200 OK", body: "ok", headers: ["Connection: close"])
        }
        for phone in [0, 1, 0, 1] { #expect(bench.finish(bench.get(phone))) }
        #expect(bench.server.connections.map(\.isResumed) == [false, false, true, true])
        bench.pool.hangUp(phone: 0, by: .fin)
        for phone in [0, 1] { #expect(bench.finish(bench.get(phone))) }
        #expect(bench.server.connections[4...].map(\.isResumed) == [false, true])
    }

    @Test func `an upload has a connection of libcurl's, and other requests have one of their own`() throws {
        let bench = try Bench(.ownWithTLS, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        let part = TransferRequest.Part(
            name: "photo", filename: nil, contentType: nil, content: PhotoSource(head: [1], shared: nil))
        for _ in 0..<2 {
            #expect(bench.finish(bench.get(0)))
            let upload = bench.pool.start(bench.request(0, .post, "/", body: .multipart([part])))
            #expect(bench.finish(upload))
            #expect(bench.seen[upload]?.last == .complete)
        }
        #expect(bench.server.connections.map(\.requests.count) == [2, 2])
    }

    @Test func `where HTTP 2 may be agreed on, libcurl makes all requests`() throws {
        let bench = try Bench(.ownWithTLS, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        var target = bench.target(connectTimeout: .seconds(5))
        target.version = .http2
        bench.pool = ClientPool(loop: bench.loop, target: target, phones: 1, client: .own)
        bench.pool.delegate = bench
        let transfer = bench.get(0)
        // libcurl's exchanges have the low slots.
        #expect(transfer.slot == 0 && bench.finish(transfer))
        #expect(bench.seen[transfer]?.last == .complete)
    }

    @Test(arguments: Way.allCases)
    func `a large body in memory is sent whole`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        let transfer = bench.pool.start(bench.request(0, .post, "/", body: .bytes(body)))
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer]?.last == .complete)
        #expect(bench.server.requests.first?.body == body)
    }
}
