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

    // MARK: Shared limits

    private static func rule(
        _ requests: Int, _ seconds: Int64, per scope: RateLimitRule.Scope,
        of counted: RateLimitRule.Requests = .uploads
    ) -> RateLimitRule {
        RateLimitRule(
            quota: Quota(requests: requests, window: .seconds(seconds)), scope: scope, requests: counted)
    }

    /// A foreign client with its own device id, from an address.
    private static func foreigner(_ hash: UInt64) -> Caller {
        Caller(device: Caller.foreigner(hash), scan: ScanNumber(1), attempt: 1)
    }

    @Test func `foreign clients of one address share its quota, whatever their device ids`() {
        var bench = Bench { $0.limits = [Self.rule(1, 20, per: .address)] }
        func upload(_ device: String, _ hash: UInt64, from address: String?) -> [OriginEffect] {
            bench.upload(device: device, caller: Self.foreigner(hash), address: address)
        }
        #expect(upload(Bench.deviceID, 1, from: "192.0.2.1").status == 202)
        let second = upload(Bench.otherDeviceID, 2, from: "192.0.2.1")
        #expect(second.status == 429 && second.header("Retry-After") == "20")
        #expect(second.bodyText.contains("\"detail\":\"Too many requests from address\""))
        #expect(upload(Bench.otherDeviceID, 2, from: "192.0.2.2").status == 202)
        // Where no address is known, the device id has to do.
        #expect(upload(Bench.deviceID, 1, from: nil).status == 202)
        #expect(upload(Bench.deviceID, 1, from: nil).status == 429)
    }

    @Test func `simulated phones share addresses by their numbers, wherever they connect from`() {
        var bench = Bench {
            $0.limits = [Self.rule(1, 20, per: .address)]
            $0.phonesPerAddress = 2
        }
        func status(_ device: UInt32) -> Int? {
            bench.upload(caller: Bench.caller(device: device), address: "127.0.0.1").status
        }
        #expect(status(4) == 202 && status(5) == 429 && status(6) == 202 && status(7) == 429)
    }

    @Test func `one quota is for everybody, and what it refuses counts for no other`() {
        var bench = Bench {
            $0.rateLimit = Quota(requests: 2, window: .seconds(100))
            $0.limits = [Self.rule(2, 10, per: .all)]
        }
        let devices = [Bench.deviceID, Bench.otherDeviceID]
        #expect(devices.map { bench.upload(device: $0).status } == [202, 202])
        for _ in 0..<5 { #expect(devices.map { bench.upload(device: $0).status } == [429, 429]) }
        bench.now = .zero + .seconds(10)
        #expect(devices.map { bench.upload(device: $0).status } == [202, 202])
        // Both limits refuse now: the wait is that of the longer one.
        #expect(bench.upload().header("Retry-After") == "90")
        #expect(bench.upload().header("X-RateLimit-Limit") == "2")
    }

    @Test func `the headers are those of the limit that is reached first`() {
        var bench = Bench {
            $0.rateLimit = Quota(requests: 10, window: .seconds(100))
            $0.limits = [Self.rule(3, 20, per: .address)]
        }
        let effects = bench.upload()
        #expect(effects.header("X-RateLimit-Limit") == "3" && effects.header("X-RateLimit-Remaining") == "2")
    }

    @Test func `a limit of one journey leaves the others alone`() {
        var bench = Bench { $0.limits = [Self.rule(1, 60, per: .address, of: .journey(.csvImport))] }
        for _ in 0..<3 { #expect(bench.upload().status == 202) }
    }

    @Test func `a limit of status requests counts them for all jobs`() {
        var bench = Bench { $0.limits = [Self.rule(2, 60, per: .address, of: .status)] }
        let jobs = (1...3).map { bench.job(Bench.caller(scan: $0)) }
        #expect(jobs.map { bench.status($0).status } == [200, 200, 429])
        bench.now = .zero + .seconds(60)
        #expect(bench.status(jobs[2]).status == 200)
        #expect(bench.upload().status == 202)
    }
}
