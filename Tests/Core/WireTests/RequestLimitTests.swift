import SimTestSupport
import Testing
import Wire

@Suite struct RequestLimitTests {
    static let host = "Host: h\r\n"

    static func outcome(_ text: String) -> RequestError? {
        var errors = Set<RequestError?>()
        let bytes = Array(text.utf8)
        func note(_ pieces: [[UInt8]]) {
            guard case .failed(let error)? = seen(pieces, limits: .tight).last else {
                errors.insert(nil)
                return
            }
            errors.insert(error)
        }
        note([bytes])
        note(bytes.map { [$0] })
        withEverySplit(of: bytes, note)
        #expect(errors.count == 1, "the outcome hangs on the cuts")
        return errors.first ?? nil
    }

    static func a(_ count: Int) -> String { String(repeating: "a", count: count) }

    @Test(
        arguments: [
            // A request line of 40 bytes: "GET /" and " HTTP/1.1" take 14.
            ("GET /\(a(26)) HTTP/1.1\r\n\(host)\r\n", nil),
            ("GET /\(a(27)) HTTP/1.1\r\n\(host)\r\n", .requestLineTooLong),
            ("GET /\(a(500))", .requestLineTooLong),
            // A head of 120 bytes: the first line takes 16 with CRLF, Host 9, the end 2, "A: " and CRLF 5.
            ("GET / HTTP/1.1\r\n\(host)A: \(a(88))\r\n\r\n", nil),
            ("GET / HTTP/1.1\r\n\(host)A: \(a(89))\r\n\r\n", .headTooLong),
            ("GET / HTTP/1.1\r\n\(host)A: \(a(500))", .headTooLong),
            ("GET / HTTP/1.1\r\n\(host)A:\r\nB:\r\nC:\r\n\r\n", nil),
            ("GET / HTTP/1.1\r\n\(host)A:\r\nB:\r\nC:\r\nD:\r\n\r\n", .tooManyHeaders),
            // Empty lines count as head.
            (String(repeating: "\r\n", count: 61), .headTooLong),
            // A body of 32 bytes.
            ("PUT / HTTP/1.1\r\n\(host)Content-Length: 32\r\n\r\n\(a(32))", nil),
            ("PUT / HTTP/1.1\r\n\(host)Content-Length: 33\r\n\r\n\(a(33))", .bodyTooLarge),
            ("PUT / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n20\r\n\(a(32))\r\n0\r\n\r\n", nil),
            ("PUT / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n21\r\n", .bodyTooLarge),
            (
                "PUT / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n20\r\n\(a(32))\r\n1\r\na",
                .bodyTooLarge
            ),
            // A chunk line of 12 bytes, trailers of a head.
            ("PUT / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n1;\(a(10))\r\na\r\n0\r\n\r\n", nil),
            ("PUT / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n1;\(a(11))\r\n", .chunkLineTooLong),
            ("PUT / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\nA: \(a(113))\r\n\r\n", nil),
            (
                "PUT / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\nA: \(a(114))\r\n\r\n",
                .headTooLong
            ),
            (
                "PUT / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\nA:\r\nB:\r\nC:\r\nD:\r\nE:\r\n\r\n",
                .tooManyHeaders
            ),
        ] as [(String, RequestError?)])
    func `each limit holds to the byte, in any pieces`(text: String, error: RequestError?) {
        #expect(Self.outcome(text) == error)
    }

    @Test func `limits begin anew with each request`() {
        let request = "GET /\(Self.a(26)) HTTP/1.1\r\n\(Self.host)A: \(Self.a(50))\r\nB:\r\nC:\r\n\r\n"
        let put =
            "PUT / HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n20\r\n\(Self.a(32))\r\n0\r\nA:\r\n\r\n"
        #expect(Self.outcome(request + put + request + put) == nil)
    }

    @Test func `a flood of pipelined requests is refused`() {
        var reader = RequestReader(limits: .tight)
        var events: [RequestEvent] = []
        let request = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        let flood = Array(repeatElement(request, count: 200).joined())
        #expect(throws: RequestError.tooMuchPipelined) { try reader.receive(flood, into: &events) }
        #expect(events == [.head(plainHead()), .end])
    }
}
