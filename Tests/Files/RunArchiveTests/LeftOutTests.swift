import Ledger
import Metrics
import Observations
import ReportSamples
import Reports
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import RunArchive

/// Phones that the objectives leave out: what is meant to stay broken is no failure of the others.
@Suite struct LeftOutTests {
    private static func slo(_ selector: String, _ condition: String) throws -> SLO {
        let selector = try MetricSelector(parsing: selector, vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false)
    }

    /// Whether the objectives hold in a run in which one phone refuses its scan and the other's waits.
    private static func judged(leavingOut phones: Set<DeviceNumber>) throws -> [Bool?] {
        let scratch = try Scratch()
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: []))
        let objectives = [
            try Self.slo("scans.waiting", "count == 0"), try Self.slo("scan.time", "count == 1"),
            try Self.slo("scan.time", "p(95) < 1m"), try Self.slo("scan.time", "max < 2s over 2s"),
        ]
        var recorder = RunRecorder(
            ledger: Ledger(shelf: Shelf(seed: 42, booksMin: 3, booksMax: 8), settings: .embedded),
            tally: MetricsCollector(fleet: .ungrouped, faultIDs: [], hasBackendView: true),
            objectives: SLOParts(objectives, faults: []), faults: 0)
        if !phones.isEmpty { recorder.leaveOutOfObjectives(phones) }
        func see(_ phone: UInt32, _ second: Int64, _ payload: PhoneObservation) {
            recorder.record(
                Observation(
                    at: .zero + .seconds(second), device: DeviceNumber(phone), scan: ScanNumber(1),
                    what: .phone(payload)),
                in: directory)
        }
        for phone: UInt32 in 0...1 {
            see(phone, 0, .launched(restored: 0))
            see(phone, 0, .captured(scheduled: .zero))
            see(phone, 0, .queued(.captured))
        }
        see(0, 1, .completed(took: .seconds(1)))
        see(1, 9, .suspended)
        recorder.finish(
            waiting: [
                WaitingRecord(device: DeviceNumber(1), scan: ScanNumber(1), cause: .offline)
            ], at: .zero + .seconds(9), driver: MetricSet(), in: directory)
        return recorder.results(recorder.table).map(\.passed)
    }

    /// Whether the windows of a run hold in which the second phone's scan takes five seconds.
    private static func windows(leavingOut phones: Set<DeviceNumber>) throws -> [Bool?] {
        let scratch = try Scratch()
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: []))
        var recorder = RunRecorder(
            ledger: Ledger(shelf: Shelf(seed: 42, booksMin: 3, booksMax: 8), settings: .embedded),
            tally: MetricsCollector(fleet: .ungrouped, faultIDs: [], hasBackendView: true),
            objectives: SLOParts([try Self.slo("scan.time", "max < 2s over 10s")], faults: []), faults: 0)
        if !phones.isEmpty { recorder.leaveOutOfObjectives(phones) }
        for (phone, second) in [(UInt32(0), Int64(1)), (1, 5)] {
            recorder.record(
                Observation(
                    at: .zero + .seconds(second), device: DeviceNumber(phone), scan: ScanNumber(1),
                    what: .phone(.completed(took: .seconds(second)))),
                in: directory)
        }
        recorder.finish(waiting: [], at: .zero + .seconds(10), driver: MetricSet(), in: directory)
        return recorder.results(recorder.table).map(\.passed)
    }

    @Test func `parts of a run are judged without them as well`() throws {
        #expect(try Self.windows(leavingOut: []) == [false])
        #expect(try Self.windows(leavingOut: [DeviceNumber(1)]) == [true])
    }

    @Test func `objectives judge all phones, and none that is left out`() throws {
        #expect(try Self.judged(leavingOut: []) == [false, true, false, false])
        #expect(try Self.judged(leavingOut: [DeviceNumber(1)]) == [true, true, true, true])
        #expect(try Self.judged(leavingOut: [DeviceNumber(0)]) == [false, false, false, false])
    }
}
