import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import SystemIO
import TestServer
import Testing

@Suite struct RequestTests {
    @Test(arguments: Way.allCases)
    func `nothing is added to a request that it does not need`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "") }
        let headers = [HeaderField("X-Device-Id", "abc"), HeaderField("X-Empty", "")]
        #expect(bench.finish(bench.pool.start(bench.request(0, .get, "/a?b=c", headers: headers))))
        #expect(bench.finish(bench.pool.start(bench.request(0, .delete, "/job"))))
        #expect(bench.finish(bench.pool.start(bench.request(0, .head, "/head"))))
        #expect(bench.finish(bench.pool.start(bench.request(0, .post, "/empty"))))
        #expect(
            bench.finish(bench.pool.start(bench.request(0, .put, "/put", body: .bytes(Array("xy".utf8))))))
        // The settings of one request do not stay for the next that uses the handle.
        #expect(bench.finish(bench.pool.start(bench.request(0, .get, "/last"))))
        let host = "Host: talaria.test:\(bench.server.port)"
        #expect(
            bench.server.requests.map(\.lines) == [
                ["GET /a?b=c HTTP/1.1", host, "X-Device-Id: abc", "X-Empty:"],
                ["DELETE /job HTTP/1.1", host],
                ["HEAD /head HTTP/1.1", host],
                ["POST /empty HTTP/1.1", host, "Content-Length: 0"],
                ["PUT /put HTTP/1.1", host, "Content-Length: 2"],
                ["GET /last HTTP/1.1", host],
            ])
        #expect(bench.server.requests[4].body == Array("xy".utf8))
    }

    @Test(
        arguments: Way.allCases,
        [
            ("/", "/"), ("", "/"), ("/a/b?c=d&e=/f?", "/a/b?c=d&e=/f?"), ("//a", "//a"), ("?a=b", "/?a=b"),
            ("/a/../b", "/b"), ("/./a", "/a"), ("/a/.b/c.d", "/a/.b/c.d"), ("/a?b=/./c", "/a?b=/./c"),
            ("/a%20b", "/a%20b"), ("/a#b", "/a"), ("/a?b#c", "/a?b"),
            ("/~!$&'()*+,;=:@|", "/~!$&'()*+,;=:@|"),
        ])
    func `a target is sent as it stands in a URL`(
        way: Way, target: (written: String, sent: String)
    ) throws {
        let (written, sent) = target
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "") }
        #expect(bench.finish(bench.pool.start(bench.request(0, .get, written))))
        #expect(bench.server.requests.map(\.line) == ["GET \(sent) HTTP/1.1"])
    }

    @Test(arguments: Way.allCases)
    func `headers that libcurl would add can be given`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "") }
        let headers = [HeaderField("accept", "*/*"), HeaderField("Content-Type", "text/plain")]
        let request = bench.request(0, .post, "/", headers: headers, body: .bytes([1]))
        #expect(bench.finish(bench.pool.start(request)))
        #expect(bench.server.requests[0].header("accept") == "*/*")
        #expect(bench.server.requests[0].header("content-type") == "text/plain")
    }

    @Test(arguments: Way.allCases)
    func `a multipart body is the form around the bytes of head and photo`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("202 Accepted", body: "") }
        // Larger than the upload buffer and no multiple of it, and with every byte value.
        let photo = SharedBytes((0..<100_003).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let parts = [
            TransferRequest.Part(
                name: "photos[]", filename: "a.jpg", contentType: "image/jpeg",
                content: PhotoSource(head: Array("head".utf8), shared: photo, from: 2)),
            TransferRequest.Part(
                name: "note", filename: nil, contentType: nil,
                content: PhotoSource(head: Array("plain".utf8), shared: nil)),
        ]
        #expect(bench.finish(bench.pool.start(bench.request(0, .post, "/scan", body: .multipart(parts)))))
        let request = try #require(bench.server.requests.first)
        let type = try #require(request.header("Content-Type"))
        #expect(type.hasPrefix("multipart/form-data; boundary="))
        #expect(request.header("Expect") == nil)
        let boundary = String(type.split(separator: "=")[1])
        let expected =
            Array(
                """
                --\(boundary)\r
                Content-Disposition: form-data; name="photos[]"; filename="a.jpg"\r
                Content-Type: image/jpeg\r
                \r
                head
                """.utf8) + photo.bytes[2...]
            + Array(
                """
                \r
                --\(boundary)\r
                Content-Disposition: form-data; name="note"\r
                \r
                plain\r
                --\(boundary)--\r

                """.utf8)
        #expect(request.body == expected)
    }

    @Test(arguments: Way.allCases)
    func `a large upload does not wait to be asked for its body`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "") }
        let photo = SharedBytes([UInt8](repeating: 7, count: 3 << 20))
        let part = TransferRequest.Part(
            name: "photo", filename: nil, contentType: nil, content: PhotoSource(head: [], shared: photo))
        for body in [TransferRequest.Body.multipart([part]), .bytes(photo.bytes)] {
            #expect(bench.finish(bench.pool.start(bench.request(0, .post, "/", body: body))))
        }
        #expect(bench.server.requests.map { $0.header("Expect") } == [nil, nil])
        #expect(bench.server.requests.last?.body == photo.bytes)
    }

    @Test(arguments: Way.allCases)
    func `a header that would become two is refused, and so is a bad URL`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        let bad = [
            bench.request(0, headers: [HeaderField("X-Token", "a\r\nX-Admin: yes")]),
            bench.request(0, headers: [HeaderField("X\nY", "a")]),
            bench.request(0, headers: [HeaderField("X", "a\0b")]),
            bench.request(0, headers: [HeaderField("", "a")]),
            bench.request(0, .get, "/with space"),
            bench.request(0, .get, "/zero\0byte"),
        ]
        for request in bad {
            let transfer = bench.pool.start(request)
            #expect(bench.seen[transfer] == nil, "never before start returns")
            #expect(bench.finish(transfer))
            #expect(bench.seen[transfer] == [.failed(.other)])
        }
        #expect(bench.server.connections.isEmpty)
        var request = bench.request(0)
        request.url = "file:///etc/passwd"
        let transfer = bench.pool.start(request)
        #expect(bench.finish(transfer))
        #expect(bench.ends[transfer]?.failure != nil)
        #expect(bench.seen[transfer]?.count == 1)
    }

    @Test(arguments: Way.allCases)
    func `a request may be sent to a closed port, without harm to the phone's connections`(
        way: Way
    ) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "") }
        let closed = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        let port = try StreamSocket.localPort(of: closed.number)
        StreamSocket.close(closed.release())
        #expect(bench.finish(bench.get(0)))
        let refused = bench.pool.start(bench.request(0, connectPort: port))
        #expect(bench.finish(refused))
        #expect(bench.seen[refused] == [.failed(.connectRefused)])
        #expect(bench.ends[refused]?.failure?.systemCode == SystemCode.connectionRefused)
        #expect(bench.ends[refused]?.stats.sent == nil)
        let again = bench.get(0)
        #expect(bench.finish(again))
        #expect(bench.seen[again] == [.head(200), .complete])
        #expect(bench.server.connections.map(\.requests.count) == [2])
    }
}
