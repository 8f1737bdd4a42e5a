import CurlLoop
import RunJudge

// Which version of HTTP a target is spoken to by (Docs/decisions/0219-which-http.md).

extension TargetURL {
    /// What is known without options: nil where the target decides in the TLS handshake.
    static func http(isSecure: Bool) -> SpokenHTTP? { isSecure ? nil : SpokenHTTP(.http1, by: .plain) }

    /// HTTP/2 where it is not known otherwise and the server agrees to it, as the app's own client has it.
    var versionOfCurl: CurlTarget.Version { self.http?.version == .http1 ? .http1 : .http2 }

    /// What was decided before, or what the target agreed to in the preflight.
    func http(agreed answer: PreflightAnswer) -> SpokenHTTP {
        self.http ?? SpokenHTTP(answer.isHTTP2 ? .http2 : .http1, by: .alpn)
    }

    /// What was decided before, if the target does not keep to it.
    func contradiction(_ answer: PreflightAnswer) -> PreflightFailure? {
        guard let http = self.http, http.version == .http2, !answer.isHTTP2 else { return nil }
        return PreflightFailure(
            text: "it does not agree to HTTP/2 in the TLS handshake",
            hint: "use --http 1.1, or leave the choice to the target")
    }
}
