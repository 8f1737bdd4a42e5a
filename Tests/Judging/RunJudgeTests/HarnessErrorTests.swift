import Ledger
import Metrics
import Observations
import RunJudge
import SimBase
import Talaria
import Testing

/// A run whose harness was found to be wrong says so, in one sentence.
@Suite struct HarnessErrorTests {
    private static func error(_ status: Int, by fault: Int?) -> String? {
        let fleet = PhoneGroups(groups: ["all"], groupOfDevice: [0])
        let server = SimulatedServer(
            quota: nil, tokenLifetime: .hours(2), resultsLifetime: .hours(2), jobsMax: 100)
        var settings = JudgeSettings.small(fleet: fleet)
        settings.faults = ["f"]
        settings.harness = HarnessSettings(server: .simulated(server), faults: [.status(503)], fleet: fleet)
        var judge = RunJudge(settings)
        let log = LogCounts()
        var payloads: [ObservationPayload] = [
            .phone(.launched(restored: 0)), .phone(.captured(scheduled: .zero)), .phone(.queued(.captured)),
            .backend(.answered(.upload, attempt: 1, status: status)),
        ]
        if let fault { payloads.append(.fault(.fired(fault: fault, .upload, attempt: 1))) }
        for what in payloads {
            judge.receive(
                Observation(at: .zero, device: DeviceNumber(0), scan: ScanNumber(1), what: what), into: log)
        }
        let facts = RunFacts(at: .zero + .seconds(9), made: payloads.count)
        let result = judge.finish(facts, of: .small(groups: [.init(name: "all", devices: 1)]), into: log)
        #expect(judge.observations == payloads.count && log.observations == payloads.count)
        #expect(result.failure == judge.harnessError)
        return judge.harnessError
    }

    @Test func `what a fault has done is believed`() {
        #expect(Self.error(503, by: 0) == nil)
    }

    @Test func `what none has done is not`() {
        #expect(
            Self.error(503, by: nil)
                == "a check of the harness failed: upload was answered with 503, but neither a fault nor anything else explains it (device 0, scan 1, at 0 ns)"
        )
        #expect(
            Self.error(500, by: 0)?.hasSuffix("at 0 ns), and 1 more") == true)
    }
}
