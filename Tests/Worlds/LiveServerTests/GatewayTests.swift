import Backend
import EventLoop
import Faults
import Foundation
import JSON
import SimBase
import SimTestSupport
import Talaria
import Testing

/// The fault gateway in front of the simulated backend, which it does not know.
struct GatewayTests {
    private static func fault(
        _ kind: FaultKind, on target: FaultTarget, _ trigger: FaultTrigger = .atOnce,
        count: FaultCount = .oncePerScan
    ) -> FaultSpec {
        FaultSpec(
            id: "f", kind: kind, target: target, chance: .always, window: .always, trigger: trigger,
            count: count,
            scope: .everyone)
    }

    @Test func `a journey passes: upload, stream, results, cleanup`() throws {
        let backend = try TestServer()
        let gateway = try TestGateway(to: backend.port, loop: backend.loop)
        let accepted = try gateway.upload()
        #expect(accepted.data.sseUrl == "/v3/jobs/scans/\(accepted.data.jobId)/stream")
        let stream = try gateway.stream(accepted.data)
        #expect(stream.status == 200)
        #expect(stream.header("Content-Type") == "text/event-stream")
        #expect(stream.isChunkedToItsEnd)
        let text = stream.unchunked
        #expect(text.hasPrefix(": connection established\n"))
        #expect(text.contains("event: completed\ndata: {\"books\":[{"))
        let path = "/v3/jobs/scans/\(accepted.data.jobId)"
        let token = accepted.data.authToken ?? ""
        let results = try gateway.ask(Script.get(path + "/results?format=lite", token: token, .results))
        #expect(results.status == 200)
        #expect(JSON.decode(ResultsBody.self, from: results.body)?.data.results.count == 3)
        let cleanup = try gateway.ask(
            Script.get(path + "/cleanup", token: token, .cleanup, method: "DELETE"))
        #expect(cleanup.status == 204)
        #expect(backend.seen.contains { if case .backend(.cleaned(_, true)) = $0 { true } else { false } })
        let again = try gateway.ask(Script.get(path + "/results", token: token, .results, attempt: 2))
        #expect(again.status == 410)
        #expect(gateway.fired == [])
    }

    @Test(arguments: [StrippedForm.absent, .null, .empty, .renamed])
    func `the books of a foreign backend's event are taken away`(form: StrippedForm) throws {
        let backend = try TestServer()
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop, faults: [Self.fault(.stripBooks(form), on: .stream)])
        let text = try gateway.stream(try gateway.upload().data).unchunked
        let line = text.components(separatedBy: "event: completed\ndata: ").last ?? ""
        let reading = JSON.decode(CompletedReading.self, from: line.components(separatedBy: "\n")[0])
        let expected: CompletedReading.InlineBooks =
            switch form {
            case .absent, .renamed: .absent
            case .null: .null
            case .empty: .empty
            }
        #expect(reading?.inline == expected)
        #expect(line.contains("\"results\":[{") == (form == .renamed))
        #expect(gateway.fired == [0])
    }

    @Test func `events of a foreign backend are rewritten and keep their ids`() throws {
        let backend = try TestServer()
        let kinds: [FaultKind] = [
            .unknownEvent(nil), .badJSON(.progress), .eventShape(.noMessage), .twoTerminals,
            .degraded(books: .always),
        ]
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop, faults: kinds.map { Self.fault($0, on: .stream) })
        let direct = try TestServer()
        _ = direct
        let text = try gateway.stream(try gateway.upload().data).unchunked
        #expect(gateway.fired.sorted() == [0, 1, 2, 3, 4])
        #expect(text.contains("event: telemetry\n"))
        #expect(text.contains("\"type\":\"progress\",\n\n"))
        #expect(!text.contains("\"message\":\"Identified"))
        #expect(text.components(separatedBy: "event: completed\n").count == 3)
        #expect(text.components(separatedBy: "event: enrichment_degraded\n").count == 4)
        #expect(text.contains("\"enrichmentStatus\":\"circuit_open\""))
        #expect(!text.contains("coverUrl"))
        let ids = text.components(separatedBy: "\n").filter { $0.hasPrefix("id: ") }
        #expect(Set(ids).count == ids.count)
        // What the upstream itself said is all there, under its own ids.
        let written = backend.seen.compactMap { what -> String? in
            if case .backend(.eventWritten(_, let id, _, _, _)) = what { "id: \(id)" } else { nil }
        }
        #expect(ids.filter { written.contains($0) } == written)
    }

    @Test func `a made-up id leads back to the event behind which it stood`() throws {
        let backend = try TestServer()
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop,
            faults: [Self.fault(.unknownEvent(nil), on: .stream, .afterEvents(2...2))])
        let job = try gateway.upload().data
        let text = try gateway.stream(job).unchunked
        let blocks = text.components(separatedBy: "\n\n")
        let index = try #require(blocks.firstIndex { $0.contains("event: telemetry") })
        let id = { (block: String) in
            block.components(separatedBy: "\n").first { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
        }
        let resumed = try gateway.stream(job, attempt: 2, after: id(blocks[index])).unchunked
        #expect(resumed.hasPrefix(": reconnected from event \(id(blocks[index - 1]) ?? "-")\n"))
        #expect(resumed.contains("id: \(id(blocks[index + 1]) ?? "-")\n"))
    }

    @Test func `an error takes the place of an answer, and a quota of uploads is the gateway's`() throws {
        let backend = try TestServer()
        let quota = FaultKind.rateLimit(
            quota: Quota(requests: 1, window: .seconds(60)), retryAfter: .seconds(2))
        let error = HTTPFault(
            status: 503, code: nil, retryable: nil, retryAfter: .seconds(1), retryAfterLocation: .both)
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop,
            faults: [
                Self.fault(quota, on: .upload, count: .eachAttempt),
                Self.fault(.httpError(error), on: .results),
            ])
        let job = try gateway.upload().data
        let client = try gateway.connect()
        client.send(Script.upload(scan: 2))
        gateway.run(until: { client.isReplyComplete })
        #expect(client.status == 429)
        #expect(client.header("Retry-After") == "2")
        #expect(client.body.contains("\"code\":\"RATE_LIMIT_EXCEEDED\""))
        let results = try gateway.ask(
            Script.get("/v3/jobs/scans/\(job.jobId)/results", token: job.authToken ?? "", .results))
        #expect(results.status == 503)
        #expect(gateway.fired == [0, 1])
        #expect(backend.seen.filter { if case .backend(.accepted) = $0 { true } else { false } }.count == 1)
    }

    @Test func `a token expires in mid-stream, for the phones only`() throws {
        let backend = try TestServer(jobTime: .milliseconds(400))
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop,
            faults: [Self.fault(.expireToken, on: .stream, .afterEvents(1...1))])
        let job = try gateway.upload().data
        let stream = try gateway.stream(job)
        #expect(stream.isChunkedToItsEnd)
        #expect(!stream.unchunked.contains("event: completed"))
        let results = try gateway.ask(
            Script.get("/v3/jobs/scans/\(job.jobId)/results", token: job.authToken ?? "", .results))
        #expect(results.status == 401)
        #expect(results.body.contains("TOKEN_EXPIRED"))
        backend.run(until: {
            backend.seen.contains {
                if case .backend(.streamEnded(_, _, byPeer: true)) = $0 { true } else { false }
            }
        })
    }

    @Test(arguments: [404, 410]) func `a job is gone for the phones`(status: Int) throws {
        let backend = try TestServer(jobTime: .milliseconds(100))
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop,
            faults: [Self.fault(.jobGone(status: status), on: .stream)])
        let job = try gateway.upload().data
        let path = "/v3/jobs/scans/\(job.jobId)/stream"
        for attempt: UInt32 in 1...2 {
            let answer = try gateway.ask(
                Script.get(path, token: job.authToken ?? "", .stream, attempt: attempt))
            #expect(answer.status == status)
        }
        #expect(gateway.fired == [0])
    }

    @Test func `a job fails for the phones, and says so again`() throws {
        let backend = try TestServer(jobTime: .milliseconds(400))
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop,
            faults: [Self.fault(.retryableError(code: "PROVIDER_TIMEOUT"), on: .stream, .afterEvents(1...1))])
        let job = try gateway.upload().data
        let first = try gateway.stream(job).unchunked
        #expect(first.contains("event: error\ndata: {\"code\":\"PROVIDER_TIMEOUT\""))
        let event = first.components(separatedBy: "\n\n").last { $0.contains("event: error") }
        #expect(try gateway.stream(job, attempt: 2).unchunked == (event ?? "") + "\n\n")
    }

    @Test func `results are cut short under a length that agrees`() throws {
        let backend = try TestServer()
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop, faults: [Self.fault(.truncateResults, on: .results)])
        let job = try gateway.upload().data
        _ = try gateway.stream(job)
        let request = { attempt in
            Script.get(
                "/v3/jobs/scans/\(job.jobId)/results", token: job.authToken ?? "", .results, attempt: attempt)
        }
        let short = try gateway.ask(request(1))
        let whole = try gateway.ask(request(2))
        #expect(short.status == 200)
        #expect(short.body.utf8.count == Int(short.header("Content-Length") ?? ""))
        #expect(whole.body.hasPrefix(short.body))
        #expect(short.body.utf8.count < whole.body.utf8.count)
    }

    @Test func `pings are late, or do not come`() throws {
        for (kind, most) in [(FaultKind.noPing, 0), (.latePing(by: .milliseconds(200)), 2)] {
            let backend = try TestServer(ping: .milliseconds(100), jobTime: .milliseconds(450))
            let gateway = try TestGateway(
                to: backend.port, loop: backend.loop, faults: [Self.fault(kind, on: .stream)])
            let text = try gateway.stream(try gateway.upload().data).unchunked
            let pings = text.components(separatedBy: "event: ping\n").count - 1
            #expect(pings <= most + 2 && (most == 0) == (pings == 0))
            #expect(gateway.fired == [0])
        }
    }

    @Test func `a slow stage holds back what follows it and nothing before`() throws {
        let backend = try TestServer(jobTime: .milliseconds(100))
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop,
            faults: [
                Self.fault(
                    .slowStage(.identifying, by: .milliseconds(300)...(.milliseconds(300))), on: .stream)
            ])
        let job = try gateway.upload().data
        let start = gateway.loop.now()
        let stream = try gateway.stream(job)
        #expect(stream.unchunked.contains("event: completed"))
        #expect(gateway.loop.now() - start >= .milliseconds(300))
        #expect(gateway.fired == [0])
    }

    @Test func `a stream is cut on the exact byte, and goes on with the event that was lost`() throws {
        let backend = try TestServer()
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop,
            faults: [Self.fault(.reset(.afterBytes(200), .reply), on: .stream)])
        let job = try gateway.upload().data
        let cut = try gateway.stream(job)
        #expect(cut.end == .reset)
        let whole = try gateway.stream(job, attempt: 2, after: "0-progress").unchunked
        let body = cut.body.components(separatedBy: "\r\n")
        #expect(body.count > 1)
        #expect(whole.contains("event: completed"))
        #expect(gateway.fired == [0])
        let payload = cut.payloadBeforeCut
        #expect(payload.utf8.count == 200)
    }

    @Test func `the gateway says how many events have passed before a cut, replays as well`() throws {
        let backend = try TestServer()
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop,
            faults: [
                Self.fault(
                    .reset(.betweenEvents, .reply), on: .stream, .afterEvents(2...2), count: .eachAttempt)
            ])
        let job = try gateway.upload().data
        _ = try gateway.stream(job)
        _ = try gateway.stream(job, attempt: 2, after: "0-progress")
        let passed = gateway.seen.compactMap { what -> [Int]? in
            if case .fault(.passed(_, let attempt, let events)) = what {
                [Int(attempt), events]
            } else {
                nil
            }
        }
        #expect(passed == [[1, 2], [2, 4]])
    }

    @Test func `a link is slow through the gateway, too`() throws {
        let backend = try TestServer()
        let gateway = try TestGateway(
            to: backend.port, loop: backend.loop,
            faults: [
                Self.fault(
                    .delay(by: .milliseconds(150)...(.milliseconds(150))), on: .results, count: .eachAttempt)
            ])
        let job = try gateway.upload().data
        _ = try gateway.stream(job)
        let start = gateway.loop.now()
        let results = try gateway.ask(
            Script.get("/v3/jobs/scans/\(job.jobId)/results", token: job.authToken ?? "", .results))
        #expect(results.status == 200)
        #expect(gateway.loop.now() - start >= .milliseconds(300))
    }
}

extension TestClient {
    /// The body's bytes, of whose last chunk only a part may have come.
    var payloadBeforeCut: String {
        var rest = Array(self.body.utf8)[...]
        var whole: [UInt8] = []
        while let end = rest.firstIndex(of: 13),
            let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16)
        {
            rest = rest[end...].dropFirst(2)
            whole += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        return String(decoding: whole, as: UTF8.self)
    }
}
