import Faults
import Ledger
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// Runs of phones that follow their jobs by WebSocket.
@Suite struct SocketRunTests {
    private static let journeys: [Journey] = [.bookshelfScan, .batchEnrichment, .csvImport]

    private static func scenario(_ journey: Journey, faults: [FaultSpec] = []) -> Scenario {
        var group = Bench.group(devices: 4, scans: 3) {
            $0.journey = journey
            $0.stream.transport = .websocket
        }
        if journey == .csvImport {
            var files = LibraryFiles()
            files.rows = 10...60
            group.library = files
        }
        return Bench.scenario(groups: [group], faults: faults)
    }

    @Test(arguments: journeys)
    func `every job is followed to its end`(_ journey: Journey) throws {
        let run = try Bench.run(Self.scenario(journey))
        #expect(run.broken == [])
        #expect(run.ledger.totals.scans.completed == 12)
        let opened = run.count { if case .backend(.answered(.stream, _, status: 101)) = $0 { true } else { false } }
        #expect(opened == 12)
        let applied = run.count { if case .phone(.eventApplied) = $0 { true } else { false } }
        #expect(applied > 12)
        let lost = run.count { if case .phone(.streamLost) = $0 { true } else { false } }
        #expect(lost == 0)
    }

    @Test(arguments: Kinds.server + Kinds.link + Kinds.phone)
    func `no fault breaks a promise`(_ sample: Kinds.Sample) throws {
        let run = try Bench.run(Self.scenario(.bookshelfScan, faults: sample.faults))
        #expect(run.broken == [])
    }
}
