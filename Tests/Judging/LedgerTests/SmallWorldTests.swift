import Backend
import Faults
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

/// The contract's phone and backend keep every invariant, whatever the weather: a ledger that says otherwise is wrong.
@Suite struct SmallWorldTests {
    private func world(
        _ seed: UInt64, _ weather: SmallWorld.Weather,
        configuration: (inout BackendConfiguration) -> Void = { _ in }
    ) -> SmallWorld {
        var world = SmallWorld(seed: seed, weather: weather, configuration: configuration)
        world.run(scans: 12)
        return world
    }

    private func complaints(_ world: SmallWorld) -> [String] {
        world.ledger.verdicts.flatMap(\.examples).map {
            "\($0.invariant.rawValue) scan \($0.scan.raw) at \($0.at.nanoseconds): \($0.text)"
        }
    }

    @Test func `in fair weather every scan is completed and every job cleaned up`() {
        for seed: UInt64 in 1...5 {
            let world = self.world(seed, SmallWorld.Weather())
            let totals = world.ledger.totals
            #expect(self.complaints(world) == [])
            #expect(totals.scans.captured == 12)
            #expect(totals.scans.completed == 12)
            #expect(totals.jobs.accepted == 12)
            #expect(totals.jobs.cleaned == 12)
            #expect(totals.books.missing == 0)
            #expect(world.ledger.followed == (scans: 0, jobs: 0))
            #expect(world.tally.measured.table.rate(.sseConnectFailed, of: .fleet).value == [0, 12])
            #expect(world.tally.measured.table.rate(.cleanupFailed, of: .fleet).value == [0, 12])
        }
    }

    private static let weathers: [(String, SmallWorld.Weather)] = [
        (
            "resets",
            {
                var weather = SmallWorld.Weather(); weather.reset = 10; return weather
            }()
        ),
        (
            "kills",
            {
                var weather = SmallWorld.Weather(); weather.kills = 6; return weather
            }()
        ),
        (
            "outages",
            {
                var weather = SmallWorld.Weather(); weather.outages = 4; return weather
            }()
        ),
        (
            "the background",
            {
                var weather = SmallWorld.Weather(); weather.aways = 8; return weather
            }()
        ),
        (
            "other networks",
            {
                var weather = SmallWorld.Weather(); weather.handovers = 8; return weather
            }()
        ),
        (
            "reinstallations",
            {
                var weather = SmallWorld.Weather(); weather.reinstalls = 2; return weather
            }()
        ),
        (
            "server faults",
            {
                var weather = SmallWorld.Weather()
                weather.faults = [.stripBooks(.absent), .expireToken]
                return weather
            }()
        ),
        (
            "all of it",
            {
                var weather = SmallWorld.Weather()
                weather.reset = 4
                weather.kills = 3
                weather.outages = 2
                weather.aways = 3
                weather.handovers = 2
                weather.reinstalls = 1
                weather.faults = [.stripBooks(.null), .expireToken]
                return weather
            }()
        ),
    ]

    @Test(arguments: Self.weathers.indices) func `in foul weather nothing is broken either`(index: Int) {
        let (name, weather) = Self.weathers[index]
        for seed: UInt64 in 1...12 {
            let world = self.world(seed, weather)
            #expect(self.complaints(world) == [], "\(name), seed \(seed)")
            let scans = world.ledger.totals.scans
            #expect(scans.isConserved && scans.lost == 0, "\(name), seed \(seed)")
            #expect(scans.completed > 0, "\(name), seed \(seed)")
        }
    }

    private static let serverFaults: [FaultKind] = [
        .httpError(
            HTTPFault(
                status: 503, code: nil, retryable: nil, retryAfter: .milliseconds(700),
                retryAfterLocation: .both
            )
        ),
        .httpError(
            HTTPFault(
                status: 404, code: nil, retryable: nil, retryAfter: nil, retryAfterLocation: .neither)),
        .stripBooks(.empty), .truncateResults, .reorderResults, .jobGone(status: 404), .jobGone(status: 410),
        .retryableError(code: "PROVIDER_TIMEOUT"), .finalError(code: "INVALID_FILE"),
        .degraded(books: .percent(50)), .slowStage(.identifying, by: .zero...(.seconds(4))),
        .unknownEvent(nil),
        .badJSON(.extra), .badJSON(.progress), .badJSON(.completed), .eventShape(.noMessage),
        .latePing(by: .seconds(2)), .noPing, .twoTerminals, .endWithoutTerminal, .ignoreLastEventID,
        .forgetEvents,
    ]

    @Test(arguments: Self.serverFaults.indices)
    func `no fault of the server makes the phone or the backend break anything`(index: Int) {
        let kind = Self.serverFaults[index]
        var fired = 0
        for seed: UInt64 in 1...3 {
            var weather = SmallWorld.Weather()
            // Books that come only with the results, and streams that end, so that every fault finds something to do.
            weather.faults = [kind, .stripBooks(.absent), .endWithoutTerminal]
            weather.reset = 4
            weather.kills = 2
            let world = self.world(seed, weather)
            #expect(self.complaints(world) == [], "\(kind), seed \(seed)")
            let scans = world.ledger.totals.scans
            #expect(scans.isConserved && scans.lost == 0, "\(kind), seed \(seed)")
            fired += world.observations.count {
                if case .fault(.fired(fault: 0, _, _)) = $0.what { true } else { false }
            }
        }
        #expect(fired > 0, "\(kind) never fired")
    }

    @Test func `all of the server's faults together break nothing either`() {
        for seed: UInt64 in 1...8 {
            var weather = SmallWorld.Weather()
            weather.faults = Self.serverFaults
            weather.reset = 3
            let world = self.world(seed, weather) { $0.pingIDs = seed.isMultiple(of: 2) }
            #expect(self.complaints(world) == [], "seed \(seed)")
            let scans = world.ledger.totals.scans
            #expect(scans.isConserved && scans.lost == 0, "seed \(seed)")
        }
    }

    @Test func `a limit, ids of pings, fresh ids of replays and a short buffer break nothing`() {
        var weather = SmallWorld.Weather()
        weather.reset = 12
        for seed: UInt64 in 1...12 {
            let world = self.world(seed, weather) {
                $0.rateLimit = Quota(requests: 3, window: .seconds(8))
                $0.pingIDs = true
                $0.replayIDs = .fresh
                $0.eventBuffer = .milliseconds(400)
                $0.repeatedCleanup = .notFound
            }
            #expect(self.complaints(world) == [], "seed \(seed)")
        }
    }

    @Test func `a planted bug is found`() {
        // The phone forgets what it should send as Last-Event-ID.
        var forgetful = SmallWorld.Weather()
        forgetful.reset = 10
        forgetful.plant = { observation in
            guard case .phone(.requestSent(.stream, let attempt, let job, .some)) = observation.what else {
                return observation
            }
            return Observation(
                at: observation.at, device: observation.device, scan: observation.scan,
                what: .phone(.requestSent(.stream, attempt: attempt, job: job, lastEventID: nil)))
        }
        #expect(self.world(1, forgetful).ledger.isBroken)

        // A book gets lost on its way into the library.
        var lossy = SmallWorld.Weather()
        lossy.plant = { observation in
            if case .phone(.bookAdded(ordinal: 2, _)) = observation.what { return nil }
            return observation
        }
        let broken = self.world(1, lossy).ledger.verdicts.filter { $0.violations > 0 }.map(\.invariant)
        #expect(broken == [.bookNeverLost])
    }
}

extension Reading<FailureRate> {
    fileprivate var value: [Int64] {
        guard case .measured(let rate) = self else { return [] }
        return [rate.failed, rate.total]
    }
}
