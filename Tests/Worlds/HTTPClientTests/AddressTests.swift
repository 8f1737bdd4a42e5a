import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import SystemIO
import TestServer
import Testing

/// Targets with several addresses, of which only the last answers.
@Suite struct AddressTests {
    /// What the first address does with a connect.
    enum First: CaseIterable {
        case refuses
        case isSilent
        case isSilentOverIPv6

        var address: String { self == .isSilentOverIPv6 ? "::1" : "127.0.0.9" }
    }

    @Test(arguments: Way.allCases, First.allCases)
    func `the next address is tried, and no socket of the first is left`(way: Way, first: First) throws {
        let bench = try Bench(
            way, phones: 2, connectTimeout: .seconds(1), addresses: [first.address, "127.0.0.1"])
        let silence = first == .refuses ? nil : try Silence(first.address, port: bench.server.port)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        let upload = bench.upload(0)
        #expect(bench.finish(upload))
        #expect(bench.seen[upload] == [.head(200), .body("ok"), .complete])
        #expect(bench.pool.counts.socketsOpenNow == 1)
        // A number of the first address can be another phone's now, whom it does not concern that this one hangs up.
        let other = bench.get(1)
        #expect(bench.finish(other))
        let kept = bench.get(0)
        #expect(bench.finish(kept))
        // Under TLS, the connection of an upload is libcurl's alone.
        #expect(bench.ends[kept]?.stats.isNewConnection == (way == .ownWithTLS))
        bench.pool.hangUp(phone: 0, by: .reset)
        let again = bench.get(1)
        #expect(bench.finish(again))
        #expect(bench.ends[again]?.stats.isNewConnection == false)
        withExtendedLifetime(silence) {}
    }

    /// All addresses together have the time of one connect.
    @Test(arguments: Way.allCases) func `addresses that are all silent time out`(way: Way) throws {
        let addresses = ["127.0.0.9", "127.0.0.10"]
        let bench = try Bench(way, phones: 1, connectTimeout: .milliseconds(200), addresses: addresses)
        let silences = try addresses.map { try Silence($0, port: bench.server.port) }
        let began = bench.loop.now()
        let upload = bench.upload(0)
        #expect(bench.finish(upload))
        #expect(bench.seen[upload] == [.failed(.connectTimedOut)])
        #expect(bench.loop.now() - began >= .milliseconds(200))
        #expect(bench.pool.counts.socketsOpenNow == 0)
        withExtendedLifetime(silences) {}
    }
}

/// An address that answers no connect, because the queue of its listener is full.
private final class Silence {
    private let sockets: [Int32]

    init(_ host: String, port: UInt16) throws {
        var sockets = [try StreamSocket.listen(host: host, port: port, backlog: 0).release()]
        for _ in 0..<3 { sockets.append(try StreamSocket.connect(host: host, port: port).release()) }
        self.sockets = sockets
    }

    deinit {
        for socket in self.sockets { StreamSocket.close(socket) }
    }
}
