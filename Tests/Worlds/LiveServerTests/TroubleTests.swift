import EventLoop
import Faults
import JSON
import LiveServer
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Faults that change how bytes pass.
@Suite struct TroubleTests {
    private func spec(
        _ kind: FaultKind, on target: FaultTarget = .link, window: FaultWindow = .always
    ) -> FaultSpec {
        FaultSpec(
            id: "trouble-1", kind: kind, target: target, chance: .always, window: window, trigger: .atOnce,
            count: .eachAttempt, scope: .everyone)
    }

    private func upload(_ server: TestServer, _ client: TestClient, scan: UInt32 = 1, photoBytes: Int = 1_000)
        throws -> UploadAccepted.Job
    {
        client.send(Script.upload(scan: scan, photoBytes: photoBytes))
        server.run(until: { client.text.contains("requestId") })
        let body = client.text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
        client.clear()
        return try #require(JSON.decode(UploadAccepted.self, from: body)).data
    }

    private func open(_ server: TestServer, _ job: UploadAccepted.Job) throws -> TestClient {
        let stream = try server.connect()
        stream.send(Script.get(try #require(job.sseUrl), token: try #require(job.authToken), .stream))
        return stream
    }

    @Test func `slices come one by one, and the whole is what it would be`() throws {
        let server = try TestServer(faults: [self.spec(.slice(bytes: 2...5), on: .upload)])
        let client = try server.connect()
        client.send(Script.upload(scan: 1))
        server.run(until: { client.text.hasSuffix("\"success\":true}") })
        #expect(client.text.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
        let short = client.reads.count { $0 <= 5 }
        #expect(short > client.bytes.count / 10, "\(client.reads)")
        #expect(server.firings(of: 0, .upload).count == 1)
        // The connection is kept, and what is not sliced comes whole.
        client.clear()
        client.send("GET \(SocketServer.noncePath) HTTP/1.1\r\nHost: x\r\n\r\n")
        server.run(until: { client.text.hasSuffix("nonce-7") })
        #expect(client.reads.count == 1)
    }

    @Test func `a sliced stream says the same`() throws {
        let server = try TestServer(faults: [self.spec(.slice(bytes: 1...9), on: .stream)])
        let job = try self.upload(server, try server.connect())
        let stream = try self.open(server, job)
        server.run(until: { stream.end == .fin })
        #expect(stream.text.contains("event: completed\n"))
        #expect(stream.text.hasSuffix("0\r\n\r\n"))
        #expect(stream.reads.count > 50)
    }

    @Test func `a delay holds each way up, once for the exchange`() throws {
        let by = Interval.milliseconds(60)
        let server = try TestServer(faults: [self.spec(.delay(by: by...by), on: .upload)])
        let client = try server.connect()
        let began = server.now()
        _ = try self.upload(server, client)
        let took = server.now() - began
        #expect(took >= by * 2)
        #expect(took < by * 4)
        #expect(server.firings(of: 0, .upload).count == 1)
    }

    @Test func `bandwidth caps what the phone sends`() throws {
        let server = try TestServer(
            faults: [self.spec(.bandwidth(bitsPerSecond: 4_000_000), on: .upload)])
        let client = try server.connect()
        let began = server.now()
        _ = try self.upload(server, client, photoBytes: 150_000)
        #expect(server.now() - began >= .milliseconds(300), "150 kB at half a megabyte a second")
    }

    @Test func `a lost segment stalls for 200 ms each way`() throws {
        let server = try TestServer(faults: [self.spec(.loss(.always), on: .upload)])
        let client = try server.connect()
        let began = server.now()
        _ = try self.upload(server, client)
        #expect(server.now() - began >= .milliseconds(400))
        #expect(server.firings(of: 0, .upload).count == 1)
    }

    /// The times at which pings come, and when the window was open.
    @Test func `a stream that is open feels a window when it opens, and no longer when it closes`() throws {
        let by = Interval.milliseconds(90)
        let window = FaultWindow(at: .milliseconds(300), length: .milliseconds(300))
        let server = try TestServer(
            faults: [self.spec(.delay(by: by...by), window: window)], ping: .milliseconds(20),
            jobTime: .seconds(1))
        let job = try self.upload(server, try server.connect())
        let stream = try self.open(server, job)
        var pings: [Instant] = []
        server.run(until: {
            let count = stream.text.components(separatedBy: "event: ping\n").count - 1
            while pings.count < count { pings.append(server.now()) }
            return stream.end == .fin
        })
        let opens = Instant.zero + window.at
        let closes = opens + .milliseconds(300)
        // What was written just before the window came on time; what was written in it came late.
        let gap = pings.filter { $0 > opens + .milliseconds(25) && $0 < opens + by - .milliseconds(5) }
        #expect(gap == [], "nothing arrives while the first delayed ping is under way")
        #expect(pings.contains { $0 > opens + by && $0 < closes })
        let after = pings.filter { $0 > closes + by + .milliseconds(30) }
        #expect(after.count >= 5)
        #expect(server.firings(of: 0, .stream).count == 1)
        let fired = server.firings(of: 0, .stream)
        #expect(fired.allSatisfy { $0 >= opens && $0 < closes })
        #expect(server.firings(of: 0, .upload).isEmpty, "the upload was over before")
    }

    @Test func `two requests in two packets are answered in order`() throws {
        let by = Interval.milliseconds(30)
        let server = try TestServer(faults: [self.spec(.delay(by: by...by), on: .upload)])
        let client = try server.connect()
        client.send(Script.upload(scan: 1))
        server.run(for: .milliseconds(10))
        client.send(Script.upload(scan: 2))
        server.run(until: { client.text.components(separatedBy: "requestId").count == 3 })
        #expect(client.text.components(separatedBy: "HTTP/1.1 202").count == 3)
    }
}
