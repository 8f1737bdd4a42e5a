import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import SystemIO
import TestServer
import Testing

/// Sockets that libcurl closes without a word, since they have never carried a request. Their numbers can name sockets of other
/// phones soon.
@Suite struct UnusedSocketTests {
    /// A phone whose upload is still connecting.
    private static func connecting(_ way: Way) throws -> (Bench, TransferID) {
        let bench = try Bench(way, phones: 2)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        let upload = bench.upload(0)
        #expect(bench.pool.counts.socketsOpenNow == 1)
        return (bench, upload)
    }

    @Test(arguments: Way.allCases) func `an upload that is cancelled while it connects leaves no socket`(
        way: Way
    ) throws {
        let (bench, upload) = try Self.connecting(way)
        bench.pool.cancel(upload)
        #expect(bench.pool.counts.socketsOpenNow == 0)
        // The number is another phone's now, whom it does not concern that the first one hangs up.
        let other = bench.get(1)
        #expect(bench.finish(other))
        bench.pool.hangUp(phone: 0, by: .reset)
        let again = bench.get(1)
        #expect(bench.finish(again))
        #expect(bench.ends[again]?.stats.isNewConnection == false)
        #expect(bench.pool.counts.socketsOpenNow == 1)
    }

    @Test(arguments: Way.allCases) func `one that is parked while it connects leaves the parked socket alone`(
        way: Way
    ) throws {
        let (bench, _) = try Self.connecting(way)
        bench.pool.park(phone: 0)
        #expect(bench.pool.counts.socketsParkedNow == 1)
        #expect(bench.pool.counts.socketsOpenNow == 0)
        for phone in [0, 1, 0] {
            let get = bench.get(phone)
            #expect(bench.finish(get))
            #expect(bench.seen[get] == [.head(200), .body("ok"), .complete])
        }
        #expect(bench.pool.counts.socketsOpenNow == 2)
        bench.pool.unpark(phone: 0)
        #expect(bench.pool.counts.socketsParkedNow == 0)
        let last = bench.get(0)
        #expect(bench.finish(last))
        #expect(bench.ends[last]?.stats.isNewConnection == false)
    }

    @Test(arguments: Way.allCases) func `a refused upload leaves no socket`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        let listener = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        let port = try StreamSocket.localPort(of: listener.number)
        StreamSocket.close(listener.release())
        let upload = bench.upload(0, connectPort: port)
        #expect(bench.finish(upload))
        #expect(bench.seen[upload] == [.failed(.connectRefused)])
        #expect(bench.pool.counts.socketsOpenNow == 0)
    }
}
