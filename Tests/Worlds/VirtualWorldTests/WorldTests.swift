import Backend
import Faults
import Ledger
import Metrics
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing

@testable import VirtualWorld

@Suite struct WorldTests {
    @Test func `phones scan, and every book is in a library once`() throws {
        let run = try Bench.run(Bench.scenario())
        let totals = run.ledger.totals
        #expect(run.broken == [])
        #expect([totals.scans.captured, totals.scans.completed] == [6, 6])
        #expect(totals.books.expected == totals.books.received && totals.books.duplicated == 0)
        #expect([totals.jobs.accepted, totals.jobs.cleaned] == [6, 6])
        #expect(run.world.waitingOnDisk.isEmpty)
        #expect(run.world.phonesBusy == 0)
    }

    @Test(arguments: Kinds.all) func `whatever breaks, it shows, and nothing is lost, doubled or forgotten`(
        sample: Kinds.Sample
    ) throws {
        var faults = sample.faults
        faults[0].id = sample.name
        let run = try Bench.run(
            Bench.scenario(
                groups: [
                    Bench.group(
                        devices: 8, scans: 3,
                        link: LinkProfile(
                            up: LinkDirection(delay: .milliseconds(20), bitsPerSecond: 20_000_000),
                            down: LinkDirection(delay: .milliseconds(20), bitsPerSecond: 20_000_000)),
                        load: .open(.constant(ArrivalRate(arrivals: 12, per: .seconds(1))), .uniform))
                ], faults: faults))
        #expect(run.broken == [])
        let scans = run.ledger.totals.scans
        #expect(scans.isConserved && scans.lost == 0)
        #expect(scans.captured == 24)
        let effects = run.count {
            switch $0 {
            case .fault(.fired(fault: 0, _, _)), .fault(.began(fault: 0)): true
            case .fault, .phone, .backend, .network, .control: false
            }
        }
        #expect(effects > 0, "the fault never showed")
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `a limit, ids of pings, fresh ids of replays and a short buffer break nothing`(seed: UInt64) throws {
        let reset = Bench.fault(
            .reset(.betweenEvents, .reply), on: .stream, chance: .percent(60), after: .afterEvents(1...3))
        let run = try Bench.run(
            Bench.scenario(seed: seed, groups: [Bench.group(devices: 3, scans: 4)], faults: [reset]) {
                $0.backend.rateLimit = Quota(requests: 3, window: .seconds(8))
                $0.backend.pingIDs = true
                $0.backend.replayIDs = .fresh
                $0.backend.eventBuffer = .milliseconds(400)
                $0.backend.repeatedCleanup = .notFound
            })
        #expect(run.broken == [])
        #expect(run.ledger.totals.scans.isConserved && run.ledger.totals.scans.lost == 0)
        #expect(run.count { if case .phone(.rateLimited) = $0 { true } else { false } } > 0)
        #expect(run.count { if case .fault(.fired) = $0 { true } else { false } } > 0)
    }

    @Test func `phones of a closed group capture when the last scan is settled and they have thought`() throws
    {
        let time = ThinkTime(think: .seconds(2)...(.seconds(2)), start: .seconds(1)...(.seconds(1)))
        let run = try Bench.run(
            Bench.scenario(
                groups: [Bench.group(devices: 2, scans: 3, load: .closed(time))],
                jobTime: .seconds(1)...(.seconds(1))))
        #expect(run.broken == [])
        #expect(run.ledger.totals.scans.completed == 6)
        let moments = run.observations.filter {
            if case .phone(.captured) = $0.what, $0.device == DeviceNumber(0) { true } else { false }
        }.map(\.at)
        #expect(moments.first == .zero + .seconds(1))
        for (first, second) in zip(moments, moments.dropFirst()) {
            #expect(second - first > .seconds(3) && second - first < .milliseconds(3_200))
        }
    }

    // MARK: Links

    private func upload(bitsPerSecond: Int64, faults: [FaultSpec] = []) throws -> Bench.Outcome {
        let link = LinkProfile(
            up: LinkDirection(delay: .milliseconds(30), bitsPerSecond: bitsPerSecond),
            down: LinkDirection(delay: .milliseconds(20), bitsPerSecond: nil))
        var plan = Bench.plan(
            Bench.scenario(groups: [Bench.group(devices: 1, scans: 1, link: link)], faults: faults))
        plan.photoBytes = plan.photoBytes.map { _ in 250_000 }
        return try Bench.run(plan)
    }

    @Test func `an upload takes what its bytes take, and the round trips`() throws {
        let run = try self.upload(bitsPerSecond: 2_000_000)
        let service = run.observations.compactMap { observation -> Interval? in
            guard case .phone(.uploadAccepted(_, _, let service)) = observation.what else { return nil }
            return service
        }
        // 250 KB and a head at 250 KB/s, a handshake and a round trip of 50 ms each.
        #expect(service.count == 1)
        #expect(service[0] > .milliseconds(1_100) && service[0] < .milliseconds(1_110))
    }

    @Test func `of an upload that loses its path the rest never leaves`() throws {
        let offline = Bench.fault(
            .phone(.offline), on: .link, window: FaultWindow(at: .milliseconds(700), length: .seconds(3)))
        let run = try self.upload(bitsPerSecond: 2_000_000, faults: [offline])
        #expect(run.broken == [])
        let accepted = run.observations.filter {
            if case .backend(.accepted) = $0.what { true } else { false }
        }
        #expect(accepted.count == 1, "no job of the first attempt")
        #expect(accepted[0].at > .zero + .milliseconds(3_700))
        #expect(run.ledger.totals.scans.completed == 1)
    }

    @Test func `what a server sends comes in pieces or whole, and means the same`() throws {
        func seen(splits: Bool) throws -> [ObservationPayload] {
            var plan = Bench.plan(Bench.scenario())
            plan.splits = splits
            return try Bench.run(plan).observations.map(\.what)
        }
        #expect(try seen(splits: true) == seen(splits: false))
    }

    @Test(arguments: BackendConfiguration.LineEnds.allCases)
    func `what ends the lines of a stream changes nothing, wherever it is split`(
        ends: BackendConfiguration.LineEnds
    ) throws {
        func seen(_ ends: BackendConfiguration.LineEnds) throws -> [ObservationPayload] {
            var scenario = Bench.scenario(
                faults: [Bench.fault(.slice(bytes: 1...3), on: .stream, count: .eachAttempt)])
            scenario.server.backend.lineEnds = ends
            let run = try Bench.run(scenario)
            #expect(run.broken == [])
            return run.observations.map(\.what)
        }
        func events(_ ends: BackendConfiguration.LineEnds) throws -> Int {
            try seen(ends).count { if case .phone(.eventApplied) = $0 { true } else { false } }
        }
        #expect(try events(ends) == events(.lf))
    }

    // MARK: Kills

    @Test func `a kill loses what was not acknowledged or keeps it, and both happen`() throws {
        var kept = 0
        var lost = 0
        for seed in UInt64(1)...5 {
            // The record of a capture takes one to four milliseconds to become durable.
            let kill = Bench.fault(
                .phone(.kill), on: .app,
                window: FaultWindow(at: .milliseconds(250), length: .milliseconds(300)))
            let rate = ArrivalRate(arrivals: 250, per: .seconds(1))
            let run = try Bench.run(
                Bench.scenario(
                    seed: seed,
                    groups: [
                        Bench.group(devices: 6, scans: 12, load: .open(.constant(rate), .uniform))
                    ], faults: [kill]))
            #expect(run.broken == [])
            let scans = run.ledger.totals.scans
            #expect(scans.captured == scans.completed + scans.discardedByCause[.notStored])
            lost += scans.discardedByCause[.notStored]
            kept += run.count { if case .phone(.killed) = $0 { true } else { false } }
        }
        #expect(lost > 0)
        #expect(lost < kept, "not every kill takes something")
    }

    @Test(arguments: ScanStep.allCases)
    func `a kill at a step of a scan loses nothing and adds no book twice`(step: ScanStep) throws {
        let kill = Bench.fault(
            .phone(.kill), on: .app, window: FaultWindow(at: .zero, length: .milliseconds(300)),
            after: .afterStep(step))
        for seed in UInt64(1)...5 {
            let run = try Bench.run(Bench.scenario(seed: seed, faults: [kill]))
            #expect(run.broken == [])
            #expect(run.count { if case .phone(.killed) = $0 { true } else { false } } == 3)
            #expect(run.ledger.totals.scans.completed == 6)
            #expect(run.ledger.totals.books.duplicated == 0)
            let repeated = run.ledger.totals.books.repeated
            switch step {
            case .accepted, .completed: #expect(repeated == 0)
            case .book, .lastBook: #expect(repeated >= 3)
            }
        }
    }

    @Test func `a flush that is torn behind any number of records loses nothing`() throws {
        var (repeated, refused) = (0, 0)
        for seed in UInt64(1)...10 {
            let kills = (0..<3).map {
                Bench.fault(
                    .phone(.kill), on: .app, id: "kill-\($0)",
                    window: FaultWindow(at: .zero, length: .milliseconds(300)), after: .afterRecords(1...14))
            }
            let full = Bench.fault(
                .phone(.storageFull), on: .app, id: "full",
                window: FaultWindow(at: .zero, length: .milliseconds(300)),
                after: .afterRecords(1...9))
            let run = try Bench.run(
                Bench.scenario(
                    seed: seed, groups: [Bench.group(devices: 6, scans: 6)], faults: kills + [full]))
            #expect(run.broken == [])
            let scans = run.ledger.totals.scans
            #expect(scans.captured == scans.completed + scans.refused + scans.discardedByCause[.notStored])
            #expect(run.ledger.totals.books.duplicated == 0)
            #expect(run.ledger.totals.books.missing == 0)
            repeated += run.ledger.totals.books.repeated
            refused += scans.refused
        }
        #expect(repeated > 10, "results were torn between their books")
        #expect(refused > 0)
    }

    // MARK: The acts

    /// Two phones in a tunnel from before their captures on.
    private func troubled(settle: Interval?) throws -> Bench.Outcome {
        let tunnel = Bench.fault(
            .phone(.offline), on: .link, window: FaultWindow(at: .milliseconds(100), length: .hours(10)))
        var plan = Bench.plan(
            Bench.scenario(
                groups: [Bench.group(devices: 2, scans: 2)], faults: [tunnel], drain: .seconds(5)))
        plan.settle = settle
        return try Bench.run(plan)
    }

    @Test func `a run ends in trouble, or phones settle what they have when it is over`() throws {
        let inTrouble = try self.troubled(settle: nil)
        #expect(inTrouble.broken == [])
        #expect(inTrouble.ledger.totals.scans.waiting == 4)
        let healed = try self.troubled(settle: .minutes(5))
        #expect(healed.broken == [])
        #expect(healed.ledger.totals.scans.completed == 4)
        #expect(healed.world.remains == FinalWorldState(stuck: [], restless: [], broken: []))
        // Not before the drain was over.
        let completed = healed.observations.first {
            if case .phone(.completed) = $0.what { true } else { false }
        }
        #expect(completed.map { $0.at > .zero + .seconds(5) } == true)
    }

    @Test func `phones that do not settle in their time are told`() throws {
        let hurried = try self.troubled(settle: .milliseconds(50))
        #expect(hurried.world.remains.stuck == [DeviceNumber(0), DeviceNumber(1)])
    }

    // MARK: Time without events

    @Test func `hours in which nothing happens have no events, and their streams are counted`() throws {
        func world(pause: Interval) throws -> World {
            var plan = Bench.plan(Bench.scenario(groups: [Bench.group(devices: 1)]))
            plan.captures = (1...2).map {
                Arrival(
                    scheduled: .zero + pause * Int64($0), device: DeviceNumber(0), ordinal: $0,
                    photoDraw: 0)
            }
            return try Bench.run(plan).world
        }
        let (short, long) = (try world(pause: .minutes(60)), try world(pause: .minutes(600)))
        #expect(short.chain.events == long.chain.events)
        #expect(long.streams.peak?.count == 1)
        #expect(long.streams.samples.count < 20)
        let seconds = long.now.nanoseconds / 1_000_000_000
        #expect(long.streams.time(atLeast: 0) == .seconds(seconds))
    }

    // MARK: A value

    @Test func `a copy of a world goes on like the world`() throws {
        var world = World(Bench.plan(Bench.scenario(faults: Kinds.server[0].faults)))
        for _ in 0..<100 { _ = try world.step() }
        var copy = world
        while try world.step() {}
        while try copy.step() {}
        #expect(world.chain == copy.chain)
        #expect(world.chain.events > 150)
    }

    // MARK: Mistakes of ours

    @Test func `a heap beyond its limit is an error with the last events`() throws {
        var plan = Bench.plan(Bench.scenario())
        plan.limits.heapMax = 5
        var world = World(plan)
        let failure = #expect(throws: WorldFailure.self) { while try world.step() {} }
        #expect(failure?.cause == .heapLimit(5))
        #expect(failure.map { !$0.lastEvents.isEmpty && $0.lastEvents.count <= 32 } == true)
    }

    @Test func `events without the time moving on are an error, not a hang`() throws {
        var plan = Bench.plan(Bench.scenario(groups: [Bench.group(devices: 40)]))
        plan.limits.eventsPerInstantMax = 3
        plan.captures = (0..<40).map {
            Arrival(scheduled: .zero, device: DeviceNumber(UInt32($0)), ordinal: 1, photoDraw: 0)
        }
        var world = World(plan)
        let failure = #expect(throws: WorldFailure.self) { while try world.step() {} }
        #expect(failure?.cause == .noProgress(4))
    }

    @Test func `an event in the past is an error`() throws {
        var world = World(Bench.plan(Bench.scenario()))
        while world.now < .zero + .seconds(1) { _ = try world.step() }
        let late = world.now - .nanoseconds(1)
        world.schedule(.phase, at: late)
        let failure = #expect(throws: WorldFailure.self) { _ = try world.step() }
        #expect(failure?.cause == .eventInThePast(by: .nanoseconds(1)))
        #expect(failure?.text == "an event was scheduled 1 ns in the past")
    }
}
