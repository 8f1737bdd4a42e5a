package import CurlLoop
package import SimBase

/// A backend named on the command line: where it is, how it is reached, and that it may be.
package struct TargetURL {
    /// Scheme, host, port and base path, without a slash at the end.
    package let base: String
    package let host: String
    package let port: UInt16
    package let isSecure: Bool
    package let addresses: [String]
    /// The duration of the name lookup; nil if there was none.
    package let lookup: Interval?
    package let certificateAuthorities: String?
    package let headers: [HeaderField]

    /// Whether load on it stays on this machine.
    package var isLoopback: Bool { self.addresses.allSatisfy(IPAddress.isLoopback) }

    /// `headers`: what is sent with every request.
    package init(
        base: String, host: String, port: UInt16, isSecure: Bool, addresses: [String], lookup: Interval?,
        certificateAuthorities: String?, headers: [HeaderField]
    ) {
        self.base = base
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.addresses = addresses
        self.lookup = lookup
        self.certificateAuthorities = certificateAuthorities
        self.headers = headers
    }

    /// HTTP/2 where the server agrees to it in the TLS handshake, as the app's own client has it.
    package func curlTarget(connectTimeout: Interval, sourceAddresses: [String]) -> CurlTarget {
        CurlTarget(
            port: self.port, addresses: self.addresses, certificateAuthorities: self.certificateAuthorities,
            version: self.isSecure ? .http2 : .http1, connectTimeout: connectTimeout,
            sourceAddresses: sourceAddresses)
    }

    /// The words by which a run starts one of its own, in front of the same self. Headers are not among them: the phones
    /// send them, and the gateway passes them on.
    func proxyWords(scenarioPath: String, nonce: String) -> [String] {
        var words = ["proxy", "--embedded", nonce, "--upstream", self.base]
        if self.lookup != nil || !IPAddress.isNumeric(self.host) {
            let addresses = self.addresses.map { $0.contains(":") ? "[\($0)]" : $0 }
            words += ["--resolve", "\(self.host):\(self.port):\(addresses.joined(separator: ","))"]
        }
        if let file = self.certificateAuthorities { words += ["--cacert", file] }
        // The permission was given to the run.
        words += ["--allow-target", self.host, "--allow-production"]
        return words + ["--", scenarioPath]
    }
}
