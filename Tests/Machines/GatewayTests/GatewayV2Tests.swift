import Faults
import JSON
import Observations
import OriginServer
import SimBase
import Talaria
import Testing

@testable import Gateway

/// Requests, answers and events of v2 that pass the gateway, and what it says instead of them
/// (Docs/contract.md sections 3.1 to 3.3).
@Suite struct GatewayV2Tests {
    /// A gateway whose upstream is the test.
    private struct Bench {
        var gateway = Gateway(
            configuration: GatewayConfiguration(
                basePath: "/base", replyTime: .seconds(60), wallClockAtZero: 1_769_947_200_000),
            random: KeyedRandom(seed: 7))
        var now = Instant.zero
        var exchanges: UInt64 = 0
        var last: ExchangeID { ExchangeID(self.exchanges) }

        mutating func handle(_ event: OriginEvent) -> [OriginEffect] {
            var effects: [OriginEffect] = []
            self.gateway.handle(event, at: self.now, into: &effects)
            return effects
        }

        mutating func ask(
            _ method: String, _ path: String, _ faults: [FaultKind] = [], query: String? = nil,
            token: String? = nil
        ) -> [OriginEffect] {
            self.exchanges += 1
            let request = OriginRequest(
                method: method, path: path, query: query, deviceID: nil,
                authorization: token.map { "Bearer \($0)" },
                accept: nil, contentType: nil, contentLength: nil, lastEventID: nil,
                authority: "phone.example:1")
            let caller = Caller(device: DeviceNumber(4), scan: ScanNumber(1), attempt: 1)
            let armed = faults.enumerated().map {
                ArmedFault(fault: $0.offset, kind: $0.element, trigger: .atOnce, draw: 0)
            }
            let effects = self.handle(.requested(self.last, request, caller, connection: 1, faults: armed))
            return effects + self.handle(.forwarded(self.last))
        }

        mutating func answer(_ status: Int, _ body: String) -> [OriginEffect] {
            let head = UpstreamHead(
                status: status, headers: [HeaderField("Content-Type", "application/json")],
                length: body.utf8.count)
            return self.handle(.upstreamReplied(self.last, head))
                + self.handle(.upstreamReceived(self.last, Array(body.utf8)))
                + self.handle(.upstreamEnded(self.last, nil))
        }

        mutating func openStream(_ path: String, _ faults: [FaultKind] = []) -> [OriginEffect] {
            let head = UpstreamHead(
                status: 200, headers: [HeaderField("Content-Type", "text/event-stream")], length: nil)
            return self.ask("GET", path, faults) + self.handle(.upstreamReplied(self.last, head))
        }

        mutating func receive(_ text: String) -> [OriginEffect] {
            self.handle(.upstreamReceived(self.last, Array(text.utf8)))
        }
    }

    private static let job = "scan_3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    private static let jobPath = "/api/v2/scans/\(Self.job)"
    private static let unavailable = FaultKind.httpError(.unavailable)

    /// Every endpoint of both journeys, and their other paths.
    private static let requests = [
        ("POST", "/api/batch-scan"), ("GET", jobPath), ("GET", jobPath + "/stream"),
        ("GET", jobPath + "/results"),
        ("DELETE", "/v1/jobs/\(job)"), ("GET", "/v1/jobs/\(job)/results"), ("POST", "/api/batch-enrich"),
        ("POST", "/v1/enrichment/batch"), ("GET", "/api/v2/enrichments/enrichment_1/stream"),
    ]

    @Test(arguments: Self.requests) func `an error of a fault has the form of v2`(
        method: String, path: String
    ) throws {
        var bench = Bench()
        let effects = bench.ask(method, path, [Self.unavailable])
        let reply = try #require(effects.reply)
        #expect(reply.status == 503)
        #expect(reply.headers.contains(HeaderField("Content-Type", "application/json")))
        #expect(reply.headers.contains(HeaderField("Retry-After", "1")))
        let text = String(decoding: reply.body, as: UTF8.self)
        #expect(
            text == #"{"error":{"code":"CIRCUIT_OPEN","details":{"retryAfterMs":1000},"#
                + #""message":"The service has failed.","retryable":true},"success":false}"#)
        #expect(!effects.contains { if case .forward = $0 { true } else { false } })
    }

    @Test func `a quota counts uploads without a device id by their sender`() throws {
        var bench = Bench()
        let quota = FaultKind.rateLimit(quota: Quota(requests: 1, window: .seconds(9)), retryAfter: nil)
        #expect(bench.ask("POST", "/api/batch-scan", [quota]).reply == nil)
        let reply = try #require(bench.ask("POST", "/api/batch-enrich", [quota]).reply)
        #expect(reply.status == 429)
        let body = try #require(JSONNode(reply.body))
        #expect(body["retryAfter"]?.integer == 9)
        #expect(body["error"]?["code"]?.text == "RATE_LIMIT_EXCEEDED")
    }

    @Test(arguments: [
        ("/api/v2/imports", APIVersion.v2), (jobPath, .v2), ("/v3/jobs/scans/j", .v3), ("/v3/books", .v3),
    ])
    func `an upstream that fails is told in the form of the path`(path: String, version: APIVersion) throws {
        var bench = Bench()
        _ = bench.ask("GET", path)
        let reply = try #require(bench.handle(.upstreamEnded(bench.last, .transport(.reset))).reply)
        #expect(reply.status == 502)
        #expect(reply.headers.contains(HeaderField("X-Gateway-Error", "connection-reset")))
        let body = try #require(JSONNode(reply.body))
        #expect(body["error"]?["code"]?.text == (version == .v2 ? "NETWORK_ERROR" : nil))
        #expect(body["code"]?.text == (version == .v2 ? nil : "NETWORK_ERROR"))
    }

    @Test func `links of a job lead back, and observations name no token`() throws {
        var bench = Bench()
        _ = bench.ask("POST", "/api/batch-scan")
        let effects = bench.answer(
            202,
            #"{"success":true,"data":{"jobId":"\#(Self.job)","authToken":"hush-hush","token":"hush-hush","#
                + #""sseUrl":"https://upstream.example/base\#(Self.jobPath)/stream","#
                + #""statusUrl":"/base\#(Self.jobPath)"}}"#)
        let data = try #require(effects.reply.flatMap { JSONNode($0.body) }?["data"])
        #expect(data["sseUrl"]?.text == "http://phone.example:1\(Self.jobPath)/stream")
        #expect(data["statusUrl"]?.text == Self.jobPath)
        #expect(data["authToken"]?.text == "hush-hush" && data["token"]?.text == "hush-hush")
        let seen = effects.observed
        #expect(seen.contains(.accepted(job: Self.job, books: 0)))
        #expect(!seen.contains { "\($0)".contains("hush-hush") })
        #expect(bench.gateway.jobsAlive == 1)
    }

    @Test func `a token that expires ends the stream, and the next request is refused`() throws {
        var bench = Bench()
        _ = bench.openStream(Self.jobPath + "/stream")
        let stream = bench.last
        let revoking = bench.ask("GET", Self.jobPath, [.expireToken])
        #expect(revoking.observed.contains(.tokenRevoked(job: Self.job)))
        #expect(revoking.contains(.endStream(stream)) && revoking.reply?.status == 401)
        let reply = try #require(bench.ask("GET", Self.jobPath + "/results").reply)
        #expect(reply.status == 401)
        #expect(JSONNode(reply.body)?["error"]?["code"]?.text == "UNAUTHORIZED")
        // By the path of another journey the upstream has no such job, and a fault meets no request.
        let other = bench.ask("GET", "/v3/jobs/scans/\(Self.job)/results", [Self.unavailable])
        #expect(other.contains(.forward(bench.last, .asSent)) && other.reply == nil)
    }

    @Test func `what is public is read without a token, also when that has expired`() {
        var bench = Bench()
        let job = "/api/v2/imports/import_1"
        #expect(bench.ask("GET", job, [.expireToken]).reply?.status == 401)
        for path in [job, job + "/stream", job + "/results"] {
            #expect(bench.ask("GET", path).contains(.forward(bench.last, .asSent)), "\(path)")
            #expect(bench.ask("GET", path, token: "t").reply?.status == 401, "\(path)")
        }
        #expect(bench.ask("GET", job + "/stream", query: "a=b&token=t").reply?.status == 401)
        #expect(bench.ask("DELETE", "/v1/jobs/import_1").reply?.status == 401)
    }

    @Test func `a job that fails says so in the event of v2, and says it again`() throws {
        var bench = Bench()
        _ = bench.openStream(Self.jobPath + "/stream")
        let first = bench.last
        _ = bench.receive(
            "id: 5-progress\nevent: processing\ndata: {\"progress\":0.25,\"processedCount\":1,\"totalCount\":4}\n\n"
        )
        let failed = bench.openStream(Self.jobPath + "/stream", [.finalError(code: "INVALID_FILE")])
        let event =
            "id: 1-final\nevent: failed\ndata: "
            + #"{"error":{"code":"INVALID_FILE","message":"The photo cannot be used.","retryable":false},"#
            + #""jobId":"\#(Self.job)","processedCount":1,"progress":0.25,"status":"failed","totalCount":4}"#
            + "\n\n"
        #expect(failed.pieces(of: first) == [event])
        #expect(failed.pieces(of: bench.last) == [event])
        _ = bench.ask("GET", Self.jobPath + "/stream")
        let again = bench.ask("GET", Self.jobPath + "/stream")
        #expect(again.pieces(of: bench.last) == [event])
        let results = try #require(bench.ask("GET", Self.jobPath + "/results").reply)
        #expect(results.status == 404 && JSONNode(results.body)?["error"]?["code"]?.text == "NOT_FOUND")
    }

    @Test func `a job whose events have dotted names fails by such a name`() throws {
        for (path, progress, failure) in [
            (
                Self.jobPath, #"photoscan.progress"#,
                #"{"error":"The photo cannot be used.","jobId":"\#(Self.job)","retryable":false,"status":"failed"}"#
            ),
            (
                "/api/v2/enrichments/enrichment_1", "enrichment.progress",
                #"{"error":"The photo cannot be used.","isbn":"9780141439587","progress":40,"status":"failed"}"#
            ),
        ] {
            var bench = Bench()
            _ = bench.openStream(path + "/stream")
            let first = bench.last
            let data = #"{"isbn":"9780141439587","progress":40,"status":"processing"}"#
            let passed = bench.receive("id: 5-progress\nevent: \(progress)\ndata: \(data)\n\n")
            #expect(passed.pieces(of: first).first?.contains(progress) == true)
            let failed = bench.openStream(path + "/stream", [.finalError(code: "INVALID_FILE")])
            let name = progress.replacing("progress", with: "failed")
            let pieces = failed.pieces(of: first)
            #expect(pieces.count == 1 && pieces[0].hasPrefix("id: 1-final\nevent: \(name)\ndata: {"))
            let seen = pieces.first?.split(separator: "data: ").last.flatMap { JSONNode(Array($0.utf8)) }
            let expected = try #require(JSONNode(Array(failure.utf8)))
            for key in ["isbn", "jobId", "status"] { #expect(seen?[key]?.text == expected[key]?.text) }
            #expect(seen?["progress"]?.integer == expected["progress"]?.integer)
            let error = seen?["error"]
            #expect((error?.text ?? error?["message"]?.text)?.isEmpty == false)
            #expect((seen?["retryable"] ?? error?["retryable"])?.flag == false)
            _ = bench.ask("GET", path + "/stream")
            #expect(bench.ask("GET", path + "/stream").pieces(of: bench.last) == pieces)
        }
    }

    @Test func `the end of a job with a dotted name is an end: links lead back, and faults act on it`() throws
    {
        let event =
            "id: 9-final\nevent: photoscan.completed\ndata: "
            + #"{"jobId":"\#(Self.job)","resultsUrl":"https://upstream.example/base\#(Self.jobPath)/results"}"#
            + "\n\n"
        var bench = Bench()
        _ = bench.openStream(Self.jobPath + "/stream")
        let passed = bench.receive(event)
        #expect(
            passed.pieces(of: bench.last).first?.contains("http://phone.example:1\(Self.jobPath)/results")
                == true)
        #expect(passed.observed == [.finished(job: Self.job, kind: .completed, books: 0)])
        _ = bench.openStream(Self.jobPath + "/stream", [.badJSON(.completed)])
        #expect(bench.receive(event).pieces(of: bench.last).first?.contains("resultsUrl") == false)
        _ = bench.openStream(Self.jobPath + "/stream", [.endWithoutTerminal])
        #expect(bench.receive(event).pieces(of: bench.last) == [])
        _ = bench.openStream(Self.jobPath + "/stream", [.twoTerminals])
        let twice = bench.receive(event).pieces(of: bench.last)
        #expect(twice.count == 2 && twice.allSatisfy { $0.contains("event: photoscan.completed\n") })
    }

    /// A `processing` event whose data cannot be read, and an event that v2 does not have.
    @Test(arguments: [
        (FaultKind.badJSON(.extra), "processing"), (.unknownEvent(nil), "telemetry"),
        (.unknownEvent(.failed), "telemetry"),
    ])
    func `an event that a fault inserts is one for clients of v2`(kind: FaultKind, name: String) throws {
        var bench = Bench()
        _ = bench.openStream(Self.jobPath + "/stream", [kind])
        let event = "id: 5-progress\nevent: processing\ndata: {}\n\n"
        let pieces = bench.receive(event).pieces(of: bench.last)
        #expect(pieces.count == 2 && pieces.last == event)
        #expect(pieces.first?.hasPrefix("id: 4-\(name)\nevent: \(name)\ndata: {") == true, "\(pieces)")
    }

    @Test func `a heartbeat is a ping, and no other comment is`() {
        var bench = Bench()
        _ = bench.openStream(Self.jobPath + "/stream", [.noPing])
        let id = bench.last
        #expect(bench.receive(": connection established\nretry: 5000\n\n").pieces(of: id).count == 1)
        let omitted = bench.receive(": heartbeat\n\n")
        #expect(omitted.pieces(of: id) == [])
        #expect(
            omitted.contains {
                if case .observe(let seen) = $0, case .fault = seen.what { true } else { false }
            })
        #expect(bench.receive(": heartbeats\n\n").pieces(of: id) == [": heartbeats\n\n"])
        _ = bench.openStream(Self.jobPath + "/stream", [.latePing(by: .seconds(1))])
        #expect(bench.receive(": heartbeat\n\n").pieces(of: bench.last) == [])
        bench.now = bench.now + .seconds(1)
        #expect(bench.handle(.woke).pieces(of: bench.last) == [": heartbeat\n\n"])
        // v3 has events for it.
        _ = bench.openStream("/v3/jobs/scans/j/stream", [.noPing])
        #expect(bench.receive(": heartbeat\n\n").pieces(of: bench.last) == [": heartbeat\n\n"])
    }

    @Test func `a DELETE cleans up, and a part of results passes`() {
        var bench = Bench()
        _ = bench.openStream(Self.jobPath + "/stream")
        _ = bench.ask("GET", "/v1/jobs/\(Self.job)/results", [.truncateResults])
        let cut = bench.answer(200, #"{"success":true,"data":{"books":[]}}"#)
        #expect(cut.contains(.passBody(bench.last, Array("{".utf8))))
        _ = bench.ask("DELETE", "/v1/jobs/\(Self.job)")
        #expect(bench.answer(200, "{}").observed.contains(.cleaned(job: Self.job, effective: true)))
        #expect(bench.gateway.jobsAlive == 0)
    }

    @Test func `what no journey has passes untouched`() {
        var bench = Bench()
        for (method, path) in [
            ("POST", "/api/scan-bookshelf"), ("GET", EnrichmentRequest.path), ("GET", "/v1/jobs/import_1"),
            ("GET", "/v1/csv/cancel/import_1"),
            ("DELETE", Self.jobPath),
        ] {
            let effects = bench.ask(method, path, [Self.unavailable])
            #expect(effects == [.forward(bench.last, .asSent)], "\(method) \(path)")
        }
    }
}

extension [OriginEffect] {
    fileprivate var reply: OriginReply? {
        for case .reply(_, let reply) in self { return reply }
        return nil
    }

    fileprivate var observed: [BackendObservation] {
        self.compactMap { effect in
            guard case .observe(let seen) = effect, case .backend(let payload) = seen.what else { return nil }
            return payload
        }
    }

    fileprivate func pieces(of id: ExchangeID) -> [String] {
        self.compactMap { effect in
            guard case .stream(id, let bytes, _) = effect else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
