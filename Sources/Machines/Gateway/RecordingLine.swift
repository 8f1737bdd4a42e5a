package import Faults
import JSON
package import SimBase
package import Wire

/// The end of a recorded response.
package enum RecordedEnd: String, Hashable, Sendable {
    /// Complete according to HTTP.
    case complete
    /// The server closed the connection inside it (FIN).
    case close
    /// The server reset it.
    case reset
    /// Silent: half open.
    case silence
    /// The client left first; what would have followed is not known.
    case left
    /// Its body was too long to be recorded, and is left out.
    case unrecorded

    package init(_ ending: CutEnding) {
        self =
            switch ending {
            case .reset: .reset
            case .close: .close
            case .silence: .silence
            }
    }

    /// The way in which the server must end it; nil if the end is unknown.
    var cut: CutEnding? {
        switch self {
        case .close: .close
        case .reset: .reset
        case .silence: .silence
        case .complete, .left, .unrecorded: nil
        }
    }
}

/// One thing that happened in a recording, one line of its file.
package struct RecordingLine: Hashable, Sendable {
    package enum What: Hashable, Sendable {
        /// A request is complete, or its answer begins before it is.
        case request(method: String, path: String, deviceID: String?, lastEventID: String?)
        /// The head without the hop-by-hop fields. `length`: the value of `Content-Length`.
        case head(status: Int, headers: [HeaderField], length: Int?)
        /// A piece of the answer's body, as it was passed to the client. Behind a 101, a text message of a WebSocket.
        case body([UInt8])
        /// A close frame of a WebSocket.
        case close(WebSocketClose)
        case end(RecordedEnd)
    }

    package var at: Instant
    /// Which request it belongs to, from 1 in a recording.
    package var exchange: UInt64
    package var what: What

    package init(at: Instant, exchange: UInt64, _ what: What) {
        self.at = at
        self.exchange = exchange
        self.what = what
    }
}

// MARK: As text

extension RecordingLine {
    /// The version of the format, in its first line.
    package static let version = 1

    /// The first line of a file. `began`: RFC 3339.
    package static func opening(by command: String, began: String) -> [UInt8] {
        JSON.object { writer in
            writer.member("began", began)
            writer.member("by", command)
            writer.member("recording", self.version)
        } + [UInt8(ascii: "\n")]
    }

    /// The JSON line with its line feed. Times are nanoseconds from the start of the server. Members are in
    /// the order of their keys, as everywhere in this program.
    package var text: [UInt8] {
        JSON.object { writer in
            if case .body(let bytes) = self.what, let text = String(validating: bytes, as: UTF8.self) {
                writer.member("body", text)
            }
            if case .close(let close) = self.what {
                writer.object("close") { writer in
                    writer.member("code", Int(close.code.rawValue))
                    writer.member("reason", close.reason)
                }
            }
            if case .end(let end) = self.what { writer.member("end", end.rawValue) }
            writer.member("exchange", self.exchange)
            switch self.what {
            case .head(let status, let headers, let length):
                writer.object("head") { writer in
                    writer.array("headers", headers) { writer, line in
                        writer.array([line.name, line.value]) { $0.text($1) }
                    }
                    // A 101 has none, whatever it says (RFC 9110 section 8.6).
                    writer.member("length", length.flatMap { $0 < 0 ? nil : $0 })
                    writer.member("status", status)
                }
            // A piece that is not UTF-8, for instance one that ends inside a character.
            case .body(let bytes) where String(validating: bytes, as: UTF8.self) == nil:
                writer.member("hex", bytes.map { Hexadecimal.text(UInt64($0), digits: 2) }.joined())
            case .request(let method, let path, let deviceID, let lastEventID):
                writer.object("request") { writer in
                    writer.member("device", deviceID)
                    writer.member("lastEventID", lastEventID)
                    writer.member("method", method)
                    writer.member("path", path)
                }
            case .body, .close, .end: break
            }
            writer.member("t", (self.at - Instant.zero).nanoseconds)
        } + [UInt8(ascii: "\n")]
    }

    /// No recording has a later time: ten years from its start.
    private static let moments = 0...Interval.hours(24 * 365 * 10).nanoseconds
    /// The maximum recorded length of a response.
    private static let lengthMax = 1 << 40

    /// Nil for a text that is not such a line.
    package static func read(_ text: [UInt8]) -> RecordingLine? { RecordingLine(text[...]) }

    init?(_ text: ArraySlice<UInt8>) {
        // A body in the text is repeated to clients byte for byte: none is repaired.
        guard String(validating: text, as: UTF8.self) != nil, let line = JSONNode(Array(text)),
            let exchange = try? line.required("exchange", { $0.integer(UInt64.self) }),
            let nanoseconds = try? line.required("t", { $0.integer(Int64.self) }),
            Self.moments.contains(nanoseconds), let what = try? Self.what(line)
        else { return nil }
        self.init(at: Instant.zero + Interval(nanoseconds: nanoseconds), exchange: exchange, what)
    }

    private static func what(_ line: JSONNode) throws(JSONMismatch) -> What {
        let request = try line.optional("request") { request throws(JSONMismatch) -> What in
            .request(
                method: try request.required("method") { $0.text },
                path: try request.required("path") { $0.text },
                deviceID: try request.optional("device") { $0.text },
                lastEventID: try request.optional("lastEventID") { $0.text })
        }
        let head = try line.optional("head") { head throws(JSONMismatch) -> What? in
            let status = try head.required("status") { $0.integer }
            let lines = try head.required("headers") { $0.list { $0.list { $0.text } } }
            let length = try head.optional("length") { $0.integer }
            guard status == 101 || (200...999).contains(status), lines.allSatisfy({ $0.count == 2 }),
                length ?? 0 >= 0
            else { return nil }
            let headers = lines.compactMap { line in
                line.first.flatMap { name in line.last.map { HeaderField(name, $0) } }
            }
            return .head(status: status, headers: headers, length: length.map { min($0, self.lengthMax) })
        }
        let body = try line.optional("body") { $0.text }.map { What.body(Array($0.utf8)) }
        let hex = try line.optional("hex") { $0.text.flatMap { self.bytes($0) } }.map { What.body($0) }
        let close = try line.optional("close") { node throws(JSONMismatch) in try self.close(node) }
        let end = try line.optional("end") { $0.text.flatMap { RecordedEnd(rawValue: $0) } }
        guard let what = request ?? head ?? body ?? hex ?? close ?? end.map({ .end($0) }) else {
            throw JSONMismatch()
        }
        return what
    }

    private static func close(_ node: JSONNode) throws(JSONMismatch) -> What? {
        let code = WebSocketCloseCode(rawValue: try node.required("code") { $0.integer(UInt16.self) })
        let reason = try node.required("reason") { $0.text }
        guard code.isAllowedInFrame ? reason.utf8.count <= WebSocketClose.reasonBytesMax : code == .noStatus
        else { return nil }
        return .close(WebSocketClose(code, reason: code == .noStatus ? "" : reason))
    }

    private static func bytes(_ hex: String) -> [UInt8]? {
        let digits = Array(hex.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
