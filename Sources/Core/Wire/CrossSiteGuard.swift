/// Prevents pages of other sites, opened in a browser on this machine or in its network, from using a server
/// that is meant for its owner's clients. A page can reach the server in two ways: by a name of its own site
/// that resolves to the server's address (DNS rebinding), which the `Host` field reveals, and by a cross-site
/// request, which `Origin` and `Sec-Fetch-Site` reveal. Clients other than browsers send neither of the
/// latter.
package struct CrossSiteGuard: Hashable, Sendable {
    /// Which names a client may call the server by.
    package enum Hosts: Hashable, Sendable {
        /// The hosts of this machine only.
        case loopback
        /// The hosts that no other site can own, and the listed ones.
        case privateOr(Set<String>)
    }

    /// Pages that may ask, in addition to the server's own.
    package enum Pages: Hashable, Sendable {
        case none
        /// The hosts that the server itself accepts: for a page under development on this machine.
        case ofAllowedHosts
        case all
    }

    package enum Refusal: Hashable, Sendable {
        case foreignHost
        case crossSite
    }

    package let hosts: Hosts
    package let pages: Pages

    package init(hosts: Hosts, pages: Pages) {
        self.hosts = hosts
        self.pages = pages
    }

    /// Why a request is refused; nil if it is not.
    package func refusal(of head: RequestHead) -> Refusal? {
        guard self.allowsHost(of: head) else { return .foreignHost }
        return self.allowsPage(of: head) ? nil : .crossSite
    }

    /// Whether the request calls the server by a name of its own, in its `Host` and in a target in absolute form (RFC 9112 section
    /// 3.2.2). One without a name, which HTTP/1.0 knows, may come from anywhere.
    package func allowsHost(of head: RequestHead) -> Bool {
        guard let host = head.headers["Host"] else { return false }
        return [host, head.authority].compactMap(\.self).allSatisfy { name in
            HostName(name).map { self.allows($0) } ?? false
        }
    }

    /// Whether the request comes from no page, from one of the server's own, or from one that may ask.
    package func allowsPage(of head: RequestHead) -> Bool {
        if self.pages == .all { return true }
        if let origin = head.headers["Origin"] {
            return self.allows(origin: origin, host: head.headers["Host"])
        }
        guard let site = head.headers["Sec-Fetch-Site"] else { return true }
        return site == "same-origin" || site == "none"
    }

    private func allows(origin: String, host: String?) -> Bool {
        if let host, origin == "http://\(host)" || origin == "https://\(host)" { return true }
        guard self.pages == .ofAllowedHosts else { return false }
        return HostName(origin: origin).map { self.allows($0) } ?? false
    }

    private func allows(_ host: HostName) -> Bool {
        switch self.hosts {
        case .loopback: host.isLoopback
        case .privateOr(let names): host.isPrivate || names.contains(host.name)
        }
    }
}
