import Backend
import Faults
import JSON
import Observations
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Faults that answer instead of the server.
@Suite struct AnswerFaultTests {
    private static func error(
        _ status: Int, code: String? = nil, retryable: Bool? = nil, retryAfter: Interval? = nil,
        in location: RetryAfterLocation = .both
    ) -> FaultKind {
        .httpError(
            HTTPFault(
                status: status, code: code, retryable: retryable, retryAfter: retryAfter,
                retryAfterLocation: location))
    }

    private static func seen(_ what: ObservationPayload) -> OriginEffect {
        .observe(Observation(at: .zero, device: DeviceNumber(4), scan: ScanNumber(1), what: what))
    }

    // MARK: http-error

    @Test func `an upload meets an error before its body is read, and makes no job`() throws {
        var bench = Bench()
        let effects = bench.upload(faults: [.armed(Self.error(503))])
        let reply = try #require(effects.reply)
        #expect(
            effects == [
                Self.seen(.backend(.requested(.upload, attempt: 1, connection: 1))),
                Self.seen(.fault(.fired(fault: 2, .upload, attempt: 1))),
                .reply(ExchangeID(1), reply),
                Self.seen(.backend(.answered(.upload, attempt: 1, status: 503))),
                Self.seen(
                    .backend(
                        .problem(
                            .upload, attempt: 1, status: 503, job: nil, retryable: true, retryAfter: nil))),
            ])
        #expect(reply.status == 503)
        #expect(
            JSON.decode(Problem.self, from: reply.body)
                == Problem(
                    .circuitOpen, detail: "The service has failed.", instance: "/v3/jobs/scans",
                    retryAfterMs: nil,
                    metadata: Metadata(
                        timestamp: "2026-02-01T12:00:00.000Z",
                        requestId: effects.header("X-Request-ID") ?? "")))
        #expect(bench.backend.jobsAlive == 0)
        #expect(bench.backend.uploadsOpen == 0)
        #expect(bench.upload().status == 202)
    }

    @Test func `a stream, results and a DELETE meet an error, and the job stays`() {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 10)
        let path = "/v3/jobs/scans/\(job.id)"
        let asked: [(String, String, Talaria.Operation)] = [
            ("GET", path + "/stream", .stream), ("GET", path + "/results", .results),
            ("DELETE", path + "/cleanup", .cleanup),
        ]
        for (method, target, operation) in asked {
            let effects = bench.ask(
                method, target, authorization: "Bearer \(job.token)", faults: [.armed(Self.error(500))]
            ).effects
            #expect(effects.verdict == "500 INTERNAL_ERROR")
            #expect(effects.faultSightings == [.fired(fault: 2, operation, attempt: 1)])
        }
        #expect(bench.backend.jobsAlive == 1)
        #expect(bench.cleanup(job).status == 204)
    }

    @Test(arguments: RetryAfterLocation.allCases)
    func `how long to wait is told where the scenario says`(location: RetryAfterLocation) throws {
        var bench = Bench()
        let kind = Self.error(503, retryAfter: .milliseconds(1_500), in: location)
        let effects = bench.upload(faults: [.armed(kind)])
        let problem = try #require(JSON.decode(Problem.self, from: effects.reply?.body ?? []))
        let inHeader = location == .header || location == .both
        let inBody = location == .body || location == .both
        #expect(effects.header("Retry-After") == (inHeader ? "2" : nil))
        #expect(problem.retryAfterMs == (inBody ? 1_500 : nil))
    }

    @Test func `status, code and whether to repeat are what the scenario says, else the contract's`() throws {
        let cases: [(FaultKind, status: Int, code: String, retryable: Bool)] = [
            (Self.error(503), 503, "CIRCUIT_OPEN", true),
            (Self.error(503, retryable: false), 503, "CIRCUIT_OPEN", false),
            (Self.error(500, code: "CACHE_ERROR"), 500, "CACHE_ERROR", true),
            (Self.error(422, code: "INVALID_IMAGE_SIZE"), 422, "INVALID_IMAGE_SIZE", false),
            (Self.error(422, code: "INVALID_IMAGE_SIZE", retryable: true), 422, "INVALID_IMAGE_SIZE", true),
            (Self.error(429), 429, "RATE_LIMIT_EXCEEDED", true),
            (Self.error(418), 418, "INVALID_REQUEST", false),
            (Self.error(599), 599, "INTERNAL_ERROR", false),
        ]
        for (kind, status, code, retryable) in cases {
            var bench = Bench()
            let effects = bench.upload(faults: [.armed(kind)])
            let problem = try #require(JSON.decode(Problem.self, from: effects.reply?.body ?? []))
            #expect(effects.status == status)
            #expect(problem.status == status && problem.code == code && problem.retryable == retryable)
        }
    }

    @Test func `a request that is refused anyway meets no fault`() {
        var bench = Bench()
        let job = bench.job()
        let path = "/v3/jobs/scans/\(job.id)/stream"
        for kind in [Self.error(500), .jobGone(status: 410), .expireToken] {
            let effects = bench.ask("GET", path, authorization: "Bearer no", faults: [.armed(kind)]).effects
            #expect(effects.verdict == "401 INVALID_TOKEN")
            #expect(effects.faultSightings == [])
        }
        let nobody = bench.upload(device: nil, faults: [.armed(Self.error(500))])
        #expect(nobody.verdict == "400 MISSING_PARAMETER")
        #expect(nobody.faultSightings == [])
    }

    @Test func `of several faults that answer the first of the list does`() {
        let limit = FaultKind.rateLimit(
            quota: Quota(requests: 0, window: .seconds(9)), retryAfter: .seconds(3))
        var bench = Bench()
        let limited = bench.upload(
            faults: [.armed(limit, fault: 0), .armed(Self.error(500), fault: 1)])
        #expect(limited.verdict == "429 RATE_LIMIT_EXCEEDED")
        #expect(limited.faultSightings == [.fired(fault: 0, .upload, attempt: 1)])
        #expect(
            limited.backendSightings.contains(
                .problem(
                    .upload, attempt: 1, status: 429, job: nil, retryable: true, retryAfter: .seconds(3))))
        let failed = bench.upload(
            faults: [.armed(Self.error(500), fault: 0), .armed(limit, fault: 1)])
        #expect(failed.verdict == "500 INTERNAL_ERROR")
        #expect(failed.faultSightings == [.fired(fault: 0, .upload, attempt: 1)])
        #expect(
            failed.backendSightings.contains(
                .problem(
                    .upload, attempt: 1, status: 500, job: nil, retryable: false, retryAfter: nil)))
        let job = bench.job()
        let gone = bench.stream(
            job, faults: [.armed(.jobGone(status: 404), fault: 0), .armed(.expireToken, fault: 1)])
        #expect(gone.effects.verdict == "404 NOT_FOUND")
        #expect(gone.effects.faultSightings == [.fired(fault: 0, .stream, attempt: 1)])
    }

    @Test func `an error whose window opens later has no answer left to replace`() {
        var plain = Bench()
        var faulty = Bench()
        plain.stream(plain.job())
        faulty.stream(faulty.job(), faults: [.armed(Self.error(500), .afterTime(.seconds(1)))])
        plain.run(seconds: 30)
        faulty.run(seconds: 30)
        #expect(plain.effects == faulty.effects)
    }

    // MARK: truncate-results

    @Test func `results break off in the middle, and are whole the next time`() throws {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 10)
        let whole = try #require(bench.results(job).reply)
        for draw in [0, 1 << 63, UInt64.max] {
            let fault = ArmedFault(fault: 2, kind: .truncateResults, trigger: .atOnce, draw: draw)
            let effects = bench.ask(
                "GET", "/v3/jobs/scans/\(job.id)/results", authorization: "Bearer \(job.token)",
                faults: [fault]
            ).effects
            let cut = try #require(effects.reply)
            #expect(cut.status == 200)
            #expect(cut.headers.dropFirst() == whole.headers.dropFirst())
            #expect(!cut.body.isEmpty && cut.body.count < whole.body.count)
            #expect(whole.body.starts(with: cut.body))
            #expect(JSON.decode(ResultsBody.self, from: cut.body) == nil)
            #expect(effects.faultSightings == [.fired(fault: 2, .results, attempt: 1)])
            #expect(
                effects.backendSightings == [
                    .requested(.results, attempt: 1, connection: 1),
                    .answered(.results, attempt: 1, status: 200),
                ])
        }
        #expect(bench.results(job).reply?.body == whole.body)
    }

    // MARK: reorder-results

    @Test func `results come in another order, and all of them`() throws {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 10)
        func titles(_ body: [UInt8]?) -> [String] {
            JSON.decode(ResultsBody.self, from: body ?? [])?.data.results.map(\.title) ?? []
        }
        let whole = titles(bench.results(job).reply?.body)
        try #require(whole.count == 3)
        var orders: Set<[String]> = []
        for draw in [0, 1 << 63, UInt64.max] {
            let effects = bench.ask(
                "GET", "/v3/jobs/scans/\(job.id)/results", authorization: "Bearer \(job.token)",
                faults: [ArmedFault(fault: 2, kind: .reorderResults, trigger: .atOnce, draw: draw)]
            ).effects
            let order = titles(effects.reply?.body)
            #expect(order.sorted() == whole.sorted())
            #expect(zip(order, whole).allSatisfy { $0 != $1 }, "none is at its place")
            #expect(effects.faultSightings == [.fired(fault: 2, .results, attempt: 1)])
            orders.insert(order)
        }
        #expect(orders.count == 2)
    }

    // MARK: job-gone

    @Test(arguments: [404, 410]) func `a job that is gone is gone for good`(status: Int) {
        let verdict = status == 404 ? "404 NOT_FOUND" : "410 GONE"
        for asksForResults in [false, true] {
            var bench = Bench()
            let job = bench.job()
            let (open, _) = bench.stream(job)
            let asked = bench.ask(
                "GET", "/v3/jobs/scans/\(job.id)/\(asksForResults ? "results" : "stream")",
                authorization: "Bearer \(job.token)", accept: "text/event-stream",
                caller: Bench.caller(attempt: 2), faults: [.armed(.jobGone(status: status))]
            ).effects
            let operation: Talaria.Operation = asksForResults ? .results : .stream
            #expect(asked.verdict == verdict)
            #expect(
                asked.payloads == [
                    .backend(.requested(operation, attempt: 2, connection: 1)),
                    .fault(.fired(fault: 2, operation, attempt: 2)), .backend(.vanished(job: job.id)),
                    .backend(.streamEnded(job: job.id, attempt: 1, byPeer: false)),
                    .backend(.answered(operation, attempt: 2, status: status)),
                    .backend(
                        .problem(
                            operation, attempt: 2, status: status, job: job.id, retryable: false,
                            retryAfter: nil)),
                ])
            #expect(bench.hasEnded(open))
            #expect(bench.backend.jobsAlive == 0)
            let cleanup = status == 404 ? verdict : "204"
            #expect(bench.stream(job, attempt: 3).effects.verdict == verdict)
            #expect(bench.results(job).verdict == verdict)
            #expect(bench.status(job).verdict == verdict)
            #expect(bench.cleanup(job).verdict == cleanup)
            #expect(bench.run(seconds: 20).isEmpty)
        }
    }

    @Test func `a job is gone in the middle of its stream when the window opens then`() {
        var bench = Bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(
            job, faults: [.armed(.jobGone(status: 410), .afterTime(.seconds(3)))])
        let effects = bench.run(seconds: 3)
        #expect(
            effects.payloads.suffix(3) == [
                .fault(.fired(fault: 2, .stream, attempt: 1)), .backend(.vanished(job: job.id)),
                .backend(.streamEnded(job: job.id, attempt: 1, byPeer: false)),
            ])
        #expect(bench.hasEnded(exchange))
        #expect(bench.stream(job, attempt: 2).effects.verdict == "410 GONE")
    }
}
