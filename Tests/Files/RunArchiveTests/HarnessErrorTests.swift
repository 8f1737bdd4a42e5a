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

/// A run whose harness was found to lie says so, in one sentence.
@Suite struct HarnessErrorTests {
    private static func error(_ status: Int, by fault: Int?) throws -> String? {
        let scratch = try Scratch()
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: ["f"]))
        let fleet = FleetMap(groups: ["all"], groupOfDevice: [0])
        var settings = LedgerSettings.embedded
        settings.fleet = fleet
        let server = SimulatedServer(
            quota: nil, tokenLifetime: .hours(2), resultsLifetime: .hours(2), jobsMax: 100)
        var recorder = RunRecorder(
            ledger: Ledger(
                shelf: Shelf(seed: 42, booksMin: 3, booksMax: 8), settings: settings,
                harness: HarnessSettings(server: .simulated(server), faults: [.status(503)], fleet: fleet)),
            tally: MetricsCollector(fleet: fleet, faultIDs: ["f"], hasBackendView: true),
            objectives: SLOParts([], faults: []), faults: 1)
        var payloads: [ObservationPayload] = [
            .phone(.launched(restored: 0)), .phone(.captured(scheduled: .zero)), .phone(.queued(.captured)),
            .backend(.answered(.upload, attempt: 1, status: status)),
        ]
        if let fault { payloads.append(.fault(.fired(fault: fault, .upload, attempt: 1))) }
        for what in payloads {
            recorder.record(
                Observation(at: .zero, device: DeviceNumber(0), scan: ScanNumber(1), what: what),
                in: directory)
        }
        recorder.finish(waiting: [], at: .zero + .seconds(9), driver: MetricSet(), in: directory)
        #expect(recorder.observations == payloads.count)
        return recorder.harnessError
    }

    @Test func `what a fault has done is believed`() throws {
        #expect(try Self.error(503, by: 0) == nil)
    }

    @Test func `what none has done is not`() throws {
        #expect(
            try Self.error(503, by: nil)
                == "the harness contradicts itself: upload was answered with 503, and no fault and nothing else explains it (device 0, scan 1, at 0 ns)"
        )
        #expect(
            try Self.error(500, by: 0)?.hasSuffix("at 0 ns), and 1 more") == true)
    }
}
