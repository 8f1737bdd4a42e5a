import Backend
import Faults
import JSON
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing

@Suite struct JourneyTests {
    /// Uploads and gives out the job.
    private func upload(_ server: TestServer, _ client: TestClient) throws -> UploadAccepted.Job {
        client.send(Script.upload(scan: 1))
        server.run(until: { client.text.contains("\r\n\r\n") && client.text.contains("requestId") })
        let body = client.text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
        client.clear()
        return try #require(JSON.decode(UploadAccepted.self, from: body)).data
    }

    @Test func `a whole journey on one upload connection and one stream`() throws {
        let server = try TestServer()
        let client = try server.connect()
        let job = try self.upload(server, client)
        let token = try #require(job.authToken)

        let stream = try server.connect()
        stream.send(Script.get(try #require(job.sseUrl), token: token, .stream))
        server.run(until: { stream.end != .open })
        #expect(stream.end == .fin)
        #expect(stream.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(stream.text.contains("event: completed\n"))
        #expect(stream.text.contains(": t="))
        #expect(stream.text.hasSuffix("0\r\n\r\n"))

        client.send(Script.get("/v3/jobs/scans/\(job.jobId)/results?format=lite", token: token, .results))
        server.run(until: { client.text.contains("]") })
        #expect(client.text.contains(#""results":["#))
        client.clear()
        client.send(
            Script.get("/v3/jobs/scans/\(job.jobId)/cleanup", token: token, .cleanup, method: "DELETE"))
        server.run(until: { client.text.contains("\r\n\r\n") })
        #expect(client.text.hasPrefix("HTTP/1.1 204 No Content\r\n"))
        #expect(client.end == .open, "the connection is kept for the next request")
        #expect(server.seen.contains(.backend(.cleaned(job: job.jobId, effective: true))))
        let connections = server.seen.count { if case .backend(.connected) = $0 { true } else { false } }
        #expect(connections == 2)
    }

    @Test func `a limit per address counts the connections of a machine, and phones by their numbers`() throws
    {
        var backend = BackendConfiguration.contract
        let quota = Quota(requests: 1, window: .minutes(1))
        backend.limits = [RateLimitRule(quota: quota, scope: .address, requests: .uploads)]
        let server = try TestServer(backend: backend)
        func status(device: String, isPhone: Bool) throws -> String {
            let trace = "traceparent: \(Script.trace(scan: 1, .upload))\r\n"
            let request = String(decoding: Script.upload(scan: 1).prefix { $0 < 0x80 }, as: UTF8.self)
            #expect(request.contains(trace))
            var bytes = Array(
                request.replacing(trace, with: isPhone ? trace : "").replacing(Script.device, with: device)
                    .utf8)
            bytes += Script.upload(scan: 1).dropFirst(request.utf8.count)
            let client = try server.connect()
            client.send(bytes)
            server.run(until: { client.text.contains("requestId") })
            return String(client.text.dropFirst(9).prefix(3))
        }
        let other = "5F0C1A52-9C1B-4C3E-8B9A-0123456789AC"
        #expect(try status(device: Script.device, isPhone: false) == "202")
        #expect(try status(device: other, isPhone: false) == "429")
        #expect(try status(device: other, isPhone: true) == "202")
    }

    @Test func `a reset inside an event comes as RST after exactly its bytes`() throws {
        let fault = FaultSpec(
            id: "reset-1", kind: .reset(.insideEvent, .reply), target: .stream, chance: .always,
            window: .always,
            trigger: .afterEvents(2...2), count: .oncePerScan, scope: .everyone)
        let server = try TestServer(faults: [fault])
        let client = try server.connect()
        let job = try self.upload(server, client)
        let token = try #require(job.authToken)
        let stream = try server.connect()
        stream.send(Script.get(try #require(job.sseUrl), token: token, .stream))
        server.run(until: { stream.end != .open })
        #expect(stream.end == .reset)
        // The state of the job at first, which is not a new event; two new ones; the beginning of the third.
        let events = stream.text.components(separatedBy: "\nid: ").count - 1
        #expect(events == 3 || events == 4)
        #expect(!stream.text.hasSuffix("\n\n") && !stream.text.hasSuffix("\r\n"))
        #expect(server.seen.contains(.fault(.fired(fault: 0, .stream, attempt: 1))))

        // The second attempt goes on from the last id and is left alone.
        let id = try #require(
            stream.text.components(separatedBy: "id: ").dropFirst(3).first?.prefix { $0 != "\n" })
        let again = try server.connect()
        again.send(
            Script.get(
                try #require(job.sseUrl), token: token, .stream, attempt: 2, lastEventID: String(id)))
        server.run(until: { again.end != .open })
        #expect(again.end == .fin)
        #expect(again.text.contains("event: completed\n"))
        #expect(!again.text.contains("id: \(id)\n"))
    }

    @Test func `a link delays both ways and charges the handshake`() throws {
        let link = LinkProfile(
            up: LinkDirection(delay: .milliseconds(40), bitsPerSecond: nil),
            down: LinkDirection(delay: .milliseconds(30), bitsPerSecond: nil))
        let server = try TestServer(link: link)
        let client = try server.connect()
        let began = server.now()
        _ = try self.upload(server, client)
        let first = server.now() - began
        #expect(first >= .milliseconds(140), "handshake and request each take a round trip of 70 ms")
        let again = server.now()
        client.send(Script.upload(scan: 2))
        server.run(until: { client.text.contains("requestId") })
        let second = server.now() - again
        #expect(second >= .milliseconds(70))
        #expect(second < first)
    }

    @Test func `a connection follows its phone from link to link`() throws {
        func link(_ milliseconds: Int64) -> NamedLink {
            let way = LinkDirection(delay: .milliseconds(milliseconds), bitsPerSecond: nil)
            return NamedLink(name: "test", profile: LinkProfile(up: way, down: way))
        }
        let server = try TestServer(
            itinerary: Itinerary([
                .init(at: .zero, link: link(0), length: nil),
                .init(at: .milliseconds(400), link: link(80), length: .milliseconds(500)),
            ]))
        let client = try server.connect()
        func roundTrip(_ scan: UInt32) -> Interval {
            let began = server.now()
            let answers = client.text.components(separatedBy: "requestId").count
            client.send(Script.upload(scan: scan))
            server.run(until: { client.text.components(separatedBy: "requestId").count > answers })
            return server.now() - began
        }
        _ = try self.upload(server, client)
        #expect(roundTrip(2) < .milliseconds(160))
        server.run(until: { server.now() >= .zero + .milliseconds(450) })
        #expect(roundTrip(3) >= .milliseconds(160), "the same connection, another link")
        server.run(until: { server.now() >= .zero + .milliseconds(950) })
        #expect(roundTrip(4) < .milliseconds(160), "and back")
    }

    @Test func `bandwidth makes a photo take its time`() throws {
        let link = LinkProfile(
            up: LinkDirection(delay: .zero, bitsPerSecond: 8_000_000),
            down: LinkDirection(delay: .zero, bitsPerSecond: nil))
        let server = try TestServer(link: link)
        let client = try server.connect()
        let began = server.now()
        client.send(Script.upload(scan: 1, photoBytes: 300_000))
        server.run(until: { client.text.contains("requestId") })
        let took = server.now() - began
        #expect(took >= .milliseconds(300), "300 KB at a megabyte a second")
        #expect(took < .milliseconds(900))
    }

    @Test func `pings come at their time and tell apart a living stream`() throws {
        let server = try TestServer(ping: .milliseconds(50), jobTime: .milliseconds(400))
        let client = try server.connect()
        let job = try self.upload(server, client)
        let stream = try server.connect()
        stream.send(Script.get(try #require(job.sseUrl), token: try #require(job.authToken), .stream))
        server.run(until: { stream.end != .open })
        #expect(stream.text.components(separatedBy: "event: ping\n").count - 1 >= 4)
    }
}
