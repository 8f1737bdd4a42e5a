import Backend
import Faults
import OriginServer
import SimBase
import Talaria
import Testing

@Suite struct RateLimitTests {
    @Test func `an upload beyond the quota is told when to come back`() throws {
        var bench = Bench { $0.rateLimit = Quota(requests: 2, window: .seconds(20)) }
        bench.now = .zero + .milliseconds(1)
        let first = bench.upload(caller: Bench.caller(scan: 1))
        bench.now = .zero + .milliseconds(4_000)
        let second = bench.upload(caller: Bench.caller(scan: 2))
        bench.now = .zero + .microseconds(7_500_400)
        let third = bench.upload(caller: Bench.caller(scan: 3))

        func left(_ effects: [OriginEffect]) -> [String?] {
            ["Limit", "Remaining", "Reset"].map { effects.header("X-RateLimit-\($0)") }
        }
        #expect(first.status == 202)
        #expect(left(first) == ["2", "1", "1769947221"])
        #expect(left(second) == ["2", "0", "1769947221"])
        #expect(left(third) == ["2", "0", "1769947221"])
        #expect(third.header("Retry-After") == "13")
        #expect(
            third.bodyText == """
                {"code":"RATE_LIMIT_EXCEEDED","detail":"Too many requests from device",\
                "instance":"/v3/jobs/scans","metadata":{"requestId":"\(third.header("X-Request-ID") ?? "")",\
                "timestamp":"2026-02-01T12:00:07.500Z"},"retryAfterMs":12501,"retryable":true,"status":429,\
                "success":false,"title":"Rate Limit Exceeded",\
                "type":"https://api.oooefam.net/errors/rate-limit-exceeded"}
                """)
        #expect(
            third.backendSightings == [
                .requested(.upload, attempt: 1, connection: 1),
                .answered(.upload, attempt: 1, status: 429),
                .problem(
                    .upload, attempt: 1, status: 429, job: nil, retryable: true,
                    retryAfter: .microseconds(12_500_600)),
            ])
        #expect(third.faultSightings == [])

        bench.now = bench.now + .milliseconds(12_501)
        #expect(bench.upload(caller: Bench.caller(scan: 3, attempt: 2)).status == 202)
    }

    @Test func `the quota is by device id, whatever its case, and for uploads only`() {
        var bench = Bench { $0.rateLimit = Quota(requests: 1, window: .seconds(20)) }
        let job = bench.job()
        #expect(bench.upload(device: Bench.deviceID.lowercased()).status == 429)
        #expect(bench.upload(device: Bench.otherDeviceID).status == 202)
        for _ in 0..<20 { #expect(bench.results(job).verdict == "404 NOT_FOUND") }
    }

    @Test func `ten uploads in twenty minutes are the default`() {
        var bench = Bench { $0.rateLimit = BackendConfiguration.contract.rateLimit }
        for scan in 1...10 {
            #expect(bench.upload(caller: Bench.caller(scan: UInt32(scan))).status == 202)
        }
        #expect(bench.upload(caller: Bench.caller(scan: 11)).header("Retry-After") == "1200")
    }

    @Test func `a fault has a quota of its own, asked only where it is armed`() {
        var bench = Bench { $0.rateLimit = Quota(requests: 3, window: .hours(1)) }
        let fault = ArmedFault.armed(
            .rateLimit(quota: Quota(requests: 1, window: .seconds(4)), retryAfter: .seconds(2)))
        #expect(bench.upload(caller: Bench.caller(scan: 1), faults: [fault]).status == 202)
        let limited = bench.upload(caller: Bench.caller(scan: 2), faults: [fault])
        #expect(limited.verdict == "429 RATE_LIMIT_EXCEEDED")
        #expect(limited.header("Retry-After") == "2")
        #expect(limited.bodyText.contains("\"retryAfterMs\":2000,"))
        #expect(limited.header("X-RateLimit-Limit") == "1")
        #expect(limited.faultSightings == [.fired(fault: 2, .upload, attempt: 1)])
        #expect(
            limited.backendSightings.contains(
                .problem(
                    .upload, attempt: 1, status: 429, job: nil, retryable: true, retryAfter: .seconds(2))))
        // Another fault counts for itself, and an exchange without one is not asked.
        #expect(
            bench.upload(
                caller: Bench.caller(scan: 3),
                faults: [
                    .armed(
                        .rateLimit(quota: Quota(requests: 1, window: .seconds(4)), retryAfter: nil), fault: 5)
                ]
            ).status == 202)
        #expect(bench.upload(caller: Bench.caller(scan: 4)).status == 202)
        // What a fault refused has not counted for the server's own limit, which had one left until now.
        #expect(bench.upload(caller: Bench.caller(scan: 5)).header("X-RateLimit-Limit") == "3")
        #expect(bench.upload(caller: Bench.caller(scan: 5)).status == 429)
    }

    @Test func `without a hint of its own a fault tells the time to a free slot`() {
        var bench = Bench()
        let fault = ArmedFault.armed(
            .rateLimit(quota: Quota(requests: 1, window: .seconds(4)), retryAfter: nil))
        #expect(bench.upload(faults: [fault]).status == 202)
        bench.now = .zero + .milliseconds(2_500)
        let limited = bench.upload(faults: [fault])
        #expect(limited.header("Retry-After") == "2")
        #expect(limited.bodyText.contains("\"retryAfterMs\":1500,"))
        bench.now = .zero + .seconds(4)
        #expect(bench.upload(faults: [fault]).status == 202)
    }

    @Test func `absurd windows and hints are cut to ten years`() {
        var bench = Bench()
        let endless = Interval(nanoseconds: .max)
        let fault = ArmedFault.armed(
            .rateLimit(quota: Quota(requests: 1, window: endless), retryAfter: endless))
        #expect(bench.upload(faults: [fault]).status == 202)
        #expect(bench.upload(faults: [fault]).header("Retry-After") == "315360000")
    }
}
