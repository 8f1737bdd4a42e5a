import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import TestServer
import Testing

/// libcurl sends a request again by itself when a connection that it used before dies without a reply. A fault would
/// go unseen, and a job would be made twice.
@Suite struct ResendTests {
    enum Death: CaseIterable {
        case fin
        case reset
    }

    @Test(arguments: Way.allCases, Death.allCases)
    func `a request on a connection that dies is sent once`(way: Way, death: Death) throws {
        for method in [TransferRequest.Method.post, .get, .delete] { try self.check(way, death, method) }
    }

    private func check(_ way: Way, _ death: Death, _ method: TransferRequest.Method) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, request in
            guard connection.requests.count > 1 else { return connection.reply("200 OK", body: "first") }
            switch death {
            case .fin: connection.close()
            case .reset: connection.reset()
            }
        }
        #expect(bench.finish(bench.get(0)))
        let body: TransferRequest.Body = method == .post ? .bytes(Array("once".utf8)) : .none
        let transfer = bench.pool.start(bench.request(0, method, "/second", body: body))
        #expect(bench.finish(transfer))
        bench.settle()
        #expect(bench.server.requests.filter { $0.line.contains("/second") }.count == 1)
        #expect(bench.server.connections.count == 1, "no connection for a second sending either")
        #expect(bench.seen[transfer] == [.failed(.closedBeforeReply)])
        #expect(bench.ends[transfer]?.failure?.isResendRefused == true)
        #expect(bench.pool.counts.resendsRefused == 1)
        // The phone itself may try again.
        let again = bench.get(0, "/third")
        #expect(bench.finish(again))
        #expect(bench.seen[again] == [.head(200), .body("first"), .complete])
        #expect(bench.server.connections.count == 2)
    }

    @Test(arguments: [.own, .libcurl, Way.libcurlWithTLS])
    func `an upload on a connection that dies is sent once`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in
            if connection.requests.count > 1 {
                connection.close()
            } else {
                connection.reply("200 OK", body: "")
            }
        }
        #expect(bench.finish(bench.get(0)))
        let part = TransferRequest.Part(
            name: "photo", filename: "a.jpg", contentType: "image/jpeg",
            content: PhotoSource(head: [1], shared: SharedBytes([UInt8](repeating: 2, count: 200_000))))
        let transfer = bench.pool.start(bench.request(0, .post, "/scan", body: .multipart([part])))
        #expect(bench.finish(transfer))
        bench.settle()
        #expect(bench.server.requests.filter { $0.line.contains("/scan") }.count == 1)
        #expect(bench.server.connections.count == 1)
        #expect(bench.seen[transfer] == [.failed(.closedBeforeReply)])
    }

    @Test(arguments: Way.exact)
    func `a connection that has ended unnoticed is replaced`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        #expect(bench.finish(bench.get(0)))
        bench.server.connections[0].close()
        // No turn of the loop has seen it.
        let transfer = bench.get(0)
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer]?.last == .complete && bench.pool.counts.resendsRefused == 0)
    }

    @Test(arguments: Way.exact)
    func `a connection found dead before sending is simply replaced`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        bench.server.answer = { connection, _ in connection.reply("200 OK", body: "ok") }
        #expect(bench.finish(bench.get(0)))
        bench.server.connections[0].close()
        bench.settle()
        let transfer = bench.pool.start(bench.request(0, .post, "/second", body: .bytes([1])))
        #expect(bench.finish(transfer))
        #expect(bench.seen[transfer] == [.head(200), .body("ok"), .complete])
        #expect(bench.server.connections.map(\.requests.count) == [1, 1])
        #expect(bench.pool.counts.resendsRefused == 0)
    }
}
