import CurlLoop

extension ClientPool {
    /// What this module's client needs of a request: the parts of its URL, and its body, if it has one. Nil for a request that
    /// libcurl makes, and for an upgrade, which libcurl never makes, whose URL or body it would have to change.
    func own(
        _ request: TransferRequest
    ) -> (parts: (isSecure: Bool, host: Substring, target: Substring), body: [UInt8]?)? {
        let isUpgrade = request.asksForUpgrade
        let isOwn =
            self.client == .own && (self.target.version == .http1 || request.url.hasPrefix("http:"))
        guard isOwn || isUpgrade,
            let parts = RequestTarget.parts(of: request.url, isVerbatim: isUpgrade)
        else { return nil }
        switch request.body {
        case .none: return (parts, request.hasBody ? [] : nil)
        case .bytes(let bytes): return (parts, bytes)
        case .multipart, .streamed: return nil
        }
    }
}
