import SimBase
import SimTestSupport
import Testing
import Wire

@Suite struct RequestSplitTests {
    /// A chunked upload, a plain GET and one with a body of known length, pipelined.
    static let connection = Array(
        ("POST /v3/jobs/scans HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
            + "Content-Type: text/plain\r\n\r\n5;note=\"a;b\"\r\nhello\r\n7\r\n\r\nworld\r\n1\r\n!\r\n"
            + "0\r\nChecksum: 1\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"
            + "\r\nPUT /x?y HTTP/1.0\r\nContent-Length: 4\r\n\r\n\r\n\r\n").utf8)

    static let expected: [Seen] = [
        .head(
            plainHead {
                $0.method = "POST"
                $0.target = "/v3/jobs/scans"
                $0.path = "/v3/jobs/scans"
                $0.headers = [
                    "Host": "127.0.0.1", "Transfer-Encoding": "chunked", "Content-Type": "text/plain",
                ]
                $0.body = .chunked
            }),
        .body(Array("hello\r\nworld!".utf8)),
        .end,
        .head(plainHead()),
        .end,
        .head(
            plainHead {
                $0.method = "PUT"
                $0.target = "/x?y"
                $0.path = "/x"
                $0.query = "y"
                $0.version = .http10
                $0.headers = ["Content-Length": "4"]
                $0.body = .length(4)
                $0.keepsAlive = false
            }),
        .body(Array("\r\n\r\n".utf8)),
        .end,
    ]

    @Test func `every cut in two gives the same`() {
        withEverySplit(of: Self.connection) { #expect(seen($0) == Self.expected) }
    }

    @Test(arguments: [1, 2, 3, 5, 7, 1_000])
    func `pieces of every size give the same`(size: Int) {
        withPieces(of: Self.connection, size: size) { #expect(seen($0) == Self.expected) }
    }

    @Test func `cuts in three give the same`() {
        withSampledSplits(
            of: Self.connection, pieces: 3, samples: 1_000, random: KeyedRandom(seed: 5), entity: 0
        ) { #expect(seen($0) == Self.expected) }
    }
}
