internal import OriginServer
internal import SimBase
internal import Talaria

extension OriginReply {
    /// The answer with an error of v2. A wait is in `Retry-After`, rounded up to seconds, and where the code has it in the body.
    static func v2(
        _ code: V2ErrorCode, _ message: String, _ headers: [HeaderField], after wait: Interval?
    ) -> OriginReply {
        var headers = headers + [HeaderField("Content-Type", "application/json")]
        let seconds = wait.map { max(1, ($0.nanoseconds + 999_999_999) / 1_000_000_000) }
        if let seconds { headers.append(HeaderField(HeaderName.retryAfter, String(seconds))) }
        if code == .unauthorized { headers.append(HeaderField("WWW-Authenticate", "Bearer")) }
        let body = V2Envelope.failure(
            code, message, retryAfterSeconds: code == .rateLimitExceeded ? seconds : nil,
            retryAfterMilliseconds: code == .circuitOpen ? seconds.map { $0 * 1_000 } : nil)
        return OriginReply(status: code.status, headers: headers, body: body)
    }
}
