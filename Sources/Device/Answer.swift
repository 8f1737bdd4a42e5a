import SimBase
import Talaria
import Wire

/// The answer to a request that is not a stream: its head and as much of the body as could be had.
struct Answer: Sendable {
    var head: ReplyHead
    var body: [UInt8]
    /// The body was above its limit and is not here.
    var isTooLarge: Bool
    /// By the phone's wall clock, nanoseconds since 1970: a `Retry-After` may be a date.
    var wallNanoseconds: Int64

    /// What the body says of the problem; with every field absent when it is not such a body.
    var problem: ProblemReading {
        JSON.decode(ProblemReading.self, from: self.body) ?? ProblemReading()
    }

    /// Why a body that should be JSON of the contract could not be read.
    var badness: BadAnswer {
        if self.isTooLarge { return .tooLarge }
        let isJSON = self.head.contentType.isEmpty || self.head.contentType.hasSuffix("json")
        return isJSON && !self.head.isEncoded ? .undecodable : .wrongContentType
    }

    /// How long the server asks to wait: `retryAfterMs` of the body, then the header in seconds or as a date. Zero is an
    /// answer: at once, as far as the server is concerned. A wait that is negative, unreadable or past is none, and the
    /// next source is asked.
    var serverWait: Interval? {
        let asked = self.problem.retryAfterMs.map { min($0, DeviceLimit.serverWaitMax.wholeMilliseconds) }
        if let asked, asked >= 0 { return .milliseconds(asked) }
        switch self.head.retryAfter.flatMap(RetryAfter.init) {
        case .none:
            return nil
        case .delay(let delay):
            return delay >= .zero ? min(delay, DeviceLimit.serverWaitMax) : nil
        case .date(let date):
            // The date names a whole second: wait to its very beginning, not to the millisecond before.
            let (seconds, rest) = self.wallNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            let wait = min(.seconds(date - seconds), DeviceLimit.serverWaitMax) - .nanoseconds(rest)
            return wait > .zero ? wait : nil
        }
    }
}

/// A problem body as far as a phone acts on it. Read field by field, because error bodies are the least reliable part of
/// any backend (CONTRACT.md section 1.7): a missing `success` must not cost us the `retryAfterMs`.
struct ProblemReading: Decodable, Hashable, Sendable {
    var code: String?
    var retryable: Bool?
    var retryAfterMs: Int64?

    private enum Key: String, CodingKey { case code, retryable, retryAfterMs, error }
    private enum NestedKey: String, CodingKey { case code, retryable }

    init() {}

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.code = try? fields.decode(String.self, forKey: .code)
        self.retryable = try? fields.decode(Bool.self, forKey: .retryable)
        self.retryAfterMs = try? fields.decode(Int64.self, forKey: .retryAfterMs)
        // The nested form of one dialect (CONTRACT.md section 2.6).
        let nested = try? fields.nestedContainer(keyedBy: NestedKey.self, forKey: .error)
        if self.code == nil { self.code = try? nested?.decode(String.self, forKey: .code) }
        if self.retryable == nil { self.retryable = try? nested?.decode(Bool.self, forKey: .retryable) }
    }
}

/// Checks of text that a server gave and that goes on to a header, a target, a report.
enum ServerText {
    /// A code as it may be shown, else `fallback`.
    static func code(_ text: String?, fallback: String) -> String {
        guard let text, Self.isCode(text) else { return fallback }
        return text
    }

    /// Whether it may be shown as a code: letters, digits and what joins them.
    static func isCode(_ text: String) -> Bool {
        (1...DeviceLimit.codeBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// Whether it may stand in a header: visible ASCII only.
    static func isToken(_ text: String) -> Bool {
        (1...DeviceLimit.tokenBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether it may be sent back as `Last-Event-ID`: no control characters.
    static func isEventID(_ text: String) -> Bool {
        text.utf8.count <= DeviceLimit.eventIDBytesMax
            && !text.contains(byte: { $0.less(0x20) | $0.equal(0x7F) })
    }

    /// Whether it may be the target of a request: an absolute path, or an absolute HTTP URL.
    static func isTarget(_ text: String) -> Bool {
        (1...DeviceLimit.targetBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
            && (Self.isPath(text) || Self.origin(text) != nil)
    }

    /// Whether it is a path on the target's base. `//host/` would be another host.
    static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && !text.hasPrefix("//")
    }

    /// Scheme and authority of an absolute URL.
    static func origin(_ text: String) -> Substring? {
        for scheme in ["https://", "http://"] where text.hasPrefix(scheme) {
            let authority = text.dropFirst(scheme.count).prefix(while: { $0 != "/" && $0 != "?" })
            return authority.isEmpty ? nil : text.prefix(scheme.count + authority.count)
        }
        return nil
    }
}
