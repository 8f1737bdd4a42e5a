import Faults
import LivePhones
import Observations
import Plan
import SimBase
import Talaria
import Testing

extension FleetThreadsTests {
    private static let think = LoadModel.closed(
        ThinkTime(think: .milliseconds(20)...(.milliseconds(40)), start: .zero ... .milliseconds(10)))

    @Test(arguments: [1, 2])
    func `a closed group's phone captures again once its scan was settled and it thought`(
        threads: Int
    ) throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 4, scans: 5, load: Self.think, threads: threads, state: folder.path)
        try bench.start()
        let outcome = try bench.finish()
        #expect(outcome.failure == nil)
        #expect(outcome.captured == 20 && outcome.closedDue == 20 && outcome.arrivalsLate == 0)
        let (merged, ledger) = try bench.judge()
        #expect(ledger.totals.scans.completed == 20)
        for device in 0..<4 {
            let mine = merged.filter { $0.device == DeviceNumber(UInt32(device)) }
            var completedAt: Instant?
            var captures = 0
            for observation in mine {
                switch observation.what {
                case .phone(.completed): completedAt = observation.at
                case .phone(.captured):
                    captures += 1
                    guard captures > 1 else { continue }
                    guard let before = completedAt else {
                        Issue.record("phone \(device) captured before its last scan was completed")
                        continue
                    }
                    #expect(observation.at - before >= .milliseconds(20))
                    completedAt = nil
                default: continue
                }
            }
            #expect(captures == 5)
        }
    }

    @Test func `a closed group whose scans never settle ends with the drain`() throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 2, scans: 5, load: Self.think, threads: 1, state: folder.path, jobTime: .seconds(60),
            drain: .milliseconds(200))
        try bench.start()
        let outcome = try bench.finish()
        #expect(outcome.captured == 2 && outcome.closedDue == 2)
        #expect(try StateFolder(path: folder.path).unsettled().count == 2)
    }

    @Test func `a tunnel on a phone's way takes its path and gives it back`() throws {
        let folder = TemporaryFolder()
        let perfect = NamedLink(name: "perfect", profile: .perfect)
        let bench = try FleetBench(
            devices: 2, scans: 1, threads: 1, state: folder.path, jobTime: .milliseconds(400),
            network: Itinerary([
                .init(at: .zero, link: perfect, length: nil),
                .init(at: .milliseconds(200), link: nil, length: .milliseconds(150)),
            ]))
        try bench.start()
        #expect(try bench.finish().failure == nil)
        let (merged, ledger) = try bench.judge()
        #expect(ledger.totals.scans.completed == 2)
        func moments(_ payload: PhoneObservation) -> [Instant] {
            merged.filter { $0.what == .phone(payload) }.map(\.at)
        }
        let (lost, returned) = (moments(.pathLost), moments(.pathReturned))
        #expect(lost.count == 2 && returned.count == 2)
        #expect(zip(lost, returned).allSatisfy { $1 - $0 >= .milliseconds(140) })
        #expect(!merged.contains { if case .fault = $0.what { true } else { false } })
    }

    @Test func `what an earlier run left behind is settled without a capture of its own`() throws {
        let folder = TemporaryFolder()
        let first = try FleetBench(
            devices: 2, scans: 1, load: Self.think, threads: 1, state: folder.path, jobTime: .seconds(60),
            drain: .milliseconds(100))
        try first.start()
        _ = try first.finish()
        let second = try FleetBench(devices: 2, scans: 2, load: Self.think, threads: 1, state: folder.path)
        try second.start()
        #expect(try second.finish().captured == 4)
        #expect(try second.judge().ledger.totals.scans.completed == 6)
    }
}
