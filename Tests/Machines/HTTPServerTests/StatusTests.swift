import Faults
import HTTPServer
import JSON
import SimBase
import SimTestSupport
import Talaria
import Testing

/// `/_sim`, for people at work.
@Suite struct StatusTests {
    private struct Status: Decodable, Equatable {
        struct Job: Decodable, Equatable {
            var id, device, state: String
            var scan, events, streams: Int?
            var tokenAgeMs, tokenLeftMs: Int64
        }

        struct Armed: Decodable, Equatable {
            var device, operation, trigger: String
            var scan: Int?
        }

        struct Fault: Decodable, Equatable {
            var id, kind, on, window: String
            var fired: Int
            var lastFiredMsAgo: Int64?
            var next: [Armed]
        }

        var serving: String
        var uptimeMs: Int64
        var connections, streams, jobsAlive: Int
        var jobs: [Job]
        var faults: [Fault]
    }

    private static func ask(_ accept: String?) -> [UInt8] {
        let line = accept.map { "Accept: \($0)\r\n" } ?? ""
        return Array("GET /_sim HTTP/1.1\r\nHost: x\r\n\(line)\r\n".utf8)
    }

    private static func body(_ bench: inout Bench, accept: String? = nil) -> String {
        let id = bench.connect()
        bench.send(Self.ask(accept), on: id)
        let text = bench[id].text
        return text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }

    private static func status(_ bench: inout Bench) throws -> Status {
        try #require(JSON.decode(Status.self, from: Self.body(&bench)))
    }

    private static let reset = FaultSpec(
        id: "reset-1", kind: .reset(.insideEvent, .reply), target: .stream, chance: .always,
        window: FaultWindow(at: .zero, length: .seconds(90)),
        trigger: .afterTime(.seconds(1)...(.seconds(1))),
        count: .oncePerScan, scope: .everyone)

    @Test func `it tells jobs, the age of their tokens, streams, and the faults that fired and will`() throws
    {
        var bench = Bench(faults: [Self.reset], jobTime: .seconds(60), showsStatus: true)
        #expect(
            try Self.status(&bench)
                == Status(
                    serving: "simulated Talaria", uptimeMs: 0, connections: 1, streams: 0, jobsAlive: 0,
                    jobs: [],
                    faults: [
                        .init(
                            id: "reset-1", kind: "reset", on: "stream", window: "ends in 90000 ms",
                            fired: 0, next: [])
                    ]))
        let upload = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: upload)
        let job = try Script.member("jobId", of: bench[upload].text)
        let token = try Script.member("authToken", of: bench[upload].text)
        bench.run(for: .seconds(20))
        let stream = bench.connect()
        bench.send(Script.get("/v3/jobs/scans/\(job)/stream", token: token, .stream), on: stream)
        let open = try Self.status(&bench)
        #expect(open.streams == 1 && open.jobsAlive == 1)
        #expect(
            open.jobs.first.map { [$0.id, $0.device, $0.state] } == [job, Script.device, "processing"])
        #expect(open.jobs.first?.tokenAgeMs == 20_000)
        #expect(open.jobs.first?.tokenLeftMs == 7_180_000)
        #expect(open.jobs.first?.streams == 1)
        #expect(
            open.faults.first?.next
                == [.init(device: Script.device, operation: "stream", trigger: "after 1000 ms", scan: 1)])
        bench.run(for: .seconds(30))
        let fired = try Self.status(&bench)
        #expect(fired.streams == 0)
        #expect(fired.faults.first?.fired == 1)
        let ago = try #require(fired.faults.first?.lastFiredMsAgo)
        #expect((1..<29_000).contains(ago))
        #expect(fired.faults.first?.next == [])
        bench.run(for: .seconds(80))
        #expect(try Self.status(&bench).faults.first?.window == "ended")
        #expect(!Self.body(&bench).contains(token))
        #expect(!Self.body(&bench, accept: "text/html").contains(token))
    }

    @Test func `a browser gets a page, in which a client's name for itself stays text`() throws {
        var bench = Bench(showsStatus: true)
        let upload = bench.connect()
        let name = "<script>alert(1)</script>&\"'"
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: upload)
        let other = bench.connect()
        let trace = Script.trace(scan: 1, .stream, attempt: 2)
        bench.send(
            Array(
                "GET /v3/jobs/scans HTTP/1.1\r\nHost: x\r\nX-Device-ID: \(name)\r\ntraceparent: \(trace)\r\n\r\n"
                    .utf8), on: other)
        let page = Self.body(&bench, accept: "text/html,application/xhtml+xml")
        #expect(page.hasPrefix("<!doctype html>"))
        #expect(page.contains("<td>&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;</td>"))
        #expect(!page.contains("<script"))
    }

    @Test func `where nobody is to look, there is no such path`() {
        var bench = Bench()
        let id = bench.connect()
        bench.send(Self.ask(nil), on: id)
        #expect(bench[id].text.hasPrefix("HTTP/1.1 404"))
    }
}
