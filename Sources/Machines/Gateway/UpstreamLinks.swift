/// Links in a foreign backend's bodies: a phone that followed them would go past the gateway, and its faults.
struct UpstreamLinks {
    /// The keys of links (Docs/contract.md sections 1.2 and 2.1, with the names of other dialects).
    static let keys = ["sseUrl", "websocketUrl", "streamUrl", "statusUrl", "resultsUrl", "href"]

    /// The path under which the upstream has the contract's paths.
    let basePath: String
    /// The name that the phone uses for the gateway.
    let authority: String?
    /// Whether the phone uses https.
    let isSecure: Bool

    /// Whatever host a link names, it is the upstream's. One that was absolute stays so, since its client may be able to
    /// read no other; without a `Host` of the request it becomes relative.
    func leadingBack(_ link: String) -> String? {
        if link.hasPrefix("/"), !link.hasPrefix("//") { return self.withoutBase(link[...]) }
        let lowercased = link.lowercased()
        let schemes = ["https://", "http://", "//", "wss://", "ws://"]
        guard let scheme = schemes.first(where: { lowercased.hasPrefix($0) }) else { return nil }
        let rest = link.dropFirst(scheme.count)
        let path = rest.firstIndex(of: "/").map { self.withoutBase(rest[$0...]) } ?? "/"
        let name = scheme.hasPrefix("ws") ? "ws" : "http"
        return self.authority.map { "\(name)\(self.isSecure ? "s" : "")://\($0)\(path)" } ?? path
    }

    private func withoutBase(_ path: Substring) -> String {
        guard !self.basePath.isEmpty, path.hasPrefix(self.basePath + "/") else { return String(path) }
        return String(path.dropFirst(self.basePath.count))
    }
}
