import CurlLoop
import EventLoop
import RunJudge
import SimBase
import Testing
import Wire

@testable import RunDriver

/// How a run starts its own gateway to a target.
@Suite struct TargetURLTests {
    private static func target(
        host: String, addresses: [String], lookup: Interval?, sources: [String] = []
    ) -> TargetURL {
        TargetURL(
            base: "https://\(host):8443/api", host: host, port: 8443, isSecure: true, addresses: addresses,
            lookup: lookup, certificateAuthorities: "ca.pem", headers: [HeaderField("X-Key", "secret")],
            sources: sources)
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

    @Test func `a gateway has the source addresses of its run`() {
        let target = Self.target(
            host: "127.0.0.1", addresses: ["127.0.0.1"], lookup: nil, sources: ["127.0.0.5", "127.0.0.6"])
        let words = target.proxyWords(scenarioPath: "s", nonce: "1f")
        #expect(words.firstIndex(of: "--source").map { words[$0 + 1] } == "127.0.0.5,127.0.0.6")
        #expect(target.curlTarget(connectTimeout: .seconds(1)).sourceAddresses == ["127.0.0.5", "127.0.0.6"])
    }

    @Test func `HTTP 2 is asked for where nothing else was decided`() {
        func version(isSecure: Bool, _ http: SpokenHTTP?) -> CurlTarget.Version {
            var target = TargetURL(
                base: "", host: "h", port: 1, isSecure: isSecure, addresses: ["127.0.0.1"], lookup: nil,
                certificateAuthorities: nil, headers: [])
            if let http { target.http = http }
            return target.curlTarget(connectTimeout: .seconds(1)).version
        }
        #expect(version(isSecure: false, nil) == .http1)
        #expect(version(isSecure: true, nil) == .http2)
        #expect(version(isSecure: true, SpokenHTTP(.http1, by: .alpn)) == .http1)
        #expect(version(isSecure: true, SpokenHTTP(.http2, by: .option)) == .http2)
    }

    @Test func `a gateway is told what --http says, and agrees with the target on all else`() {
        var target = Self.target(host: "127.0.0.1", addresses: ["127.0.0.1"], lookup: nil)
        for decision in SpokenHTTP.Decision.allCases {
            target.http = SpokenHTTP(.http1, by: decision)
            let words = target.proxyWords(scenarioPath: "s", nonce: "1f")
            let told = words.firstIndex(of: "--http").map { words[$0 + 1] }
            #expect(told == (decision == .option ? "1.1" : nil))
        }
    }

    @Test func `a target that does not agree to HTTP 2 contradicts only what was decided`() {
        var target = Self.target(host: "127.0.0.1", addresses: ["127.0.0.1"], lookup: nil)
        let head = ResponseHead(status: 404, headers: HeaderFields())
        func contradicts(_ http: SpokenHTTP?, isHTTP2: Bool) -> Bool {
            target.http = http
            return target.contradiction(PreflightAnswer(head: head, body: "", isHTTP2: isHTTP2)) != nil
        }
        #expect(contradicts(SpokenHTTP(.http2, by: .option), isHTTP2: false))
        #expect(!contradicts(SpokenHTTP(.http2, by: .option), isHTTP2: true))
        #expect(!contradicts(SpokenHTTP(.http1, by: .option), isHTTP2: false))
        #expect(!contradicts(nil, isHTTP2: false))
    }

    /// The ports of a source address are those of one target.
    @Test func `more phones than ports need more source addresses`() throws {
        let ports = SourceAddress.portCount
        func target(_ sources: [String]) -> TargetURL {
            Self.target(host: "10.0.0.1", addresses: ["10.0.0.1"], lookup: nil, sources: sources)
        }
        try target([]).requirePorts(phones: ports)
        let failure = #expect(throws: CommandFailure.self) { try target([]).requirePorts(phones: ports + 1) }
        #expect(failure?.hint?.hasPrefix("give 2 addresses with --source") == true)
        try target(["10.0.0.2", "10.0.0.3"]).requirePorts(phones: ports + 1)
        try Self.target(host: "127.0.0.1", addresses: ["127.0.0.1"], lookup: nil)
            .requirePorts(phones: 20 * ports)
    }
}
