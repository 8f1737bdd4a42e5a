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
        return Bench.scenario(groups: [group], faults: faults, drain: .minutes(2))
    }

    @Test(arguments: journeys)
    func `every job is followed to its end`(_ journey: Journey) throws {
        let run = try Bench.run(Self.scenario(journey))
        #expect(run.broken == [])
        #expect(run.ledger.totals.scans.completed == 12)
        let opened = run.count {
            if case .backend(.answered(.stream, _, status: 101)) = $0 { true } else { false }
        }
        #expect(opened == 12)
        let applied = run.count { if case .phone(.eventApplied) = $0 { true } else { false } }
        #expect(applied > 12)
        let lost = run.count { if case .phone(.streamLost) = $0 { true } else { false } }
        #expect(lost == 0)
    }

    private static let closes: [(code: Int, cause: LossCause)] = [
        (1_000, .endWithoutTerminal), (1_001, .closedGoingAway), (1_002, .closedProtocolError),
        (1_003, .closedOtherwise), (1_008, .closedPolicyViolation), (1_009, .closedMessageTooBig),
        (1_011, .closedInternalError), (1_012, .closedServiceRestart), (1_013, .closedTryAgainLater),
        (4_999, .closedOtherwise),
    ]

    @Test(arguments: closes)
    func `a client obeys each close code, and comes back with its token`(
        _ close: (code: Int, cause: LossCause)
    ) throws {
        let fault = Bench.fault(.socketClose(code: close.code), on: .stream, after: .afterEvents(1...1))
        let run = try Bench.run(Self.scenario(.bookshelfScan, faults: [fault]))
        #expect(run.broken == [])
        #expect(run.ledger.totals.scans.completed == 12)
        var (lost, waits): ([LossCause], [Interval]) = ([], [])
        for observation in run.observations {
            switch observation.what {
            case .phone(.streamLost(_, _, let cause, _)): lost.append(cause)
            case .phone(.reconnected(_, _, _, _, let took)): waits.append(took)
            default: break
            }
        }
        #expect(lost == Array(repeating: close.cause, count: 12))
        #expect(waits.count == 12 && waits.allSatisfy { $0 >= close.cause.wait ?? .zero })
        let uploads = run.count { if case .phone(.uploadAccepted) = $0 { true } else { false } }
        #expect(uploads == 12)
    }

    @Test(arguments: FrameShape.allCases)
    func `a client reads fragments, and closes at what it must refuse`(_ shape: FrameShape) throws {
        let fault = Bench.fault(.socketFrames(shape), on: .stream)
        let run = try Bench.run(Self.scenario(.batchEnrichment, faults: [fault]))
        #expect(run.broken == [])
        #expect(run.ledger.totals.scans.completed == 12)
        let bad = run.count { if case .phone(.badAnswer(.stream, _, .badFrame)) = $0 { true } else { false } }
        #expect(bad == (shape == .fragmented ? 0 : 12))
        let fired = run.count { if case .fault(.fired) = $0 { true } else { false } }
        #expect(fired == 12)
    }

    @Test(arguments: Kinds.server + Kinds.link + Kinds.phone)
    func `no fault breaks a promise`(_ sample: Kinds.Sample) throws {
        let run = try Bench.run(Self.scenario(.bookshelfScan, faults: sample.faults))
        #expect(run.broken == [])
    }
}
