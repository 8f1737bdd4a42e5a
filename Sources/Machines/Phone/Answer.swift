import Observations
import SimBase
import Talaria
import Wire

/// The answer to a request that is not a stream: its head and as much of the body as could be had.
struct Answer: Sendable {
    var head: ReplyHead
    var body: [UInt8]
    /// The body was above its limit and is not here.
    var isTooLarge: Bool
    /// The rest of the body was lost on its way, or not waited for.
    let isCut: Bool
    /// Whether `Retry-After` counts where a problem document names no wait.
    let usesHeader: Bool
    let prefersHeader: Bool
    /// The wait of an open circuit that names none.
    let circuitDefault: Interval?
    /// The phone's wall clock in nanoseconds since 1970: a `Retry-After` may be a date.
    var wallNanoseconds: Int64
    /// The code of a 401 for a token that is too old. v2 has one code for every 401 (Docs/contract.md section 3.1).
    private let expiryCode: ProblemCode
    /// The problem in the body of a 4xx or 5xx response; all fields are absent if it has none, or if the client reads none.
    let problem: ProblemReading
    /// The deviations from the contract, as far as the response has been read.
    var notes = ContractNotes()

    /// `isCut`: the rest of the body was lost on its way, which is not a deviation of the backend.
    init(
        head: ReplyHead, body: [UInt8], isTooLarge: Bool, isCut: Bool, journey: Journey = .scan,
        problems: ProblemReadingPolicy, waits: WaitPolicy, wallNanoseconds: Int64
    ) {
        self.usesHeader = waits.usesHeader
        self.prefersHeader = waits.prefersHeader
        self.circuitDefault = waits.circuitDefault
        self.expiryCode = journey.version.code(.tokenExpired)
        self.head = head
        self.body = body
        self.isTooLarge = isTooLarge
        self.isCut = isCut
        self.wallNanoseconds = wallNanoseconds
        if let text = head.retryAfter, RetryAfter(text) == nil {
            self.notes.add(
                "header Retry-After", expected: "seconds or a date", seen: "another text", excerpt: text)
        }
        guard (400...599).contains(head.status), !isTooLarge, problems == .decoded else {
            self.problem = ProblemReading()
            return
        }
        var notes = self.notes
        self.problem =
            switch journey.version {
            case .v2: ProblemReading.readV2(body, into: &notes)
            case .v3: ProblemReading.read(body, status: head.status, into: &notes)
            }
        if !isCut { self.notes = notes }
    }

    /// What a 401 says of the token. Without a code it counts as expired.
    var tokenEnd: JobEnd {
        guard let code = self.problem.code, code != self.expiryCode.rawValue else { return .tokenExpired }
        return .tokenRefused
    }

    /// Reads the body; nil if it cannot be used, with the reason noted.
    mutating func read<Reading>(
        _ read: ([UInt8], inout ContractNotes) -> Reading?, bytesMax: Int
    ) -> Reading? {
        guard !self.isTooLarge else {
            self.notes.add(
                "body", expected: "at most \(bytesMax) bytes", seen: "a longer one", isDecisive: true)
            return nil
        }
        var notes = self.notes
        let reading = read(self.body, &notes)
        if reading == nil, self.badness == .wrongContentType {
            self.note(.wrongContentType)
            return nil
        }
        self.notes = notes
        if reading != nil, !self.isJSON { self.note(contentType: "application/json", isDecisive: false) }
        return reading
    }

    private var isJSON: Bool { self.head.contentType.isEmpty || self.head.contentType.hasSuffix("json") }

    /// Notes what its head says of why it cannot be used.
    mutating func note(_ bad: BadAnswer) {
        switch bad {
        case .wrongContentType where self.head.isEncoded:
            self.notes.add(
                "header Content-Encoding", expected: "no content coding", seen: "one that was not requested",
                isDecisive: true)
        case .wrongContentType:
            self.note(contentType: "application/json", isDecisive: true)
        case .unexpectedStatus:
            self.notes.add(
                "status", expected: Self.anyStatus, seen: "\(self.head.status)", isDecisive: true)
        case .tooLarge, .undecodable, .notSuccess, .overlongStream, .badHandshake, .badFrame:
            break  // Noted where the body is read.
        }
    }

    /// The notes, and what the contract does not define of the head.
    func deviations(for operation: Operation, of journey: Journey) -> ContractNotes {
        var notes = self.notes
        let hasNotedStatus = notes.notes.contains { $0.path == "status" && $0.expected == Self.anyStatus }
        if !hasNotedStatus, let contract = journey.contract(of: operation),
            !contract.has(status: self.head.status)
        {
            notes.add("status", expected: Self.anyStatus, seen: "\(self.head.status)")
        }
        let type = self.head.contentType
        if (400...599).contains(self.head.status), !type.isEmpty, type != journey.version.problemType {
            notes.add(
                "header Content-Type", expected: journey.version.problemType, seen: "another type",
                excerpt: type)
        }
        return notes
    }

    private static let anyStatus = "a status of the contract"

    /// Notes what deviates in the answer to the DELETE of a job of v2, from which nothing is needed.
    mutating func noteCanceled() {
        guard self.head.status == 200, !self.isTooLarge else { return }
        CanceledReading.note(self.body, into: &self.notes)
        if !self.isJSON { self.note(contentType: Contract.jsonType, isDecisive: false) }
    }

    mutating func note(contentType: String, isDecisive: Bool) {
        self.notes.add(
            "header Content-Type", expected: contentType,
            seen: self.head.contentType.isEmpty ? "missing" : "another type",
            excerpt: self.head.contentType.isEmpty ? nil : self.head.contentType, isDecisive: isDecisive)
    }

    /// Why a body that should be JSON of the contract could not be read.
    var badness: BadAnswer {
        if self.isTooLarge { return .tooLarge }
        return self.isJSON && !self.head.isEncoded ? .undecodable : .wrongContentType
    }

    /// Why the data of an answer is not that of the requested job; nil if it is. Noted as a deviation.
    mutating func objection(success: Bool?, jobId: String?, to requested: String) -> BadAnswer? {
        guard success != false else {
            self.notes.add("success", expected: "true", seen: "false", isDecisive: true)
            return .notSuccess
        }
        // What belongs to another job is not this scan's.
        guard let jobId, jobId != requested else { return nil }
        self.notes.add(
            "data.jobId", expected: "the requested job", seen: "another job", excerpt: jobId,
            isDecisive: true)
        return .undecodable
    }
}

/// Checks of text that a server gave and that continues to a header, a target, a report.
enum ServerText {
    /// A code as it may be shown, else `fallback`.
    static func code(_ text: String?, fallback: String) -> String {
        guard let text, Self.isCode(text) else { return fallback }
        return text
    }

    /// Whether it may be shown as a code: letters, digits and what joins them.
    static func isCode(_ text: String) -> Bool {
        (1...AppLimits.codeBytesMax).contains(text.utf8.count)
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

    /// Whether it is allowed in a header: visible ASCII only.
    static func isToken(_ text: String) -> Bool {
        (1...AppLimits.tokenBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The text as a value in a query: what is not unreserved is escaped (RFC 3986 section 2.3).
    static func queryValue(_ text: String) -> String {
        ByteBuilder.text { value in
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: "_"), UInt8(ascii: "~"):
                    value.append(byte)
                default:
                    value.append(UInt8(ascii: "%"))
                    value.append(Self.digits[Int(byte >> 4)])
                    value.append(Self.digits[Int(byte & 0xF)])
                }
            }
        }
    }

    /// Whether it may be sent back as `Last-Event-ID`: no control characters.
    static func isEventID(_ text: String) -> Bool {
        text.utf8.count <= AppLimits.eventIDBytesMax
            && !text.contains(byte: { $0.less(0x20) | $0.equal(0x7F) })
    }

    /// Whether it may be the target of a request: an absolute path, or an absolute HTTP URL.
    static func isTarget(_ text: String) -> Bool {
        (1...AppLimits.targetBytesMax).contains(text.utf8.count)
            && !text.contains {
                $0.less(0x21) | $0.equal(0x7F) | $0.equal(UInt8(ascii: "#")) | $0.beyondASCII
            }
            && (Self.isPath(text) || Self.origin(text) != nil)
    }

    /// An address as it may be shown: its query may hold a token.
    static func shown(address: String) -> String {
        String(address.prefix { $0 != "?" })
    }

    /// Whether it is a path on the target's base. `//host/` would be another host.
    static func isPath(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "/") && text.utf8.dropFirst().first != UInt8(ascii: "/")
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
