import Backend
import JSON
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Which requests are understood at all, and in which order a request is judged.
@Suite struct RequestTests {
    private static let job = "/v3/jobs/scans/11111111-2222-4333-8444-555555555555"

    @Test(arguments: [
        "", "/", "/v3", "/v3/jobs/scans/", "/v3/jobs/enrich/", "/v2/jobs/scans", "/v3/jobs/scans//stream",
        "\(job)/", "\(job)/stream/", "\(job)/streams", "\(job)/stream/more", "/v3/jobs/scans/a b",
        "/v3/jobs/scans/%2e%2e", "/v3/jobs/scans/\u{0}", "/v3/jobs/scans/ключ", "/V3/JOBS/SCANS",
        "/v3/jobs/scans/" + String(repeating: "a", count: 129), String(repeating: "/", count: 100_000),
    ])
    func `an unknown path is not found, and is not repeated`(path: String) {
        var bench = Bench()
        let (exchange, effects) = bench.ask("GET", path)
        #expect(effects.verdict == "404 NOT_FOUND")
        #expect(effects.count == 1)
        #expect(
            effects.bodyText == """
                {"code":"NOT_FOUND","detail":"There is nothing at this path.","metadata":\
                {"requestId":"\(effects.header("X-Request-ID") ?? "")",\
                "timestamp":"2026-02-01T12:00:00.000Z"},"retryable":false,"status":404,"success":false,\
                "title":"Not Found","type":"https://api.oooefam.net/errors/not-found"}
                """)
        #expect(exchange == ExchangeID(1))
    }

    @Test(arguments: [
        ("GET", "/v3/jobs/scans", "POST"), ("PUT", "/v3/jobs/scans", "POST"),
        ("POST", "\(job)/stream", "GET"), ("HEAD", "\(job)/stream", "GET"),
        ("DELETE", "\(job)/results", "GET"), ("GET", "\(job)/cleanup", "DELETE"),
        ("POST", "\(job)/cleanup", "DELETE"), ("PATCH", job, "GET, DELETE"), ("", job, "GET, DELETE"),
        ("get", job, "GET, DELETE"),
    ])
    func `a path says which methods it takes`(method: String, path: String, allow: String) {
        var bench = Bench()
        let effects = bench.ask(method, path, device: nil).effects
        #expect(effects.verdict == "405 METHOD_NOT_ALLOWED")
        #expect(effects.header("Allow") == allow)
        #expect(effects.header("Content-Type") == "application/problem+json")
    }

    @Test(arguments: [
        ("POST", "/v3/jobs/scans", "400 MISSING_PARAMETER", "400 INVALID_REQUEST"),
        ("GET", "\(job)/stream", "401 UNAUTHORIZED", "401 UNAUTHORIZED"),
        ("GET", "\(job)/results", "400 MISSING_PARAMETER", "400 INVALID_REQUEST"),
        ("DELETE", "\(job)/cleanup", "400 MISSING_PARAMETER", "400 INVALID_REQUEST"),
        ("GET", job, "400 MISSING_PARAMETER", "400 INVALID_REQUEST"),
        ("DELETE", job, "400 MISSING_PARAMETER", "400 INVALID_REQUEST"),
    ])
    func `every endpoint wants a device id of version 4 before anything else`(
        method: String, path: String, missing: String, malformed: String
    ) {
        var bench = Bench()
        #expect(bench.ask(method, path, device: nil).effects.verdict == missing)
        #expect(bench.ask(method, path, device: "").effects.verdict == missing)
        let bad = [
            "phone", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "3f2504e0-4f89-41d3-7a0c-0305e82c3301",
            "3f2504e04f8941d39a0c0305e82c3301", "3f2504e0-4f89-41d3-9a0c-0305e82c330g",
            "3f2504e0-4f89-41d3-9a0c-0305e82c33011", "{3f2504e0-4f89-41d3-9a0c-0305e82c3301}",
            "3f2504e0+4f89-41d3-9a0c-0305e82c3301", "\u{0}\u{7F}", "日本語日本語日本語日本語",
        ]
        for device in bad {
            #expect(bench.ask(method, path, device: device).effects.verdict == malformed, "\(device)")
        }
        #expect(bench.backend.jobsAlive == 0)
    }

    @Test func `a request is observed with its answer`() {
        var bench = Bench()
        let effects = bench.ask("GET", "\(Self.job)/results", caller: Bench.caller(attempt: 9)).effects
        #expect(
            effects.backendSightings == [
                .requested(.results, attempt: 9, connection: 1),
                .found(
                    ContractFinding(
                        operation: .results, part: "request", path: "header Authorization",
                        expected: "a bearer token", seen: "missing", excerpt: nil, isDecisive: true, count: 1)
                ),
                .answered(.results, attempt: 9, status: 401),
                .problem(
                    .results, attempt: 9, status: 401, job: "11111111-2222-4333-8444-555555555555",
                    retryable: false, retryAfter: nil),
            ])
    }

    @Test func `every answer has a request id of its own, the same in the head and in the body`() {
        var bench = Bench()
        let first = bench.ask("GET", "\(Self.job)/results").effects
        let second = bench.ask("GET", "\(Self.job)/results").effects
        let id = JSON.decode(Problem.self, from: first.reply?.body ?? [])?.metadata?.requestId
        #expect(id == first.header("X-Request-ID"))
        #expect(id?.hasPrefix("req-") == true)
        #expect(first.header("X-Request-ID") != second.header("X-Request-ID"))
    }

    @Test func `nothing that a head can hold is more than an error`() {
        let random = KeyedRandom(seed: 5)
        let texts: [String?] = [
            nil, "", " ", "\u{0}", "\r\n\r\n", "Bearer", "Bearer ", "bearer  \u{FFFD}", "Basic eDp5",
            String(repeating: "é", count: 20_000), "-1", "9999999999999999999999-progress",
            "-9223372036854775808-progress", "multipart/form-data; boundary=",
            "multipart/form-data;boundary=x",
            Bench.deviceID, "format=", "format=lite&format=heavy", "&&&=%%%", "1769947200000-progress",
            "Bearer " + String(repeating: "0", count: 64), "Bearer " + String(repeating: "٣", count: 64),
        ]
        let paths = ["/v3/jobs/scans", "x"] + ["", "/stream", "/results", "/cleanup"].map { Self.job + $0 }
        let methods = ["GET", "POST", "DELETE", "\u{0}"]
        var bench = Bench()
        let job = bench.job()
        bench.stream(job)
        var draws: UInt64 = 0
        func pick<Element>(_ array: [Element]) -> Element {
            draws += 1
            return array[Int(random.below(UInt64(array.count), .test, draws))]
        }
        for _ in 0..<3_000 {
            let path = pick(paths)
            let (_, effects) = bench.ask(
                pick(methods), pick([path, path.replacing(Self.job, with: "/v3/jobs/scans/\(job.id)")]),
                query: pick(texts), device: pick(texts + [Bench.deviceID, Bench.deviceID]),
                authorization: pick(texts + ["Bearer \(job.token)"]), accept: pick(texts),
                contentType: pick(texts), contentLength: pick([nil, .min, -1, 0, 1, .max]),
                lastEventID: pick(texts))
            #expect(
                effects.verdict != "none"
                    || effects.contains { if case .readUpload = $0 { true } else { false } })
            bench.now = bench.now + .milliseconds(5)
        }
    }
}
