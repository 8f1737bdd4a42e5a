/// The version of HTTP that is spoken to the target of a run, and what decided it.
package struct SpokenHTTP: Equatable, Sendable {
    /// As `--http` has it.
    package enum Version: String, Sendable, CaseIterable {
        case http1 = "1.1"
        case http2 = "2"
    }

    package enum Decision: String, Sendable, CaseIterable {
        /// Without TLS, HTTP/1.1 is what there is.
        case plain
        /// The target, in the TLS handshake of the first request (RFC 7301).
        case alpn
        /// `--http`.
        case option
    }

    package let version: Version
    package let decision: Decision

    package init(_ version: Version, by decision: Decision) {
        self.version = version
        self.decision = decision
    }

    /// `HTTP/2, agreed on by ALPN`.
    package var text: String {
        let reason =
            switch self.decision {
            case .plain: "without TLS"
            case .alpn: "agreed on by ALPN"
            case .option: "as --http says"
            }
        return "HTTP/\(self.version.rawValue), \(reason)"
    }
}
