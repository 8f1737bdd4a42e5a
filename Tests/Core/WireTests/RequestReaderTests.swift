import Testing
import Wire

@Suite struct RequestReaderTests {
    @Test func `a GET is a head and an end`() {
        let text =
            "GET /v3/jobs/scans/1/stream?format=lite HTTP/1.1\r\nHost: h\r\naccept:text/event-stream\r\n"
            + "X-Note: \t two  words\t \r\nEmpty:\r\n\r\n"
        let head = plainHead {
            $0.target = "/v3/jobs/scans/1/stream?format=lite"
            $0.path = "/v3/jobs/scans/1/stream"
            $0.query = "format=lite"
            $0.headers = ["Host": "h", "accept": "text/event-stream", "X-Note": "two  words", "Empty": ""]
        }
        #expect(seen(text) == [.head(head), .end])
    }

    /// RFC 9110 section 5.5: other bytes than ASCII are opaque, and no reason to refuse a request.
    @Test func `a value that is no UTF-8 is repaired when it is asked for, and kept as it is until then`()
        throws
    {
        func headers(_ odd: UInt8) throws -> HeaderFields {
            let request =
                Array("GET / HTTP/1.1\r\nHost: h\r\nX-Note: a".utf8) + [odd] + Array(", b\r\n\r\n".utf8)
            guard case .head(let head)? = seen([request]).first else { throw Unread() }
            return head.headers
        }
        let accented = try headers(0xE9)
        #expect(accented["X-Note"] == "a\u{FFFD}, b")
        #expect(accented.list("X-Note") == ["a\u{FFFD}", "b"])
        #expect(accented.fields.last?.value == "a\u{FFFD}, b")
        #expect(try headers(0xE9) == accented)
        #expect(try headers(0xE8) != accented)
    }

    private struct Unread: Error {}

    @Test(
        arguments: [
            ("/a?b?c", "/a", "b?c"),
            ("/a?", "/a", ""),
            ("/", "/", nil),
            ("//x", "//x", nil),
            ("http://h/a?b", "/a", "b"),
            ("HTTPS://h:1/a", "/a", nil),
            ("http://h", "/", nil),
            ("http://h?b", "/", "b"),
            ("/%7Ea;x=1", "/%7Ea;x=1", nil),
        ] as [(String, String, String?)])
    func `a target is split in path and query`(target: String, path: String, query: String?) {
        let head = plainHead {
            $0.target = target
            $0.path = path
            $0.query = query
        }
        #expect(seen("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n") == [.head(head), .end])
    }

    @Test(arguments: [("OPTIONS", "*"), ("CONNECT", "h:443")])
    func `other forms of target go with their methods`(method: String, target: String) {
        let head = plainHead {
            $0.method = method
            $0.target = target
            $0.path = target
        }
        #expect(seen("\(method) \(target) HTTP/1.1\r\nHost: h\r\n\r\n") == [.head(head), .end])
    }

    @Test func `a body of known length is handed on`() {
        let head = plainHead {
            $0.method = "POST"
            $0.headers = ["Host": "h", "Content-Length": "5"]
            $0.body = .length(5)
        }
        #expect(
            seen("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                == [.head(head), .body(Array("hello".utf8)), .end])
    }

    @Test(arguments: ["0", "00", "0, 0"])
    func `a body of length 0 ends at once`(length: String) {
        let head = plainHead {
            $0.headers.append("Content-Length", length)
            $0.body = .length(0)
        }
        #expect(
            seen("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n") == [.head(head), .end])
    }

    @Test(arguments: [
        "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
        "5;name=value\r\nhello\r\n00006 ; a=\"b\"\r\n world\r\n0;last\r\n\r\n",
        "B\r\nhello world\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\n",
        "b\r\nhello world\r\n000\r\n\r\n",
    ])
    func `chunks are joined, extensions and trailers dropped`(body: String) {
        let head = plainHead {
            $0.method = "POST"
            $0.headers.append("Transfer-Encoding", "Chunked")
            $0.body = .chunked
        }
        #expect(
            seen("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n\(body)")
                == [.head(head), .body(Array("hello world".utf8)), .end])
    }

    @Test(
        arguments: [
            ("HTTP/1.1", nil, true),
            ("HTTP/1.1", "close", false),
            ("HTTP/1.1", "keep-alive", true),
            ("HTTP/1.1", "x, Close", false),
            ("HTTP/1.2", nil, true),
            ("HTTP/1.0", nil, false),
            ("HTTP/1.0", "Keep-Alive", true),
            ("HTTP/1.0", "keep-alive, close", false),
        ] as [(String, String?, Bool)])
    func `the version and Connection decide whether the connection stays`(
        version: String, connection: String?, keeps: Bool
    ) {
        let line = connection.map { "Connection: \($0)\r\n" } ?? ""
        let request = "GET / \(version)\r\nHost: h\r\n\(line)\r\n"
        let head = plainHead {
            $0.version = version == "HTTP/1.0" ? .http10 : .http11
            if let connection { $0.headers.append("Connection", connection) }
            $0.keepsAlive = keeps
        }
        let once: [Seen] = [.head(head), .end]
        #expect(seen(request + request) == (keeps ? once + once : once))
    }

    @Test(arguments: [
        ("HTTP/1.1", "Content-Length: 3\r\nExpect: 100-Continue\r\n", true),
        ("HTTP/1.1", "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n", true),
        ("HTTP/1.1", "Content-Length: 3\r\n", false),
        ("HTTP/1.1", "Content-Length: 0\r\nExpect: 100-continue\r\n", false),
        ("HTTP/1.1", "Expect: 100-continue\r\n", false),
        ("HTTP/1.0", "Content-Length: 3\r\nExpect: 100-continue\r\n", false),
        ("HTTP/1.0", "Content-Length: 3\r\nExpect: miracles\r\n", false),
    ])
    func `a client that waits to be told to go on is known by its head`(
        version: String, fields: String, waits: Bool
    ) throws {
        var reader = RequestReader(limits: .standard)
        var events: [RequestEvent] = []
        try reader.receive(Array("POST / \(version)\r\nHost: h\r\n\(fields)\r\n".utf8), into: &events)
        guard case .head(let head)? = events.first else {
            Issue.record("no head")
            return
        }
        #expect(head.expectsContinue == waits)
    }

    @Test func `HTTP 1.0 needs no Host`() {
        let head = plainHead {
            $0.version = .http10
            $0.headers = [:]
            $0.keepsAlive = false
        }
        #expect(seen("GET / HTTP/1.0\r\n\r\n") == [.head(head), .end])
    }

    @Test func `empty lines before a request are skipped`() {
        #expect(seen("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n\r\n") == [.head(plainHead()), .end])
    }

    @Test func `a pipelined request waits until it is asked for`() throws {
        var reader = RequestReader(limits: .standard)
        var events: [RequestEvent] = []
        let request = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        try reader.receive(request + request + request.prefix(5), into: &events)
        #expect(events == [.head(plainHead()), .end])
        #expect(reader.hasLeftOver)
        try reader.receive([], into: &events)
        #expect(events == [.head(plainHead()), .end, .head(plainHead()), .end])
        #expect(reader.hasLeftOver)
        try reader.receive([], into: &events)
        #expect(!reader.hasLeftOver && reader.isInsideRequest)
        try reader.receive(Array(request.dropFirst(5)), into: &events)
        #expect(events.count == 6)
        #expect(!reader.isInsideRequest)
    }

    @Test func `a body is a slice of what was received`() throws {
        var reader = RequestReader(limits: .standard)
        var events: [RequestEvent] = []
        try reader.receive(
            Array("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\n".utf8), into: &events)
        events = []
        try reader.receive(Array("abcdefghij".utf8)[2..<6], into: &events)
        #expect(events == [.body(Array("cdef".utf8)[...])])
        guard case .body(let piece)? = events.first else { return }
        #expect(piece.startIndex == 2)
    }

    @Test func `nothing is kept behind a request that closes`() throws {
        var reader = RequestReader(limits: .standard)
        var events: [RequestEvent] = []
        try reader.receive(Array("GET / HTTP/1.0\r\n\r\nrubbish".utf8), into: &events)
        #expect(events.count == 2)
        #expect(!reader.hasLeftOver && !reader.isInsideRequest)
        try reader.receive(Array("more".utf8), into: &events)
        try reader.finish()
        #expect(events.count == 2)
    }

    @Test func `what follows a request that closes is ignored`() {
        let head = plainHead {
            $0.headers.append("Connection", "close")
            $0.keepsAlive = false
        }
        #expect(
            seen("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n\0rubbish") == [.head(head), .end])
    }

    @Test func `paths and queries are decoded on demand`() {
        let head = plainHead {
            $0.path = "/v3/a%2Fb/c+d//"
            $0.query = "x&format=lite&q=a+b%20%C3%BC&q=2&bad=%zz&=n"
        }
        #expect(PercentEncoding.decoded(head.path) == "/v3/a/b/c+d//")
        #expect(PercentEncoding.decoded("/%4") == nil)
        #expect(head.queryValue("format") == "lite")
        #expect(head.queryValue("q") == "a b \u{FC}")
        #expect(head.queryValue("x") == "")
        #expect(head.queryValue("bad") == nil)
        #expect(head.queryValue("absent") == nil)
        #expect(plainHead().queryValue("x") == nil)
        #expect(PercentEncoding.decoded("a%41+") == "aA+")
        #expect(PercentEncoding.decoded("%") == nil)
    }
}
