import JSON
import Observations
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

@testable import Backend

/// A WebSocket of the simulated backend, as RFC 6455 and section 3.4 of the contract have it.
@Suite struct SocketTests {
    private var bench = Bench()

    /// What a client makes of a socket: messages, and the close.
    private func read(_ exchange: ExchangeID) -> (messages: [SocketMessage], close: UInt16?) {
        var reader = WebSocketReader(
            role: .client, limits: WebSocketReader.Limits(frameBytesMax: 1 << 20, messageBytesMax: 1 << 20),
            acceptsBinary: false)
        var events: [WebSocketEvent] = []
        for effect in self.bench.effects {
            guard case .stream(exchange, let bytes, _) = effect else { continue }
            do throws(WebSocketError) { try reader.receive(bytes[...], into: &events) } catch {
                Issue.record("the client cannot read it: \(error)")
            }
        }
        var (messages, close): ([SocketMessage], UInt16?) = ([], nil)
        for event in events {
            switch event {
            case .text(let text):
                if let message = SocketMessage(Array(text.utf8)) { messages.append(message) }
            case .close(let its): close = its.code.rawValue
            case .binary, .ping, .pong: break
            }
        }
        return (messages, close)
    }

    private func types(_ exchange: ExchangeID) -> [String] { self.read(exchange).messages.map(\.type) }

    private mutating func job() -> Bench.Job {
        let effects = self.bench.ask(
            "POST", "/api/batch-scan", contentType: "multipart/form-data; boundary=x", contentLength: 250_300)
        let part = UploadPart(
            name: "photos", filename: "a.jpg", contentType: "image/jpeg", bytes: 250_000,
            prefix: [0xFF, 0xD8, 0xFF, 0xE0])
        let reply = self.bench.handle(.uploaded(effects.exchange, [part])).reply
        guard let body = reply.flatMap({ JSON.decode(UploadAccepted.self, from: $0.body) }),
            let token = body.data.authToken
        else {
            Issue.record("no job")
            return Bench.Job(id: "", token: "")
        }
        return Bench.Job(id: body.data.jobId, token: token)
    }

    private mutating func open(
        _ job: Bench.Job, query: String = "", subprotocol: String? = nil,
        handshake: Result<WebSocketRequest, WebSocketRequestError>? = nil
    ) -> (exchange: ExchangeID, effects: [OriginEffect]) {
        let exchange = self.bench.nextExchange()
        var request = OriginRequest(
            method: "GET", path: "/ws/progress", query: job.id.isEmpty ? nil : "jobId=\(job.id)" + query,
            deviceID: nil, authorization: nil, accept: nil, contentType: nil, contentLength: nil,
            lastEventID: nil, authority: nil)
        let name = subprotocol ?? "bookstrack-auth.\(job.token)"
        request.handshake =
            handshake ?? .success(WebSocketRequest(nonce: Array(0..<16), subprotocols: [name]))
        return (
            exchange,
            self.bench.handle(.requested(exchange, request, Bench.caller(), connection: 1, faults: []))
        )
    }

    private mutating func send(_ message: SocketMessage, _ exchange: ExchangeID) {
        self.send(WebSocketFrame(.text, message.bytes(pipeline: nil)), exchange)
    }

    private mutating func send(_ frame: WebSocketFrame, _ exchange: ExchangeID) {
        var frame = frame
        frame.maskingKey = 0x0102_0304
        let bytes = ByteBuilder.bytes { WebSocketWriter.frame(frame, into: &$0) }
        self.bench.handle(.received(exchange, bytes))
    }

    private mutating func follow(_ job: Bench.Job, query: String = "") -> ExchangeID {
        let exchange = self.open(job, query: query).exchange
        self.send(SocketMessage(.ready, timestamp: 0), exchange)
        return exchange
    }

    // MARK: Opening

    @Test mutating func `a handshake is answered with the key's proof and the subprotocol`() throws {
        let job = self.job()
        let (exchange, effects) = self.open(job)
        let headers = effects.compactMap { effect -> [HeaderField]? in
            if case .openSocket(exchange, let headers) = effect { headers } else { nil }
        }
        let fields = HeaderFields(try #require(headers.first))
        let request = WebSocketRequest(nonce: Array(0..<16), subprotocols: ["bookstrack-auth.\(job.token)"])
        #expect(try request.subprotocol(acceptedBy: 101, fields) == "bookstrack-auth.\(job.token)")
        #expect(self.types(exchange) == [])
    }

    @Test mutating func `a request that cannot be answered is refused with the status of the contract`() {
        let job = self.job()
        func status(_ opened: (exchange: ExchangeID, effects: [OriginEffect])) -> Int? {
            opened.effects.reply?.status
        }
        #expect(status(self.open(job, handshake: .failure(.notUpgrade))) == 426)
        #expect(status(self.open(job, handshake: .failure(.unsupportedVersion))) == 426)
        #expect(status(self.open(job, handshake: .failure(.badKey))) == 400)
        #expect(status(self.open(Bench.Job(id: "", token: job.token))) == 400)
        #expect(status(self.open(Bench.Job(id: job.id, token: String(repeating: "0", count: 64)))) == 401)
        #expect(status(self.open(job, subprotocol: "chat")) == 401)
        #expect(status(self.open(Bench.Job(id: "scan_" + UUIDText.any, token: job.token))) == 404)
        #expect(status(self.open(job, query: "&token=\(job.token)", subprotocol: "chat")) == nil)
    }

    @Test mutating func `a token opens one connection, and its returns while the state is kept`() {
        let job = self.job()
        let first = self.follow(job)
        #expect(self.open(job).effects.reply?.status == 401)
        self.bench.handle(.aborted(first))
        #expect(self.open(job).effects.reply?.status == 401)
        self.bench.run(seconds: 2)
        let second = self.follow(job, query: "&reconnect=true")
        #expect(self.types(second) == ["ready_ack", "reconnected"])
        self.bench.handle(.aborted(second))
        self.bench.run(seconds: 61)
        #expect(self.open(job, query: "&reconnect=true").effects.reply?.status == 401)
    }

    // MARK: Messages

    @Test mutating func `a job is followed from its state to its end, and closed a second later`() {
        let job = self.job()
        let exchange = self.follow(job)
        self.bench.run(seconds: 10)
        let types = self.types(exchange)
        #expect(types.prefix(2) == ["ready_ack", "job_started"])
        #expect(types.count(where: { $0 == "job_progress" }) > 2 && types.last == "job_complete")
        #expect(self.read(exchange).close == nil)
        self.bench.run(seconds: 1)
        #expect(self.read(exchange).close == 1_000)
        #expect(!self.bench.hasEnded(exchange))
        self.send(WebSocketFrame(WebSocketClose(.normal)), exchange)
        #expect(self.bench.hasEnded(exchange))
    }

    @Test mutating func `a peer that does not answer a close is left after a while`() {
        let job = self.job()
        let exchange = self.follow(job)
        self.bench.run(seconds: 11)
        #expect(!self.bench.hasEnded(exchange))
        self.bench.run(seconds: 5)
        #expect(self.bench.hasEnded(exchange))
    }

    @Test mutating func `a client that comes late gets the end at once`() {
        let job = self.job()
        self.bench.run(seconds: 20)
        let exchange = self.follow(job)
        #expect(self.types(exchange) == ["ready_ack", "job_complete"])
        self.bench.run(seconds: 1)
        #expect(self.read(exchange).close == 1_000)
    }

    @Test mutating func `a client that is never ready is sent the state after five seconds`() {
        let job = self.job()
        let exchange = self.open(job).exchange
        self.bench.run(to: self.bench.now + .milliseconds(4_900))
        #expect(self.types(exchange) == [])
        self.bench.run(seconds: 1)
        #expect(self.types(exchange).first == "job_progress" || self.types(exchange).first == "job_started")
    }

    @Test
    mutating func `envelopes name the job, its pipeline and a version, and have the times of their ids`()
        throws
    {
        let job = self.job()
        let exchange = self.follow(job)
        self.bench.run(seconds: 10)
        let written = self.bench.effects.compactMap { effect -> String? in
            guard case .observe(let observation) = effect,
                case .backend(.eventWritten(_, let id, _, _, _)) = observation.what
            else { return nil }
            return id
        }
        let ids = self.read(exchange).messages.compactMap { message -> String? in
            guard let kind = message.kind, kind.eventName != nil else { return nil }
            return message.timestamp.map { kind.eventID($0) }
        }
        #expect(ids == written)
        let message = try #require(self.read(exchange).messages.last)
        let text = try #require(JSONNode(message.bytes(pipeline: "ai_scan")))
        #expect(text["jobId"]?.text == job.id && text["pipeline"]?.text == "ai_scan")
        #expect(text["version"]?.text == "1.0.0" && text["payload"]?["summary"] != nil)
    }

    @Test mutating func `pings come by the clock, and a message of 10 KB is too long`() {
        self.bench = Bench { $0.ping = .seconds(2) }
        let job = self.job()
        let exchange = self.follow(job)
        self.bench.run(seconds: 5)
        #expect(self.types(exchange).count(where: { $0 == "ping" }) == 2)
        let long = SocketMessage(
            .pong, timestamp: 0, payload: Array("\"\(String(repeating: "x", count: 10_300))\"".utf8))
        self.send(long, exchange)
        #expect(self.read(exchange).close == 1_009)
        #expect(self.bench.hasEnded(exchange))
    }

    @Test mutating func `a client that does not mask, or sends bytes, is closed with the right code`() {
        let job = self.job()
        let exchange = self.follow(job)
        let bytes = ByteBuilder.bytes { WebSocketWriter.frame(WebSocketFrame(text: "{}"), into: &$0) }
        self.bench.handle(.received(exchange, bytes))
        #expect(self.read(exchange).close == 1_002)
        let second = self.follow(job, query: "&reconnect=true")
        self.send(WebSocketFrame(.binary, [1, 2, 3]), second)
        #expect(self.read(second).close == 1_003)
    }

    @Test mutating func `a client cancels its job`() {
        let job = self.job()
        let exchange = self.follow(job)
        self.send(SocketMessage(.cancelBatch, timestamp: 0), exchange)
        #expect(self.types(exchange).suffix(2) == ["batch-canceling", "error"])
        self.bench.run(seconds: 1)
        #expect(self.read(exchange).close != nil)
    }

    @Test mutating func `five connections of a job are open at once, and the next is closed`() {
        let job = self.job()
        let first = (0..<5).map { self.follow(job, query: $0 == 0 ? "" : "&reconnect=true") }
        let sixth = self.open(job, query: "&reconnect=true").exchange
        self.bench.run(to: self.bench.now + .milliseconds(1))
        #expect(self.read(sixth).close == 1_008)
        #expect(first.allSatisfy { self.read($0).close == nil })
    }

    // MARK: A new token

    private mutating func refresh(_ job: Bench.Job, _ token: String) -> (status: Int?, token: String?) {
        let (exchange, effects) = self.bench.ask("POST", TokenRefresh.path)
        #expect(effects.contains(.readUpload(exchange)))
        let body = TokenRefresh(jobId: job.id, oldToken: token).body
        let part = UploadPart(
            name: "", filename: nil, contentType: "application/json", bytes: body.count, prefix: body)
        let reply = self.bench.handle(.uploaded(exchange, [part])).reply
        let node = reply.flatMap { JSONNode($0.body) }
        return (reply?.status, node?["data"]?["token"]?.text)
    }

    @Test mutating func `a token is exchanged in its last half hour, and stays good for five minutes`() {
        self.bench = Bench { $0.tokenLifetime = .minutes(40) }
        let job = self.job()
        #expect(self.refresh(job, job.token).status == 400)
        self.bench.run(seconds: 601)
        #expect(self.refresh(job, String(repeating: "0", count: 64)).status == 401)
        let (status, token) = self.refresh(job, job.token)
        #expect(status == 200)
        let fresh = Bench.Job(id: job.id, token: token ?? "")
        #expect(fresh.token != job.token)
        #expect(self.open(fresh).effects.reply == nil)
        // Its answer may have been lost: the same new token again.
        let repeated = self.refresh(job, job.token)
        #expect(repeated.status == 200)
        #expect(repeated.token == token)
        self.bench.run(seconds: 301)
        #expect(self.refresh(job, job.token).status == 401)
        #expect(self.refresh(fresh, fresh.token).status == 400)
    }
}

private enum UUIDText {
    static let any = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
}
