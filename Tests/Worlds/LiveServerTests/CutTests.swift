import EventLoop
import Faults
import JSON
import LiveServer
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Where connections end, byte by byte, as a bare socket sees it.
@Suite struct CutTests {
    typealias End = TestClient.End

    static let endings: [CutEnding] = [.reset, .close, .silence]

    static func kind(_ ending: CutEnding, _ cut: Cut, _ side: ExchangeSide) -> FaultKind {
        switch ending {
        case .reset: .reset(cut, side)
        case .close: .close(cut, side)
        case .silence: .silence(cut, side)
        }
    }

    static func seen(_ ending: CutEnding) -> End {
        switch ending {
        case .reset: .reset
        case .close: .fin
        case .silence: .open
        }
    }

    private func spec(
        _ ending: CutEnding, on target: FaultTarget, cut: Cut = .betweenEvents, side: ExchangeSide = .reply,
        after trigger: FaultTrigger = .atOnce
    ) -> FaultSpec {
        FaultSpec(
            id: "cut-1", kind: Self.kind(ending, cut, side), target: target, chance: .always, window: .always,
            trigger: trigger, count: .oncePerScan, scope: .everyone)
    }

    private func accepted(_ server: TestServer) -> [String] {
        server.seen.compactMap { if case .backend(.accepted(let job, _)) = $0 { job } else { nil } }
    }

    /// Waits for the fault, and for what the peer sees of it. A silence is seen by nothing more coming.
    private func expect(
        _ ending: CutEnding, _ server: TestServer, _ client: TestClient, _ operation: Talaria.Operation,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        server.run(
            until: { !server.firings(of: 0, operation).isEmpty }, "the fault fires",
            sourceLocation: sourceLocation)
        if ending == .silence { server.run(for: .milliseconds(60)) }
        server.run(until: { client.end == Self.seen(ending) }, sourceLocation: sourceLocation)
        #expect(server.firings(of: 0, operation).count == 1, sourceLocation: sourceLocation)
    }

    // MARK: Uploads

    @Test(arguments: endings) func `a lost reply: the job is made and nobody hears of it`(ending: CutEnding)
        throws
    {
        let server = try TestServer(faults: [self.spec(ending, on: .upload)])
        let client = try server.connect()
        client.send(Script.upload(scan: 1))
        self.expect(ending, server, client, .upload)
        #expect(client.bytes == [])
        #expect(self.accepted(server).count == 1)
        // Once per scan: the next attempt gets its answer.
        let again = try server.connect()
        again.send(Script.upload(scan: 1, attempt: 2))
        server.run(until: { again.text.contains("requestId") })
        #expect(self.accepted(server).count == 2)
        #expect(again.end == .open)
    }

    @Test(arguments: endings, [1, 17, 200]) func `a reply ends after exactly so many bytes`(
        ending: CutEnding, bytes: Int
    ) throws {
        let server = try TestServer(faults: [self.spec(ending, on: .upload, cut: .afterBytes(bytes))])
        let client = try server.connect()
        client.send(Script.upload(scan: 1))
        self.expect(ending, server, client, .upload)
        #expect(client.bytes.count == bytes)
        #expect("HTTP/1.1 202 Accepted\r\n".utf8.starts(with: client.bytes.prefix(23)))
        #expect(self.accepted(server).count == 1)
    }

    @Test func `a reply that is over before the index is left alone`() throws {
        let fault = self.spec(.reset, on: .upload, cut: .afterBytes(100_000))
        let server = try TestServer(faults: [fault])
        let client = try server.connect()
        for scan in UInt32(1)...2 {
            client.clear()
            client.send(Script.upload(scan: scan))
            server.run(until: { client.text.contains("requestId") })
        }
        #expect(client.end == .open)
        #expect(server.firings(of: 0, .upload).isEmpty)
    }

    @Test(arguments: endings, [0, 3_000]) func `a request that is cut off makes no job`(
        ending: CutEnding, bytes: Int
    ) throws {
        let fault = self.spec(
            ending, on: .upload, side: .request, after: .afterBytes(bytes...bytes))
        let server = try TestServer(faults: [fault])
        let client = try server.connect()
        client.send(Script.upload(scan: 1, photoBytes: 50_000))
        self.expect(ending, server, client, .upload)
        #expect(client.bytes == [])
        #expect(self.accepted(server).isEmpty)
        let again = try server.connect()
        again.send(Script.upload(scan: 1, attempt: 2))
        server.run(until: { again.text.contains("requestId") })
        #expect(self.accepted(server).count == 1)
    }

    @Test func `a request of exactly so many bytes has come through`() throws {
        let upload = Script.upload(scan: 1)
        let whole = self.spec(
            .close, on: .upload, side: .request, after: .afterBytes(upload.count...upload.count))
        let server = try TestServer(faults: [whole])
        let client = try server.connect()
        client.send(upload)
        server.run(until: { client.text.contains("requestId") })
        #expect(server.firings(of: 0, .upload).isEmpty)

        let oneLess = self.spec(
            .close, on: .upload, side: .request, after: .afterBytes(upload.count - 1...upload.count - 1))
        let strict = try TestServer(faults: [oneLess])
        let cut = try strict.connect()
        cut.send(upload)
        self.expect(.close, strict, cut, .upload)
        #expect(self.accepted(strict).isEmpty)
    }

    @Test func `a request on a slow link is cut when its byte has arrived, and not before`() throws {
        let link = LinkProfile(
            up: LinkDirection(delay: .zero, bitsPerSecond: 800_000),
            down: LinkDirection(delay: .zero, bitsPerSecond: nil))
        let fault = self.spec(.reset, on: .upload, side: .request, after: .afterBytes(10_000...10_000))
        let server = try TestServer(faults: [fault], link: link)
        let client = try server.connect()
        let began = server.now()
        client.send(Script.upload(scan: 1, photoBytes: 60_000))
        self.expect(.reset, server, client, .upload)
        let took = server.firings(of: 0, .upload)[0] - began
        #expect(took >= .milliseconds(100), "10 kB at 100 kB a second")
        #expect(took < .milliseconds(500), "and not the 600 ms of the whole")
    }

    @Test func `a request that takes too long is cut at its time`() throws {
        let fault = self.spec(
            .close, on: .upload, side: .request,
            after: .afterTime(.milliseconds(80) ... .milliseconds(80)))
        let server = try TestServer(faults: [fault])
        let quick = try server.connect()
        quick.send(Script.upload(scan: 1))
        server.run(until: { quick.text.contains("requestId") })
        let slow = try server.connect()
        let began = server.now()
        slow.send(Array(Script.upload(scan: 2, photoBytes: 5_000).dropLast(9)))
        self.expect(.close, server, slow, .upload)
        #expect(server.firings(of: 0, .upload)[0] - began >= .milliseconds(80))
        #expect(self.accepted(server).count == 1)
    }

    // MARK: Results and cleanup

    private func finishedJob(_ server: TestServer) throws -> (id: String, token: String) {
        let client = try server.connect()
        client.send(Script.upload(scan: 1))
        server.run(until: { client.text.contains("requestId") })
        let body = client.text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
        let job = try #require(JSON.decode(UploadAccepted.self, from: body)).data
        server.run(until: {
            server.seen.contains { if case .backend(.finished) = $0 { true } else { false } }
        })
        return (job.jobId, try #require(job.authToken))
    }

    @Test(arguments: endings) func `results break off inside the body that their length promises`(
        ending: CutEnding
    ) throws {
        let server = try TestServer(
            faults: [self.spec(ending, on: .results, after: .afterBytes(300...300))])
        let job = try self.finishedJob(server)
        let client = try server.connect()
        client.send(Script.get("/v3/jobs/scans/\(job.id)/results?format=lite", token: job.token, .results))
        self.expect(ending, server, client, .results)
        #expect(client.bytes.count == 300)
        #expect(client.text.contains("Content-Length: "))
    }

    @Test(arguments: endings) func `a DELETE takes effect when its reply is lost, and not when it is itself`(
        ending: CutEnding
    ) throws {
        for side in ExchangeSide.allCases {
            let server = try TestServer(faults: [self.spec(ending, on: .cleanup, side: side)])
            let job = try self.finishedJob(server)
            let path = "/v3/jobs/scans/\(job.id)/cleanup"
            let client = try server.connect()
            client.send(Script.get(path, token: job.token, .cleanup, method: "DELETE"))
            self.expect(ending, server, client, .cleanup)
            #expect(client.bytes == [])
            let wasCleaned = server.seen.contains(.backend(.cleaned(job: job.id, effective: true)))
            #expect(wasCleaned == (side == .reply))
            let again = try server.connect()
            again.send(Script.get(path, token: job.token, .cleanup, method: "DELETE", attempt: 2))
            server.run(until: { again.text.contains("\r\n\r\n") })
            #expect(server.seen.contains(.backend(.cleaned(job: job.id, effective: true))))
        }
    }

    // MARK: Streams

    @Test(arguments: endings) func `a stream ends inside an event`(ending: CutEnding) throws {
        let fault = self.spec(ending, on: .stream, cut: .insideEvent, after: .afterEvents(2...2))
        let server = try TestServer(faults: [fault], ping: .milliseconds(20))
        let job = try self.finishedJob(server)
        let stream = try server.connect()
        stream.send(Script.get("/v3/jobs/scans/\(job.id)/stream", token: job.token, .stream))
        server.run(until: { stream.end == .fin })
        #expect(server.firings(of: 0, .stream).isEmpty, "replays are no new events")

        let other = try server.connect()
        other.send(Script.upload(scan: 2))
        server.run(until: { other.text.contains("requestId") })
        let body = other.text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
        let next = try #require(JSON.decode(UploadAccepted.self, from: body)).data
        let live = try server.connect()
        live.send(Script.get(try #require(next.sseUrl), token: try #require(next.authToken), .stream))
        self.expect(ending, server, live, .stream)
        let bytes = live.bytes.count
        #expect(!live.text.hasSuffix("\n\n") && !live.text.hasSuffix("0\r\n\r\n"))
        server.run(for: .milliseconds(80))
        #expect(live.bytes.count == bytes, "no ping, no event, no end")
        #expect(live.end == Self.seen(ending))
    }

    @Test func `a silent server does not read, and lets go of a peer that has given up`() throws {
        let fault = self.spec(.silence, on: .stream)
        let server = try TestServer(faults: [fault], jobTime: .seconds(30))
        let upload = try server.connect()
        upload.send(Script.upload(scan: 1))
        server.run(until: { upload.text.contains("requestId") })
        let body = upload.text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
        let job = try #require(JSON.decode(UploadAccepted.self, from: body)).data
        func ends() -> Int {
            server.seen.count { if case .backend(.streamEnded(_, _, true)) = $0 { true } else { false } }
        }
        let token = try #require(job.authToken)
        do {
            let stream = try server.connect()
            stream.send(Script.get(try #require(job.sseUrl), token: token, .stream))
            self.expect(.silence, server, stream, .stream)
            #expect(stream.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(stream.end == .open)
            #expect(ends() == 0, "the backend is not told")
        }
        server.run(until: { ends() == 1 }, "the first peer is gone")
        let second = try server.connect()
        second.send(Script.get(try #require(job.sseUrl), token: token, .stream, attempt: 2))
        server.run(until: { second.text.contains("event: ") })

        let silent = try TestServer(faults: [self.spec(.silence, on: .upload)])
        let sender = try silent.connect()
        sender.send(Script.upload(scan: 1))
        self.expect(.silence, silent, sender, .upload)
        sender.send([UInt8](repeating: 0x20, count: 4 << 20))
        silent.run(for: .milliseconds(100))
        #expect(sender.stuckBytes > 0, "its window closes")
        #expect(sender.end == .open)
    }

    @Test(arguments: [CutEnding.reset, .close])
    func `the index is exact when the peer does not read for a while`(
        ending: CutEnding
    ) throws {
        let index = 60_000
        let fault = self.spec(ending, on: .results, after: .afterBytes(index...index))
        let server = try TestServer(faults: [fault], books: 500)
        let job = try self.finishedJob(server)
        let client = try server.connect()
        client.setReceiveBuffer(4_096)
        client.send(Script.get("/v3/jobs/scans/\(job.id)/results?format=full", token: job.token, .results))
        client.isReading = false
        server.run(for: .milliseconds(250))
        #expect(ending == .close || server.firings(of: 0, .results).isEmpty, "an RST waits for the peer")
        #expect(client.end == .open)
        client.isReading = true
        server.run(until: { client.end == Self.seen(ending) })
        #expect(client.bytes.count == index)
    }

    // MARK: Several

    @Test func `the first of the list that ends the exchange wins`() throws {
        func faults(_ first: CutEnding, _ second: CutEnding) -> [FaultSpec] {
            [first, second].enumerated().map { index, ending in
                var spec = self.spec(ending, on: .upload, cut: .afterBytes(index == 0 ? 40 : 20))
                spec.id = "cut-\(index)"
                return spec
            }
        }
        for (first, second) in [(CutEnding.reset, CutEnding.close), (.close, .reset)] {
            let server = try TestServer(faults: faults(first, second))
            let client = try server.connect()
            client.send(Script.upload(scan: 1))
            self.expect(first, server, client, .upload)
            #expect(client.bytes.count == 40)
            #expect(server.firings(of: 1, .upload).isEmpty)
        }
    }
}
