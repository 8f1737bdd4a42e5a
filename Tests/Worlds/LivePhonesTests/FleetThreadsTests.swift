import EventLoop
import Faults
import Foundation
import Ledger
import LivePhones
import Observations
import Phone
import SimBase
import Talaria
import Testing

@Suite(.serialized) struct FleetThreadsTests {
    @Test(arguments: [1, 2, 3]) func `every journey completes, however many threads there are`(threads: Int)
        throws
    {
        let folder = TemporaryFolder()
        let bench = try FleetBench(devices: 7, scans: 2, threads: threads, state: folder.path)
        try bench.start()
        let outcome = try bench.finish()
        #expect(outcome.failure == nil)
        #expect(outcome.captured == 14)
        #expect(outcome.shutdownsTimedOut == 0)
        let (merged, ledger) = try bench.judge()
        #expect(ledger.totals.scans.completed == 14)
        #expect(ledger.verdicts.allSatisfy { $0.standing == .held })
        #expect(zip(merged, merged.dropFirst()).allSatisfy { $0.at <= $1.at }, "in the order of time")
        let phones = Set(
            bench.reports.flatMap { report in report.observations.map { [report.thread, Int($0.device.raw)] }
            }
        )
        #expect(phones == Set((0..<7).map { [$0 % threads, $0] }), "a phone lives on one thread")
    }

    @Test(arguments: [Journey.scan, .textEnrichment])
    func `each merge of two texts is timed, on every thread`(journey: Journey) throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(devices: 6, scans: 2, threads: 2, state: folder.path, journey: journey)
        try bench.start()
        let times = try bench.finish().reconcileTimes
        let merges = bench.reports.flatMap(\.observations).count {
            if case .phone(.enriched) = $0.what { true } else { false }
        }
        #expect(merges == (journey == .scan ? 0 : 12) && times.total == Int64(merges))
        #expect(journey == .scan || times.maximum.map { $0 > 0 && $0 < 5_000_000_000 } == true)
    }

    @Test func `a folder of one thread is taken over by three and then by two`() throws {
        let folder = TemporaryFolder()
        // Jobs that outlast the run: every scan is still waiting at its end.
        let first = try FleetBench(
            devices: 7, threads: 1, state: folder.path, jobTime: .seconds(60), drain: .milliseconds(100))
        try first.start()
        _ = try first.finish()
        #expect(try StateFolder(path: folder.path).unsettled().count == 7)
        let identities = try (0..<7).map {
            try StateFolder(path: folder.path).restored(DeviceNumber($0)).identity
        }

        let second = try FleetBench(
            devices: 7, threads: 3, state: folder.path, jobTime: .seconds(60), drain: .milliseconds(100))
        try second.start()
        _ = try second.finish()
        #expect(try StateFolder(path: folder.path).unsettled().count == 14)

        let third = try FleetBench(devices: 7, threads: 2, state: folder.path)
        try third.start()
        #expect(try third.finish().captured == 7)
        let (_, ledger) = try third.judge()
        #expect(ledger.totals.scans.restored == 14)
        #expect(ledger.totals.scans.completed == 21)
        let state = try StateFolder(path: folder.path)
        #expect(state.unsettled().isEmpty)
        #expect((0..<7).map { state.restored(DeviceNumber($0)).identity } == identities)
        #expect((0..<7).allSatisfy { state.restored(DeviceNumber($0)).lastScan == ScanNumber(3) })
    }

    @Test func `to stop means to stop on every thread, with a farewell`() throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(devices: 7, threads: 3, state: folder.path, jobTime: .seconds(60))
        try bench.start()
        // A phone that has no job yet has none to delete.
        let areOpen = bench.turn(until: {
            bench.reports.reduce(0) { $0 + $1.observations.count(where: Self.isStreamOpened) } == 7
        })
        #expect(areOpen)
        bench.stop()
        #expect(try bench.finish().shutdownsTimedOut == 0)
        #expect(try bench.judge().ledger.totals.jobs.cleaned == 7)
        #expect(try StateFolder(path: folder.path).unsettled().count == 7)
    }

    private static func isStreamOpened(_ observation: Observation) -> Bool {
        if case .phone(.streamOpened) = observation.what { true } else { false }
    }

    @Test func `no thread ends before all are done`() throws {
        let folder = TemporaryFolder()
        // Phone 1 alone is on the second thread, and its path is away long after the others are done.
        let away = FaultSpec(
            id: "offline-1", kind: .phone(.offline), target: .link, chance: .always,
            window: FaultWindow(at: .milliseconds(300), length: .milliseconds(100)), trigger: .atOnce,
            count: .oncePerScan, scope: .everyone)
        let bench = try FleetBench(
            devices: 2, threads: 2, state: folder.path, jobTime: .milliseconds(500), faults: [away])
        try bench.start()
        _ = try bench.finish()
        let began = try bench.judge().merged.count { $0.what == .fault(.began(fault: 0)) }
        #expect(began == 2)
    }

    // Nothing waits for it, so it does not ask for a flush; a process that dies later must still find it.
    @Test func `the id of an event is in the journal while its stream is open`() throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(devices: 1, threads: 1, state: folder.path, jobTime: .seconds(3))
        try bench.start()
        var journal = ""
        let isThere = bench.turn {
            journal = (try? String(contentsOfFile: folder.path + "/scans.journal", encoding: .utf8)) ?? ""
            return journal.contains("\"id\":")
        }
        #expect(isThere)
        #expect(!journal.contains("\"completed\":true"))
        bench.stop()
        _ = try bench.finish()
    }

    @Test func `a thread that cannot write ends all of them, and the failure is told`() throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(devices: 4, threads: 2, state: folder.path)
        // A journal that takes nothing: as a full disk.
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        #expect(symlink("/dev/full", folder.path + "/scans-0.1.journal") == 0)
        try bench.start()
        let outcome = try bench.finish()
        guard case .storage(let text)? = outcome.failure else {
            Issue.record("a failure of storage was to be told, not \(String(describing: outcome.failure))")
            return
        }
        #expect(text.contains("scans-0.1.journal"))
        #expect(outcome.captured <= 4)
        // From that time on, the phones are not to blame.
        #expect(bench.failedAt.map { $0 <= bench.loop.now() } == true)
    }

    @Test(arguments: [
        (1, 64, 1), (300, 64, 1), (301, 64, 2), (5_000, 64, 17), (5_000, 8, 6), (5_000, 2, 1), (5_000, 1, 1),
    ]) func `threads are for phones that need them and cores that have them`(
        phones: Int, cores: Int, threads: Int
    ) {
        #expect(FleetThreads.count(phones: phones, cores: cores) == threads)
    }
}
