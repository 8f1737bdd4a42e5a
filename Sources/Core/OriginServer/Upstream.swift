package import SimBase
package import Talaria

/// The head of the upstream's answer.
package struct UpstreamHead: Hashable, Sendable {
    package var status: Int
    /// The headers without the hop-by-hop fields.
    package var headers: [HeaderField]
    /// The value of `Content-Length`.
    package var length: Int?

    package init(status: Int, headers: [HeaderField], length: Int?) {
        self.status = status
        self.headers = headers
        self.length = length
    }

    package func first(_ name: String) -> String? {
        let wanted = name.lowercased()
        return self.headers.first { $0.name.lowercased() == wanted }?.value
    }

    package var mediaType: String {
        let type = self.first("Content-Type")?.split(separator: ";").first.map(String.init) ?? ""
        return type.lowercased().trimmed
    }
}

/// A failure of the upstream. The raw values appear in the header `X-Gateway-Error` and in the log.
package enum UpstreamFailure: String, Error, CaseIterable, Hashable, Sendable {
    case nameNotResolved = "name-not-resolved"
    case connectRefused = "connect-refused"
    case connectFailed = "connect-failed"
    case connectTimedOut = "connect-timed-out"
    case tlsFailed = "tls-failed"
    case descriptorsExhausted = "descriptors-exhausted"
    /// Closed before a byte of its answer.
    case connectionDied = "connection-died"
    case connectionReset = "connection-reset"
    /// Closed inside its answer.
    case truncated
    case notHTTP = "not-http"
    case replyTimedOut = "reply-timed-out"
    case redirect
    case html
    /// An answer that must be rewritten is longer than may be held.
    case tooLarge = "too-large"
    /// A method that is not passed on.
    case notForwarded = "not-forwarded"
    case internalError = "internal-error"

    /// 502 or 504, by who is to blame as far as one can tell.
    package var code: ProblemCode {
        switch self {
        case .connectTimedOut, .replyTimedOut: .providerTimeout
        case .nameNotResolved, .connectRefused, .connectFailed, .tlsFailed, .descriptorsExhausted,
            .connectionDied, .connectionReset, .truncated, .notHTTP, .internalError:
            .networkError
        case .redirect, .html, .tooLarge: .providerError
        case .notForwarded: .featureNotAvailable
        }
    }

    package var text: String {
        switch self {
        case .nameNotResolved: "The upstream's name could not be resolved."
        case .connectRefused: "The upstream refused the connection."
        case .connectFailed: "The connection to the upstream failed."
        case .connectTimedOut: "The connection to the upstream timed out."
        case .tlsFailed: "The TLS handshake with the upstream failed."
        case .descriptorsExhausted: "The gateway has no file descriptors left."
        case .connectionDied: "The upstream closed the connection before it answered."
        case .connectionReset: "The upstream reset the connection before it answered."
        case .truncated: "The response of the upstream is truncated."
        case .notHTTP: "The response of the upstream is not HTTP."
        case .replyTimedOut: "The upstream did not answer in time."
        case .redirect: "The upstream redirects; the gateway does not follow redirects."
        case .html: "The upstream answered with an HTML page."
        case .tooLarge: "The response of the upstream is too large."
        case .notForwarded: "The gateway does not forward this method."
        case .internalError: "The gateway failed."
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(self.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
