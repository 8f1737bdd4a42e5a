import JSON
import Talaria
import Wire

/// Replaces tokens by digits of the same shape: every letter and digit of them becomes a digit, and together they are the
/// token's ordinal. So lengths stay true, and equal tokens stay equal.
struct TokenRedaction: Sendable {
    /// The keys of a token (Docs/contract.md section 1.2, with the names of other dialects).
    private static let keys = ["authToken", "token", "accessToken", "oldToken", "sseToken"]
    private static let parameters = ["token", "access_token"]
    /// Tokens that are remembered; the oldest goes first.
    private static let tokensMax = 10_000
    /// Shorter texts are not secret, and would be found everywhere.
    private static let tokenBytesMin = 8

    private var ordinals: [String: Int] = [:]
    private var order: [String] = []
    private var oldest = 0

    /// The token that a request shows.
    mutating func learn(from head: RequestHead) {
        for name in Self.parameters {
            if let token = head.queryValue(name) { self.learn(token) }
        }
        if let token = head.headers[HeaderName.otherToken] { self.learn(token) }
        for name in head.headers.list("Sec-WebSocket-Protocol")
        where name.hasPrefix(ProgressSocket.subprotocolPrefix) {
            self.learn(String(name.dropFirst(ProgressSocket.subprotocolPrefix.count)))
        }
        guard let value = head.headers[HeaderName.authorization],
            let token = value.split(separator: " ", maxSplits: 1).last
        else { return }
        self.learn(String(token))
    }

    /// The tokens that an answer hands out.
    mutating func learn(from body: [UInt8]) {
        guard var object = JSONObjectText(body) else { return self.learn(fromPart: body) }
        var found: [String] = []
        _ = object.changeStrings(under: Self.keys) { token in
            found.append(token)
            return nil
        }
        for token in found { self.learn(token) }
    }

    /// A body that is not JSON, such as one that was cut: the text behind each key, as far as it came.
    private mutating func learn(fromPart body: [UInt8]) {
        for key in Self.keys {
            var rest = body[...]
            while let found = rest.firstRange(of: Array("\"\(key)\"".utf8)) {
                rest = rest[found.upperBound...]
                let value = rest.drop { Self.isSpace($0) || $0 == UInt8(ascii: ":") }
                guard value.first == UInt8(ascii: "\"") else { continue }
                let text = value.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
                self.learn(String(decoding: text, as: UTF8.self))
            }
        }
    }

    /// RFC 8259 section 2.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }

    private mutating func learn(_ token: String) {
        guard token.utf8.count >= Self.tokenBytesMin, self.ordinals[token] == nil else { return }
        self.order.append(token)
        self.ordinals[token] = self.order.count
        if self.order.count - self.oldest > Self.tokensMax {
            self.ordinals[self.order[self.oldest]] = nil
            self.order[self.oldest] = ""
            self.oldest += 1
        }
    }

    func redact(_ text: String) -> String {
        String(decoding: self.redact(Array(text.utf8)), as: UTF8.self)
    }

    func redact(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for run in Self.runs(in: bytes[...], of: Self.isOfToken) {
            if self.replace(run, in: &bytes) { continue }
            // A token may follow a slash or an equals sign that is not part of it.
            for part in Self.runs(in: bytes[run], of: Self.isOfSegment) { _ = self.replace(part, in: &bytes) }
        }
        return bytes
    }

    private func replace(_ run: Range<Int>, in bytes: inout [UInt8]) -> Bool {
        guard let ordinal = self.ordinals[String(decoding: bytes[run], as: UTF8.self)] else { return false }
        bytes.replaceSubrange(run, with: Self.digits(of: ordinal, like: bytes[run]))
        return true
    }

    /// Returns the ranges of texts that may be tokens, so that each is looked up once.
    private static func runs(in bytes: ArraySlice<UInt8>, of isMember: (UInt8) -> Bool) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start: Int?
        func end(at index: Int) {
            // Kept one by one, what is too short for a token could be larger than the text.
            if let first = start, index - first >= Self.tokenBytesMin { runs.append(first..<index) }
            start = nil
        }
        for index in bytes.indices {
            if isMember(bytes[index]) { start = start ?? index } else { end(at: index) }
        }
        end(at: bytes.endIndex)
        return runs
    }

    /// RFC 6750 section 2.1.
    private static func isOfToken(_ byte: UInt8) -> Bool {
        self.isOfSegment(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
    }

    private static func isOfSegment(_ byte: UInt8) -> Bool {
        self.isAlphanumeric(byte) || "-._~+".utf8.contains(byte)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "A") < 26
    }

    private static func digits(of ordinal: Int, like token: ArraySlice<UInt8>) -> [UInt8] {
        var left = ordinal
        var digits = Array(token)
        for index in digits.indices.reversed() where self.isAlphanumeric(digits[index]) {
            digits[index] = UInt8(ascii: "0") + UInt8(left % 10)
            left /= 10
        }
        return digits
    }
}
