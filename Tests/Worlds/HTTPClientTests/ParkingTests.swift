import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import SystemIO
import TestServer
import Testing

@Suite struct ParkingTests {
    /// A phone with a running stream (connection 0) and an idle connection (1), and a bystander's stream (2).
    private struct Scene {
        let bench: Bench
        let stream: TransferID
        let bystander: TransferID

        init(_ way: Way) throws {
            self.bench = try Bench(way, phones: 2)
            let bench = self.bench
            bench.server.answer = { connection, request in
                if request.line.contains("stream") {
                    connection.send("HTTP/1.1 200 OK\r\n\r\n")
                } else {
                    connection.reply("200 OK", body: "ok")
                }
            }
            let stream = bench.get(0, "/stream")
            self.stream = stream
            #expect(bench.run(until: { bench.seen[stream] == [.head(200)] }))
            #expect(bench.finish(bench.get(0)))
            let bystander = bench.get(1, "/stream")
            self.bystander = bystander
            #expect(bench.run(until: { bench.seen[bystander] == [.head(200)] }))
            #expect(bench.server.connections.count == 3)
        }

        var ends: [ServerConnection.End?] { self.bench.server.connections.map(\.end) }
    }

    @Test(arguments: Way.allCases)
    func `a parked phone says nothing, and its connections are reset when it is let go`(
        way: Way
    ) throws {
        let scene = try Scene(way)
        let (bench, server) = (scene.bench, scene.bench.server)
        bench.pool.park(phone: 0)
        #expect(!bench.pool.isRunning(scene.stream))
        #expect(bench.pool.counts.socketsParkedNow == 2)
        bench.settle()
        // What the server sends goes nowhere, and it cannot notice.
        server.connections[0].send("data: lost\n\n")
        bench.settle()
        #expect(scene.ends == [nil, nil, nil])
        #expect(bench.seen[scene.stream] == [.head(200)])
        server.connections[2].send("seen")
        #expect(bench.run(until: { bench.seen[scene.bystander] == [.head(200), .body("seen")] }))
        bench.pool.unpark(phone: 0)
        #expect(bench.run(until: { scene.ends[0] != nil && scene.ends[1] != nil }))
        let reset = ServerConnection.End.failed(SystemCode.connectionReset)
        #expect(scene.ends == [reset, reset, nil])
        #expect(bench.pool.counts.socketsParkedNow == 0)
        #expect(bench.pool.isRunning(scene.bystander))
    }

    @Test(arguments: Way.allCases)
    func `unread bytes of a parked connection do not keep the loop awake`(way: Way) throws {
        let scene = try Scene(way)
        let bench = scene.bench
        bench.pool.park(phone: 0)
        bench.server.connections[0].send("data: lost\n\n")
        let before = ResourceUsage.processorOfThread()
        let end = bench.loop.now() + .milliseconds(200)
        #expect(bench.run(until: { bench.loop.now() >= end }))
        #expect(ResourceUsage.processorOfThread() - before < .milliseconds(20))
    }

    @Test(arguments: Way.allCases)
    func `a phone makes new connections while its old ones are parked`(way: Way) throws {
        let scene = try Scene(way)
        let (bench, server) = (scene.bench, scene.bench.server)
        bench.pool.park(phone: 0)
        for _ in 0..<2 {
            let transfer = bench.get(0)
            #expect(bench.finish(transfer))
            #expect(bench.seen[transfer] == [.head(200), .body("ok"), .complete])
        }
        #expect(server.connections.map(\.requests.count) == [1, 1, 1, 2])
        #expect(scene.ends == [nil, nil, nil, nil])
        #expect(bench.pool.counts.resendsRefused == 0)
        bench.pool.unpark(phone: 0)
        #expect(bench.run(until: { scene.ends[0] != nil && scene.ends[1] != nil }))
        #expect(scene.ends[3] == nil)
    }

    @Test(arguments: Way.allCases)
    func `a phone may be parked again and again, with more each time`(way: Way) throws {
        let scene = try Scene(way)
        let bench = scene.bench
        for round in 1...3 {
            bench.pool.park(phone: 0)
            bench.pool.park(phone: 0)
            #expect(bench.pool.counts.socketsParkedNow == 1 + round)
            #expect(bench.finish(bench.get(0)))
        }
        #expect(scene.ends == [ServerConnection.End?](repeating: nil, count: 6))
        bench.pool.unpark(phone: 0)
        #expect(bench.run(until: { scene.ends.count { $0 != nil } == 4 }))
    }

    @Test(arguments: Way.allCases)
    func `a request being sent is parked too`(way: Way) throws {
        let bench = try Bench(way, phones: 1)
        let photo = SharedBytes([UInt8](repeating: 1, count: 30 << 20))
        let part = TransferRequest.Part(
            name: "photo", filename: nil, contentType: nil, content: PhotoSource(head: [], shared: photo))
        let transfer = bench.pool.start(bench.request(0, .post, "/", body: .multipart([part])))
        #expect(bench.run(until: { !bench.server.connections.isEmpty }))
        bench.pool.park(phone: 0)
        bench.settle()
        #expect(!bench.pool.isRunning(transfer))
        #expect(bench.server.connections[0].end == nil)
        #expect(bench.server.requests.isEmpty)
        bench.pool.unpark(phone: 0)
        #expect(bench.run(until: { bench.server.connections[0].end != nil }))
    }

    @Test(arguments: Way.allCases)
    func `hanging up closes what is in use and what is idle`(way: Way) throws {
        for (how, end) in [
            (HangUp.fin, ServerConnection.End.fin), (.reset, .failed(SystemCode.connectionReset)),
        ] {
            let scene = try Scene(way)
            scene.bench.pool.hangUp(phone: 0, by: how)
            #expect(scene.bench.run(until: { scene.ends[0] != nil && scene.ends[1] != nil }))
            #expect(scene.ends == [end, end, nil])
            let transfer = scene.bench.get(0)
            #expect(scene.bench.finish(transfer))
            #expect(scene.bench.seen[transfer]?.last == .complete)
            #expect(scene.bench.seen[scene.stream] == [.head(200)])
        }
    }

    @Test(arguments: Way.allCases)
    func `cancelling closes the connection of that exchange only`(way: Way) throws {
        let scene = try Scene(way)
        let bench = scene.bench
        bench.pool.cancel(scene.stream)
        bench.pool.cancel(scene.stream)
        #expect(bench.run(until: { scene.ends[0] == .fin }))
        #expect(bench.finish(bench.get(0)))
        #expect(scene.ends == [.fin, nil, nil])
        #expect(bench.server.connections.map(\.requests.count) == [1, 2, 1])
        #expect(bench.seen[scene.stream] == [.head(200)])
    }

    @Test(arguments: Way.allCases)
    func `a late id means nothing to the exchange that took its index`(way: Way) throws {
        let scene = try Scene(way)
        let bench = scene.bench
        bench.pool.cancel(scene.stream)
        let next = bench.get(0, "/stream")
        bench.pool.cancel(scene.stream)
        #expect(next != scene.stream)
        #expect(bench.run(until: { bench.seen[next] == [.head(200)] }))
        #expect(bench.pool.isRunning(next))
    }

    @Test(arguments: Way.allCases)
    func `a pool that goes away closes everything, parked or not`(way: Way) throws {
        let scene = try Scene(way)
        let bench = scene.bench
        bench.pool.park(phone: 1)
        bench.pool = ClientPool(
            loop: bench.loop, target: bench.target(connectTimeout: .seconds(1)), phones: 1,
            client: way.client)
        #expect(bench.run(until: { scene.ends.allSatisfy { $0 != nil } }))
        #expect(scene.ends == [.fin, .fin, .failed(SystemCode.connectionReset)])
    }
}
