import SimBase
import Talaria
import Testing

@Suite struct IdentityTests {
    @Test func `a trace context goes to its header and back`() {
        let context = TraceContext(
            run: 0xDEAD_BEEF, device: DeviceNumber(17), scan: ScanNumber(3), operation: .stream, attempt: 5)
        #expect(context.headerValue == "00-00000000deadbeef0000001100000003-0200000000000005-01")
        #expect(TraceContext(headerValue: context.headerValue) == context)
    }

    @Test(arguments: [
        "", "00", "00-00000000000000000000001100000003-0200000000000005-01",
        "00-00000000deadbeef0000001100000003-0000000000000005-01",
        "01-00000000deadbeef0000001100000003-0200000000000005-01",
        "00-00000000deadbeef0000001100000003-02000000000000-01",
        "00-zzzzzzzzdeadbeef0000001100000003-0200000000000005-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ])
    func `a foreign trace context is not taken for ours`(header: String) {
        #expect(TraceContext(headerValue: header) == nil)
    }

    @Test(arguments: [
        Endpoint.upload, .stream(jobId: "a-1"), .results(jobId: "a-1"), .cleanup(jobId: "a-1"),
        .job(jobId: "a-1"),
    ])
    func `a path goes there and back`(endpoint: Endpoint) {
        #expect(Endpoint(path: endpoint.path) == endpoint)
    }

    @Test(arguments: [
        ("/v3/jobs/scans/a/stream?token=b?c&d", "/v3/jobs/scans/a/stream"),
        ("/v3/jobs/scans", "/v3/jobs/scans"),
        ("/a?", "/a"), ("?a", ""), ("", ""),
    ])
    func `a target is a path up to its first question mark`(target: String, path: String) {
        #expect(Endpoint.path(ofTarget: target) == path)
    }

    @Test(
        arguments: [
            ("/v3/jobs/scans/a/results?format=lite", "/v3/jobs/scans/a/results", "format=lite"),
            ("/v3/jobs/scans/a/stream?", "/v3/jobs/scans/a/stream", ""),
            ("/v3/jobs/scans/a", "/v3/jobs/scans/a", nil),
            ("/ws/progress?jobId=scan_a&token=b?c", "/ws/progress", "jobId=scan_a&token=b?c"),
            ("/nowhere?a", "/nowhere", "a"),
        ] as [(String, String, String?)])
    func `a target is its path and its query`(target: String, path: String, query: String?) {
        #expect(JourneyPath(target: target) == JourneyPath(path: path, query: query))
    }

    @Test func `the other folder of scans has results alone`() {
        let folder = "/v3/jobs/ai_scan/scans/"
        #expect(Endpoint(path: folder + "a/results") == .results(jobId: "a"))
        #expect(
            ["a", "a/", "a/stream", "a/cleanup", "a/results/x", ""].allSatisfy {
                Endpoint(path: folder + $0) == nil
            })
    }

    @Test(arguments: [
        "/", "/v3/jobs/scans/", "/v3/jobs/scans/a/b", "/v3/jobs/scans/a/stream/x",
        "/v3/jobs/scans/a%2f/stream",
        "/v3/jobs/scan", "/v3/jobs/scans/../stream", "//v3/jobs/scans",
    ])
    func `any other path is none of the contract's`(path: String) {
        #expect(Endpoint(path: path) == nil)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_769_947_200_123, "2026-02-01T12:00:00.123Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `wall clock text is that of the calendar`(milliseconds: Int64, text: String) {
        #expect(Timestamp.iso8601(unixMilliseconds: milliseconds) == text)
    }

    @Test func `a job is a segment that no path loses, of a length`() {
        let longest = String(repeating: "j", count: 128)
        #expect(["a", "...", ".a", "~", longest].filter { !Endpoint.isJobID($0) } == [])
        #expect(
            ["", ".", "..", "a/b", "a b", "%2e", "é", longest + "j"].filter { Endpoint.isJobID($0) } == [])
    }
}
