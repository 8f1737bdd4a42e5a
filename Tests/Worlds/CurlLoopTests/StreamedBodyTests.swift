import CurlLoop
import EventLoop
import SimBase
import TestServer
import Testing

/// Bodies that come while they are sent.
@Suite struct StreamedBodyTests {
    /// Below and above every buffer that they pass through.
    private static let sizes = [1, 3, 0, 4_000, 90, 4_096, 70_000, 1, 300_001, 5_000, 2]

    private static func pieces() -> [[UInt8]] {
        var byte: UInt8 = 0
        return Self.sizes.map { size in
            (0..<size).map { _ in
                byte = byte &* 5 &+ 7
                return byte
            }
        }
    }

    @Test(arguments: [0, 1, 3]) func `a body that comes in pieces arrives as it was fed`(turns: Int) throws {
        let bench = try Bench(phones: 1)
        bench.server.answer = { connection, _ in connection.reply("202 Accepted", body: "") }
        let pieces = Self.pieces()
        let body = TransferRequest.Body.streamed(length: Self.sizes.reduce(0, +))
        let transfer = bench.pool.start(bench.request(0, .post, "/scan", body: body))
        for piece in pieces {
            bench.pool.feed(transfer, piece)
            for _ in 0..<turns { bench.loop.poll() }
        }
        bench.pool.endBody(transfer)
        #expect(bench.finish(transfer))
        #expect(bench.server.requests.map(\.body) == [Array(pieces.joined())])
        #expect(bench.seen[transfer] == [.head(202), .complete])
    }

    @Test func `what is hurried is sent before the loop turns`() throws {
        let bench = try Bench(phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "") }
        // With an open connection there is nothing to wait for.
        #expect(bench.finish(bench.get(0)))
        let transfer = bench.pool.start(bench.request(0, .post, "/scan", body: .streamed(length: 6)))
        bench.pool.feed(transfer, [1, 2, 3])
        #expect(bench.left[transfer] == nil)
        bench.pool.flushPending()
        #expect(bench.left[transfer] == [0])
        // Starved by now: what comes then is sent at once, too.
        while bench.loop.poll(), bench.server.connections[0].unreadCount == 0 {}
        bench.pool.feed(transfer, [4, 5, 6])
        #expect(bench.left[transfer] == [0])
        bench.pool.flushPending()
        #expect(bench.left[transfer] == [0, 0])
        bench.pool.endBody(transfer)
        #expect(bench.finish(transfer))
        #expect(bench.server.requests.last?.body == [1, 2, 3, 4, 5, 6])
    }
}
