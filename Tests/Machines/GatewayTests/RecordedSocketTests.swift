import Faults
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

@testable import Gateway

/// The WebSocket of a job, played from a recording.
@Suite struct RecordedSocketTests {
    private static let job = "scan_3d1a29a0-7f6e-4f5c-9e0b-6a1b2c3d4e5f"
    private static let accepted =
        #"{"success":true,"data":{"jobId":"\#(Self.job)","websocketUrl":"wss://other.example/ws/progress?jobId=\#(Self.job)"}}"#

    private static func recording(_ last: [RecordingLine.What]) throws -> Recording {
        let lines: [(Int64, UInt64, RecordingLine.What)] =
            [
                (0, 1, .request(method: "POST", path: "/api/batch-scan", deviceID: nil, lastEventID: nil)),
                (5, 1, .head(status: 202, headers: [], length: Self.accepted.utf8.count)),
                (5, 1, .body(Array(Self.accepted.utf8))), (5, 1, .end(.complete)),
                (
                    10, 2,
                    .request(
                        method: "GET", path: ProgressSocket.target(Self.job), deviceID: nil, lastEventID: nil)
                ),
                (12, 2, .head(status: 101, headers: [HeaderField("X-A", "b")], length: nil)),
                (110, 2, .body(Array("{\"jobId\":\"\(Self.job)\"}".utf8))),
            ] + last.enumerated().map { (210 + 100 * Int64($0.offset), 2, $0.element) }
        let text = RecordingLine.opening(by: "serve", began: "2026-11-21T20:00:00.000Z")
        return try Recording(
            text
                + lines.flatMap {
                    RecordingLine(at: .zero + .milliseconds($0.0), exchange: $0.1, $0.2).text
                })
    }

    /// A player and what a client of it sees, with times.
    private struct Deck {
        var player: RecordingPlayer
        var now = Instant.zero
        var seen: [String] = []
        private var exchanges: UInt64 = 0
        private var reader = WebSocketReader(
            role: .client, limits: .init(frameBytesMax: 1_000, messageBytesMax: 1_000), acceptsBinary: true)

        init(_ last: [RecordingLine.What]) throws {
            self.player = RecordingPlayer(try RecordedSocketTests.recording(last), wallClockAtZero: 0)
        }

        mutating func upload() {
            self.ask(.init("POST", "/api/batch-scan", query: nil))
            self.handle(.uploaded(ExchangeID(self.exchanges), []))
            self.run(for: .milliseconds(5))
            self.seen = []
        }

        mutating func follow(_ job: String = RecordedSocketTests.job, _ change: (inout OriginRequest) -> Void)
        {
            var request = OriginRequest("GET", ProgressSocket.path, query: "jobId=\(job)")
            request.handshake = .success(
                WebSocketRequest(
                    nonce: Array("the sample nonce".utf8), subprotocols: ["chat", "bookstrack-auth.t0ken"]))
            change(&request)
            self.ask(request)
        }

        mutating func ask(_ request: OriginRequest) {
            self.exchanges += 1
            let caller = Caller(device: DeviceNumber(1), scan: ScanNumber(1), attempt: 1)
            self.handle(
                .requested(ExchangeID(self.exchanges), request, caller, connection: 1, faults: []))
        }

        mutating func send(_ frame: WebSocketFrame) {
            var frame = frame
            frame.maskingKey = 9
            let bytes = ByteBuilder.bytes { WebSocketWriter.frame(frame, into: &$0) }
            self.handle(.received(ExchangeID(self.exchanges), bytes))
        }

        mutating func run(for time: Interval) {
            let end = self.now + time
            while let next = self.player.nextWake, next <= end {
                self.now = max(self.now, next)
                self.handle(.woke)
            }
            self.now = end
        }

        private mutating func handle(_ event: OriginEvent) {
            var effects: [OriginEffect] = []
            self.player.handle(event, at: self.now, into: &effects)
            for effect in effects {
                let ms = (self.now - .zero).wholeMilliseconds
                switch effect {
                case .openSocket(_, let headers):
                    self.seen += ["\(ms) open"] + headers.map { "\($0.name): \($0.value)" }
                case .stream(_, let bytes, .extra):
                    var events: [WebSocketEvent] = []
                    try? self.reader.receive(bytes[...], into: &events)
                    self.seen += events.map {
                        switch $0 {
                        case .text(let text): "\(ms) \(text)"
                        case .close(let close): "\(ms) close \(close.code.rawValue) \(close.reason)"
                        case .ping, .pong, .binary: "\(ms) \($0)"
                        }
                    }
                case .endStream: self.seen.append("\(ms) end")
                case .breakOff(_, let ending): self.seen.append("\(ms) \(ending)")
                case .reply(_, let reply): self.seen.append("\(ms) reply \(reply.status)")
                case .passBody(_, let body): self.seen.append(String(decoding: body, as: UTF8.self))
                case .readUpload, .passHead, .passEnd: break
                case .openStream, .stream, .observe, .forward, .feedUpstream, .releaseUpstream, .probe,
                    .upstreamFailed:
                    Issue.record("\(effect)")
                }
            }
        }
    }

    private static let opened = [
        "7 open", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "Sec-WebSocket-Protocol: bookstrack-auth.t0ken",
        "X-A: b",
    ]
    private static let message = "105 {\"jobId\":\"\(Self.job)\"}"

    @Test func `messages come at their times, and then the close frame and the end`() throws {
        var deck = try Deck([.close(WebSocketClose(.internalError, reason: "no")), .end(.complete)])
        deck.upload()
        deck.follow { _ in }
        deck.run(for: .seconds(1))
        #expect(deck.seen == Self.opened + [Self.message, "205 close 1011 no", "305 end"])
        deck.seen = []
        deck.follow { _ in }
        #expect(deck.seen == ["1005 reply 404"], "a socket is played once")
    }

    @Test(arguments: [(RecordedEnd.reset, ["205 reset"]), (.close, ["205 close"]), (.left, [])])
    func `it is cut as it was`(end: RecordedEnd, last: [String]) throws {
        var deck = try Deck([.end(end)])
        deck.upload()
        deck.follow { _ in }
        deck.run(for: .seconds(1))
        #expect(deck.seen == Self.opened + [Self.message] + last)
    }

    @Test func `pings and the close frame of a client are answered`() throws {
        var deck = try Deck([.body(Array("{}".utf8)), .end(.complete)])
        deck.upload()
        deck.follow { _ in }
        deck.run(for: .milliseconds(150))
        deck.seen = []
        deck.send(WebSocketFrame(text: "{\"type\":\"ready\"}"))
        deck.send(WebSocketFrame(.ping, [5]))
        deck.send(WebSocketFrame(WebSocketClose(.init(rawValue: 4_000))))
        deck.run(for: .seconds(1))
        #expect(deck.seen == ["155 pong([5])", "155 close 4000 ", "155 end"])
    }

    @Test func `who cannot read a WebSocket gets none`() throws {
        var deck = try Deck([.end(.complete)])
        deck.upload()
        deck.follow { $0.handshake = nil }
        deck.follow { $0.handshake = .failure(.badKey) }
        // Its event stream was not recorded.
        deck.ask(.init("GET", "/api/v2/scans/\(Self.job)/stream", query: nil))
        #expect(deck.seen == ["5 reply 426", "5 reply 400", "5 reply 404"])
        deck.follow { _ in }
        deck.run(for: .milliseconds(2))
        #expect(deck.seen.dropFirst(3) == Self.opened[...], "what was recorded waits for who can")
    }

    @Test(arguments: [ProgressSocket.target(Self.job), "/api/v2/scans/\(Self.job)/results"])
    func `nothing but a socket switches to another protocol`(path: String) throws {
        let recording = try Self.recording([.end(.complete)])
        #expect(recording.others.count == 1)
        let lines: [RecordingLine.What] = [
            .request(method: "GET", path: path, deviceID: nil, lastEventID: nil),
            .head(status: 101, headers: [], length: nil), .end(.complete),
        ]
        let upload = RecordingLine.What.request(
            method: "POST", path: "/api/batch-scan", deviceID: nil, lastEventID: nil)
        let other = try Recording(
            RecordingLine.opening(by: "serve", began: "2026-11-21T20:00:00.000Z")
                + RecordingLine(at: .zero, exchange: 1, upload).text
                + lines.flatMap { RecordingLine(at: .zero, exchange: 2, $0).text })
        #expect(other.others.count == (path.hasPrefix("/ws") ? 1 : 0))
    }

    @Test func `another round has another job, and the address of a socket leads here`() throws {
        var deck = try Deck([.end(.complete)])
        deck.upload()
        let job = RecordingPlayer.jobID(Self.job, round: 1)
        deck.ask(.init("POST", "/api/batch-scan", query: nil))
        deck.seen = []
        deck.upload()
        deck.follow(job) { _ in }
        deck.run(for: .seconds(1))
        #expect(deck.seen.last { $0.contains("jobId") }?.hasSuffix("{\"jobId\":\"\(job)\"}") == true)
        let body = try Self.recording([]).uploads[.bookshelfScan]?[0].steps.compactMap {
            if case .body(let bytes) = $0.what { String(decoding: bytes, as: UTF8.self) } else { nil }
        }
        #expect(body?.joined().contains("\"websocketUrl\":\"/ws/progress?jobId=\(Self.job)\"") == true)
    }
}

extension OriginRequest {
    fileprivate init(_ method: String, _ path: String, query: String?) {
        self.init(
            method: method, path: path, query: query, deviceID: nil, authorization: nil, accept: nil,
            contentType: nil, contentLength: nil, lastEventID: nil, authority: nil)
    }
}
