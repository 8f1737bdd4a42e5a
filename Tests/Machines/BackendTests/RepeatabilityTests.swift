import Faults
import OriginServer
import SimBase
import Talaria
import Testing

@testable import Backend

@Suite struct RepeatabilityTests {
    /// A busy minute of many phones, drawn from a seed: uploads, streams cut and resumed, results, cleanups.
    private func busy(seed: UInt64, phones: UInt32 = 20) -> Bench {
        let random = KeyedRandom(seed: seed)
        var bench = Bench(seed: seed) {
            $0.jobTime = .seconds(1)...(.seconds(5))
            $0.ping = .milliseconds(700)
            $0.eventBuffer = .seconds(4)
            $0.replayIDs = .fresh
            $0.pingIDs = true
            $0.rateLimit = Quota(requests: 4, window: .seconds(3))
        }
        var jobs: [Bench.Job] = []
        var streams: [ExchangeID] = []
        for step in 0..<1_500 as Range<UInt64> {
            let which = random.draw(.test, step)
            let job = jobs.isEmpty ? nil : jobs[Int(random.below(UInt64(jobs.count), .test, step, 1))]
            let caller = Bench.caller(
                device: UInt32(which >> 40) % phones, scan: UInt32(step), attempt: 1)
            let fault: [ArmedFault] =
                which >> 8 & 7 == 0
                ? [.armed(.expireToken, .afterEvents(2))]
                : which >> 8 & 7 == 1
                    ? [.armed(.stripBooks(.renamed)), .armed(.expireToken, .afterTime(.seconds(1)))] : []
            switch (which % 8, job) {
            case (0, _), (1, _), (_, nil):
                let new = bench.job(
                    caller, device: which >> 33 & 1 == 0 ? Bench.deviceID : Bench.otherDeviceID)
                if !new.token.isEmpty { jobs.append(new) }
            case (2, let job?), (3, let job?), (4, let job?):
                streams.append(
                    bench.stream(job, after: which >> 16 & 1 == 0 ? nil : "x", faults: fault).exchange)
            case (5, _) where !streams.isEmpty:
                bench.handle(.aborted(streams[Int(which >> 20) % streams.count]))
            case (6, let job?): bench.results(job)
            case (_, let job?): bench.cleanup(job)
            }
            bench.run(to: bench.now + .milliseconds(Int64(which >> 24 & 63)))
        }
        return bench
    }

    @Test func `the same events have the same effects, byte for byte`() {
        let first = self.busy(seed: 11)
        #expect(first.effects.count > 3_000)
        #expect(first.effects == self.busy(seed: 11).effects)
        #expect(first.effects != self.busy(seed: 12).effects)
    }

    @Test func `a backend is a value: a copy goes its own way`() {
        var one = Bench()
        let job = one.job()
        one.run(seconds: 5)
        var two = one
        one.cleanup(job)
        #expect(two.run(seconds: 5).backendSightings == [.finished(job: job.id, kind: .completed, books: 3)])
        #expect(one.run(seconds: 5).isEmpty)
    }

    @Test func `whatever happened, in the end nothing is left`() {
        var bench = self.busy(seed: 13)
        bench.run(seconds: 3 * 3_600)
        #expect(bench.backend.jobsAlive == 0)
        #expect(bench.backend.streamsOpen == 0)
        #expect(bench.backend.uploadsOpen == 0)
        #expect(bench.backend.nextWake == nil)
        #expect(bench.backend.faults.alarms == 0)
        // Every job ended in exactly one way, and every stream that was opened was ended.
        var accepted: [String] = []
        var ended: [String] = []
        var open = 0
        for payload in bench.effects.backendSightings {
            switch payload {
            case .accepted(let job, _): accepted.append(job)
            case .cleaned(let job, effective: true), .expired(let job): ended.append(job)
            case .streamOpened: open += 1
            case .streamEnded: open -= 1
            default: break
            }
        }
        #expect(accepted.count > 100)
        #expect(Set(accepted).count == accepted.count)
        #expect(ended.sorted() == accepted.sorted())
        #expect(open == 0)
    }

    @Test func `on every stream positions rise, and nothing follows its end`() {
        let bench = self.busy(seed: 14)
        var last: [ExchangeID: Int] = [:]
        var ended: Set<ExchangeID> = []
        for effect in bench.effects {
            switch effect {
            case .stream(let exchange, _, .event(let position, _, _, _)):
                #expect(!ended.contains(exchange))
                if let before = last[exchange] { #expect(position == before + 1) }
                last[exchange] = position
            case .stream(let exchange, _, _): #expect(!ended.contains(exchange))
            case .endStream(let exchange): #expect(ended.insert(exchange).inserted)
            default: break
            }
        }
    }

    @Test func `a clock that steps back does no harm`() {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 7)
        let wake = bench.backend.nextWake
        bench.now = .zero
        #expect(bench.handle(.woke) == [])
        #expect(bench.status(job).bodyText.contains("\"progress\":0.5"))
        #expect(bench.backend.nextWake == wake)
    }

    @Test func `deadlines of what is gone do not pile up`() {
        var bench = Bench()
        _ = bench.job()  // Its deadline comes before all that go stale, so none of those comes to the front.
        for scan in 2...4_000 as ClosedRange<UInt32> {
            let job = bench.job(Bench.caller(scan: scan))
            bench.stream(job)
            bench.cleanup(job)
            bench.effects.removeAll(keepingCapacity: true)
        }
        #expect(bench.backend.deadlines.count <= 1_100)
        #expect(bench.backend.nextWake == .zero + .milliseconds(200))
    }

    @Test func `five thousand streams are pinged in their order`() {
        var bench = Bench { $0.jobTime = .hours(1)...(.hours(1)) }
        var streams: [ExchangeID] = []
        for device in 0..<5_000 as Range<UInt32> {
            streams.append(bench.stream(bench.job(Bench.caller(device: device))).exchange)
            bench.now = bench.now + .microseconds(100)
        }
        bench.effects = []
        bench.run(to: .zero + .seconds(31))
        let pinged = bench.effects.compactMap { effect -> ExchangeID? in
            if case .stream(let exchange, _, .ping) = effect { exchange } else { nil }
        }
        #expect(pinged == streams)
        #expect(bench.backend.streamsOpen == 5_000)
    }

    @Test(
        arguments: [
            { $0.ping = .zero }, { $0.jobTime = .seconds(-1)...(.seconds(1)) },
            { $0.tokenLifetime = Interval(nanoseconds: .max) }, { $0.eventBuffer = .seconds(-1) },
            { $0.rateLimit = Quota(requests: -1, window: .seconds(1)) },
            { $0.rateLimit = Quota(requests: 1, window: .zero) }, { $0.photosMax = 0 }, { $0.jobsMax = -1 },
        ] as [@Sendable (inout BackendConfiguration) -> Void])
    func `an impossible configuration is named`(change: @Sendable (inout BackendConfiguration) -> Void) {
        var configuration = BackendConfiguration.contract
        #expect(configuration.objection == nil)
        change(&configuration)
        #expect(configuration.objection != nil)
    }
}
