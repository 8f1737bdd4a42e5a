/// Keeps pages of other sites, open in a browser on this machine or beside it, from using a server that is meant for its owner's
/// clients. Two ways lead a page here: a name of its own site that is resolved to this server's address (DNS rebinding), which
/// the `Host` field gives away, and a request across sites, which `Origin` and `Sec-Fetch-Site` give away. Clients that are no
/// browsers send neither of the latter.
package struct CrossSiteGuard: Hashable, Sendable {
    /// Which names a client may call the server by.
    package enum Hosts: Hashable, Sendable {
        /// Those of this machine alone.
        case loopback
        /// Those that no other site can own, and these.
        case privateOr(Set<String>)
    }

    /// Pages that may ask, beside the server's own.
    package enum Pages: Hashable, Sendable {
        case none
        /// Those whose host would be allowed to the server itself: a page under development on this machine.
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

    /// Why a request is refused; nil where it is not.
    package func refusal(of head: RequestHead) -> Refusal? {
        guard self.allowsHost(of: head) else { return .foreignHost }
        return self.allowsPage(of: head) ? nil : .crossSite
    }

    /// Whether the request calls the server by a name of its own. Only HTTP/1.0 knows requests without a name, and no browser
    /// sends them.
    package func allowsHost(of head: RequestHead) -> Bool {
        guard let host = head.headers["Host"] else { return self.hosts != .loopback }
        return HostName(host).map { self.allows($0) } ?? false
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
