import SimTestSupport
import Testing
import Wire

@Suite struct RequestRefusalTests {
    static let post = "POST / HTTP/1.1\r\nHost: h\r\n"

    static let heads: [(String, RequestError, Int)] = [
        ("GET /\r\n", .badRequestLine, 400),
        ("GET  / HTTP/1.1\r\n", .badRequestLine, 400),
        (" GET / HTTP/1.1\r\n", .badRequestLine, 400),
        ("G(T / HTTP/1.1\r\n", .badRequestLine, 400),
        ("GET / HTTP/1.1 \r\n", .badRequestLine, 400),
        ("GET /\u{FC} HTTP/1.1\r\n", .badRequestLine, 400),
        ("GET /\0 HTTP/1.1\r\n", .badRequestLine, 400),
        ("GET a HTTP/1.1\r\n", .badRequestLine, 400),
        ("GET http:///a HTTP/1.1\r\n", .badRequestLine, 400),
        ("GET * HTTP/1.1\r\n", .badRequestLine, 400),
        ("GET / http/1.1\r\n", .badRequestLine, 400),
        ("GET / HTTP/11\r\n", .badRequestLine, 400),
        ("GET / HTTP/1.\r\n", .badRequestLine, 400),
        ("GET / HTTP/2.0\r\n", .unsupportedVersion, 505),
        ("GET / HTTP/0.9\r\n", .unsupportedVersion, 505),
        ("PRI * HTTP/2.0\r\n", .unsupportedVersion, 505),
        ("GET / HTTP/1.1\n", .bareLineFeed, 400),
        ("GET /\r HTTP/1.1\r\n", .bareCarriageReturn, 400),
        ("GET / HTTP/1.1\r\r\n", .bareCarriageReturn, 400),
        ("GET / HTTP/1.1\r\n\r\n", .missingHost, 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nhost: h\r\n\r\n", .repeatedHost, 400),
        ("GET / HTTP/1.1\r\n Host: h\r\n", .foldedHeader, 400),
        ("\(post)A: b\r\n c\r\n", .foldedHeader, 400),
        ("\(post)A: b\r\n\tc\r\n", .foldedHeader, 400),
        ("\(post)A : b\r\n", .badHeaderName, 400),
        ("\(post): b\r\n", .badHeaderName, 400),
        ("\(post)A\r\n", .badHeaderName, 400),
        ("\(post)A@: b\r\n", .badHeaderName, 400),
        ("\(post)A: b\0c\r\n", .badHeaderValue, 400),
        ("\(post)A: b\u{7F}\r\n", .badHeaderValue, 400),
        ("\(post)A: b\rc\r\n", .bareCarriageReturn, 400),
        ("\(post)A: b\n", .bareLineFeed, 400),
        ("\(post)Content-Length: 5\r\nContent-Length: 6\r\n\r\n", .conflictingContentLengths, 400),
        ("\(post)Content-Length: 5, 6\r\n\r\n", .conflictingContentLengths, 400),
        ("\(post)Content-Length: +5\r\n\r\n", .badContentLength, 400),
        ("\(post)Content-Length: -5\r\n\r\n", .badContentLength, 400),
        ("\(post)Content-Length: 0x5\r\n\r\n", .badContentLength, 400),
        ("\(post)Content-Length: 5 5\r\n\r\n", .badContentLength, 400),
        ("\(post)Content-Length: \r\n\r\n", .badContentLength, 400),
        ("\(post)Content-Length: 5,\r\n\r\n", .badContentLength, 400),
        ("\(post)Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", .lengthAndChunked, 400),
        ("\(post)Transfer-Encoding: gzip, chunked\r\n\r\n", .unsupportedTransferCoding, 501),
        ("\(post)Transfer-Encoding: identity\r\n\r\n", .unsupportedTransferCoding, 501),
        (
            "\(post)Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", .badTransferEncoding,
            400
        ),
        ("\(post)Transfer-Encoding: \r\n\r\n", .badTransferEncoding, 400),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .badTransferEncoding, 400),
        ("\(post)Content-Length: 3\r\nExpect: miracles\r\n\r\n", .unmetExpectation, 417),
        ("\(post)Content-Length: 67108865\r\n\r\n", .bodyTooLarge, 413),
        ("\(post)Content-Length: 99999999999999999999999\r\n\r\n", .bodyTooLarge, 413),
        ("GET / HT", .truncated, 400),
        ("\(post)A: b", .truncated, 400),
    ]

    @Test(arguments: heads)
    func `a bad head is refused with its status, in any pieces`(
        text: String, error: RequestError, status: Int
    ) {
        #expect(error.status == status)
        withEverySplit(of: Array(text.utf8)) { #expect(seen($0) == [.failed(error)]) }
        #expect(seen(text.utf8.map { [$0] }) == [.failed(error)])
    }

    @Test(
        arguments: [
            ("x\r\n", [], .badChunkSize),
            ("\r\n", [], .badChunkSize),
            (" 5\r\n", [], .badChunkSize),
            ("-1\r\n", [], .badChunkSize),
            ("0x5\r\n", [], .badChunkSize),
            ("5 5\r\n", [], .badChunkSize),
            ("ffffffffffffffffff\r\n", [], .badChunkSize),
            ("8000000000000000\r\n", [], .badChunkSize),
            ("7fffffffffffffff\r\n", [], .bodyTooLarge),
            ("4000001\r\n", [], .bodyTooLarge),
            ("5\n", [], .bareLineFeed),
            ("5;a\rb\r\n", [], .bareCarriageReturn),
            ("5;a\0b\r\n", [], .badHeaderValue),
            ("2\r\nabc", [.body([0x61, 0x62])], .badChunkEnd),
            ("2\r\nab\n", [.body([0x61, 0x62])], .badChunkEnd),
            ("2\r\nab\rc", [.body([0x61, 0x62])], .badChunkEnd),
            ("1\r\na\r\n4000000\r\n", [.body([0x61])], .bodyTooLarge),
            ("2\r\na", [.body([0x61])], .truncated),
            ("0\r\n", [], .truncated),
            ("0\r\n folded\r\n", [], .foldedHeader),
            ("0\r\nA b\r\n", [], .badHeaderName),
            ("0\r\nA: b\n", [], .bareLineFeed),
        ] as [(String, [Seen], RequestError)])
    func `a bad chunk is refused, in any pieces`(body: String, before: [Seen], error: RequestError) {
        let head = plainHead {
            $0.method = "POST"
            $0.headers.append("Transfer-Encoding", "chunked")
            $0.body = .chunked
        }
        let text = "\(Self.post)Transfer-Encoding: chunked\r\n\r\n\(body)"
        withEverySplit(of: Array(text.utf8)) { pieces in
            #expect(seen(pieces) == [.head(head)] + before + [.failed(error)])
        }
        #expect(seen(text.utf8.map { [$0] }) == [.head(head)] + before + [.failed(error)])
    }

    @Test func `a body cut short is truncated`() {
        let head = plainHead {
            $0.method = "POST"
            $0.headers.append("Content-Length", "3")
            $0.body = .length(3)
        }
        #expect(
            seen("\(Self.post)Content-Length: 3\r\n\r\nab")
                == [.head(head), .body([0x61, 0x62]), .failed(.truncated)])
    }

    @Test func `a failed reader stays failed`() {
        var reader = RequestReader(limits: .standard)
        var events: [RequestEvent] = []
        for bytes in [Array("GET\r\n".utf8), Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8), []] {
            #expect(throws: RequestError.badRequestLine) { try reader.receive(bytes, into: &events) }
        }
        #expect(throws: RequestError.badRequestLine) { try reader.finish() }
        #expect(events == [])
        #expect(!reader.hasLeftOver && !reader.isInsideRequest)
    }

    @Test func `every error has a status of the client's or the server's fault`() {
        let statuses = Set(RequestError.allCases.map(\.status))
        #expect(statuses == [400, 413, 414, 417, 431, 501, 505])
    }
}
