import LivePhones
import Observations
import Plan
import SimBase
import Talaria
import Testing

/// Fleets whose phones start and stop while they run, as those of a worker.
extension FleetThreadsTests {
    private static let busy = LoadModel.closed(
        ThinkTime(think: .milliseconds(5)...(.milliseconds(15)), start: .zero ... .milliseconds(5)))
    private static let endless = 1_000_000

    private static func captures(_ merged: [Observation], of device: UInt32) -> [Observation] {
        merged.filter { observation in
            guard observation.device == DeviceNumber(device), case .phone(.captured) = observation.what else {
                return false
            }
            return true
        }
    }

    @Test(arguments: [1, 2])
    func `phones open and close while others run, and settle what they began`(threads: Int) throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 6, scans: Self.endless, load: Self.busy, threads: threads, state: folder.path,
            phonesMax: 4)
        try bench.start()
        bench.open(Array(bench.phones[0..<4]))
        #expect(bench.turn(until: { bench.gauges.captured >= 12 }))
        bench.close([DeviceNumber(1), DeviceNumber(2)])
        #expect(bench.turn(until: { bench.closed.count == 2 }))
        #expect(Set(bench.closed.map(\.device)) == [DeviceNumber(1), DeviceNumber(2)])
        #expect(bench.closed.allSatisfy { $0.lastScan > .none })
        // They have the slots of those that have closed. One continues where it was in another process.
        var phones = [bench.phones[4], bench.phones[5]]
        phones[1].lastScan = ScanNumber(40)
        bench.open(phones)
        let captured = bench.gauges.captured
        #expect(bench.turn(until: { bench.gauges.captured >= captured + 12 }))
        bench.drain()
        let outcome = try bench.finish()
        #expect(outcome.failure == nil)
        #expect(outcome.closedDue == outcome.captured)
        let (merged, ledger) = try bench.judge()
        #expect(ledger.totals.scans.completed == outcome.captured)
        #expect(ledger.verdicts.allSatisfy { $0.violations == 0 })
        for device: UInt32 in 0..<6 {
            let scans = Self.captures(merged, of: device).map(\.scan.raw)
            let first: UInt32 = device == 5 ? 41 : 1
            #expect(scans == Array(first..<first + UInt32(scans.count)), "phone \(device)")
            #expect(!scans.isEmpty, "phone \(device)")
        }
    }

    @Test func `a fleet without phones waits for them, and arrivals of others are left out`() throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 4, scans: Self.endless,
            load: .open(.constant(ArrivalRate(arrivals: 40, per: .seconds(1))), .uniform), threads: 1,
            state: folder.path, phonesMax: 4)
        try bench.start()
        #expect(!bench.turn(until: { bench.outcome != nil }, atMost: .milliseconds(300)))
        bench.open([bench.phones[2]])
        #expect(bench.turn(until: { bench.gauges.captured >= 3 }))
        bench.drain()
        let outcome = try bench.finish()
        #expect(outcome.failure == nil && outcome.arrivalsLate == 0)
        let (merged, ledger) = try bench.judge()
        #expect(Self.captures(merged, of: 2).count == outcome.captured)
        #expect(ledger.totals.scans.completed == outcome.captured)
    }

    @Test func `a phone that cannot settle its scan closes with the drain, and leaves it in its storage`()
        throws
    {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 1, scans: Self.endless, load: Self.busy, threads: 1, state: folder.path,
            jobTime: .seconds(60), drain: .milliseconds(200), phonesMax: 1)
        try bench.start()
        bench.open(bench.phones)
        #expect(bench.turn(until: { bench.gauges.captured == 1 }))
        bench.close([DeviceNumber(0)])
        #expect(bench.turn(until: { bench.closed.count == 1 }, atMost: .seconds(5)))
        bench.stop()
        #expect(try bench.finish().failure == nil)
        #expect(try StateFolder(path: folder.path).unsettled().count == 1)
    }
}
