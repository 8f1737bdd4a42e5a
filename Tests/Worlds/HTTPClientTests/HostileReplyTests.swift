import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import TestServer
import Testing

/// Replies that are wrong in ways of their own.
@Suite struct HostileReplyTests {
    private func outcome(_ way: Way, of sent: [[UInt8]], closing: Bool = true) throws
        -> [Seen]?
    {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            for piece in sent { connection.send(piece) }
            if closing { connection.close() }
        }
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        return bench.seen[transfer]
    }

    private func outcome(_ way: Way, of text: String, closing: Bool = true) throws -> [Seen]? {
        try self.outcome(way, of: [Array(text.utf8)], closing: closing)
    }

    @Test(arguments: Way.allCases)
    func `a switch to another protocol brings no body without a head`(way: Way) throws {
        let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nbytes of another protocol"
        #expect(try self.outcome(way, of: switching, closing: false) == [.failed(.malformed)])
    }

    @Test(arguments: Way.exact, ["zz\r\nhalf\r\n", "\r\n", "fffffffffffffffff\r\nhalf\r\n"])
    func `chunks that cannot be read are a broken protocol`(way: Way, chunks: String) throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(
            try self.outcome(way, of: head + chunks, closing: false) == [.head(200), .failed(.malformed)])
    }

    @Test(arguments: Way.exact)
    func `what an earlier exchange failed of is not said of a later one`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, request in
            guard request.line.contains("/second") else { return connection.reset() }
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
        }
        for _ in 0..<3 {
            let first = bench.get(0, "/first")
            #expect(bench.finish(first))
            #expect(bench.seen[first] == [.failed(.reset)])
            let second = bench.get(0, "/second")
            #expect(bench.finish(second))
            #expect(bench.seen[second] == [.head(200), .failed(.malformed)])
        }
    }

    @Test(arguments: Way.allCases)
    func `a head may be 128 KiB long and not a byte more`(way: Way) throws {
        let status = "HTTP/1.1 204 No Content\r\n"
        let line = "X: " + String(repeating: "x", count: 1_019) + "\r\n"
        func head(_ bytes: Int) -> String {
            var text = status
            // The last field takes what is left, its name and the two line ends apart.
            while bytes - text.utf8.count > 2 * line.utf8.count { text += line }
            return text + "X: " + String(repeating: "y", count: bytes - text.utf8.count - 7) + "\r\n\r\n"
        }
        #expect(head(131_072).utf8.count == 131_072)
        #expect(try self.outcome(way, of: head(131_072)) == [.head(204), .complete])
        #expect(try self.outcome(way, of: head(131_073)) == [.failed(.malformed)])
    }

    @Test(arguments: Way.allCases)
    func `one field without end is a broken protocol`(way: Way) throws {
        let field = [Array("HTTP/1.1 200 OK\r\nX: ".utf8), [UInt8](repeating: 0x78, count: 1 << 20)]
        #expect(try self.outcome(way, of: field) == [.failed(.malformed)])
    }

    @Test(arguments: Way.exact)
    func `a storm of interim heads is a broken protocol`(way: Way) throws {
        let storm = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 40_000)
        #expect(try self.outcome(way, of: storm) == [.failed(.malformed)])
    }

    /// libcurl undoes a transfer coding that was not asked for.
    @Test(arguments: Way.allCases)
    func `a bomb of gzip is cut off before it fills the memory`(way: Way) throws {
        let before = ResourceUsage.own().residentMax
        let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n".utf8)
        let seen = try self.outcome(way, of: [head, Self.bomb(bytes: 512 << 20)], closing: false)
        #expect(seen?.last == .failed(.malformed))
        // Far below what it unpacks to; a sanitizer's quarantine alone keeps 256 MB.
        #expect(ResourceUsage.own().residentMax - before < 384 << 20)
    }

    /// So many zeros by gzip: one literal, then the longest match over and over in the fixed code (RFC 1951, section
    /// 3.2.6), 158 bytes for each.
    private static func bomb(bytes: Int) -> [UInt8] {
        var deflated: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        var (pending, count) = (UInt64(0), UInt64(0))
        func add(_ bits: String) {
            for bit in bits.utf8 {
                pending |= (bit == 0x31 ? 1 : 0) << count
                count += 1
                guard count == 8 else { continue }
                deflated.append(UInt8(pending))
                (pending, count) = (0, 0)
            }
        }
        add("110" + "00110000")
        // Eight matches of thirteen bits end where a byte ends.
        while count != 0 { add("1100010100000") }
        let start = deflated.count
        for _ in 0..<8 { add("1100010100000") }
        let block = Array(deflated[start...])
        return deflated + Array(repeatElement(block, count: bytes / (8 * 258)).joined())
    }
}
