import Faults
import LivePhones
import Observations
import Plan
import SimBase
import Talaria
import Testing

/// Fleets that are controlled while they run.
extension FleetThreadsTests {
    private static func captures(_ merged: [Observation]) -> [Observation] {
        merged.filter { if case .phone(.captured) = $0.what { true } else { false } }
    }

    private static func open(perSecond: Int64) -> LoadModel {
        .open(.constant(ArrivalRate(arrivals: perSecond, per: .seconds(1))), .uniform)
    }

    @Test(arguments: [1, 2])
    func `captures that are due in a pause are counted, and never made`(threads: Int) throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 10, scans: 6, load: Self.open(perSecond: 40), threads: threads, state: folder.path)
        try bench.start()
        #expect(bench.turn(until: { bench.gauges.captured >= 10 }))
        bench.control(.hold)
        #expect(bench.turn(until: { bench.gauges.heldBack >= 5 }))
        let captured = bench.gauges.captured
        #expect(bench.turn(until: { bench.gauges.heldBack >= 15 }))
        // One capture may have been under way as the pause came.
        #expect(bench.gauges.captured <= captured + threads)
        bench.control(.release)
        let outcome = try bench.finish()
        #expect(outcome.failure == nil && outcome.heldBack >= 15)
        #expect(outcome.captured + outcome.heldBack == 60, "the schedule is accounted for")
        #expect(outcome.arrivalsLate == 0, "nothing is made up for later")
        let (merged, ledger) = try bench.judge()
        #expect(Self.captures(merged).count == outcome.captured)
        #expect(ledger.totals.scans.completed == outcome.captured)
    }

    @Test func `a pause that lasts to the end of the schedule does not keep the run going`() throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 4, scans: 5, load: Self.open(perSecond: 40), threads: 1, state: folder.path)
        try bench.start()
        bench.control(.hold)
        let outcome = try bench.finish()
        #expect(outcome.captured + outcome.heldBack == 20 && outcome.heldBack > 10)
    }

    @Test(arguments: [1, 2])
    func `all phones look at the flag of a rollout from its order on`(threads: Int) throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 4, scans: 10, load: Self.open(perSecond: 40), threads: threads, state: folder.path)
        try bench.start()
        #expect(bench.turn(until: { bench.gauges.captured >= 5 }))
        bench.control(
            .rolledOut(
                RolloutFlag(
                    arms: RolloutArms(from: .websocket, to: .sse), share: .always, isSticky: true)))
        #expect(try bench.finish().captured == 40)
        let taken = try bench.judge().merged.compactMap { observation -> StreamTransport? in
            if case .phone(.armTaken(let arm, share: .always)) = observation.what { arm } else { nil }
        }
        #expect((20...35).contains(taken.count) && Set(taken) == [.sse])
    }

    @Test func `phones of closed groups wait for the end of a pause, and then think again`() throws {
        let folder = TemporaryFolder()
        let think = LoadModel.closed(
            ThinkTime(think: .milliseconds(20)...(.milliseconds(40)), start: .zero ... .milliseconds(10)))
        let bench = try FleetBench(
            devices: 4, scans: 5, load: think, threads: 2, state: folder.path, drain: .milliseconds(100))
        try bench.start()
        #expect(bench.turn(until: { bench.gauges.captured >= 4 }))
        bench.control(.hold)
        // Longer than the drain: the pause is not an end of the run.
        _ = bench.turn(until: { bench.outcome != nil }, atMost: .milliseconds(700))
        #expect(bench.outcome == nil)
        bench.control(.release)
        let outcome = try bench.finish()
        #expect(outcome.captured == 20 && outcome.arrivalsLate == 0)
        #expect(outcome.heldBack == 4, "the captures that were due, once each")
        #expect(outcome.closedDue == 24)
    }

    @Test func `phones at rest capture nothing, finish what they have, and capture again when woken`() throws
    {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 4, scans: 10, load: Self.open(perSecond: 16), threads: 2, state: folder.path,
            jobTime: .milliseconds(200))
        try bench.start()
        #expect(bench.turn(until: { bench.gauges.captured >= 4 }))
        let devices = [DeviceNumber(2), DeviceNumber(3)]
        bench.control(.rest(devices))
        #expect(bench.turn(until: { bench.gauges.heldBack >= 4 }))
        let woken = bench.loop.now()
        bench.control(.wake(devices))
        let outcome = try bench.finish()
        #expect(outcome.captured + outcome.heldBack == 40 && outcome.heldBack >= 4)
        let (merged, ledger) = try bench.judge()
        func captures(_ device: UInt32) -> [Observation] {
            Self.captures(merged).filter { $0.device == DeviceNumber(device) }
        }
        #expect(captures(0).count == 10 && captures(1).count == 10, "the others go on")
        #expect(captures(2).count + captures(3).count == 20 - outcome.heldBack)
        #expect(captures(2).contains { $0.at > woken } && captures(3).contains { $0.at > woken })
        #expect(ledger.totals.scans.completed == outcome.captured, "nothing of theirs is lost")
    }

    @Test func `phones at rest for good do not keep the run of a closed group going`() throws {
        let folder = TemporaryFolder()
        let think = LoadModel.closed(
            ThinkTime(think: .milliseconds(20)...(.milliseconds(40)), start: .zero ... .milliseconds(10)))
        let bench = try FleetBench(
            devices: 3, scans: 4, load: think, threads: 1, state: folder.path, drain: .milliseconds(300))
        try bench.start()
        bench.control(.rest([DeviceNumber(2)]))
        let outcome = try bench.finish()
        #expect((8...9).contains(outcome.captured))
    }

    @Test func `all phones go offline now, and come back`() throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 3, scans: 1, load: Self.open(perSecond: 40), threads: 1, state: folder.path,
            jobTime: .seconds(2))
        try bench.start()
        #expect(bench.turn(until: { bench.gauges.captured == 3 }))
        bench.control(.offline(for: .milliseconds(300)))
        #expect(bench.turn(until: { bench.gauges.phonesOffline == 3 }))
        let outcome = try bench.finish()
        #expect(outcome.failure == nil)
        let (merged, ledger) = try bench.judge()
        let lost = merged.filter { $0.what == .phone(.pathLost) }
        let returned = merged.filter { $0.what == .phone(.pathReturned) }
        #expect(lost.count == 3 && returned.count == 3)
        #expect(ledger.totals.scans.completed == 3)
    }

    @Test func `a fault of the scenario starts now, on the phones that it has`() throws {
        let folder = TemporaryFolder()
        let fault = FaultSpec(
            id: "offline-1", kind: .phone(.offline), target: .app, chance: .always,
            window: FaultWindow(at: .minutes(30), length: .milliseconds(200)), trigger: .atOnce,
            count: .oncePerScan, scope: .phone(DeviceNumber(1)))
        let bench = try FleetBench(
            devices: 3, scans: 1, load: Self.open(perSecond: 40), threads: 1, state: folder.path,
            jobTime: .seconds(1), faults: [fault])
        try bench.start()
        #expect(bench.turn(until: { bench.gauges.captured == 3 }))
        bench.control(.fault(0))
        let outcome = try bench.finish()
        #expect(outcome.failure == nil)
        let (merged, _) = try bench.judge()
        let began = merged.filter { $0.what == .fault(.began(fault: 0)) }
        let ended = merged.filter { $0.what == .fault(.ended(fault: 0)) }
        #expect(began.map(\.device) == [DeviceNumber(1)])
        #expect(ended.count == 1 && ended[0].at - began[0].at >= .milliseconds(200))
    }
}
