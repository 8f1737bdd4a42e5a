import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import TestServer
import Testing
import Wire

@Suite struct ResponseTests {
    @Test(arguments: Way.allCases)
    func `a stream is delivered as it arrives`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        }
        let stream = bench.pool.start(bench.request(0, receiveBuffer: .stream))
        var expected: [Seen] = [.head(200)]
        #expect(bench.run(until: { bench.seen[stream] == expected }))
        let connection = bench.server.connections[0]
        for event in ["data: one\n\n", "data: zw\u{F6}lf\n\n", ": ping\n\n"] {
            connection.send(String(event.utf8.count, radix: 16) + "\r\n" + event + "\r\n")
            expected.append(.body(event))
            #expect(bench.run(until: { bench.seen[stream] == expected }))
        }
        connection.send("0\r\nX-Trailer: late\r\n\r\n")
        expected.append(.complete)
        #expect(bench.run(until: { bench.seen[stream] == expected }))
        #expect(bench.heads[stream]?.headers["x-trailer"] == nil)
    }

    @Test(arguments: [Way.own, .ownWithTLS])
    func `the bytes of streams are counted with their heads, and those of other requests are not`(way: Way)
        throws
    {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "twelve bytes") }
        let other = bench.pool.start(bench.request(0, .post, body: .bytes([1])))
        #expect(bench.finish(other))
        #expect(bench.pool.counts.streamBytesSent == 0 && bench.pool.counts.streamBytesReceived == 0)
        let stream = bench.pool.start(bench.request(0, receiveBuffer: .stream))
        #expect(bench.finish(stream))
        let counts = bench.pool.counts
        let sent = bench.server.requests.last?.lines.map { Int64($0.utf8.count) + 2 }.reduce(2, +) ?? 0
        #expect(way == .own ? counts.streamBytesSent == sent : counts.streamBytesSent > sent)
        #expect(counts.streamBytesReceived > 12 + 17)
        let again = bench.pool.start(bench.request(0, receiveBuffer: .stream))
        #expect(bench.finish(again))
        #expect(bench.pool.counts.streamBytesReceived > counts.streamBytesReceived)
    }

    @Test(arguments: Way.allCases)
    func `a large body arrives whole through a small buffer`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        let text = String((0..<60_000).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: text) }
        let transfer = bench.pool.start(bench.request(0, receiveBuffer: .stream))
        #expect(bench.finish(transfer))
        let pieces = (bench.seen[transfer] ?? []).map { seen in
            if case .body(let text) = seen { text } else { "" }
        }
        #expect(pieces.joined() == text)
        #expect(bench.ends[transfer]?.failure == nil)
    }

    @Test(arguments: Way.allCases)
    func `interim heads are skipped`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.send(
                "HTTP/1.1 100 Continue\r\nX-A: interim\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
            connection.reply("202 Accepted", body: "job", headers: ["X-A: final"])
        }
        let transfer = bench.pool.start(bench.request(0, .post, body: .bytes([1])))
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.head(202), .body("job"), .complete])
        #expect(
            bench.heads[transfer]
                == ResponseHead(
                    status: 202,
                    headers: HeaderFields([HeaderField("X-A", "final"), HeaderField("Content-Length", "3")])))
    }

    @Test(arguments: Way.allCases)
    func `header fields keep order, case and duplicates, and lose padding`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.send(
                "HTTP/1.1 429 Too Many\r\nretry-After:  7 \r\nSet-Cookie: a\r\nset-cookie: b:c\r\nEmpty:\r\n"
                    + "Content-Length: 0\r\n\r\n")
        }
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        let head = try #require(bench.heads[transfer])
        #expect(
            head
                == ResponseHead(
                    status: 429,
                    headers: HeaderFields([
                        HeaderField("retry-After", "7"), HeaderField("Set-Cookie", "a"),
                        HeaderField("set-cookie", "b:c"), HeaderField("Empty", ""),
                        HeaderField("Content-Length", "0"),
                    ])))
        #expect(head.headers["Retry-after"] == "7")
        #expect(head.headers["SET-COOKIE"] == "a")
        #expect(head.headers["missing"] == nil)
        #expect(bench.seen[transfer] == [.head(429), .complete])
    }

    @Test(arguments: Way.allCases)
    func `redirects are told, not followed`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            connection.reply("302 Found", body: "", headers: ["Location: http://127.0.0.1:1/"])
        }
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.head(302), .complete])
    }

    @Test(arguments: Way.allCases)
    func `a request that begins while the end of an answer is delivered has its connection`(
        way: Way
    ) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, request in
            connection.reply("200 OK", body: String(request.line.split(separator: " ")[1]))
        }
        var next: TransferID?
        bench.then = { [unowned bench] _, seen in
            if next == nil, seen == .body("/first") { next = bench.get(0, "/second") }
        }
        let first = bench.get(0, "/first")
        #expect(bench.run(until: { next.map { bench.ends[$0] != nil } ?? false && bench.ends[first] != nil }))
        #expect(bench.seen[first] == [.head(200), .body("/first"), .complete])
        #expect(next.flatMap { bench.seen[$0] } == [.head(200), .body("/second"), .complete])
        #expect(bench.server.connections.map(\.requests.count) == [2])
        #expect(bench.pool.counts.transfersRunningNow == 0)
    }

    @Test(arguments: Way.allCases)
    func `a delegate may begin, cancel and hang up in answer to any event`(way: Way) throws {
        let bench = try Bench(way, phones: 2)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        var next: TransferID?
        var began: [TransferID] = []
        bench.then = { [unowned bench] transfer, seen in
            switch (began.count, seen) {
            case (1, .complete), (2, .complete):
                next = bench.get(0)
            case (3, .head):
                bench.pool.cancel(transfer)
                next = bench.get(0)
            case (4, .body):
                bench.pool.hangUp(phone: 0, by: .reset)
                next = bench.get(0)
            default: break
            }
            if let started = next { began.append(started) }
            next = nil
        }
        began.append(bench.get(0))
        #expect(bench.run(until: { began.count == 5 && bench.ends[began[4]] != nil }))
        let whole: [Seen] = [.head(200), .body("ok"), .complete]
        #expect(
            began.map { bench.seen[$0] } == [whole, whole, [.head(200)], [.head(200), .body("ok")], whole])
        #expect(bench.pool.counts.transfersRunningNow == 0)
    }
}
