package import SimBase
package import Talaria

/// A failure of the upstream.
package enum UpstreamFailure: Error, Hashable, Sendable {
    case transport(TransportFailure)
    /// A method that is not passed on.
    case notForwarded

    /// How it failed below HTTP; the gateway itself is to blame for what it does not pass on.
    package var transport: TransportFailure {
        switch self {
        case .transport(let failure): failure
        case .notForwarded: .other
        }
    }

    /// The value of the header `X-Gateway-Error`.
    package var name: String { self.traits.name }

    /// 502 or 504, by which side is at fault as far as is known.
    package var code: ProblemCode { self.traits.code }

    package var text: String { self.traits.text }

    private var traits: (name: String, code: ProblemCode, text: String) {
        switch self {
        case .transport(let failure): failure.upstreamTraits
        case .notForwarded:
            ("not-forwarded", .featureNotAvailable, "The gateway does not forward this method.")
        }
    }
}

extension TransportFailure {
    fileprivate var upstreamTraits: (name: String, code: ProblemCode, text: String) {
        switch self {
        case .nameNotResolved:
            (self.rawValue, .networkError, "The upstream's name could not be resolved.")
        case .connectRefused: (self.rawValue, .networkError, "The upstream refused the connection.")
        case .connectFailed: (self.rawValue, .networkError, "The connection to the upstream failed.")
        case .connectTimedOut: (self.rawValue, .providerTimeout, "The connection to the upstream timed out.")
        case .tls: ("tls-failed", .networkError, "The TLS handshake with the upstream failed.")
        case .descriptorsExhausted:
            (self.rawValue, .networkError, "The gateway has no file descriptors left.")
        case .closedBeforeReply:
            ("connection-died", .networkError, "The upstream closed the connection before it answered.")
        case .reset:
            ("connection-reset", .networkError, "The upstream reset the connection before it answered.")
        case .closedEarly: ("truncated", .networkError, "The response of the upstream is truncated.")
        case .malformed: ("not-http", .networkError, "The response of the upstream is not HTTP.")
        case .timedOut: ("reply-timed-out", .providerTimeout, "The upstream did not answer in time.")
        case .noPath, .foreignURL, .other: ("internal-error", .networkError, "The gateway failed.")
        }
    }
}
