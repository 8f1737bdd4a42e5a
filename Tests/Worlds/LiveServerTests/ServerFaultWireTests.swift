import Faults
import JSON
import LiveServer
import SimBase
import SimTestSupport
import Talaria
import Testing

/// The server's faults as bytes on a connection, where the bytes are what matters.
@Suite struct ServerFaultWireTests {
    private static func fault(_ kind: FaultKind, on target: FaultTarget) -> FaultSpec {
        FaultSpec(
            id: "fault-1", kind: kind, target: target, chance: .always, window: .always, trigger: .atOnce,
            count: .oncePerScan, scope: .everyone)
    }

    private struct Answer: Equatable {
        var status: String
        /// As `Content-Length` says; nil until it and the head are here.
        var length: Int
        var body: [UInt8]

        var isWhole: Bool { self.body.count >= self.length }

        /// Nil as long as the head is not complete.
        init?(_ client: TestClient) {
            let parts = client.text.split(
                separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            let lines = parts[0].split(separator: "\r\n")
            let length = lines.first { $0.hasPrefix("Content-Length: ") }?.dropFirst("Content-Length: ".count)
            self.status = String(lines[0])
            self.length = length.flatMap { Int($0) } ?? 0
            self.body = Array(parts[1].utf8)
        }
    }

    private func answer(_ server: TestServer, _ client: TestClient, to request: [UInt8]) throws -> Answer {
        client.clear()
        client.send(request)
        let isHere = { Answer(client)?.isWhole == true }
        server.run(until: isHere)
        return try #require(Answer(client))
    }

    @Test func `truncated results end where their length says, and the connection goes on`() throws {
        let server = try TestServer(faults: [Self.fault(.truncateResults, on: .results)])
        let client = try server.connect()
        let accepted = try self.answer(server, client, to: Script.upload(scan: 1))
        let job = try #require(JSON.decode(UploadAccepted.self, from: accepted.body)).data
        let token = try #require(job.authToken)
        let stream = try server.connect()
        stream.send(Script.get(try #require(job.sseUrl), token: token, .stream))
        let hasEnded = { stream.end != .open }
        server.run(until: hasEnded)

        let path = "/v3/jobs/scans/\(job.jobId)/results?format=lite"
        let cut = try self.answer(
            server, client, to: Array(Script.get(path, token: token, .results).utf8))
        #expect(cut.status == "HTTP/1.1 200 OK")
        #expect(cut.body.count == cut.length && cut.length > 0)
        #expect(JSON.decode(ResultsBody.self, from: cut.body) == nil)
        #expect(server.seen.contains(.fault(.fired(fault: 0, .results, attempt: 1))))

        let whole = try self.answer(
            server, client, to: Array(Script.get(path, token: token, .results, attempt: 2).utf8))
        #expect(whole.body.count == whole.length && whole.length > cut.length)
        #expect(JSON.decode(ResultsBody.self, from: whole.body)?.data.results.count == 3)
        #expect(whole.body.starts(with: cut.body))
        #expect(client.end == .open)
    }

    @Test func `an upload that meets an error is read to its end, and the next goes by the same connection`()
        throws
    {
        let kind = FaultKind.httpError(
            HTTPFault(
                status: 503, code: nil, retryable: nil, retryAfter: .milliseconds(1_200),
                retryAfterLocation: .header))
        let server = try TestServer(faults: [Self.fault(kind, on: .upload)])
        let client = try server.connect()
        let failed = try self.answer(server, client, to: Script.upload(scan: 1, photoBytes: 300_000))
        #expect(failed.status == "HTTP/1.1 503 Service Unavailable")
        #expect(client.text.contains("\r\nRetry-After: 2\r\n"))
        #expect(JSON.decode(Problem.self, from: failed.body)?.retryAfterMs == nil)
        let accepted = try self.answer(server, client, to: Script.upload(scan: 1, attempt: 2))
        #expect(accepted.status == "HTTP/1.1 202 Accepted")
        #expect(client.end == .open)
        let connections = server.seen.count { if case .backend(.connected) = $0 { true } else { false } }
        #expect(connections == 1)
    }

    @Test func `both of two terminal events have their stamp, an event that is none has not`() throws {
        let server = try TestServer(faults: [
            Self.fault(.twoTerminals, on: .stream), Self.fault(.unknownEvent(nil), on: .stream),
        ])
        let client = try server.connect()
        let accepted = try self.answer(server, client, to: Script.upload(scan: 1))
        let job = try #require(JSON.decode(UploadAccepted.self, from: accepted.body)).data
        let stream = try server.connect()
        stream.send(Script.get(try #require(job.sseUrl), token: try #require(job.authToken), .stream))
        let hasEnded = { stream.end != .open }
        server.run(until: hasEnded)
        #expect(stream.end == .fin)
        // Chunks end with CRLF, events with LF.
        let text = String(decoding: stream.bytes.filter { $0 != 0x0D }, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let before = { (event: String) in
            lines.indices.dropFirst(2).filter { lines[$0] == "event: \(event)" }.map { lines[$0 - 2] }
        }
        let ends = before("completed")
        let strange = before("telemetry")
        #expect(ends.count == 2)
        #expect(ends.allSatisfy { $0.hasPrefix(": t=") }, "\(ends)")
        #expect(strange.count == 1)
        #expect(!strange.contains { $0.hasPrefix(": t=") }, "\(strange)")
    }
}
