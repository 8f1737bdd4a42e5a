import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import SystemIO
import TestServer
import Testing

/// A phone's connection is lent to libcurl for an upload, and comes back.
@Suite struct LendingTests {
    private static func upload(_ bench: Bench, _ bytes: Int = 200_000) -> TransferRequest {
        let part = TransferRequest.Part(
            name: "photo", filename: "a.jpg", contentType: "image/jpeg",
            content: PhotoSource(head: [1], shared: SharedBytes([UInt8](repeating: 2, count: bytes))))
        return bench.request(0, .post, "/scan", body: .multipart([part]))
    }

    @Test(arguments: Way.withoutTLS)
    func `uploads and other requests in turns have one connection`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        for round in 0..<3 {
            let upload = bench.pool.start(Self.upload(bench))
            #expect(bench.finish(upload))
            #expect(bench.seen[upload] == [.head(200), .body("ok"), .complete])
            #expect(bench.ends[upload]?.stats.isNewConnection == (round == 0))
            let get = bench.get(0)
            #expect(bench.finish(get))
            #expect(bench.seen[get] == [.head(200), .body("ok"), .complete])
            #expect(bench.ends[get]?.stats.isNewConnection == false)
        }
        #expect(bench.server.connections.map(\.requests.count) == [6])
        #expect(bench.pool.counts.socketsOpened == 1)
        #expect(bench.pool.counts.socketsOpenNow == 1)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ])
    func `a connection that libcurl does not keep after an upload is used no more`(
        answer: String
    ) throws {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, request in
            if request.line.hasPrefix("GET") {
                connection.reply("200 OK", body: "ok")
            } else {
                connection.send(answer)
            }
        }
        #expect(bench.finish(bench.get(0)))
        let upload = bench.pool.start(Self.upload(bench))
        #expect(bench.finish(upload))
        #expect(bench.seen[upload] == [.head(200), .body("ok"), .complete])
        #expect(bench.run(until: { bench.server.connections[0].end != nil }))
        #expect(bench.pool.counts.socketsOpenNow == 0)
        let get = bench.get(0)
        #expect(bench.finish(get))
        #expect(bench.seen[get]?.last == .complete)
        #expect(bench.server.connections.map(\.requests.count) == [2, 1])
    }

    /// When libcurl makes a connection, at most once a second, it looks at those that it keeps, and a look takes the error of a
    /// socket away.
    @Test(arguments: [true, false])
    func `a reset at which libcurl has looked first is a reset, and a close is none`(isReset: Bool) throws {
        let bench = try Bench(.own, phones: 2)
        bench.server.answer = { connection, request in
            guard request.line.hasPrefix("GET") else { return connection.reply("200 OK", body: "ok") }
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        }
        #expect(bench.finish(bench.upload(0)))
        let stream = bench.get(0)
        let began = bench.loop.now()
        #expect(bench.run(until: { bench.loop.now() - began > .milliseconds(1_100) }))
        #expect(bench.seen[stream] == [.head(200)])
        if isReset { bench.server.connections[0].reset() } else { bench.server.connections[0].close() }
        let other = bench.upload(1)
        #expect(bench.finish(other))
        #expect(bench.seen[stream] == [.head(200), .failed(isReset ? .reset : .closedEarly)])
    }

    @Test func `a connection of the client's own is libcurl's from the first upload on, and used by both`()
        throws
    {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        #expect(bench.finish(bench.get(0)))
        for _ in 0..<3 {
            let upload = bench.pool.start(Self.upload(bench))
            #expect(bench.finish(upload))
            #expect(bench.seen[upload]?.last == .complete)
            #expect(bench.ends[upload]?.stats.isNewConnection == false)
            #expect(bench.finish(bench.get(0)))
        }
        #expect(bench.server.connections.map(\.requests.count) == [7])
    }

    @Test func `an upload beside a stream does not go out on the stream's connection`() throws {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, request in
            if request.line.contains("stream") {
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            } else {
                connection.reply("200 OK", body: "ok")
            }
        }
        #expect(bench.finish(bench.pool.start(Self.upload(bench))))
        let stream = bench.get(0, "/stream")
        #expect(bench.run(until: { bench.seen[stream] == [.head(200)] }))
        for _ in 0..<3 {
            #expect(bench.finish(bench.pool.start(Self.upload(bench))))
            #expect(bench.finish(bench.get(0)))
        }
        #expect(bench.server.connections.map(\.requests.count) == [2, 6])
        bench.server.connections[0].send("2\r\nok\r\n0\r\n\r\n")
        #expect(bench.finish(stream))
        #expect(bench.seen[stream] == [.head(200), .body("ok"), .complete])
        #expect(bench.pool.counts.socketsOpenNow == 2)
    }

    @Test func `libcurl may let go of a connection while the client reads it`() throws {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, request in
            if request.line.contains("stream") {
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
            } else {
                connection.reply("200 OK", body: "ok")
            }
        }
        #expect(bench.finish(bench.pool.start(Self.upload(bench))))
        let stream = bench.get(0, "/stream")
        #expect(bench.run(until: { bench.seen[stream] == [.head(200), .body("ok")] }))
        // More than libcurl keeps for a phone: it closes those that it has not used for longest.
        let uploads = (0..<30).map { _ in bench.pool.start(Self.upload(bench)) }
        #expect(bench.run(until: { uploads.allSatisfy { bench.ends[$0] != nil } }))
        #expect(uploads.allSatisfy { bench.seen[$0]?.last == .complete })
        bench.server.connections[0].send("0\r\n\r\n")
        #expect(bench.finish(stream))
        #expect(bench.seen[stream] == [.head(200), .body("ok"), .complete])
        // libcurl cannot have it back, and uploads go out on others.
        #expect(bench.finish(bench.pool.start(Self.upload(bench))))
        #expect(bench.server.connections[0].requests.count == 2)
        bench.pool.hangUp(phone: 0, by: .fin)
        #expect(bench.run(until: { bench.server.connections.allSatisfy { $0.end == .fin } }))
    }

    @Test func `a stream that is cancelled closes the connection that libcurl has`() throws {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, request in
            guard request.line.contains("stream") else { return connection.reply("200 OK", body: "ok") }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
        }
        for round in 0..<3 {
            #expect(bench.finish(bench.pool.start(Self.upload(bench))))
            let stream = bench.get(0, "/stream")
            #expect(bench.run(until: { bench.seen[stream] == [.head(200)] }))
            bench.pool.cancel(stream)
            #expect(bench.run(until: { bench.server.connections[round].end == .fin }))
        }
        #expect(bench.server.connections.map(\.requests.count) == [2, 2, 2])
    }

    private static func benchWithStreams() throws -> Bench {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, request in
            guard request.line.contains("stream") else { return connection.reply("200 OK", body: "ok") }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
        }
        return bench
    }

    /// Leaves libcurl a dead connection, which it has among its idle ones.
    private static func cancelStream(_ bench: Bench) {
        #expect(bench.finish(bench.pool.start(Self.upload(bench))))
        let stream = bench.get(0, "/stream")
        #expect(bench.run(until: { bench.seen[stream] == [.head(200)] }))
        bench.pool.cancel(stream)
    }

    /// A process that is full of phones with streams has no second descriptor for each.
    @Test func `the next connection after a cancelled stream takes no further descriptor`() throws {
        let bench = try Self.benchWithStreams()
        bench.pool.socketsMax = 1
        for _ in 0..<3 {
            Self.cancelStream(bench)
            let get = bench.get(0)
            #expect(bench.finish(get))
            #expect(bench.seen[get] == [.head(200), .body("ok"), .complete])
            #expect(bench.ends[get]?.stats.isNewConnection == true)
            #expect(bench.pool.counts.socketsOpenNow == 1)
        }
        // libcurl goes on with the connection that has the place of its own.
        #expect(bench.server.connections.map(\.requests.count) == [2, 3, 3, 1])
        #expect(bench.pool.counts.socketsOpened == 4)
        #expect(bench.pool.counts.descriptorsExhausted == 0)
        bench.pool.hangUp(phone: 0, by: .fin)
        #expect(bench.run(until: { bench.server.connections.allSatisfy { $0.end == .fin } }))
    }

    @Test func `a connection does not take the place of one whose line libcurl uses again`() throws {
        let bench = try Self.benchWithStreams()
        Self.cancelStream(bench)
        let upload = bench.pool.start(Self.upload(bench))
        let get = bench.get(0)
        #expect(bench.finish(upload))
        #expect(bench.finish(get))
        for id in [upload, get] { #expect(bench.seen[id] == [.head(200), .body("ok"), .complete]) }
        #expect(bench.server.connections.map(\.requests.count) == [2, 1, 1])
        #expect(bench.pool.counts.socketsOpenNow == 2)
    }

    @Test func `a connection in the place of a dead one that fails leaves the place`() throws {
        let bench = try Self.benchWithStreams()
        Self.cancelStream(bench)
        bench.server.stopListening()
        let get = bench.get(0)
        #expect(bench.finish(get))
        #expect(bench.seen[get] == [.failed(.connectRefused)])
        #expect(bench.pool.counts.socketsOpenNow == 1)
        let again = bench.get(0)
        #expect(bench.finish(again))
        #expect(bench.seen[again] == [.failed(.connectRefused)])
        #expect(bench.pool.counts.socketsOpenNow == 1)
    }

    @Test(arguments: [HangUp.fin, .reset])
    func `after a hang-up the next connection takes no further descriptor`(how: HangUp) throws {
        let bench = try Self.benchWithStreams()
        bench.pool.socketsMax = 1
        #expect(bench.finish(bench.pool.start(Self.upload(bench))))
        bench.pool.hangUp(phone: 0, by: how)
        #expect(bench.finish(bench.get(0)))
        let upload = bench.pool.start(Self.upload(bench))
        #expect(bench.finish(upload))
        #expect(bench.seen[upload] == [.head(200), .body("ok"), .complete])
        #expect(bench.server.connections.map(\.requests.count) == [1, 2])
    }

    @Test func `an idle connection whose end has come is not lent`() throws {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        #expect(bench.finish(bench.get(0)))
        // Before the loop can report it.
        bench.server.connections[0].close()
        let upload = bench.pool.start(Self.upload(bench))
        #expect(bench.finish(upload))
        #expect(bench.seen[upload] == [.head(200), .body("ok"), .complete])
        #expect(bench.server.connections.map(\.requests.count) == [1, 1])
        #expect(bench.pool.counts.resendsRefused == 0)
    }

    @Test func `a cancelled upload closes the connection that it had`() throws {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        #expect(bench.finish(bench.get(0)))
        let upload = bench.pool.start(Self.upload(bench, 30 << 20))
        #expect(bench.run(until: { bench.server.connections[0].unreadCount > 0 }))
        #expect(bench.pool.isRunning(upload))
        bench.pool.cancel(upload)
        #expect(bench.run(until: { bench.server.connections[0].end != nil }))
        #expect(bench.seen[upload] == nil)
        #expect(bench.pool.counts.socketsOpenNow == 0)
    }

    @Test(arguments: [0, 1])
    func `a lent connection is parked while it is written to`(earlier: Int) throws {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        for _ in 0..<earlier { #expect(bench.finish(bench.get(0))) }
        let upload = bench.pool.start(Self.upload(bench, 30 << 20))
        #expect(bench.run(until: { bench.server.connections.first?.unreadCount ?? 0 > 0 }))
        bench.pool.park(phone: 0)
        #expect(bench.pool.counts.socketsParkedNow == 1)
        #expect(bench.pool.counts.socketsOpenNow == 0)
        bench.settle()
        #expect(bench.server.connections[0].end == nil)
        #expect(bench.seen[upload] == nil)
        bench.pool.unpark(phone: 0)
        #expect(bench.run(until: { bench.server.connections[0].end != nil }))
        #expect(bench.server.connections[0].end == .failed(SystemCode.connectionReset))
        let again = bench.get(0)
        #expect(bench.finish(again))
        #expect(bench.seen[again]?.last == .complete)
    }

    @Test func `a URL that is not sent as it stands goes by libcurl, on the same connection`() throws {
        let bench = try Bench(.own, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        for path in ["/a", "/a/../b", "/c"] { #expect(bench.finish(bench.get(0, path))) }
        #expect(bench.server.requests.map(\.line) == ["/a", "/b", "/c"].map { "GET \($0) HTTP/1.1" })
        #expect(bench.server.connections.count == 1)
    }
}
