import Testing
import Wire

@Suite struct ResponseWriterTests {
    @Test(
        arguments: [
            (.none, ""),
            (.length(12), "Content-Length: 12\r\n"),
            (.chunked, "Transfer-Encoding: chunked\r\n"),
            (.untilClose, "Connection: close\r\n"),
        ] as [(ReplyFraming, String)])
    func `a head tells how its body ends`(framing: ReplyFraming, field: String) {
        let head = written {
            ResponseWriter.head(status: 200, headers: ["B": "2", "A": "1"], framing: framing, into: &$0)
        }
        #expect(head == "HTTP/1.1 200 OK\r\nB: 2\r\nA: 1\r\n\(field)\r\n")
    }

    @Test func `a whole reply has its length`() {
        let reply = written {
            ResponseWriter.reply(status: 202, headers: ["A": "1"], body: Array("{}".utf8), into: &$0)
        }
        #expect(reply == "HTTP/1.1 202 Accepted\r\nA: 1\r\nContent-Length: 2\r\n\r\n{}")
        let empty = written { ResponseWriter.reply(status: 404, headers: [:], body: [], into: &$0) }
        #expect(empty == "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(arguments: [204, 304])
    func `some statuses have neither body nor length`(status: Int) {
        let reply = written { ResponseWriter.reply(status: status, headers: [:], body: [], into: &$0) }
        #expect(reply == "HTTP/1.1 \(status) \(ResponseWriter.reason(status))\r\n\r\n")
    }

    @Test func `chunks are written one by one and an empty one is not an end`() {
        let body = written {
            ResponseWriter.chunk(Array("hello".utf8), into: &$0)
            ResponseWriter.chunk([], into: &$0)
            ResponseWriter.chunk([UInt8](repeating: 0x61, count: 26)[10...], into: &$0)
            ResponseWriter.lastChunk(into: &$0)
        }
        #expect(body == "5\r\nhello\r\n10\r\naaaaaaaaaaaaaaaa\r\n0\r\n\r\n")
    }

    @Test func `a value cannot break out of its line`() {
        let head = written {
            ResponseWriter.head(status: 200, headers: ["A": "b\r\nSet: c\0d\re"], framing: .none, into: &$0)
        }
        #expect(head == "HTTP/1.1 200 OK\r\nA: b  Set: c d e\r\n\r\n")
    }

    @Test(arguments: ["X(y)", "a b", "", "{\"success\"", "ü", "a:b", "a\r\nb"])
    func `a field whose name is not a token is left out`(name: String) {
        let head = written {
            ResponseWriter.head(
                status: 200, headers: ["A": "1", name: "z", "B": "2"], framing: .none, into: &$0)
        }
        #expect(head == "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n\r\n")
    }

    @Test func `the reply to a HEAD states the length of the body that it leaves out`() {
        let reply = written {
            ResponseWriter.reply(
                status: 404, headers: [:], body: Array("gone".utf8), toHead: true, into: &$0)
        }
        #expect(reply == "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\n")
    }

    @Test func `an unusual status has a phrase too`() {
        #expect(written { ResponseWriter.sendContinue(into: &$0) } == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(ResponseWriter.reason(429) == "Too Many Requests")
        #expect(ResponseWriter.reason(299) == "Unknown")
    }
}
