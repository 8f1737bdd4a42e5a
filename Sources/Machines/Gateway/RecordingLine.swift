package import Faults
import JSON
package import SimBase
package import Talaria

/// How an answer of a recording ended.
package enum RecordedEnd: String, Codable, Hashable, Sendable {
    /// As HTTP says it is complete.
    case complete
    /// The server closed the connection inside it (FIN).
    case close
    /// The server reset it.
    case reset
    /// It went silent: half-open.
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

    /// How the server has to end it; nil where nothing is known to follow.
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
        /// Without the fields that are of one connection only. `length`: what `Content-Length` says.
        case head(status: Int, headers: [HeaderLine], length: Int?)
        /// A piece of the answer's body, as it was handed to the client.
        case body([UInt8])
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
        JSON.encode(Opening(recording: self.version, by: command, began: began)) + [UInt8(ascii: "\n")]
    }

    /// One line of JSON with its line feed. Times are nanoseconds from the start of the server.
    package var text: [UInt8] {
        var fields = Fields(t: (self.at - Instant.zero).nanoseconds, exchange: self.exchange)
        switch self.what {
        case .request(let method, let path, let deviceID, let lastEventID):
            fields.request = .init(method: method, path: path, device: deviceID, lastEventID: lastEventID)
        case .head(let status, let headers, let length):
            fields.head = .init(
                status: status, headers: headers.map { [$0.name, $0.value] }, length: length)
        case .body(let bytes):
            if let text = String(validating: bytes, as: UTF8.self) {
                fields.body = text
            } else {
                fields.hex = bytes.map { Hexadecimal.text(UInt64($0), digits: 2) }.joined()
            }
        case .end(let end): fields.end = end
        }
        return JSON.encode(fields) + [UInt8(ascii: "\n")]
    }

    /// A moment beyond is in no recording: ten years from its begin.
    private static let moments = 0...Interval.hours(24 * 365 * 10).nanoseconds
    /// No answer is longer, whatever an upstream said that was recorded.
    private static let lengthMax = 1 << 40

    /// Nil for a text that is no such line.
    package static func read(_ text: [UInt8]) -> RecordingLine? { RecordingLine(text[...]) }

    init?(_ text: ArraySlice<UInt8>) {
        guard let fields = JSON.decode(Fields.self, from: Array(text)), Self.moments.contains(fields.t) else {
            return nil
        }
        let what: What
        if let request = fields.request {
            what = .request(
                method: request.method, path: request.path, deviceID: request.device,
                lastEventID: request.lastEventID)
        } else if let head = fields.head {
            guard (200...999).contains(head.status), head.headers.allSatisfy({ $0.count == 2 }),
                head.length ?? 0 >= 0
            else { return nil }
            let headers = head.headers.compactMap { line in
                line.first.flatMap { name in line.last.map { HeaderLine(name, $0) } }
            }
            let length = head.length.map { min($0, Self.lengthMax) }
            what = .head(status: head.status, headers: headers, length: length)
        } else if let body = fields.body {
            what = .body(Array(body.utf8))
        } else if let hex = fields.hex {
            guard let bytes = Self.bytes(hex) else { return nil }
            what = .body(bytes)
        } else if let end = fields.end {
            what = .end(end)
        } else {
            return nil
        }
        self.init(at: Instant.zero + Interval(nanoseconds: fields.t), exchange: fields.exchange, what)
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

    struct Opening: Codable {
        var recording: Int
        var by: String
        var began: String
    }

    private struct Fields: Codable {
        struct Request: Codable {
            var method: String
            var path: String
            var device: String?
            var lastEventID: String?
        }
        struct Head: Codable {
            var status: Int
            var headers: [[String]]
            var length: Int?
        }
        var t: Int64
        var exchange: UInt64
        var request: Request?
        var head: Head?
        var body: String?
        /// Of a piece that is not UTF-8, for instance one that ends inside a character.
        var hex: String?
        var end: RecordedEnd?
    }
}
