import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import TestServer
import Testing

@Suite struct ConnectionTests {
    @Test(arguments: Way.allCases)
    func `a phone uses its own connection again and never another phone's`(way: Way) throws {
        let bench = try Bench(way, phones: 3)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        for phone in [0, 1, 2, 1, 0, 2, 2] {
            #expect(bench.finish(bench.get(phone, "/\(phone)")))
        }
        let paths = bench.server.connections.map { $0.requests.map(\.line) }
        let line = { (phone: Int) in "GET /\(phone) HTTP/1.1" }
        #expect(
            paths == [
                [line(0), line(0)], [line(1), line(1)], [line(2), line(2), line(2)],
            ])
        #expect(Set(bench.server.requests.map { $0.header("Host") }) == ["talaria.test:\(bench.server.port)"])
    }

    @Test(arguments: Way.allCases)
    func `a phone has two connections while it needs them`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, request in
            if request.line.contains("stream") {
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            } else {
                connection.reply("200 OK", body: "ok")
            }
        }
        let stream = bench.get(0, "/stream")
        #expect(bench.run(until: { bench.seen[stream] == [.head(200)] }))
        for _ in 0..<3 { #expect(bench.finish(bench.get(0))) }
        #expect(bench.server.connections.map(\.requests.count) == [1, 3])
        #expect(bench.pool.isRunning(stream))
    }

    @Test(arguments: Way.allCases)
    func `no phone's idle connection is closed to make room for another's`(way: Way) throws {
        // One at a time, so that libcurl's own measure (four for each running transfer) would be far too small.
        let phones = 60
        let bench = try Bench(way, phones: phones)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        for phone in 0..<phones { #expect(bench.finish(bench.get(phone))) }
        for phone in 0..<phones { #expect(bench.finish(bench.get(phone))) }
        #expect(bench.server.connections.map(\.requests.count) == [Int](repeating: 2, count: phones))
        #expect(bench.pool.counts.socketsOpened == phones)
    }

    @Test(arguments: Way.allCases)
    func `more phones than one multi handle takes, all at once`(way: Way) throws {
        let phones = 2 * CurlPool.phonesPerMultiMax + 50
        let bench = try Bench(way, phones: phones)
        bench.server.answer = { connection, request in
            connection.reply("200 OK", body: String(request.line.split(separator: " ")[1]))
        }
        let transfers = (0..<phones).map { bench.get($0, "/\($0)") }
        #expect(bench.run(until: { bench.ends.count == phones }))
        for (phone, transfer) in transfers.enumerated() {
            #expect(bench.seen[transfer] == [.head(200), .body("/\(phone)"), .complete])
        }
        #expect(bench.server.connections.count == phones)
        #expect(bench.pool.counts.transfersRunningNow == 0)
    }

    @Test(arguments: Way.allCases)
    func `stats say what happened`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "four") }
        let before = bench.loop.now()
        var request = bench.request(0, .post, "/", body: .bytes(Array("body!".utf8)))
        request.scheduled = Instant(nanoseconds: 5)
        let first = bench.pool.start(request)
        #expect(bench.finish(first))
        let second = bench.get(0)
        #expect(bench.finish(second))
        let stats = try #require(bench.ends[first]?.stats)
        let again = try #require(bench.ends[second]?.stats)
        #expect(stats.scheduled == Instant(nanoseconds: 5))
        #expect(stats.started >= before)
        let sent = try #require(stats.sent)
        let replied = try #require(stats.replied)
        #expect(stats.started <= sent && sent < replied && replied <= bench.loop.now())
        #expect(stats.bytesSent == 5)
        #expect(stats.bytesReceived == 4)
        #expect(stats.httpVersion == 11)
        #expect(stats.isNewConnection)
        #expect(stats.connect > .zero)
        #expect(way.isSecure ? stats.appConnect > stats.connect : stats.appConnect == .zero)
        #expect(again.connect == .zero && again.appConnect == .zero)
        #expect(!again.isNewConnection)
        #expect(stats.localPort != nil && stats.localPort == again.localPort)
        #expect(stats.localPort == bench.server.connections[0].peerPort)
    }

    @Test(arguments: Way.allCases)
    func `phones take the source addresses in turn`(way: Way) throws {
        let bench = try Bench(way, phones: 4, sources: ["127.0.0.2", "127.0.0.3"])
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: connection.peerHost) }
        let transfers = (0..<4).map { bench.get($0) }
        #expect(bench.run(until: { bench.ends.count == 4 }))
        let bodies = transfers.map { bench.seen[$0]?[1] }
        #expect(bodies == [.body("127.0.0.2"), .body("127.0.0.3"), .body("127.0.0.2"), .body("127.0.0.3")])
    }

    @Test(arguments: [true, false]) func `bytes behind an answer are noticed`(hasExcess: Bool) throws {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, _ in
            connection.send("HTTP/1.1 204 No Content\r\n\r\n" + (hasExcess ? "{}" : ""))
        }
        #expect(bench.finish(bench.get(0)))
        #expect(bench.ends.values.first?.stats.hasExcess == hasExcess)
        #expect(bench.pool.counts.socketsOpenNow == (hasExcess ? 0 : 1))
    }

    @Test(arguments: [Way.own, .ownWithTLS])
    func `an idle connection that the server closes is closed`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        #expect(bench.finish(bench.get(0)))
        #expect(bench.pool.counts.socketsOpenNow == 1)
        bench.server.connections[0].close()
        #expect(bench.run(until: { bench.pool.counts.socketsOpenNow == 0 }))
        #expect(bench.finish(bench.get(0)))
        #expect(bench.server.connections.map(\.requests.count) == [1, 1])
    }

    @Test(arguments: Way.allCases)
    func `under pressure replies do not leave idle connections behind`(way: Way) throws {
        let bench = try Bench(way, phones: 2)
        bench.pool.keepsIdleBelow = 1
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        #expect(bench.finish(bench.get(0)))
        #expect(bench.pool.counts.socketsOpenNow == 1, "below the limit when it began")
        #expect(bench.finish(bench.get(1)))
        #expect(bench.run(until: { bench.server.connections[1].end == .fin }))
        #expect(bench.pool.counts.socketsOpenNow == 1)
    }
}
