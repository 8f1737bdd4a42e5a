package import CurlLoop
import EventLoop
package import RunJudge
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
    /// How it is spoken to; nil where the target decides that in the TLS handshake.
    package var http: SpokenHTTP?
    /// The addresses of this machine that its connections have, the phones spread over them; empty where the system chooses.
    package let sources: [String]

    /// Whether load on it stays on this machine.
    package var isLoopback: Bool { self.addresses.allSatisfy(IPAddress.isLoopback) }

    /// `headers`: what is sent with every request.
    package init(
        base: String, host: String, port: UInt16, isSecure: Bool, addresses: [String], lookup: Interval?,
        certificateAuthorities: String?, headers: [HeaderField], sources: [String] = []
    ) {
        self.base = base
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.addresses = addresses
        self.lookup = lookup
        self.certificateAuthorities = certificateAuthorities
        self.headers = headers
        self.sources = sources
        self.http = Self.http(isSecure: isSecure)
    }

    /// What comes before the paths of its API.
    var basePath: String {
        self.base.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true).dropFirst(2).first
            .map { "/" + $0 } ?? ""
    }

    package func curlTarget(connectTimeout: Interval, sourceAddresses: [String]? = nil) -> CurlTarget {
        CurlTarget(
            port: self.port, addresses: self.addresses, certificateAuthorities: self.certificateAuthorities,
            version: self.versionOfCurl, connectTimeout: connectTimeout,
            sourceAddresses: sourceAddresses ?? self.sources)
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
        if let http = self.http, http.decision == .option { words += ["--http", http.version.rawValue] }
        if !self.sources.isEmpty { words += ["--source", self.sources.joined(separator: ",")] }
        // The permission was given to the run.
        words += ["--allow-target", self.host, "--allow-production"]
        return words + ["--", scenarioPath]
    }

    /// Throws if so many phones cannot each have a connection: the ports of a source address are those of one target.
    func requirePorts(phones: Int) throws {
        guard !self.isLoopback || !self.sources.isEmpty else { return }
        let (addresses, ports) = (max(1, self.sources.count), SourceAddress.portCount)
        guard phones > addresses * ports else { return }
        let one = "a source address of this machine has \(ports) ports for connections to one target"
        throw CommandFailure(
            .impossible, "\(phones) phones need as many ports, but \(one)",
            hint:
                "give \((phones + ports - 1) / ports) addresses with --source ADDR,..., or use fewer phones with --phones"
        )
    }
}
