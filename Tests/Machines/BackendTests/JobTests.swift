import Faults
import JSON
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing

@testable import Backend

/// Who may touch a job, what can be asked of it, and how it ends.
@Suite struct JobTests {
    private static let endpoints = [
        ("GET", "/stream"), ("GET", "/results"), ("DELETE", "/cleanup"), ("GET", ""), ("DELETE", ""),
    ]

    @Test(arguments: 0..<5) func `a job is for those who have its token`(endpoint: Int) {
        let (method, tail) = Self.endpoints[endpoint]
        var bench = Bench()
        let job = bench.job()
        let other = bench.job(Bench.caller(scan: 2))
        for authorization in [
            nil, "", "Bearer", "Bearer ", "Basic \(job.token)", job.token, "Bearer \(other.token)",
            "Bearer \(job.token)0", "Bearer \(job.token.uppercased())", "Bearer x",
        ] {
            let answer = bench.ask(
                method, "/v3/jobs/scans/\(job.id)\(tail)", authorization: authorization
            ).effects
            #expect(answer.verdict == "401 INVALID_TOKEN", "\(authorization ?? "none")")
            #expect(answer.header("WWW-Authenticate") == "Bearer")
            #expect(answer.bodyText.contains("\"instance\":\"/v3/jobs/scans/\(job.id)\(tail)\""))
        }
        for id in [
            "abc-123", "11111111-2222-4333-8444-555555555555", job.id.uppercased(), job.id + "0",
        ] {
            let answer = bench.ask(
                method, "/v3/jobs/scans/\(id)\(tail)", authorization: "Bearer \(job.token)"
            ).effects
            #expect(answer.verdict == "404 NOT_FOUND", "\(id)")
        }
        #expect(bench.backend.jobsAlive == 2)
        let fine = bench.ask(
            method, "/v3/jobs/scans/\(job.id)\(tail)", authorization: "bearer   \(job.token)"
        ).effects
        #expect(["stream", "404 NOT_FOUND", "204", "200"].contains(fine.verdict))
    }

    @Test(arguments: 0..<5) func `another device may use a token unless the backend is strict`(endpoint: Int)
    {
        let (method, tail) = Self.endpoints[endpoint]
        for strict in [true, false] {
            var bench = Bench { $0.strictDevice = strict }
            let job = bench.job()
            bench.run(seconds: 10)
            func ask(_ device: String) -> String {
                bench.ask(
                    method, "/v3/jobs/scans/\(job.id)\(tail)", device: device,
                    authorization: "Bearer \(job.token)"
                ).effects.verdict
            }
            #expect((ask(Bench.otherDeviceID) == "401 UNAUTHORIZED") == strict)
            #expect(ask(Bench.deviceID.lowercased()) != "401 UNAUTHORIZED")
        }
    }

    @Test func `a token is good for its lifetime, and an open stream outlives it`() {
        var bench = Bench { $0.tokenLifetime = .seconds(5) }
        let job = bench.job()
        bench.run(to: .zero + .seconds(5) - .nanoseconds(1))
        let (exchange, opening) = bench.stream(job)
        #expect(opening.verdict == "stream")
        bench.run(to: .zero + .seconds(5))
        for answer in [bench.stream(job).effects, bench.results(job), bench.cleanup(job), bench.status(job)] {
            #expect(answer.verdict == "401 TOKEN_EXPIRED")
        }
        bench.run(seconds: 5)
        #expect(bench.positions(exchange).last == 6)
        #expect(!bench.effects.backendSightings.contains(.tokenRevoked(job: job.id)))
    }

    // MARK: Results

    @Test func `results are there from completion on`() {
        var bench = Bench()
        let job = bench.job()
        bench.run(to: .zero + .seconds(10) - .nanoseconds(1))
        #expect(bench.results(job).verdict == "404 NOT_FOUND")
        bench.run(to: .zero + .seconds(10))
        let effects = bench.results(job)
        let books = Shelf(seed: 7, booksMin: 3, booksMax: 3).books(
            device: DeviceNumber(4), scan: ScanNumber(1))
        let list = books.map { String(decoding: JSON.encode($0), as: UTF8.self) }.joined(separator: ",")
        #expect(
            effects.bodyText
                == "{\"data\":{\"jobId\":\"\(job.id)\",\"results\":[\(list)],\"status\":\"completed\"},"
                + "\"success\":true}")
        #expect(effects.header("Content-Type") == "application/json")
        #expect(
            effects.backendSightings == [
                .requested(.results, attempt: 1, connection: 1), .resultsServed(job: job.id, books: 3),
                .answered(.results, attempt: 1, status: 200),
            ])
    }

    @Test(
        arguments: [
            (nil, true), ("", true), ("format=lite", true), ("format=full", true), ("x=1&format=full", true),
            ("formats=x", true), ("format=heavy", false), ("format=", false), ("format", false),
            ("format=lite&format=heavy", false), ("format=LITE", false),
        ] as [(String?, Bool)])
    func `results come in two formats`(query: String?, isKnown: Bool) {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 10)
        #expect(bench.results(job, query: query).verdict == (isKnown ? "200" : "400 INVALID_REQUEST"))
    }

    @Test func `results have a lifetime of their own`() {
        var bench = Bench { $0.resultsLifetime = .minutes(30) }
        let job = bench.job()
        bench.run(to: .zero + .seconds(10) + .minutes(30) - .nanoseconds(1))
        #expect(bench.results(job).status == 200)
        bench.run(to: .zero + .seconds(10) + .minutes(30))
        #expect(bench.results(job).verdict == "404 NOT_FOUND")
        #expect(bench.status(job).status == 200)
    }

    // MARK: Status and cancel

    @Test(arguments: [
        (0, "initialized", "0", 0, 1), (1, "processing", "0.1", 0, 1), (6, "processing", "0.5", 0, 3),
        (8, "processing", "0.65", 1, 3), (10, "completed", "1", 3, 3), (80, "completed", "1", 3, 3),
    ])
    func `the status follows the job`(
        seconds: Int64, status: String, progress: String, processed: Int, total: Int
    ) {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: seconds)
        #expect(
            bench.status(job).bodyText == """
                {"data":{"jobId":"\(job.id)","processedCount":\(processed),"progress":\(progress),\
                "status":"\(status)","totalCount":\(total)},"success":true}
                """)
    }

    @Test func `a canceled job ends its streams with an error event`() {
        var bench = Bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 7)
        let effects = bench.cancel(job)
        #expect(
            effects.bodyText
                == "{\"data\":{\"jobId\":\"\(job.id)\",\"status\":\"canceled\"},\"success\":true}")
        #expect(
            effects.backendSightings == [
                .requested(.cancel, attempt: 1, connection: 1), .canceled(job: job.id),
                .answered(.cancel, attempt: 1, status: 200),
                .failed(job: job.id, code: "CANCELED", retryable: false),
                .eventWritten(
                    job: job.id, id: "1769947207000-error", position: 3, kind: .error, replayed: false),
                .finished(job: job.id, kind: .error, books: 0),
                .streamEnded(job: job.id, attempt: 1, byPeer: false),
            ])
        #expect(
            bench.read(exchange).last?.data == """
                {"code":"CANCELED","jobId":"\(job.id)","message":"The job was canceled.","retryable":false,\
                "type":"error"}
                """)
        #expect(bench.run(seconds: 100).isEmpty)
        #expect(bench.cancel(job).backendSightings.contains(.canceled(job: job.id)) == false)
        #expect(bench.results(job).verdict == "404 NOT_FOUND")
        #expect(
            bench.status(job).bodyText.contains(
                "\"processedCount\":0,\"progress\":0.5,\"status\":\"canceled\",\"totalCount\":3"))
        #expect(bench.opening(job) == [-4])
        #expect(bench.cleanup(job).status == 204)
    }

    @Test func `a job that has ended cannot be canceled`() {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 10)
        #expect(bench.cancel(job).verdict == "409 CONFLICT")
        bench.run(seconds: 100)
        #expect(bench.cancel(job).verdict == "409 CONFLICT")
    }

    // MARK: Ends

    @Test(arguments: [(BackendConfiguration.RepeatedCleanup.noContent, "204"), (.notFound, "404 NOT_FOUND")])
    func `a cleanup removes the job once, and may be repeated`(
        repeated: BackendConfiguration.RepeatedCleanup, verdict: String
    ) {
        var bench = Bench { $0.repeatedCleanup = repeated }
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 7)
        let effects = bench.cleanup(job)
        #expect(effects.reply?.body == [])
        #expect(effects.reply?.status == 204)
        #expect(effects.reply?.headers.map(\.name) == ["X-Request-ID"])
        #expect(
            effects.backendSightings == [
                .requested(.cleanup, attempt: 1, connection: 1), .answered(.cleanup, attempt: 1, status: 204),
                .cleaned(job: job.id, effective: true),
                .streamEnded(job: job.id, attempt: 1, byPeer: false),
            ])
        #expect(bench.hasEnded(exchange))
        #expect(bench.backend.jobsAlive == 0)
        #expect(bench.backend.streamsOpen == 0)
        #expect(bench.backend.nextWake == nil)

        let again = bench.cleanup(job)
        #expect(again.verdict == verdict)
        #expect(again.backendSightings.contains(.cleaned(job: job.id, effective: false)))
        for answer in [bench.stream(job).effects, bench.results(job), bench.status(job), bench.cancel(job)] {
            #expect(answer.verdict == "410 GONE")
        }
        #expect(bench.run(seconds: 20_000).isEmpty)
    }

    @Test func `no job lives for ever`() {
        var bench = Bench()
        let job = bench.job()
        bench.run(to: .zero + .hours(2) + .seconds(10) - .nanoseconds(1))
        #expect(bench.status(job).verdict == "401 TOKEN_EXPIRED")
        #expect(bench.backend.jobsAlive == 1)
        let effects = bench.run(to: .zero + .hours(2) + .seconds(10))
        #expect(effects.backendSightings == [.expired(job: job.id)])
        #expect(bench.backend.jobsAlive == 0)
        #expect(bench.backend.nextWake == nil)
        for answer in [bench.stream(job).effects, bench.results(job), bench.status(job)] {
            #expect(answer.verdict == "410 GONE")
        }
        #expect(bench.cleanup(job).backendSightings.contains(.cleaned(job: job.id, effective: false)))
    }

    @Test func `the oldest of the gone are forgotten first`() {
        var bench = Bench { $0.tombstonesMax = 2 }
        let jobs = (1...3).map { bench.job(Bench.caller(scan: $0)) }
        for job in jobs { bench.cleanup(job) }
        #expect(jobs.map { bench.status($0).verdict } == ["404 NOT_FOUND", "410 GONE", "410 GONE"])
    }

    @Test func `a graveyard is bounded and keeps the latest`() {
        func key(_ number: Int) -> JobKey { JobKey(UUIDBits(randomHigh: 0, randomLow: UInt64(number))) }
        var tombstones = Tombstones(jobsMax: 10)
        for number in 0..<1_000 {
            tombstones.add(key(number))
            tombstones.add(key(number))
            #expect(tombstones.count == min(10, number + 1))
        }
        #expect((0..<1_000).filter { tombstones.contains(key($0)) } == Array(990..<1_000))
        var none = Tombstones(jobsMax: 0)
        none.add(key(1))
        #expect(!none.contains(key(1)))
    }
}
