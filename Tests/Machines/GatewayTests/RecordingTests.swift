import Faults
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

@testable import Gateway

/// Recordings as text, and what is played from them.
@Suite struct RecordingTests {
    private static let opening = RecordingLine.opening(by: "serve", began: "2026-11-21T20:00:00.000Z")
    private static let job = "3d1a29a0-7f6e-4f5c-9e0b-6a1b2c3d4e5f"
    private static let accepted = #"{"success":true,"data":{"jobId":"\#(Self.job)","sseUrl":"/s"}}"#

    private static func line(_ milliseconds: Int64, _ exchange: UInt64, _ what: RecordingLine.What) -> [UInt8]
    {
        RecordingLine(at: .zero + .milliseconds(milliseconds), exchange: exchange, what).text
    }

    private static func asked(
        _ milliseconds: Int64, _ exchange: UInt64, _ method: String, _ path: String
    ) -> [UInt8] {
        Self.line(
            milliseconds, exchange, .request(method: method, path: path, deviceID: nil, lastEventID: nil))
    }

    private static func head(_ milliseconds: Int64, _ exchange: UInt64, _ status: Int, _ length: Int?)
        -> [UInt8]
    {
        Self.line(milliseconds, exchange, .head(status: status, headers: [], length: length))
    }

    /// An upload, its stream in two parts, and its cleanup.
    private static let journey: [UInt8] =
        Self.opening + Self.asked(1_000, 1, "POST", "/v3/jobs/scans")
        + Self.head(1_005, 1, 202, Self.accepted.utf8.count)
        + Self.line(1_005, 1, .body(Array(Self.accepted.utf8))) + Self.line(1_005, 1, .end(.complete))
        + Self.asked(2_000, 2, "GET", "/v3/jobs/scans/\(Self.job)/stream") + Self.head(2_010, 2, 200, nil)
        + Self.line(2_100, 2, .body(Array("id: 1\ndata: \(Self.job)\n\n".utf8)))
        + Self.line(2_150, 2, .end(.reset))
        + Self.asked(3_000, 3, "GET", "/v3/jobs/scans/\(Self.job)/stream") + Self.head(3_001, 3, 200, nil)
        + Self.line(3_501, 3, .body(Array("id: 2\ndata: é\n\n".utf8))) + Self.line(3_502, 3, .end(.complete))
        + Self.asked(4_000, 4, "DELETE", "/v3/jobs/scans/\(Self.job)/cleanup") + Self.head(4_007, 4, 204, 0)
        + Self.line(4_007, 4, .end(.complete))

    // MARK: Text

    @Test(arguments: [
        RecordingLine.What.request(
            method: "GET", path: "/x", deviceID: "D \"quoted\"", lastEventID: "17\u{0}"),
        .request(method: "POST", path: "/v3/jobs/scans", deviceID: nil, lastEventID: nil),
        .head(status: 200, headers: [HeaderField("Content-Type", "text/event-stream")], length: nil),
        .head(status: 429, headers: [], length: 12), .body(Array("data: Война\n\n".utf8)),
        .body([0xFF, 0x00, 0xD0]), .end(.complete), .end(.silence), .end(.left),
        .end(.unrecorded), .head(status: 101, headers: [], length: nil),
        .close(WebSocketClose(.internalError, reason: "B\u{FC}cher")), .close(WebSocketClose(.noStatus)),
    ]) func `a line reads as it was written`(what: RecordingLine.What) throws {
        let begin =
            Self.opening + Self.asked(0, 1, "POST", "/v3/jobs/scans") + Self.asked(0, 7, "GET", "/x")
        let line = RecordingLine(at: .zero + .nanoseconds(1_234_567_891), exchange: 7, what)
        #expect(line.text.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        #expect(RecordingLine.read(line.text) == line)
        #expect(try Recording(begin + line.text).uploads[.scan]?.isEmpty == false)
    }

    @Test func `the end of a recording that was killed is left out and counted`() throws {
        let cut = Self.journey.dropLast(20)
        let recording = try Recording(Array(cut))
        #expect(recording.linesSkipped == 1)
        #expect(recording.uploads[.scan]?.count == 1)
        #expect(try Recording(Self.journey).linesSkipped == 0)
    }

    @Test(arguments: [
        ("", 1, "not a recording: the header line is missing"),
        ("scenario: 1\n", 1, "not a recording: the header line is missing"),
        (
            #"{"recording":2,"by":"serve","began":"x"}"# + "\n", 1,
            "the recording has format version 2, and this program reads 1"
        ),
        (
            #"{"recording":1,"by":"serve","began":"x"}"# + "\nnonsense\n{}\n", 2,
            "not a line of a recording"
        ),
        (
            #"{"recording":1,"by":"serve","began":"x"}"# + "\n" + #"{"t":1,"exchange":9,"body":"x"}"# + "\n",
            2,
            "exchange 9 has a response but no request"
        ),
        (
            #"{"recording":1,"by":"serve","began":"x"}"#, 1,
            "the recording has no upload, so it cannot be replayed"
        ),
    ]) func `what cannot be played says where and why`(text: String, line: Int, says: String) {
        #expect(throws: RecordingError(line: line, text: says)) { try Recording(Array(text.utf8)) }
    }

    @Test(arguments: [
        #"{"t":9223372036854775807,"exchange":1,"body":"x"}"#, #"{"t":-1,"exchange":1,"body":"x"}"#,
        #"{"t":1,"exchange":1,"head":{"status":200,"headers":[],"length":-1}}"#,
        #"{"t":1,"exchange":1,"head":{"status":200,"headers":[["x"]]}}"#,
        #"{"t":1,"exchange":1,"head":{"status":99,"headers":[]}}"#,
        #"{"t":1,"exchange":1,"head":{"status":100,"headers":[]}}"#,
        #"{"t":1,"exchange":1,"close":{"code":1006,"reason":""}}"#,
        #"{"t":1,"exchange":1,"close":{"code":1000,"reason":"\#(String(repeating: "x", count: 124))"}}"#,
    ]) func `a number out of range is of no recording`(line: String) {
        let text = Self.opening + Self.asked(0, 1, "POST", "/v3/jobs/scans") + Array((line + "\n{}\n").utf8)
        #expect(throws: RecordingError(line: 3, text: "not a line of a recording")) {
            try Recording(text)
        }
    }

    @Test func `a length that an upstream made up is read, and no larger than any answer`() throws {
        let told = RecordingLine(
            at: .zero, exchange: 1, .head(status: 200, headers: [], length: .max))
        guard case .head(_, _, let length)? = RecordingLine.read(told.text)?.what else {
            Issue.record("what was recorded is not read")
            return
        }
        #expect(length == 1 << 40)
    }

    @Test func `a negative length is not recorded`() throws {
        let told = RecordingLine(at: .zero, exchange: 1, .head(status: 101, headers: [], length: -1))
        let read = try #require(RecordingLine.read(told.text))
        #expect(read.what == .head(status: 101, headers: [], length: nil))
    }

    // MARK: v2

    /// The 202 of v2.
    private static func accepted(_ job: String, _ path: String) -> String {
        #"{"data":{"authToken":"00000001","jobId":"\#(job)","sseUrl":"\#(path)/\#(job)/stream","#
            + #""token":"00000001"},"success":true}"#
    }

    private static let scan = "scan_\(Self.job)"
    private static let batch = "enrichment_\(Self.job)"

    /// The exchanges `first` and `first + 1` of a journey of v2: its upload, and its stream.
    private static func v2(
        _ upload: String, _ jobs: String, _ job: String, from milliseconds: Int64, _ first: UInt64
    ) -> [UInt8] {
        let accepted = Self.accepted(job, jobs)
        return Self.asked(milliseconds, first, "POST", upload)
            + Self.head(milliseconds + 3, first, 202, accepted.utf8.count)
            + Self.line(milliseconds + 3, first, .body(Array(accepted.utf8)))
            + Self.line(milliseconds + 3, first, .end(.complete))
            + Self.asked(milliseconds + 10, first + 1, "GET", "\(jobs)/\(job)/stream")
            + Self.head(milliseconds + 11, first + 1, 200, nil)
            + Self.line(milliseconds + 12, first + 1, .body(Array("data: \(job)\n\n".utf8)))
            + Self.line(milliseconds + 13, first + 1, .end(.complete))
    }

    private static let scanOfV2 = Self.v2("/api/batch-scan", "/api/v2/scans", Self.scan, from: 5_000, 10)
    private static let batchOfV2 = Self.v2(
        "/v1/enrichment/batch", "/api/v2/enrichments", Self.batch, from: 6_000, 20)

    // MARK: Playing

    /// A player, and what it did when.
    private struct Deck {
        var player: RecordingPlayer
        var now = Instant.zero + .seconds(100)
        var exchanges: UInt64 = 0
        var effects: [(after: Interval, OriginEffect)] = []

        init(_ text: [UInt8]) throws {
            self.player = RecordingPlayer(try Recording(text), wallClockAtZero: 1_700_000_000_000)
        }

        mutating func handle(_ event: OriginEvent, since start: Instant) {
            var effects: [OriginEffect] = []
            self.player.handle(event, at: self.now, into: &effects)
            self.effects += effects.map { (self.now - start, $0) }
        }

        /// The results of one request.
        mutating func ask(_ method: String, _ path: String) -> [String] {
            self.exchanges += 1
            let id = ExchangeID(self.exchanges)
            let start = self.now
            self.effects = []
            let request = OriginRequest(
                method: method, path: path, query: nil, deviceID: nil, authorization: nil, accept: nil,
                contentType: nil, contentLength: nil, lastEventID: nil, authority: nil)
            let caller = Caller(device: DeviceNumber(1), scan: ScanNumber(1), attempt: 1)
            self.handle(.requested(id, request, caller, connection: 1, faults: []), since: start)
            if method == "POST" { self.handle(.uploaded(id, []), since: start) }
            while let next = self.player.nextWake {
                self.now = max(self.now, next)
                self.handle(.woke, since: start)
            }
            return self.effects.map { after, effect in
                let what =
                    switch effect {
                    case .readUpload: "read"
                    case .reply(_, let reply): "reply \(reply.status)"
                    case .passHead(_, let head): "head \(head.status)"
                    case .passBody(_, let bytes): String(decoding: bytes, as: UTF8.self)
                    case .passEnd: "end"
                    case .breakOff(_, let ending): "\(ending)"
                    case .openStream, .openSocket, .stream, .endStream, .observe, .forward, .feedUpstream,
                        .releaseUpstream, .probe, .upstreamFailed:
                        "something else"
                    }
                return "\(after.wholeMilliseconds) \(what)"
            }
        }
    }

    @Test func `the same things come in the same order after the same times`() throws {
        var deck = try Deck(Self.journey)
        #expect(
            deck.ask("POST", "/v3/jobs/scans") == ["0 read", "5 head 202", "5 \(Self.accepted)", "5 end"])
        let stream = "/v3/jobs/scans/\(Self.job)/stream"
        #expect(
            deck.ask("GET", stream) == ["10 head 200", "100 id: 1\ndata: \(Self.job)\n\n", "150 reset"])
        #expect(deck.ask("GET", stream) == ["1 head 200", "501 id: 2\ndata: é\n\n", "502 end"])
        #expect(deck.ask("GET", stream) == ["0 reply 404"])
        #expect(deck.ask("DELETE", "/v3/jobs/scans/\(Self.job)/cleanup") == ["7 head 204", "7 end"])
        #expect(deck.player.jobsAlive == 0)
        #expect(deck.ask("GET", stream) == ["0 reply 404"])
        #expect(deck.ask("GET", "/v3/elsewhere") == ["0 reply 404"])
    }

    @Test func `behind its last upload a recording begins again, with a job of another id`() throws {
        var deck = try Deck(Self.journey)
        var jobs: [String] = []
        for _ in 0..<3 {
            let body = try #require(deck.ask("POST", "/v3/jobs/scans").dropFirst(2).first)
            let start = try #require(body.firstRange(of: #""jobId":""#)).upperBound
            jobs.append(String(body[start...].prefix(36)))
        }
        #expect(jobs[0] == Self.job)
        #expect(Set(jobs).count == 3)
        #expect(jobs.allSatisfy { $0.hasPrefix("3d1a29a0-7f6e-4f5c-9e0b-6a1b") })
        // Each plays its own part from the start, under its own name.
        for job in jobs.reversed() {
            #expect(deck.ask("GET", "/v3/jobs/scans/\(job)/stream")[1] == "100 id: 1\ndata: \(job)\n\n")
        }
    }

    @Test func `a client that goes further than the recorded one can still clean up`() throws {
        let text = Self.opening + Self.journey.dropFirst(Self.opening.count)
        let withoutCleanup = text.split(separator: UInt8(ascii: "\n")).filter {
            !String(decoding: $0, as: UTF8.self).contains("\"exchange\":4")
        }
        var deck = try Deck(Array(withoutCleanup.joined(separator: [UInt8(ascii: "\n")])))
        _ = deck.ask("POST", "/v3/jobs/scans")
        #expect(deck.ask("DELETE", "/v3/jobs/scans/\(Self.job)/cleanup") == ["0 reply 204"])
    }

    @Test func `a recording of v2 alone is played`() throws {
        var deck = try Deck(Self.opening + Self.scanOfV2)
        let accepted = Self.accepted(Self.scan, "/api/v2/scans")
        #expect(
            deck.ask("POST", "/api/batch-scan") == ["0 read", "3 head 202", "3 \(accepted)", "3 end"])
        let stream = "/api/v2/scans/\(Self.scan)/stream"
        #expect(deck.ask("GET", stream) == ["1 head 200", "2 data: \(Self.scan)\n\n", "3 end"])
        #expect(deck.ask("GET", "/v3/jobs/scans/\(Self.scan)/stream") == ["0 reply 404"])
        // These are not recorded.
        #expect(deck.ask("POST", "/v3/jobs/scans") == ["0 reply 404"])
        #expect(deck.ask("POST", "/api/batch-enrich") == ["0 reply 404"])
        #expect(deck.ask("GET", "/api/v2/scans/\(Self.scan)/results") == ["0 reply 404"])
        guard case .reply(_, let missing)? = deck.effects.first?.1 else { return }
        #expect(String(decoding: missing.body, as: UTF8.self).hasPrefix(#"{"error":{"code":"NOT_FOUND","#))
        // A client that gives up cancels.
        #expect(deck.ask("DELETE", "/v1/jobs/\(Self.scan)") == ["0 reply 200"])
        guard case .reply(_, let canceled)? = deck.effects.first?.1 else { return }
        let text = String(decoding: canceled.body, as: UTF8.self)
        #expect(text.contains(#""jobId":"\#(Self.scan)""#) && text.contains(#""status":"canceled""#))
        #expect(deck.player.jobsAlive == 0)
    }

    @Test func `look-ups of a recording are played in their order, and begin again`() throws {
        let bodies = ["{\"success\":true,\"data\":{\"title\":\"Emma\"}}", "{\"success\":false}"]
        let recorded = zip([(200, UInt64(1)), (404, 2)], bodies).reduce(into: Self.opening) { text, next in
            let ((status, id), body) = next
            let at = Int64(id) * 1_000
            text += Self.asked(at, id, "POST", EnrichmentRequest.path)
            text += Self.head(at + 5, id, status, body.utf8.count)
            text += Self.line(at + 5, id, .body(Array(body.utf8))) + Self.line(at + 5, id, .end(.complete))
        }
        var deck = try Deck(recorded)
        for _ in 0..<2 {
            for (status, body) in zip([200, 404], bodies) {
                #expect(
                    deck.ask("POST", EnrichmentRequest.path)
                        == ["0 read", "5 head \(status)", "5 \(body)", "5 end"])
            }
        }
        #expect(deck.player.jobsAlive == 0)
    }

    @Test func `each journey of a recording is played from its own uploads`() throws {
        let begin = Self.journey + Self.scanOfV2
        #expect(try Recording(begin).requestsLeftOut == 0)
        let others =
            Self.asked(9_000, 90, "POST", "/api/scan-bookshelf") + Self.asked(9_000, 91, "GET", "/v3/x")
        #expect(try Recording(begin + others).requestsLeftOut == 1)
        var deck = try Deck(begin + Self.batchOfV2)
        /// The job of the next upload.
        func upload(_ path: String, _ deck: inout Deck) throws -> String {
            let body = try #require(deck.ask("POST", path).dropFirst(2).first)
            let start = try #require(body.firstRange(of: #""jobId":""#)).upperBound
            return String(body[start...].prefix { $0 != "\"" })
        }
        // In another order than they were recorded in, and by either path of a batch.
        let batch = try upload("/api/batch-enrich", &deck)
        let scan = try upload("/api/batch-scan", &deck)
        let older = try upload("/v3/jobs/scans", &deck)
        #expect([batch, scan, older] == [Self.batch, Self.scan, Self.job])
        let batchAgain = try upload("/v1/enrichment/batch", &deck)
        #expect(batchAgain != batch && batchAgain.hasPrefix("enrichment_3d1a29a0-7f6e-4f5c-9e0b-6a1b"))
        for job in [batch, batchAgain] {
            #expect(
                deck.ask("GET", "/api/v2/enrichments/\(job)/stream")
                    == ["1 head 200", "2 data: \(job)\n\n", "3 end"])
        }
        #expect(deck.ask("GET", "/api/v2/scans/\(scan)/stream")[1] == "2 data: \(scan)\n\n")
        #expect(deck.ask("GET", "/v3/jobs/scans/\(older)/stream")[1] == "100 id: 1\ndata: \(older)\n\n")
        #expect(deck.player.jobsAlive == 4)
    }

    @Test func `of too many jobs the older ones are forgotten`() throws {
        var deck = try Deck(Self.opening + Self.scanOfV2)
        deck.player.jobsMax = 4
        for _ in 0..<4 { _ = deck.ask("POST", "/api/batch-scan") }
        let first = deck.player.jobs.entries.map(\.0)
        #expect(first.count == 4)
        _ = deck.ask("POST", "/api/batch-scan")
        let left = deck.player.jobs.entries.map(\.0)
        #expect(left.count == 3 && left.starts(with: first.suffix(2)))
    }

    @Test func `who hangs up gets nothing more`() throws {
        var deck = try Deck(Self.journey)
        _ = deck.ask("POST", "/v3/jobs/scans")
        let id = ExchangeID(77)
        let start = deck.now
        deck.effects = []
        let request = OriginRequest(
            method: "GET", path: "/v3/jobs/scans/\(Self.job)/stream", query: nil, deviceID: nil,
            authorization: nil, accept: nil, contentType: nil, contentLength: nil, lastEventID: nil,
            authority: nil)
        let caller = Caller(device: DeviceNumber(1), scan: ScanNumber(1), attempt: 1)
        deck.handle(.requested(id, request, caller, connection: 1, faults: []), since: start)
        deck.handle(.aborted(id), since: start)
        while let next = deck.player.nextWake {
            deck.now = max(deck.now, next)
            deck.handle(.woke, since: start)
        }
        #expect(deck.effects.isEmpty)
    }
}
