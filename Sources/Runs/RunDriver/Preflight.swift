import CurlLoop
import EventLoop
import SimBase
import SystemIO
import Talaria
import Wire

/// One request before any load, so that a dead target is found before phones run against it.
final class Preflight: TransferDelegate {
    /// The time that the target has to answer.
    static let patience = Interval.seconds(5)
    private static let bodyBytesMax = 4_096

    private let loop: Loop
    private let pool: CurlPool
    private var head: ResponseHead?
    private var body: [UInt8] = []
    private var end: TransferEnd?

    private init(loop: Loop, target: CurlTarget) {
        self.loop = loop
        self.pool = CurlPool(loop: loop, target: target, phones: 1)
        self.pool.delegate = self
    }

    /// Answers the head and the beginning of the body, or why there is none.
    static func ask(
        _ url: String, headers: [HeaderField], target: CurlTarget, loop: Loop
    ) -> Result<PreflightAnswer, PreflightFailure> {
        let preflight = Preflight(loop: loop, target: target)
        let transfer = preflight.pool.start(
            TransferRequest(
                phone: 0, method: .get, url: url, headers: headers, body: .none, receiveBuffer: .reply))
        let isDone = loop.turn(
            until: { preflight.isEnough || Interruption.isRequested }, atMost: Self.patience)
        let stats = preflight.end?.stats ?? preflight.pool.stats(of: transfer)
        if preflight.end == nil { preflight.pool.cancel(transfer) }
        preflight.pool.hangUp(phone: 0, by: .fin)
        if let failure = preflight.end?.failure { return .failure(PreflightFailure(failure)) }
        guard isDone, let head = preflight.head else {
            return .failure(
                PreflightFailure(
                    text: "no answer within \(Self.patience.nanoseconds / 1_000_000_000) s", hint: nil))
        }
        return .success(
            PreflightAnswer(
                head: head, body: String(decoding: preflight.body, as: UTF8.self),
                isHTTP2: stats?.httpVersion == 20))
    }

    /// An event stream may never end.
    private var isEnough: Bool {
        self.end != nil || self.body.count >= Self.bodyBytesMax
            || self.head.map { PreflightAnswer(head: $0, body: "", isHTTP2: false).isEventStream } ?? false
    }

    func transfer(_ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant) {
        self.head = head
    }

    func transfer(_ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant) {
        self.body += bytes.prefix(max(0, Self.bodyBytesMax - self.body.count))
    }

    func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant) {
        self.end = end
    }
}

/// Why there is no answer.
struct PreflightFailure: Error {
    var text: String
    var hint: String?

    init(text: String, hint: String?) {
        self.text = text
        self.hint = hint
    }

    init(_ failure: TransferFailure) {
        // libcurl knows the target by the phone's alias.
        let message = failure.message.replacing(CurlPool.alias(ofPhone: 0), with: "the target,")
        self.text = message
        switch failure.kind {
        case .tls:
            self.text = "TLS: \(message)"
            self.hint = "to trust a private certificate authority, use --cacert FILE"
        case .connectRefused: self.text = "connection refused"
        case .connectTimedOut: self.text = "no connection within the time limit"
        case .connectFailed:
            // libcurl's message names the target and the failure twice.
            let reason = failure.systemCode == 0 ? "" : ": " + SystemError.text(of: failure.systemCode)
            self.text = "cannot connect" + reason
        case .malformed: self.text = "the response is not valid HTTP/1.1: \(message)"
        case .nameNotResolved, .reset, .closedBeforeReply, .closedEarly, .timedOut, .descriptorsExhausted,
            .noPath, .foreignURL, .other:
            break
        }
    }
}

struct PreflightAnswer {
    var head: ResponseHead
    /// The beginning of the body.
    var body: String
    var isHTTP2: Bool

    private var type: String {
        let type = self.head.headers["Content-Type"]?.split(separator: ";").first ?? ""
        return type.lowercased().filter { !$0.isWhitespace }
    }

    var isEventStream: Bool { self.type == "text/event-stream" }

    /// Why this cannot be Talaria's answer to a phone that requests the stream of an unknown job: that would be a problem
    /// document (RFC 9457) or another JSON, and of a lenient backend a stream. `takesAnyError`: the scenario does not insist on the
    /// form of errors.
    func contradiction(takesAnyError: Bool) -> PreflightFailure? {
        let status = self.head.status
        if (300..<400).contains(status) {
            let destination =
                self.head.headers["Location"].map { " to \(Printable.line($0, bytesMax: 200))" } ?? ""
            return PreflightFailure(
                text: "it redirects\(destination) (status \(status))",
                hint: "phones do not follow redirects; use the final URL")
        }
        guard !self.isEventStream, self.type != "application/json", !self.type.hasSuffix("+json") else {
            return nil
        }
        let type = self.type.isEmpty ? "no content type" : Printable.line(self.type, bytesMax: 100)
        if takesAnyError, (400..<500).contains(status), status != 407 { return nil }
        switch status {
        case 401, 403, 407:
            return PreflightFailure(
                text: "it requires credentials (status \(status), \(type))",
                hint: "pass the credentials of a gateway with --header; \(Self.otherForm)")
        case 502...504:
            return PreflightFailure(
                text: "its gateway cannot reach the backend (status \(status), \(type))", hint: nil)
        default:
            return PreflightFailure(
                text: "it is not Talaria (expected JSON, got status \(status), \(type))",
                hint: "check the base path of the URL; \(Self.otherForm)")
        }
    }

    private static let otherForm =
        "for a Talaria whose errors are not in the contract's form, use --set 'trial.lenient=[\(TargetRule.errorForm.id)]'"
}
