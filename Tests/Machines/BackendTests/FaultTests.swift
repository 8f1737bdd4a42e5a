import Backend
import Faults
import JSON
import Observations
import SimBase
import SimTestSupport
import Talaria
import Testing

/// The server's faults on an exchange, and those that are not the server's.
@Suite struct FaultTests {
    @Test(arguments: [
        (StrippedForm.absent, "{\"jobId\":"), (.null, "{\"books\":null,\"jobId\":"),
        (.empty, "{\"books\":[],\"jobId\":"), (.renamed, "{\"results\":"),
    ])
    func `books are taken from one stream only, in four ways`(form: StrippedForm, start: String) throws {
        var bench = Bench()
        let job = bench.job()
        let (faulty, _) = bench.stream(job, faults: [.armed(.stripBooks(form))])
        let (whole, _) = bench.stream(job, attempt: 2)
        let effects = bench.run(seconds: 10)
        let stripped = try #require(bench.read(faulty).last)
        #expect(stripped.id == "1769947210000-completed")
        #expect(stripped.data.hasPrefix(start))
        #expect(stripped.data.contains("\"results\":[{\"author\"") == (form == .renamed))
        #expect(!stripped.data.contains("\"books\":[{"))
        #expect(stripped.data.contains("\"summary\":{"))
        #expect(try #require(bench.read(whole).last).data.hasPrefix("{\"books\":[{"))
        #expect(effects.faultSightings == [.fired(fault: 2, .stream, attempt: 1)])
        #expect(
            JSON.decode(ResultsBody.self, from: bench.results(job).reply?.body ?? [])?.data.results.count == 3
        )
        // And on a stream that comes to the finished job.
        let (late, opening) = bench.stream(job, attempt: 3, faults: [.armed(.stripBooks(form))])
        #expect(bench.read(late).map(\.data) == [stripped.data])
        #expect(opening.faultSightings == [.fired(fault: 2, .stream, attempt: 3)])
    }

    @Test func `books that are not there cannot be stripped`() {
        var bench = Bench { $0.completedBytesMax = 10 }
        let (exchange, _) = bench.stream(bench.job(), faults: [.armed(.stripBooks(.null))])
        let effects = bench.run(seconds: 10)
        #expect(effects.faultSightings == [])
        #expect(bench.read(exchange).last?.data.contains("books") == false)
    }

    @Test func `books are stripped only once the trigger is reached`() {
        for (trigger, fires) in [
            (ArmedTrigger.afterTime(.seconds(10)), true), (.afterTime(.milliseconds(10_001)), false),
            (.afterEvents(5), true), (.afterEvents(6), false),
        ] {
            var bench = Bench()
            bench.stream(bench.job(), faults: [.armed(.stripBooks(.absent), trigger)])
            #expect(bench.run(seconds: 10).faultSightings.isEmpty == !fires, "\(trigger)")
        }
    }

    @Test func `a token expires after a time, with all that it had opened`() {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 1)
        let (faulty, _) = bench.stream(
            job, faults: [.armed(.expireToken, .afterTime(.milliseconds(1_500)))])
        let (other, _) = bench.stream(job, attempt: 2)
        #expect(bench.run(to: .zero + .milliseconds(2_499)).isEmpty)
        let effects = bench.run(to: .zero + .milliseconds(2_500))
        #expect(
            effects == [
                .observe(self.seen(.fault(.fired(fault: 2, .stream, attempt: 1)), at: bench.now)),
                .observe(self.seen(.backend(.tokenRevoked(job: job.id)), at: bench.now)),
                .endStream(faulty),
                .observe(
                    self.seen(
                        .backend(.streamEnded(job: job.id, attempt: 1, byPeer: false)), at: bench.now)),
                .endStream(other),
                .observe(
                    self.seen(
                        .backend(.streamEnded(job: job.id, attempt: 2, byPeer: false)), at: bench.now)),
            ])
        for answer in [
            bench.stream(job, attempt: 3).effects, bench.results(job), bench.status(job), bench.cleanup(job),
            bench.cancel(job),
        ] {
            #expect(answer.verdict == "401 TOKEN_EXPIRED")
        }
        // The job goes on.
        #expect(
            bench.run(seconds: 8).backendSightings == [.finished(job: job.id, kind: .completed, books: 3)])
        #expect(bench.backend.jobsAlive == 1)
    }

    private func seen(_ what: ObservationPayload, at: Instant) -> Observation {
        Observation(at: at, device: DeviceNumber(4), scan: ScanNumber(1), what: what)
    }

    @Test func `a token expires after so many new events, replays and pings not counted`() {
        var bench = Bench { $0.ping = .milliseconds(100) }
        let job = bench.job()
        bench.run(to: .zero + .milliseconds(300))
        let (exchange, _) = bench.stream(
            job, after: "none", faults: [.armed(.expireToken, .afterEvents(2))])
        bench.run(seconds: 20)
        #expect(bench.positions(exchange) == [-1, -2, 2, 3])
        #expect(bench.hasEnded(exchange))
        #expect(bench.effects.faultSightings == [.fired(fault: 2, .stream, attempt: 1)])
        #expect(bench.results(job).verdict == "401 TOKEN_EXPIRED")
    }

    @Test func `a token expires after so many bytes`() {
        var bench = Bench()
        let (exchange, _) = bench.stream(
            bench.job(),
            faults: [.armed(.expireToken, .afterBytes(": connection established\n\n".utf8.count + 1))])
        #expect(bench.positions(exchange) == [-1])
        #expect(bench.hasEnded(exchange))
    }

    @Test func `a token that expires at once is refused by the very request`() {
        for operation in 0..<5 {
            var bench = Bench()
            let job = bench.job()
            let path = "/v3/jobs/scans/\(job.id)"
            let (method, target, kind): (String, String, Operation) = [
                ("GET", path + "/stream", .stream), ("GET", path + "/results", .results),
                ("DELETE", path + "/cleanup", .cleanup), ("GET", path, .status), ("DELETE", path, .cancel),
            ][operation]
            let faults = [ArmedFault.armed(.expireToken)]
            let wrong = bench.ask(method, target, authorization: "Bearer no", faults: faults).effects
            #expect(wrong.verdict == "401 INVALID_TOKEN")
            #expect(wrong.faultSightings == [])
            let effects = bench.ask(
                method, target, authorization: "Bearer \(job.token)", faults: faults
            ).effects
            #expect(effects.verdict == "401 TOKEN_EXPIRED")
            #expect(effects.faultSightings == [.fired(fault: 2, kind, attempt: 1)])
            #expect(effects.backendSightings.contains(.tokenRevoked(job: job.id)))
            #expect(bench.status(job).verdict == "401 TOKEN_EXPIRED")
        }
    }

    @Test func `a fault does not fire for a stream that ended before`() {
        var bench = Bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job, faults: [.armed(.expireToken, .afterTime(.seconds(1)))])
        bench.handle(.aborted(exchange))
        #expect(bench.run(seconds: 5).faultSightings == [])
        #expect(bench.status(job).status == 200)
    }

    @Test func `the earliest of several faults fires, and once`() {
        var bench = Bench()
        let job = bench.job()
        bench.stream(
            job,
            faults: [
                .armed(.expireToken, .afterTime(.seconds(3)), fault: 0),
                .armed(.expireToken, .afterTime(.seconds(2)), fault: 1),
                .armed(.expireToken, .afterEvents(9), fault: 2),
            ])
        bench.run(seconds: 20)
        #expect(bench.effects.faultSightings == [.fired(fault: 1, .stream, attempt: 1)])
    }

    @Test(arguments: [
        ArmedFault.armed(.reset(.betweenEvents, .reply)), .armed(.phone(.offline)),
        .armed(.rateLimit(quota: Quota(requests: 0, window: .seconds(1)), retryAfter: nil)),
        .armed(.expireToken, .afterTime(Interval(nanoseconds: .max))),
        .armed(.expireToken, .afterEvents(.max)),
    ])
    func `faults of others, and those that come too late, change nothing`(fault: ArmedFault) {
        var plain = Bench()
        var faulty = Bench()
        plain.stream(plain.job())
        faulty.stream(faulty.job(), faults: [fault])
        plain.run(seconds: 30)
        faulty.run(seconds: 30)
        #expect(plain.effects == faulty.effects)
    }
}
