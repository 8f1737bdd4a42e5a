import Backend
import Faults
import Gateway
import SimBase
import Talaria
import Testing
import Wire

@testable import HTTPServer

/// What passes on connections, written as a recording.
@Suite struct RecorderTests {
    private static let one = ConnectionID(serial: 1, slot: 0)
    private static let two = ConnectionID(serial: 2, slot: 1)

    private struct Tape {
        var recorder = Recorder()
        var lines: [RecordingLine] = []

        mutating func received(_ text: String, on id: ConnectionID = RecorderTests.one, at ms: Int64) {
            self.recorder.received(
                Array(text.utf8)[...], on: id, at: .zero + .milliseconds(ms), into: &self.lines)
        }

        mutating func sent(_ text: String, on id: ConnectionID = RecorderTests.one, at ms: Int64) {
            self.recorder.sent(Array(text.utf8), on: id, at: .zero + .milliseconds(ms), into: &self.lines)
        }

        mutating func sent(_ bytes: [UInt8], at ms: Int64) {
            self.recorder.sent(
                bytes, on: RecorderTests.one, at: .zero + .milliseconds(ms), into: &self.lines)
        }

        mutating func ended(_ end: RecordedEnd, _ id: ConnectionID = RecorderTests.one, at ms: Int64) {
            self.recorder.ended(end, id, at: .zero + .milliseconds(ms), into: &self.lines)
        }

        /// `12 1 body …`
        var text: [String] {
            self.lines.map { line in
                let what =
                    switch line.what {
                    case .request(let method, let path, let device, let last):
                        "\(method) \(path) \(device ?? "-") \(last ?? "-")"
                    case .head(let status, let headers, let length):
                        "\(status) \(headers.map { "\($0.name)=\($0.value)" }) \(length.map(String.init) ?? "-")"
                    case .body(let bytes): "body \(String(decoding: bytes, as: UTF8.self))"
                    case .close(let close): "close \(close.code.rawValue) \(close.reason)"
                    case .end(let end): "\(end)"
                    }
                return "\((line.at - .zero).wholeMilliseconds) \(line.exchange) \(what)"
            }
        }
    }

    private static let job = "scan_3f2504e0-4f89-41d3-9a0c-0305e82c3301"

    private static func handshake(_ tape: inout Tape) {
        tape.received(
            "GET /ws/progress?jobId=\(Self.job)&token=query-token-1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                + "Upgrade: websocket\r\nSec-WebSocket-Protocol: bookstrack-auth.secret-of-job\r\n\r\n", at: 0
        )
        tape.sent(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-A: b\r\n"
                + "Sec-WebSocket-Accept: a\r\nSec-WebSocket-Protocol: bookstrack-auth.secret-of-job\r\n\r\n",
            at: 1)
    }

    private static func bytes(_ frames: [WebSocketFrame]) -> [UInt8] {
        ByteBuilder.bytes { bytes in
            for frame in frames { WebSocketWriter.frame(frame, into: &bytes) }
        }
    }

    @Test func `a WebSocket is told by its messages, and without a token`() {
        var tape = Tape()
        Self.handshake(&tape)
        var frames = WebSocketFrame.fragments(of: Array("two secret-of-job".utf8), .text, bytes: 4)
        frames.insert(WebSocketFrame(.ping, [1]), at: 1)
        let bytes = Self.bytes([WebSocketFrame(text: "one")] + frames + [WebSocketFrame(.pong, [])])
        tape.sent(Array(bytes.prefix(12)), at: 2)
        // A client's frames may look like requests.
        tape.received(Self.get, at: 3)
        tape.sent(Array(bytes.dropFirst(12)), at: 4)
        tape.sent(Self.bytes([WebSocketFrame(WebSocketClose(.normal, reason: "done"))]), at: 5)
        tape.ended(.close, at: 6)
        #expect(
            tape.text == [
                "0 1 GET /ws/progress?jobId=\(Self.job) - -", #"1 1 101 ["X-A=b"] -"#, "2 1 body one",
                "4 1 body two 000000-00-002", "5 1 close 1000 done", "6 1 complete",
            ])
    }

    @Test(arguments: [WebSocketFrame(.binary, [1]), WebSocketFrame(.text, [0xFF])])
    func `what is no text leaves the rest of a WebSocket out`(frame: WebSocketFrame) {
        var tape = Tape()
        Self.handshake(&tape)
        tape.sent(Self.bytes([WebSocketFrame(text: "one"), frame, WebSocketFrame(text: "two")]), at: 2)
        tape.ended(.reset, at: 3)
        #expect(tape.text.dropFirst(2) == ["2 1 body one", "2 1 unrecorded"])
    }

    @Test func `a refused WebSocket is an answer, and the connection goes on`() {
        var tape = Tape()
        tape.received(
            "GET /ws/progress HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", at: 0
        )
        tape.sent("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno", at: 1)
        tape.received(Self.get, at: 2)
        tape.sent("HTTP/1.1 204 No Content\r\n\r\n", at: 3)
        #expect(
            tape.text == [
                "0 1 GET /ws/progress - -", "1 1 426 [] 2", "1 1 body no", "1 1 complete", "2 2 GET /a D 5",
                "3 2 204 [] -", "3 2 complete",
            ])
    }

    private static let get = "GET /a HTTP/1.1\r\nHost: x\r\nX-Device-ID: D\r\nLast-Event-ID: 5\r\n\r\n"

    @Test func `an answer is told with the moment at which it was owed`() {
        var tape = Tape()
        tape.received("POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab", at: 10)
        tape.received("cd", at: 30)
        tape.sent("HTTP/1.1 202 Accepted\r\nX-A: b\r\nContent-Length: 3\r\nDate: today\r\n\r\nx", at: 40)
        tape.sent("yz", at: 50)
        tape.received(Self.get, at: 60)
        tape.sent("HTTP/1.1 204 No Content\r\n\r\n", at: 70)
        tape.ended(.close, at: 80)
        #expect(
            tape.text == [
                "30 1 POST /up - -", #"40 1 202 ["X-A=b"] 3"#, "50 1 body xyz", "50 1 complete",
                "60 2 GET /a D 5", "70 2 204 [] -", "70 2 complete",
            ])
    }

    @Test func `a stream is told piece by piece, without the server's stamps`() {
        var tape = Tape()
        tape.received(Self.get, at: 0)
        tape.sent(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", at: 1)
        tape.sent("15\r\n: t=12345\ndata: one\n\n\r\n", at: 2)
        tape.sent("7\r\ndata: t\r\n", at: 3)
        tape.sent("3\r\nwo\n\r\n", at: 4)
        tape.sent("0\r\n\r\n", at: 5)
        #expect(
            tape.text.dropFirst(2) == [
                "2 1 body data: one\n\n", "3 1 body data: t", "4 1 body wo\n", "5 1 complete",
            ])
    }

    @Test(arguments: ["secret-of-the-job-1", "secret-of-the-job-1\", \"exp", "secret-of-"])
    func `an answer that is cut tells no token`(_ rest: String) {
        var tape = Tape()
        tape.received("POST /up HTTP/1.1\r\nHost: x\r\n\r\n", at: 0)
        tape.sent(
            "HTTP/1.1 202 Accepted\r\nContent-Length: 900\r\n\r\n{\"jobId\": \"j\", \"authToken\" : \"", at: 1
        )
        tape.sent(rest, at: 2)
        tape.ended(.reset, at: 3)
        let body = tape.text.filter { $0.contains("body") }
        #expect(body.count == 1 && body[0].contains("authToken"), "\(tape.text)")
        #expect(!body[0].contains("secret"), "\(body)")
    }

    @Test(arguments: [RecordedEnd.reset, .close, .silence, .left])
    func `an answer that is cut is told as far as it came`(
        end: RecordedEnd
    ) {
        var tape = Tape()
        tape.received(Self.get, at: 0)
        tape.sent("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour", at: 1)
        tape.ended(end, at: 2)
        tape.ended(end, at: 3)
        #expect(tape.text.dropFirst(1) == ["1 1 200 [] 10", "1 1 body four", "2 1 \(end)"])
    }

    @Test func `a body without a length ends with its connection, and a request cut short is told`() {
        var tape = Tape()
        tape.received(Self.get, at: 0)
        tape.sent("HTTP/1.1 200 OK\r\n\r\nall", at: 1)
        tape.ended(.close, at: 2)
        tape.received("POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab", on: Self.two, at: 3)
        tape.ended(.reset, Self.two, at: 4)
        #expect(
            tape.text.dropFirst(1) == [
                "1 1 200 [] -", "1 1 body all", "2 1 complete", "4 2 POST /up - -", "4 2 reset",
            ])
    }

    @Test func `requests sent ahead get their own answers`() {
        var tape = Tape()
        tape.received(Self.get + Self.get.replacing("/a", with: "/b"), at: 0)
        tape.sent("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", at: 1)
        tape.sent("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2", at: 2)
        #expect(tape.text.filter { $0.contains("body") } == ["1 1 body 1", "2 2 body 2"])
    }

    @Test func `the stamps of a stream are found wherever it is split`() {
        let text = ": t=1 replayed\nid: 1\n: t=99\n: t=x\n: ping\n:\n: t=5"
        let wanted = "id: 1\n: t=x\n: ping\n:\n: t=5"
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            var tape = Tape()
            tape.received(Self.get, at: 0)
            tape.sent("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", at: 1)
            tape.sent(String(decoding: bytes[..<first], as: UTF8.self), at: 2)
            tape.sent(String(decoding: bytes[first...], as: UTF8.self), at: 3)
            tape.ended(.close, at: 4)
            let body = tape.lines.reduce(into: [UInt8]()) {
                if case .body(let piece) = $1.what { $0 += piece }
            }
            #expect(String(decoding: body, as: UTF8.self) == wanted, "split at \(first)")
        }
    }

    // MARK: Bounds

    private static let head = "HTTP/1.1 200 OK\r\n\r\n"

    @Test func `an answer that is too long to be kept is left out, and said to be`() {
        var tape = Tape()
        tape.received(Self.get, at: 0)
        tape.sent(Self.head, at: 1)
        let piece = String(repeating: "\0", count: 1 << 20)
        for ms in Int64(2)...30 { tape.sent(piece, at: ms) }
        tape.ended(.close, at: 31)
        #expect(tape.text.dropFirst(2) == ["6 1 unrecorded"], "with its fifth MiB")
    }

    @Test func `a long answer is told whole, in lines that are short`() {
        var tape = Tape()
        tape.received(Self.get, at: 0)
        tape.sent(Self.head, at: 1)
        let piece = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 / 7) & 0x7F }
        for ms in Int64(2)...3 { tape.sent(String(decoding: piece, as: UTF8.self), at: ms) }
        tape.ended(.close, at: 4)
        let pieces = tape.lines.compactMap { line in
            if case .body(let bytes) = line.what { bytes } else { nil }
        }
        #expect(pieces.allSatisfy { $0.count <= RecorderLimits.pieceBytesMax })
        #expect(Array(pieces.joined()) == piece + piece)
        #expect(tape.text.last == "4 1 complete")
    }

    @Test func `what is kept of all connections has a bound, and room is given back`() {
        var tape = Tape()
        let piece = String(repeating: "x", count: 4 << 20)
        func open(_ index: Int, at ms: Int64) -> ConnectionID {
            let id = ConnectionID(serial: UInt64(index), slot: UInt32(index))
            tape.received(Self.get, on: id, at: ms)
            tape.sent(Self.head, on: id, at: ms)
            tape.sent(piece, on: id, at: ms)
            return id
        }
        let ids = (1...9).map { open($0, at: 1) }
        #expect(tape.text.filter { $0.hasSuffix("unrecorded") } == ["1 9 unrecorded"])
        tape.ended(.left, ids[0], at: 2)
        for index in 10...11 { _ = open(index, at: 3) }
        #expect(
            tape.text.filter { $0.hasSuffix("unrecorded") } == ["1 9 unrecorded", "3 11 unrecorded"])
    }

    @Test func `a line that goes on as a stamp does is not kept for ever`() {
        var tape = Tape()
        tape.received(Self.get, at: 0)
        tape.sent("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", at: 1)
        tape.sent(": t=" + String(repeating: "7", count: 30), at: 2)
        #expect(tape.text.last == "2 1 body : t=" + String(repeating: "7", count: 30))
    }

    // MARK: Tokens

    @Test func `no token is told, wherever it stands, and lengths stay`() {
        let token = "6d0a18a864eb212fcec7fcbe057b2f7dacefd8f70f012d5aa6c1077ced58f30e"
        let other = "abcd.efgh-ij_kl"
        var tape = Tape()
        tape.received("POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", at: 0)
        let body = #"{"data":{"authToken":"\#(token)","sseUrl":"/s?token=\#(token)"}}"#
        tape.sent(
            "HTTP/1.1 202 Accepted\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body.prefix(40), at: 1)
        tape.sent(String(body.dropFirst(40)), at: 2)
        tape.received("GET /s?token=\(other) HTTP/1.1\r\nHost: x\r\n\r\n", at: 3)
        tape.sent("HTTP/1.1 200 OK\r\nX-Echo: \(other)\r\nContent-Type: text/event-stream\r\n\r\n", at: 4)
        tape.sent("data: \(token) \(other)\n\n", at: 5)
        let text = tape.text.joined(separator: "\n")
        #expect(!text.contains(token) && !text.contains(other))
        let first = String(repeating: "0", count: 63) + "1"
        #expect(text.contains(#"{"data":{"authToken":"\#(first)","sseUrl":"/s?token=\#(first)"}}"#))
        #expect(text.contains("X-Echo=0000.0000-00_02"))
        #expect(text.contains("body data: \(first) 0000.0000-00_02\n\n"))
    }

    @Test func `a bearer token is told nowhere either`() {
        var tape = Tape()
        tape.received("GET /s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret-of-mine\r\n\r\n", at: 0)
        tape.sent("HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\nsecret-of-mine", at: 1)
        #expect(tape.text.last(where: { $0.contains("body") }) == "1 1 body 000000-00-0001")
    }

    @Test func `a body that comes behind its answer tells nothing more`() {
        var tape = Tape()
        tape.received(
            "POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n", at: 0)
        tape.sent("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", at: 1)
        tape.received("abcd", at: 2)
        tape.received(Self.get, at: 3)
        tape.sent("HTTP/1.1 204 No Content\r\n\r\n", at: 4)
        #expect(
            tape.text == [
                "1 1 POST /up - -", "1 1 400 [] 0", "1 1 complete", "3 2 GET /a D 5", "4 2 204 [] -",
                "4 2 complete",
            ])
    }

    // MARK: Through a server

    @Test func `what a server sent is played again byte for byte`() throws {
        var bench = Bench(jobTime: .milliseconds(500))
        bench.recorder = Recorder()
        let upload = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: upload)
        bench.run(for: .milliseconds(10))
        let job = try Script.member("jobId", of: bench[upload].text)
        let token = try Script.member("authToken", of: bench[upload].text)
        let stream = bench.connect()
        bench.send(
            Script.get("/v3/jobs/scans/\(job)/stream", token: token, .stream), on: stream)
        bench.run(for: .seconds(2))
        let text =
            bench.recorded.reduce(into: RecordingLine.opening(by: "test", began: "now")) { $0 += $1.text }
        var replay = Bench(recording: try Recording(text))
        let again = replay.connect()
        replay.send(Script.wholeUpload(scan: 9, photoBytes: 77_000), on: again)
        replay.run(for: .milliseconds(10))
        #expect(try Script.member("jobId", of: replay[again].text) == job)
        #expect(try Script.member("authToken", of: replay[again].text) != token)
        let second = replay.connect()
        replay.send(
            Script.get("/v3/jobs/scans/\(job)/stream", token: "any", .stream), on: second)
        replay.run(for: .seconds(2))
        let events = { (text: String) in
            text.split(separator: "\r\n").flatMap { $0.split(separator: "\n") }
                .filter { $0.hasPrefix("id:") || $0.hasPrefix("event:") || $0.hasPrefix("data:") }
        }
        #expect(events(bench[stream].text).count > 9)
        #expect(events(bench[stream].text) == events(replay[second].text))
        #expect(replay[second].isFinished == bench[stream].isFinished)
    }
}
