import Testing
import Wire

/// Whose requests are answered.
@Suite struct CrossSiteGuardTests {
    private static func head(_ headers: HeaderFields) -> RequestHead {
        RequestHead(
            method: "GET", target: "/", path: "/", query: nil, version: .http11, headers: headers,
            body: .none, expectsContinue: false, keepsAlive: true)
    }

    private static func refusal(
        _ headers: HeaderFields, hosts: CrossSiteGuard.Hosts = .privateOr(["staging.example.com"]),
        pages: CrossSiteGuard.Pages = .none
    ) -> CrossSiteGuard.Refusal? {
        CrossSiteGuard(hosts: hosts, pages: pages).refusal(of: Self.head(headers))
    }

    @Test(arguments: [
        "127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080", "192.168.1.20:8080", "10.0.2.2",
        "[fe80::1]",
        "my-mac.local:8080", "host.docker.internal:80", "proxy", "proxy:8080", "talaria.test",
        "nas.home.arpa",
        "staging.example.com:443",
    ])
    func `addresses, private names and those that are allowed are a server's own`(host: String) {
        #expect(Self.refusal(["Host": host]) == nil)
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "evil.com.",
        "staging.example.com.evil.example", "localhost@evil", "a b", "", ":80", "[::1", "[::1]x", "[evil]",
        "x:80:80", "x:evil", "example.com",
    ])
    func `any other name is somebody else's`(host: String) {
        #expect(Self.refusal(["Host": host]) == .foreignHost)
        #expect(Self.refusal(["Host": host], hosts: .loopback) == .foreignHost)
    }

    @Test func `a page of this machine alone is not asked for by an address of the network`() {
        #expect(Self.refusal(["Host": "192.168.1.20"], hosts: .loopback) == .foreignHost)
        #expect(Self.refusal(["Host": "proxy"], hosts: .loopback) == .foreignHost)
        #expect(Self.refusal([:], hosts: .loopback) == .foreignHost)
        #expect(Self.refusal(["Host": "localhost:5665"], hosts: .loopback) == nil)
    }

    @Test func `a client that is no browser says nothing of a site`() {
        #expect(Self.refusal(["Host": "127.0.0.1:1"]) == nil)
    }

    @Test func `a request that names no host may come from anywhere`() {
        #expect(Self.refusal([:]) == .foreignHost)
        #expect(Self.refusal([:], pages: .all) == .foreignHost)
    }

    @Test(arguments: [
        ("http://evil.example/", false), ("HTTP://evil.example:80?x", false), ("http:///x", false),
        ("http://127.0.0.1:8080/", true), ("/http://evil.example/", true), ("/?u=http://evil.example", true),
        ("*", true),
    ])
    func `a target in absolute form names a host as well`(target: String, isAllowed: Bool) {
        var head = Self.head(["Host": "127.0.0.1:8080"])
        head.target = target
        for hosts in [CrossSiteGuard.Hosts.loopback, .privateOr([])] {
            let refusal = CrossSiteGuard(hosts: hosts, pages: .none).refusal(of: head)
            #expect(refusal == (isAllowed ? nil : .foreignHost))
        }
    }

    @Test(arguments: [
        "https://evil.example", "null", "http://localhost:3000", "http://127.0.0.1:9", "file://", "",
    ])
    func `a page of another origin is refused`(origin: String) {
        #expect(Self.refusal(["Host": "127.0.0.1:8080", "Origin": origin]) == .crossSite)
    }

    @Test func `a page of the server's own is not`() {
        #expect(Self.refusal(["Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8080"]) == nil)
        #expect(Self.refusal(["Host": "localhost", "Sec-Fetch-Site": "same-origin"]) == nil)
        #expect(Self.refusal(["Host": "localhost", "Sec-Fetch-Site": "none"]) == nil)
    }

    @Test(arguments: ["cross-site", "same-site", "", "x"])
    func `a request that a browser calls one of another site is refused`(site: String) {
        #expect(Self.refusal(["Host": "localhost", "Sec-Fetch-Site": site]) == .crossSite)
    }

    @Test func `pages under development may ask where pages may`() {
        func refusal(_ origin: String, _ pages: CrossSiteGuard.Pages) -> CrossSiteGuard.Refusal? {
            Self.refusal(
                ["Host": "localhost:8080", "Origin": origin, "Sec-Fetch-Site": "same-site"], pages: pages)
        }
        #expect(refusal("http://localhost:3000", .ofAllowedHosts) == nil)
        #expect(refusal("https://staging.example.com", .ofAllowedHosts) == nil)
        #expect(refusal("https://evil.example", .ofAllowedHosts) == .crossSite)
        #expect(refusal("null", .ofAllowedHosts) == .crossSite)
        #expect(refusal("https://evil.example", .all) == nil)
        #expect(Self.refusal(["Host": "evil.example"], pages: .all) == .foreignHost)
    }
}
