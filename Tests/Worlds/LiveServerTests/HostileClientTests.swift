import LiveServer
import SimBase
import Talaria
import Testing

@Suite struct HostileClientTests {
    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "), ("nonsense\r\n\r\n", "HTTP/1.1 400 "),
        ("GET / HTTP/3.0\r\nHost: x\r\n\r\n", "HTTP/1.1 505 "),
        (
            "POST /v3/jobs/scans HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 400 "
        ),
        ("GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 414 "),
        ("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 "),
    ])
    func `a request that cannot be served gets its status and a problem body`(request: String, status: String)
        throws
    {
        let server = try TestServer()
        let client = try server.connect()
        client.send(request)
        server.run(until: { client.text.contains("}") })
        #expect(client.text.hasPrefix(status))
        #expect(client.text.contains("application/problem+json"))
    }

    @Test func `an oversize upload is refused before its body is read`() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(
            """
            POST /v3/jobs/scans HTTP/1.1\r
            Host: x\r
            X-Device-ID: \(Script.device)\r
            Content-Type: multipart/form-data; boundary=B\r
            Content-Length: 60000000\r
            \r

            """)
        server.run(until: { client.text.contains("}") })
        #expect(client.text.hasPrefix("HTTP/1.1 413 "))
        #expect(client.text.contains("FILE_TOO_LARGE"))
        server.run(until: { client.end == .fin })
    }

    @Test func `a client that waits for 100 Continue gets it`() throws {
        let server = try TestServer()
        let client = try server.connect()
        let upload = Script.upload(scan: 1)
        let text = String(decoding: upload, as: UTF8.self)
        let end = try #require(text.utf8.firstRange(of: "\r\n\r\n".utf8)).upperBound
        let headBytes = text.utf8.distance(from: text.utf8.startIndex, to: end)
        let head =
            String(decoding: upload.prefix(headBytes - 2), as: UTF8.self) + "Expect: 100-continue\r\n\r\n"
        client.send(head)
        server.run(until: { client.text.contains("\r\n\r\n") })
        #expect(client.text == "HTTP/1.1 100 Continue\r\n\r\n")
        client.clear()
        client.send(Array(upload.dropFirst(headBytes)))
        server.run(until: { client.text.contains("requestId") })
        #expect(client.text.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
    }

    @Test func `two requests in one packet are answered in order`() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(Script.upload(scan: 1) + Script.upload(scan: 2, attempt: 1))
        server.run(until: { client.text.components(separatedBy: "requestId").count == 3 })
        #expect(client.text.components(separatedBy: "HTTP/1.1 202").count == 3)
    }

    @Test func `a client that hangs up in the middle of its upload leaves nothing behind`() throws {
        let server = try TestServer()
        do {
            let client = try server.connect()
            client.send(Array(Script.upload(scan: 1, photoBytes: 50_000).prefix(20_000)))
            server.run(until: {
                server.seen.contains { if case .backend(.requested) = $0 { true } else { false } }
            })
        }
        let next = try server.connect()
        next.send("GET \(SocketServer.noncePath) HTTP/1.1\r\nHost: x\r\n\r\n")
        server.run(until: { next.text.hasSuffix("nonce-7") })
        #expect(!server.seen.contains { if case .backend(.accepted) = $0 { true } else { false } })
    }
}
