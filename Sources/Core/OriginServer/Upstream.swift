package import Talaria

/// The head of the upstream's answer.
package struct UpstreamHead: Hashable, Sendable {
    package var status: Int
    /// Without the fields that are of one connection only.
    package var headers: [HeaderLine]
    /// What `Content-Length` says.
    package var length: Int?

    package init(status: Int, headers: [HeaderLine], length: Int?) {
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
        case .connectFailed: "The upstream could not be connected to."
        case .connectTimedOut: "The upstream did not take the connection in time."
        case .tlsFailed: "The upstream's certificate or handshake is not acceptable."
        case .descriptorsExhausted: "The gateway has no descriptor left."
        case .connectionDied: "The upstream closed the connection before it answered."
        case .connectionReset: "The upstream reset the connection before it answered."
        case .truncated: "The upstream's answer ended before its end."
        case .notHTTP: "What the upstream answered is not HTTP."
        case .replyTimedOut: "The upstream did not answer in time."
        case .redirect: "The upstream redirects, which is not followed."
        case .html: "The upstream answered with a page of HTML."
        case .tooLarge: "The upstream's answer is too large."
        case .notForwarded: "The gateway does not pass on this method."
        case .internalError: "The gateway failed."
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(self.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
