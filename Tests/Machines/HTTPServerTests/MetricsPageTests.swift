import Faults
import HTTPServer
import SimBase
import Talaria
import Testing
import Wire

/// `/_sim/metrics` and `/metrics`, for scrapers.
@Suite struct MetricsPageTests {
    private static func reply(
        _ bench: inout Bench, _ path: String = "/_sim/metrics", _ headers: String = ""
    ) -> String {
        let id = bench.connect()
        bench.send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n".utf8), on: id)
        return bench[id].text
    }

    private static let reset = FaultSpec(
        id: "reset-1", kind: .reset(.insideEvent, .reply), target: .stream, chance: .always,
        window: FaultWindow(at: .zero, length: .seconds(90)),
        trigger: .afterTime(.seconds(1)...(.seconds(1))),
        count: .oncePerScan, scope: .everyone)

    @Test func `requests are counted by route and class, beside streams, events, bytes and faults`() throws {
        var bench = Bench(faults: [Self.reset], jobTime: .seconds(60), showsStatus: true)
        let upload = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: upload)
        let job = try Script.member("jobId", of: bench[upload].text)
        let token = try Script.member("authToken", of: bench[upload].text)
        let stream = bench.connect()
        bench.send(Script.get("/v3/jobs/scans/\(job)/stream", token: token, .stream), on: stream)
        let open = Self.reply(&bench)
        #expect(
            open.contains("\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"))
        #expect(open.contains("\nswiftwing_server_streams 1\n") && open.hasSuffix("\n# EOF\n"))
        #expect(open.contains("\nswiftwing_faults_fired_total{fault=\"reset-1\"} 0\n"))
        bench.run(for: .seconds(30))
        for path in ["/v3/jobs/scans/x/results", "/a/\(job)", "/b/\(job)"] { _ = Self.reply(&bench, path) }
        let text = Self.reply(&bench)
        for sample in [
            #"requests_total{method="POST",route="/v3/jobs/scans",status="2xx"} 1"#,
            #"requests_total{method="GET",route="/v3/jobs/scans/{jobId}/stream",status="2xx"} 1"#,
            #"requests_total{method="GET",route="/v3/jobs/scans/{jobId}/results",status="4xx"} 1"#,
            #"requests_total{method="GET",route="other",status="4xx"} 2"#,
            #"requests_total{method="GET",route="/_sim/metrics",status="2xx"} 1"#,
            "streams 0", "jobs 1",
        ] { #expect(text.contains("\nswiftwing_server_\(sample)\n"), "\(sample) in\n\(text)") }
        #expect(text.contains("\nswiftwing_faults_fired_total{fault=\"reset-1\"} 1\n"))
        let number = /swiftwing_server_(events_total|bytes_total{direction="received"}) ([0-9]+)/
        let counts = text.matches(of: number).compactMap { Int($0.output.2) }
        #expect(counts.count == 2 && counts[0] > 0 && counts[1] > 1_000, "\(text)")
        #expect(!text.contains(job) && !text.contains(token) && !text.contains(Script.device))
    }

    @Test func `a client cannot make the list of requests long`() {
        var bench = Bench(showsStatus: true)
        for number in 0..<300 {
            let id = bench.connect()
            bench.send(
                Array("M\(number) /p\(number) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), on: id)
        }
        let text = Self.reply(&bench)
        #expect(text.components(separatedBy: "swiftwing_server_requests_total{").count == 2, "\(text)")
        #expect(text.contains("{method=\"other\",route=\"other\",status=\"4xx\"} 300\n"))
    }

    @Test func `it is also where scrapers look first, and for the one that takes text alone`() {
        var bench = Bench(showsStatus: true)
        let text = Self.reply(&bench, "/metrics", "Accept: text/plain;version=0.0.4\r\n")
        #expect(text.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
        #expect(text.contains("# TYPE swiftwing_server_events_total counter\n"))
        // At a gateway the path is the upstream's.
        var gateway = Bench(gatewayFor: nil)
        _ = Self.reply(&gateway, "/metrics")
        #expect(gateway.forwarded == 1)
        #expect(Self.reply(&gateway).contains("\nswiftwing_server_info{serving=\"fault gateway\"} 1\n"))
        var unseen = Bench()
        #expect(Self.reply(&unseen).hasPrefix("HTTP/1.1 404 "))
    }

    @Test func `pages of other sites cannot read it`() {
        var bench = Bench(showsStatus: true, crossSite: CrossSiteGuard(hosts: .privateOr([]), pages: .none))
        for path in ["/metrics", "/_sim/metrics"] {
            #expect(Self.reply(&bench, path).hasPrefix("HTTP/1.1 200 "))
            #expect(Self.reply(&bench, path, "Origin: https://evil.example\r\n").hasPrefix("HTTP/1.1 403 "))
        }
    }
}
