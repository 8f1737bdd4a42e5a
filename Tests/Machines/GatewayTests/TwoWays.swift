import Backend
import Faults
import Gateway
import Observations
import OriginServer
import SimBase
import Talaria
import Wire

/// The simulated backend, asked directly or through the gateway, which then carries out the faults. Time is moved by hand and
/// nothing takes any.
struct TwoWays {
    enum Way: CaseIterable { case direct, gateway }

    /// An answer as the phone sees it.
    struct Answer {
        var operation: Talaria.Operation
        var status = 0
        var body: [UInt8] = []
        /// Events of a stream with their times, without their ids: those of faults differ between the two
        /// ways.
        var events: [String] = []
        var ids: [String] = []
        var pings: [Int64] = []
        var hasEnded = false

        var lines: [String] {
            ["\(self.operation) \(self.status) \(self.hasEnded ? "ended" : "open")"]
                + (self.body.isEmpty ? [] : [String(decoding: self.body, as: UTF8.self)]) + self.events
                + ["pings \(self.pings)"]
        }
    }

    static let deviceID = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
    private static let wallClockAtZero: Int64 = 1_769_947_200_000
    private static let shelf = Shelf(seed: 7, booksMin: 3, booksMax: 3)

    let way: Way
    private(set) var backend: Backend
    private(set) var gateway: Gateway
    private(set) var now = Instant.zero
    private(set) var answers: [Answer] = []
    /// Observations of the machine that carries out the faults.
    private(set) var observed: [Observation] = []
    private var readers: [ExchangeID: SSEReader] = [:]
    private var sockets: [ExchangeID: WebSocketReader] = [:]
    private var exchanges: UInt64 = 0

    init(_ way: Way) {
        var configuration = BackendConfiguration.contract
        configuration.jobTime = .seconds(10)...(.seconds(10))
        configuration.imports.rowsPerSecond = 100
        configuration.ping = .seconds(3)
        configuration.rateLimit = nil
        configuration.wallClockAtZero = Self.wallClockAtZero
        let random = KeyedRandom(seed: 7)
        self.way = way
        self.backend = Backend(
            configuration: configuration, shelf: Self.shelf, random: random)
        self.gateway = Gateway(
            configuration: GatewayConfiguration(
                basePath: "", replyTime: .seconds(60), wallClockAtZero: Self.wallClockAtZero),
            random: random)
    }

    // MARK: The phone

    /// Sends a request for an endpoint of a journey.
    @discardableResult mutating func ask(
        _ endpoint: Endpoint, of journey: Journey, method: String = "GET", token: String? = nil,
        lastEventID: String? = nil, attempt: UInt32 = 1, faults: [ArmedFault] = []
    ) -> Int {
        let operation = JourneyPath(journey, endpoint).operation(method: method)
        return self.ask(
            operation ?? .upload, method, journey.path(endpoint), token: token, lastEventID: lastEventID,
            attempt: attempt, faults: faults)
    }

    /// Sends a request and returns the index of its answer.
    @discardableResult mutating func ask(
        _ operation: Talaria.Operation, _ method: String, _ path: String, token: String? = nil,
        lastEventID: String? = nil, attempt: UInt32 = 1, faults: [ArmedFault] = []
    ) -> Int {
        let isForm = JourneyPath(path: path)?.journey.payload != .json
        let request = OriginRequest(
            method: method, path: path, query: nil, deviceID: Self.deviceID,
            authorization: token.map { "Bearer \($0)" }, accept: "text/event-stream",
            contentType: operation != .upload
                ? nil : isForm ? "multipart/form-data; boundary=x" : "application/json",
            contentLength: nil, lastEventID: lastEventID, authority: nil)
        return self.ask(operation, request, attempt: attempt, faults)
    }

    /// Follows a job by WebSocket.
    @discardableResult mutating func follow(
        _ job: String, token: String, attempt: UInt32, faults: [ArmedFault]
    ) -> Int {
        var request = OriginRequest(
            method: "GET", path: ProgressSocket.path,
            query: "jobId=\(job)" + (attempt == 1 ? "" : "&reconnect=true"), deviceID: nil,
            authorization: nil, accept: nil, contentType: nil, contentLength: nil, lastEventID: nil,
            authority: nil)
        request.handshake = .success(
            WebSocketRequest(
                nonce: [UInt8](repeating: 7, count: 16),
                subprotocols: [ProgressSocket.subprotocolPrefix + token]))
        return self.ask(.stream, request, attempt: attempt, faults)
    }

    private mutating func ask(
        _ operation: Talaria.Operation, _ request: OriginRequest, attempt: UInt32, _ faults: [ArmedFault]
    ) -> Int {
        let id = ExchangeID(self.exchanges)
        self.exchanges += 1
        self.answers.append(Answer(operation: operation))
        let caller = Caller(device: DeviceNumber(4), scan: ScanNumber(1), attempt: attempt)
        self.requests[id] = (request, caller)
        switch self.way {
        case .direct: self.atBackend(.requested(id, request, caller, connection: 1, faults: faults))
        case .gateway:
            self.atGateway(.requested(id, request, caller, connection: 1, faults: faults))
        }
        return Int(id.raw)
    }

    mutating func run(to end: Instant) {
        while let next = [self.backend.nextWake, self.gateway.nextWake].compactMap({ $0 }).min(), next <= end
        {
            self.now = max(self.now, next)
            self.atBackend(.woke)
            self.atGateway(.woke)
        }
        self.now = end
    }

    // MARK: The machines

    private var requests: [ExchangeID: (OriginRequest, Caller)] = [:]

    private mutating func atBackend(_ event: OriginEvent) {
        var effects: [OriginEffect] = []
        self.backend.handle(event, at: self.now, into: &effects)
        for effect in effects {
            if case .readUpload(let id) = effect {
                self.atBackend(.uploaded(id, [self.part(of: id)]))
            } else if self.way == .direct {
                self.atPhone(effect)
            } else {
                self.pass(effect)
            }
        }
    }

    /// A photo, or the books of a batch.
    private func part(of id: ExchangeID) -> UploadPart {
        switch self.requests[id].flatMap({ JourneyPath(path: $0.0.path) })?.journey {
        case .scan?, .bookshelfScan?, nil:
            let version = self.requests[id].map { APIVersion(path: $0.0.path) }
            return UploadPart(
                name: version?.photoPart ?? "photos[]", filename: "a.jpg", contentType: "image/jpeg",
                bytes: 250_000, prefix: [0xFF, 0xD8])
        case .batchEnrichment?:
            let body = Self.shelf.batchBody(device: DeviceNumber(4), scan: ScanNumber(1))
            return UploadPart(
                name: "", filename: nil, contentType: "application/json", bytes: body.count, prefix: body)
        case .textEnrichment?:
            let reading = BookReading(
                title: "Emma", author: "Jane Austen", isbn: nil, text: "Emma", confidence: 1)
            let body = TextRequest(reading).body
            return UploadPart(
                name: "", filename: nil, contentType: "application/json", bytes: body.count, prefix: body)
        case .bookEnrichment?:
            let body = EnrichmentRequest(barcode: "9780141439587", key: "scan_9780141439587").body
            return UploadPart(
                name: "", filename: nil, contentType: "application/json", bytes: body.count, prefix: body)
        case .csvImport?:
            let rows = (1...1_000).map { "Title \($0),Author,\n" }.joined()
            let file = Array("Title,Author,ISBN\n\(rows)".utf8)
            return UploadPart(
                name: ImportLimits.part, filename: "library.csv", contentType: "text/csv", bytes: file.count,
                prefix: file)
        }
    }

    /// Hands an answer of the backend to the gateway. What the backend itself observes stays its own.
    private mutating func pass(_ effect: OriginEffect) {
        switch effect {
        case .reply(let id, let reply):
            self.atGateway(
                .upstreamReplied(
                    id,
                    UpstreamHead(status: reply.status, headers: reply.headers, length: reply.body.count)))
            self.atGateway(.upstreamReceived(id, reply.body))
            self.atGateway(.upstreamEnded(id, nil))
        case .openStream(let id, let headers, _):
            self.atGateway(.upstreamReplied(id, UpstreamHead(status: 200, headers: headers, length: nil)))
        case .openSocket(let id, let headers):
            self.atGateway(.upstreamReplied(id, UpstreamHead(status: 101, headers: headers, length: nil)))
        case .stream(let id, let bytes, _): self.atGateway(.upstreamReceived(id, bytes))
        case .endStream(let id): self.atGateway(.upstreamEnded(id, nil))
        case .readUpload, .observe, .forward, .feedUpstream, .passHead, .passBody, .passEnd, .breakOff,
            .releaseUpstream, .upstreamFailed, .probe:
            break
        }
    }

    private mutating func atGateway(_ event: OriginEvent) {
        var effects: [OriginEffect] = []
        self.gateway.handle(event, at: self.now, into: &effects)
        for effect in effects {
            switch effect {
            case .forward(let id, let resume):
                guard let (head, caller) = self.requests[id] else { continue }
                var request = head
                switch resume {
                case .asSent: break
                case .replaced(let other): request.lastEventID = other
                case .removed: request.lastEventID = nil
                }
                self.atBackend(.requested(id, request, caller, connection: 1, faults: []))
            case .feedUpstream(let id, let bytes): self.atBackend(.received(id, bytes))
            case .releaseUpstream(let id): self.atBackend(.aborted(id))
            case .reply, .openStream, .openSocket, .stream, .endStream, .observe, .passHead, .passBody,
                .passEnd,
                .breakOff,
                .readUpload, .upstreamFailed, .probe:
                self.atPhone(effect)
            }
        }
    }

    private mutating func atPhone(_ effect: OriginEffect) {
        switch effect {
        case .reply(let id, let reply):
            self.answers[Int(id.raw)].status = reply.status
            self.answers[Int(id.raw)].body = reply.body
            self.answers[Int(id.raw)].hasEnded = true
        case .openStream(let id, _, _):
            self.answers[Int(id.raw)].status = 200
            self.readers[id] = SSEReader(limits: .standard)
        case .openSocket(let id, _):
            self.answers[Int(id.raw)].status = 101
            self.sockets[id] = WebSocketReader(
                role: .client, limits: .init(frameBytesMax: 1 << 20, messageBytesMax: 1 << 20),
                acceptsBinary: false)
            let ready = SocketMessage(.ready, timestamp: nil).bytes(pipeline: nil)
            self.send(WebSocketFrame(.text, ready), id)
        case .stream(let id, let bytes, _) where self.sockets[id] != nil: self.readFrames(bytes, id)
        case .stream(let id, let bytes, _): self.read(bytes, id)
        case .passHead(let id, let head): self.answers[Int(id.raw)].status = head.status
        case .passBody(let id, let bytes): self.answers[Int(id.raw)].body += bytes
        case .passEnd(let id), .endStream(let id), .breakOff(let id, _):
            self.answers[Int(id.raw)].hasEnded = true
        case .observe(let observation): self.observed.append(observation)
        case .readUpload, .forward, .feedUpstream, .releaseUpstream, .upstreamFailed, .probe: break
        }
    }

    private mutating func read(_ bytes: [UInt8], _ id: ExchangeID) {
        var items: [SSEItem] = []
        self.readers[id]?.receive(bytes, into: &items)
        for item in items {
            switch item {
            case .event(let event) where event.type == EventKind.ping.rawValue:
                self.answers[Int(id.raw)].pings.append(self.milliseconds)
            case .event(let event):
                self.answers[Int(id.raw)].events.append("\(self.milliseconds) \(event.type) \(event.data)")
                self.answers[Int(id.raw)].ids.append(event.id)
            case .comment(let comment) where comment.text == V2EventName.heartbeat:
                self.answers[Int(id.raw)].pings.append(self.milliseconds)
            case .comment, .retry, .lastEventID, .overflow: break
            }
        }
    }

    private mutating func readFrames(_ bytes: [UInt8], _ id: ExchangeID) {
        var events: [WebSocketEvent] = []
        var lines: [String] = []
        do throws(WebSocketError) {
            try self.sockets[id]?.receive(bytes[...], into: &events)
        } catch { lines.append("refused: \(error)") }
        for event in events {
            switch event {
            case .text(let text):
                guard let message = SocketMessage(Array(text.utf8)) else {
                    lines.append("unreadable")
                    continue
                }
                if message.kind == .ping {
                    self.answers[Int(id.raw)].pings.append(self.milliseconds)
                } else {
                    lines.append("\(message.type) \(String(decoding: message.payload, as: UTF8.self))")
                }
            case .close(let close):
                lines.append("close \(close.code.rawValue)")
                self.send(WebSocketFrame(close), id)
            case .ping, .pong, .binary: lines.append("\(event)")
            }
        }
        self.answers[Int(id.raw)].events += lines.map { "\(self.milliseconds) \($0)" }
    }

    private mutating func send(_ frame: WebSocketFrame, _ id: ExchangeID) {
        var frame = frame
        frame.maskingKey = 7
        let event = OriginEvent.received(id, ByteBuilder.bytes { WebSocketWriter.frame(frame, into: &$0) })
        switch self.way {
        case .direct: self.atBackend(event)
        case .gateway: self.atGateway(event)
        }
    }

    private var milliseconds: Int64 { (self.now - Instant.zero).wholeMilliseconds }
}
