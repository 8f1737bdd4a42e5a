package import Gateway
package import SimBase
import Talaria
import Wire

/// Records the responses on a server's connections, as they were sent to the clients, with their times, for
/// `RecordingPlayer`. Tokens are replaced by digits.
package struct Recorder: Sendable {
    private struct Track: Sendable {
        var requests = RequestReader(limits: .standard)
        var responses = ResponseReader()
        /// The answer was 101: what the client sends are frames.
        var isSwitched = false
        /// The first is being answered; what is after it was sent ahead of its turn.
        var exchanges: [RecordedExchange] = []
    }

    private var tracks: [ConnectionID: Track] = [:]
    private var exchangesMade: UInt64 = 0
    private var redaction = TokenRedaction()
    /// Bytes of answers that are reported when they are complete, on all connections.
    private var heldBytes = 0

    package init() {}

    /// Bytes came from a client.
    package mutating func received(
        _ bytes: ArraySlice<UInt8>, on connection: ConnectionID, at now: Instant,
        into lines: inout [RecordingLine]
    ) {
        var track = self.tracks.removeValue(forKey: connection) ?? Track()
        defer { self.tracks[connection] = track }
        guard !track.isSwitched else { return }
        var events: [RequestEvent] = []
        // What cannot be read is answered, and the answer is reported.
        try? track.requests.receive(bytes, into: &events)
        while track.requests.hasLeftOver {
            let count = events.count
            try? track.requests.receive([], into: &events)
            if events.count == count { break }
        }
        for event in events {
            switch event {
            case .head(let head):
                self.exchangesMade += 1
                self.redaction.learn(from: head)
                track.exchanges.append(RecordedExchange(number: self.exchangesMade, head: head))
            case .body: break
            case .end:
                // An answer may be complete before its request is: then nothing more is reported of the
                // request.
                guard let last = track.exchanges.indices.last else { continue }
                track.exchanges[last].asked(at: now, into: &lines)
            }
        }
    }

    /// Bytes were passed to a client.
    package mutating func sent(
        _ bytes: [UInt8], on connection: ConnectionID, at now: Instant, into lines: inout [RecordingLine]
    ) {
        guard var track = self.tracks.removeValue(forKey: connection) else { return }
        defer { self.tracks[connection] = track }
        var events: [ResponseEvent] = []
        track.responses.isForUpgrade = track.exchanges.first?.isUpgrade == true
        try? track.responses.receive(bytes[...], into: &events)
        for event in events { self.add(event, to: &track, at: now, into: &lines) }
    }

    /// The connection is over, or out of the server's hands.
    package mutating func ended(
        _ end: RecordedEnd, _ connection: ConnectionID, at now: Instant, into lines: inout [RecordingLine]
    ) {
        guard var track = self.tracks.removeValue(forKey: connection) else { return }
        if end == .close {
            // A body may be delimited by the end of its connection.
            var events: [ResponseEvent] = []
            try? track.responses.finish(into: &events)
            for event in events { self.add(event, to: &track, at: now, into: &lines) }
        }
        for index in track.exchanges.indices {
            self.heldBytes -= track.exchanges[index].heldBytes
            track.exchanges[index].ended(end, at: now, &self.redaction, into: &lines)
        }
    }

    private mutating func add(
        _ event: ResponseEvent, to track: inout Track, at now: Instant, into lines: inout [RecordingLine]
    ) {
        guard !track.exchanges.isEmpty else { return }
        switch event {
        case .head(let status, let headers):
            track.isSwitched = status == 101
            track.exchanges[0].answered(status, headers, at: now, &self.redaction, into: &lines)
            if track.exchanges[0].isBodiless { self.end(&track, at: now, into: &lines) }
        case .body(let piece):
            self.heldBytes -= track.exchanges[0].heldBytes
            let room = RecorderLimits.heldBytesMax - self.heldBytes
            track.exchanges[0].add(piece, room: room, at: now, &self.redaction, into: &lines)
            self.heldBytes += track.exchanges[0].heldBytes
        case .end: self.end(&track, at: now, into: &lines)
        }
    }

    private mutating func end(
        _ track: inout Track, at now: Instant, into lines: inout [RecordingLine]
    ) {
        self.heldBytes -= track.exchanges[0].heldBytes
        track.exchanges[0].ended(.complete, at: now, &self.redaction, into: &lines)
        track.exchanges.removeFirst()
        track.responses = ResponseReader()
    }
}

/// The numbers that bound what a recording keeps in memory.
package enum RecorderLimits {
    /// The maximum size of one response: the longest that a phone reads. The body of a longer one is omitted,
    /// which the recording reports.
    package static let answerBytesMax = 4 << 20
    /// The maximum size of the held responses of all connections together.
    package static let heldBytesMax = 32 << 20
    /// The maximum size of one line of the recording, before it is encoded.
    package static let pieceBytesMax = 64 * 1_024
}

/// One request and its answer on their way into a recording.
private struct RecordedExchange: Sendable {
    private enum Body: Sendable {
        /// Recorded piece by piece, without the timestamps of the server's own clock.
        case stream(StampFilter)
        /// The text messages of a WebSocket, and its close frame. Pings and pongs are of the connection, and the simulated backend
        /// has its clock in some.
        case messages(WebSocketBlockReader)
        /// Recorded when it is complete: its token is known only then.
        case whole([UInt8])
        /// Too long to be kept, which has been reported. Its content is not reported: it may contain tokens.
        case leftOut
    }

    private let number: UInt64
    private let head: RequestHead
    /// Whether it asks for a WebSocket.
    let isUpgrade: Bool
    private var isAsked = false
    private var body = Body.whole([])
    private var lastAt = Instant.zero

    init(number: UInt64, head: RequestHead) {
        self.number = number
        self.head = head
        self.isUpgrade = head.headers.list("Upgrade", contains: "websocket")
    }

    /// The size of the data that is not recorded yet.
    var heldBytes: Int {
        if case .whole(let bytes) = self.body { bytes.count } else { 0 }
    }

    /// Whatever its head says of a body.
    var isBodiless: Bool { self.head.method == "HEAD" }

    mutating func asked(at now: Instant, into lines: inout [RecordingLine]) {
        guard !self.isAsked else { return }
        self.isAsked = true
        self.append(
            .request(
                method: self.head.method, path: self.path,
                deviceID: self.head.headers[HeaderName.deviceID],
                lastEventID: self.head.headers[HeaderName.lastEventID]), at: now, into: &lines)
    }

    /// That of a WebSocket names its job in the query. The rest of a query may hold a token.
    private var path: String {
        guard self.head.path == ProgressSocket.path,
            let job = ProgressSocket.field("jobId", in: self.head.query).map(String.init),
            Endpoint.isJobID(job)
        else { return self.head.path }
        return ProgressSocket.target(job)
    }

    mutating func answered(
        _ status: Int, _ headers: HeaderFields, at now: Instant, _ redaction: inout TokenRedaction,
        into lines: inout [RecordingLine]
    ) {
        self.asked(at: now, into: &lines)
        let type = headers["Content-Type"]?.lowercased() ?? ""
        if type.hasPrefix("text/event-stream") { self.body = .stream(StampFilter()) }
        if status == 101 {
            self.body = .messages(WebSocketBlockReader(bytesMax: RecorderLimits.answerBytesMax))
        }
        let told = headers.fields.filter { !Self.ofConnection.contains($0.name.lowercased()) }
        let named = told.map { HeaderField($0.name, redaction.redact($0.value)) }
        self.append(
            .head(status: status, headers: named, length: headers["Content-Length"].flatMap { Int($0) }),
            at: now, into: &lines)
    }

    /// The headers that the replaying server writes itself.
    private static let ofConnection: Set = [
        "connection", "keep-alive", "transfer-encoding", "content-length", "date", "upgrade",
        "sec-websocket-accept", "sec-websocket-protocol",
    ]

    /// `room`: for what is kept of this answer.
    mutating func add(
        _ piece: ArraySlice<UInt8>, room: Int, at now: Instant, _ redaction: inout TokenRedaction,
        into lines: inout [RecordingLine]
    ) {
        self.lastAt = now
        switch self.body {
        case .whole(var bytes):
            self.body = .leftOut
            guard bytes.count + piece.count <= min(room, RecorderLimits.answerBytesMax) else {
                return self.append(.end(.unrecorded), at: now, into: &lines)
            }
            bytes += piece
            self.body = .whole(bytes)
        case .leftOut: break
        case .messages(var reader):
            self.body = .leftOut
            var blocks: [WebSocketBlock] = []
            reader.receive(piece, into: &blocks)
            self.body = .messages(reader)
            for block in blocks { self.add(block, at: now, redaction, into: &lines) }
        case .stream(var filter):
            let told = filter.filter(piece)
            self.body = .stream(filter)
            if !told.isEmpty { self.append(.body(redaction.redact(told)), at: now, into: &lines) }
        }
    }

    private mutating func add(
        _ block: WebSocketBlock, at now: Instant, _ redaction: TokenRedaction,
        into lines: inout [RecordingLine]
    ) {
        guard case .messages = self.body else { return }
        switch block.event {
        case .text(let text): self.append(.body(redaction.redact(Array(text.utf8))), at: now, into: &lines)
        case .close(let close):
            let told = WebSocketClose(close.code, reason: redaction.redact(close.reason))
            self.append(.close(told), at: now, into: &lines)
        case .binary, nil:
            self.body = .leftOut
            self.append(.end(.unrecorded), at: now, into: &lines)
        case .ping, .pong: break
        }
    }

    mutating func ended(
        _ end: RecordedEnd, at now: Instant, _ redaction: inout TokenRedaction,
        into lines: inout [RecordingLine]
    ) {
        // A connection may be cut before its request was complete.
        self.asked(at: now, into: &lines)
        switch self.body {
        case .leftOut: return
        case .whole(let bytes) where !bytes.isEmpty:
            redaction.learn(from: bytes)
            self.append(whole: redaction.redact(bytes), into: &lines)
        case .stream(let filter) where !filter.held.isEmpty:
            self.append(.body(filter.held), at: now, into: &lines)
        case .whole, .stream, .messages: break
        }
        self.append(.end(end), at: now, into: &lines)
    }

    private func append(whole body: [UInt8], into lines: inout [RecordingLine]) {
        for start in stride(from: 0, to: body.count, by: RecorderLimits.pieceBytesMax) {
            let end = min(start + RecorderLimits.pieceBytesMax, body.count)
            self.append(.body(Array(body[start..<end])), at: self.lastAt, into: &lines)
        }
    }

    private func append(_ what: RecordingLine.What, at now: Instant, into lines: inout [RecordingLine]) {
        lines.append(RecordingLine(at: now, exchange: self.number, what))
    }
}

/// Leaves out the comments by which the simulated backend says when it sent an event, `: t=…`: at any other time they
/// would be wrong.
struct StampFilter: Sendable {
    private static let start = Array(": t=".utf8)
    private static let replayed = Array(" replayed".utf8)

    /// A stamp has no more digits than an Int64.
    private static let digitsMax = 20

    /// The beginning of a line that may yet become a stamp.
    private(set) var held: [UInt8] = []
    private var isLineStart = true

    mutating func filter(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var told: [UInt8] = []
        told.reserveCapacity(bytes.count)
        for byte in bytes {
            let isLineFeed = byte == UInt8(ascii: "\n")
            guard self.isLineStart else {
                told.append(byte)
                self.isLineStart = isLineFeed
                continue
            }
            if isLineFeed, Self.isStamp(self.held) {
                self.held = []
                continue
            }
            self.held.append(byte)
            if Self.isBeginning(self.held) { continue }
            told += self.held
            self.held = []
            self.isLineStart = isLineFeed
        }
        return told
    }

    private static func isStamp(_ line: [UInt8]) -> Bool {
        guard line.starts(with: self.start) else { return false }
        let rest = line.dropFirst(self.start.count).drop { Self.isDigit($0) }
        return rest.isEmpty || Array(rest) == self.replayed
    }

    private static func isBeginning(_ line: [UInt8]) -> Bool {
        guard line.count > self.start.count else { return self.start.starts(with: line) }
        guard line.starts(with: self.start) else { return false }
        let rest = line.dropFirst(self.start.count).drop { Self.isDigit($0) }
        guard line.count - self.start.count - rest.count <= self.digitsMax else { return false }
        return self.replayed.starts(with: rest)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
