import SimBase
import SimTestSupport
import Testing
import Wire

@Suite struct ResponseReaderTests {
    private enum Seen: Equatable {
        case head(Int, String?)
        case body([UInt8])
        case end
    }

    /// What is seen of these bytes, in pieces of a size; body pieces are joined.
    private func read(_ bytes: [UInt8], by size: Int = .max, closing: Bool = false) throws -> [Seen] {
        var reader = ResponseReader()
        var events: [ResponseEvent] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + min(size, bytes.count))
            try reader.receive(bytes[start..<end], into: &events)
            start = end
        }
        if closing { try reader.finish(into: &events) }
        var seen: [Seen] = []
        for event in events {
            switch event {
            case .head(let status, let headers): seen.append(.head(status, headers["X-Y"]))
            case .body(let piece):
                if case .body(let before)? = seen.last {
                    seen[seen.count - 1] = .body(before + piece)
                } else {
                    seen.append(.body(Array(piece)))
                }
            case .end: seen.append(.end)
            }
        }
        return seen
    }

    private func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: [1, 2, 3, 7, .max]) func `a body of known length, in pieces of any size`(size: Int)
        throws
    {
        let bytes = self.text("HTTP/1.1 200 OK\r\nX-Y: z\r\nContent-Length: 5\r\n\r\nhello")
        #expect(try self.read(bytes, by: size) == [.head(200, "z"), .body(self.text("hello")), .end])
    }

    @Test(arguments: [1, 2, 3, 7, .max]) func `a body in chunks, in pieces of any size`(size: Int) throws {
        let bytes = self.text(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n"
        )
        #expect(
            try self.read(bytes, by: size)
                == [.head(200, nil), .body(self.text("abc0123456789")), .end])
    }

    @Test func `heads that go before are passed over, and 204 has no body`() throws {
        let bytes = self.text("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204\r\n\r\n")
        #expect(try self.read(bytes) == [.head(204, nil), .end])
    }

    @Test func `a body without a length ends with the connection`() throws {
        let bytes = self.text("HTTP/1.1 200 OK\r\n\r\nall of it")
        #expect(
            try self.read(bytes, closing: true) == [.head(200, nil), .body(self.text("all of it")), .end])
    }

    @Test func `a connection that ends inside a response cuts it off, wherever that is`() {
        let bytes = self.text(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        for count in 1..<bytes.count {
            #expect(throws: ResponseError.truncated, "\(count) bytes") {
                try self.read(Array(bytes.prefix(count)), closing: true)
            }
        }
    }

    @Test func `a connection that ends between responses ends none`() throws {
        #expect(try self.read([], closing: true) == [])
    }

    @Test(arguments: [
        ("HTTP/2 200 OK\r\n\r\n", ResponseError.badStatusLine),
        ("HTTP/1.1 20x OK\r\n\r\n", .badStatusLine),
        ("HTTP/1.1 2000\r\n\r\n", .badStatusLine),
        ("nonsense\r\n\r\n", .badStatusLine),
        ("a line that does not end", .badStatusLine),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .switchedProtocols),
        ("HTTP/1.1 100 Continue\r\n\r\nnonsense", .badStatusLine),
        ("HTTP/1.1 200 OK\nX: y\n\n", .badHeader),
        ("HTTP/1.1 200 OK\r\n X: y\r\n\r\n", .badHeader),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", .unsupportedTransferCoding),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", .badChunk),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", .badChunk),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n", .badChunk),
        ("HTTP/1.1 204 No\r\n\r\nmore", .excess),
    ])
    func `what is no response is named`(text: String, error: ResponseError) {
        #expect(throws: error) { try self.read(self.text(text)) }
    }

    @Test(arguments: ["Content-Length: -1", "Transfer-Encoding: gzip"])
    func `a head that does not say where its body ends is no head`(field: String) {
        var reader = ResponseReader()
        var events: [ResponseEvent] = []
        #expect(throws: ResponseError.self) {
            try reader.receive(self.text("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n")[...], into: &events)
        }
        #expect(events.isEmpty)
    }

    @Test func `a length that is stated twice and alike is that length`() throws {
        let bytes = self.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok")
        #expect(try self.read(bytes) == [.head(200, nil), .body(self.text("ok")), .end])
    }

    @Test func `a head without end has one`() {
        let line = self.text("X: \(String(repeating: "y", count: 1_000))\r\n")
        let bytes = self.text("HTTP/1.1 200 OK\r\n") + (0..<200).flatMap { _ in line }
        #expect(throws: ResponseError.headTooLong) { try self.read(bytes) }
    }

    @Test(arguments: [1_000, .max]) func `a head may have its limit and not a byte more`(size: Int) throws {
        func head(_ bytes: Int) -> [UInt8] {
            let (status, end) = ("HTTP/1.1 204 No Content\r\nX: ", "\r\n\r\n")
            let filler = bytes - status.utf8.count - end.utf8.count
            return self.text(status + String(repeating: "x", count: filler) + end)
        }
        #expect(try self.read(head(ResponseReader.headBytesMax), by: size) == [.head(204, nil), .end])
        #expect(throws: ResponseError.headTooLong) {
            try self.read(head(ResponseReader.headBytesMax + 1), by: size)
        }
    }

    @Test func `interim heads may together have as much as one head`() throws {
        let interim = self.text("HTTP/1.1 102 Processing\r\n\r\n")
        let most = ResponseReader.headBytesMax / interim.count
        let bytes = Array(repeatElement(interim, count: most).joined())
        let end = self.text("HTTP/1.1 204 No\r\n\r\n")
        #expect(try self.read(bytes + end) == [.head(204, nil), .end])
        #expect(throws: ResponseError.headTooLong) { try self.read(bytes + interim + end) }
    }

    @Test func `a connection that ends after an interim head ends no response`() throws {
        #expect(try self.read(self.text("HTTP/1.1 100 Continue\r\n\r\n"), closing: true) == [])
    }

    @Test func `the answer to a HEAD has no body, whatever it says`() throws {
        var reader = ResponseReader()
        reader.isForHead = true
        var events: [ResponseEvent] = []
        try reader.receive(self.text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")[...], into: &events)
        #expect(events.last == .end)
        #expect(reader.keepsAlive)
    }

    @Test func `whether the connection may be used again is what the head says`() throws {
        func keeps(_ head: String) throws -> Bool {
            var reader = ResponseReader()
            var events: [ResponseEvent] = []
            try reader.receive(self.text(head)[...], into: &events)
            return reader.keepsAlive
        }
        #expect(try keeps("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
        #expect(try !keeps("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n"))
        #expect(try !keeps("HTTP/1.1 200 OK\r\n\r\n"))
        #expect(try !keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"))
        #expect(try keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"))
    }

    @Test func `the reader reads what the writer wrote, and the other reader the request`() throws {
        var reply: [UInt8] = []
        ResponseWriter.reply(
            status: 202, headers: ["X-Y": "z"], body: self.text("{}"), into: &reply)
        #expect(try self.read(reply) == [.head(202, "z"), .body(self.text("{}")), .end])

        let bytes = ByteBuilder.bytes { bytes in
            RequestWriter.head(
                method: "POST", target: "/a?b=c", host: "x", headers: ["X-Y": "z"], bodyBytes: 3,
                into: &bytes)
        }
        var reader = RequestReader(limits: .standard)
        var events: [RequestEvent] = []
        try reader.receive(bytes + self.text("abc"), into: &events)
        guard case .head(let head) = events[0] else {
            Issue.record("no head")
            return
        }
        #expect((head.method, head.path, head.query) == ("POST", "/a", "b=c"))
        #expect((head.headers["Host"], head.headers["X-Y"], head.body) == ("x", "z", .length(3)))
        #expect(events.last == .end)
    }

    @Test func `fields as texts make the same head, and an empty value is one`() {
        let fields = [HeaderField("X-Y", "z"), HeaderField("X-Empty", "")]
        let texts = ByteBuilder.bytes { bytes in
            RequestWriter.head(
                method: "PUT", target: "/a", host: "x", fields: fields, bodyBytes: 0, into: &bytes)
        }
        let bytes = ByteBuilder.bytes { bytes in
            RequestWriter.head(
                method: "PUT", target: "/a", host: "x", headers: HeaderFields(fields), bodyBytes: 0,
                into: &bytes)
        }
        #expect(texts == bytes)
        #expect(
            String(decoding: texts, as: UTF8.self)
                == "PUT /a HTTP/1.1\r\nHost: x\r\nX-Y: z\r\nX-Empty:\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(arguments: ["\r", "\n", "\0"]) func `a value of a request ends where it would leave its line`(
        flaw: String
    ) {
        let bytes = ByteBuilder.bytes { bytes in
            RequestWriter.head(
                method: "GET", target: "/", host: "x\(flaw)y",
                headers: ["X-Y": "z\(flaw)X-Evil: 1", "A": "b"],
                bodyBytes: nil, into: &bytes)
        }
        #expect(
            String(decoding: bytes, as: UTF8.self) == "GET / HTTP/1.1\r\nHost: x\r\nX-Y: z\r\nA: b\r\n\r\n")
    }
}

private func == <A: Equatable, B: Equatable, C: Equatable>(left: (A, B, C), right: (A, B, C)) -> Bool {
    left.0 == right.0 && left.1 == right.1 && left.2 == right.2
}
