import CurlLoop
import SimBase
import Testing

@testable import RunDriver

/// How a run starts its own gateway to a target.
@Suite struct TargetURLTests {
    private static func target(host: String, addresses: [String], lookup: Interval?) -> TargetURL {
        TargetURL(
            base: "https://\(host):8443/api", host: host, port: 8443, isSecure: true, addresses: addresses,
            lookup: lookup, certificateAuthorities: "ca.pem", headers: [HeaderField("X-Key", "secret")])
    }

    @Test func `a gateway uses the addresses that the run found, and gets no headers`() {
        let target = Self.target(
            host: "staging.example", addresses: ["10.0.0.1", "fd00::1"], lookup: .milliseconds(3))
        #expect(
            target.proxyWords(scenarioPath: "run/scenario.resolved", nonce: "1f") == [
                "proxy", "--embedded", "1f", "--upstream", "https://staging.example:8443/api", "--resolve",
                "staging.example:8443:10.0.0.1,[fd00::1]", "--cacert", "ca.pem", "--allow-target",
                "staging.example", "--allow-production", "--", "run/scenario.resolved",
            ])
    }

    @Test func `a numeric address is not resolved`() {
        let target = Self.target(host: "127.0.0.1", addresses: ["127.0.0.1"], lookup: nil)
        #expect(!target.proxyWords(scenarioPath: "s", nonce: "1f").contains("--resolve"))
        #expect(target.isLoopback)
    }
}
