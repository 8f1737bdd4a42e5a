import HTTPServer
import SimBase
import Testing
import Wire

/// What pages of other sites get from a server: nothing of a gateway, and nothing of what any server says of itself.
@Suite struct CrossSiteTests {
    private static let strict = CrossSiteGuard(hosts: .privateOr([]), pages: .none)

    private static func ask(_ bench: inout Bench, _ path: String, _ headers: String) -> String {
        let id = bench.connect()
        bench.send(Array("GET \(path) HTTP/1.1\r\n\(headers)\r\n".utf8), on: id)
        return bench[id].text
    }

    @Test(arguments: [
        "Host: evil.example\r\n", "Host: 127.0.0.1\r\nOrigin: https://evil.example\r\n",
        "Host: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\n",
    ]) func `a gateway passes nothing on for them`(headers: String) {
        for path in ["/v3/jobs/scans/a/results", "/anything", "/_sim"] {
            var bench = Bench(gatewayFor: Self.strict)
            let answer = Self.ask(&bench, path, headers)
            #expect(answer.hasPrefix("HTTP/1.1 403 "))
            #expect(answer.contains("Content-Type: application/problem+json\r\n"))
            #expect(bench.forwarded == 0)
        }
    }

    @Test func `a gateway passes nothing on for a client that names no host`() {
        var bench = Bench(gatewayFor: Self.strict)
        let id = bench.connect()
        bench.send(Array("GET /anything HTTP/1.0\r\n\r\n".utf8), on: id)
        #expect(bench[id].text.hasPrefix("HTTP/1.1 403 ") && bench.forwarded == 0)
        let answer = Self.ask(&bench, "http://evil.example/anything", "Host: 127.0.0.1\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 403 ") && bench.forwarded == 0)
    }

    @Test func `a gateway passes on what its owner's clients ask`() {
        var bench = Bench(gatewayFor: Self.strict)
        _ = Self.ask(&bench, "/anything", "Host: 192.168.1.20:8080\r\n")
        #expect(bench.forwarded == 1)
        #expect(Self.ask(&bench, "/_sim", "Host: localhost:8080\r\n").hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `a simulated backend answers, but for what it says of itself`() {
        for pages in [CrossSiteGuard.Pages.none, .all] {
            var bench = Bench(
                showsStatus: true, crossSite: CrossSiteGuard(hosts: .privateOr([]), pages: pages))
            let foreign = "Host: evil.example\r\n"
            let page = "Host: localhost\r\nOrigin: https://evil.example\r\n"
            for headers in [foreign, page] {
                #expect(Self.ask(&bench, "/_sim", headers).hasPrefix("HTTP/1.1 403 "))
                #expect(Self.ask(&bench, "/_sim/nonce", headers).hasPrefix("HTTP/1.1 403 "))
                #expect(Self.ask(&bench, "/nowhere", headers).hasPrefix("HTTP/1.1 404 "))
            }
            #expect(Self.ask(&bench, "/_sim", "Host: localhost:1\r\n").hasPrefix("HTTP/1.1 200 "))
        }
    }
}
