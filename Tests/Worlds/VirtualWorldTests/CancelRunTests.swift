import Faults
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// Runs of phones whose users cancel.
@Suite struct CancelRunTests {
    private static func scenario(
        _ journey: Journey, chance: Odds = .percent(50), faults: [FaultSpec] = []
    ) -> Scenario {
        var group = Bench.group(devices: 6, scans: 4) {
            $0.journey = journey
            $0.cancel.chance = chance
            $0.cancel.after = .milliseconds(100)...(.milliseconds(600))
        }
        if journey == .csvImport {
            var files = LibraryFiles()
            files.rows = 200...400
            group.library = files
        }
        return Bench.scenario(groups: [group], faults: faults)
    }

    private static func span(_ at: Int64, _ length: Int64) -> FaultWindow {
        FaultWindow(at: .milliseconds(at), length: .milliseconds(length))
    }

    private static let faults: [[FaultSpec]] = [
        [],
        [
            Bench.fault(
                .httpError(
                    HTTPFault(
                        status: 503, code: nil, retryable: nil, retryAfter: nil, retryAfterLocation: .neither)
                ),
                on: .cleanup, chance: .percent(50))
        ],
        [Bench.fault(.reset(.betweenEvents, .reply), on: .cleanup, chance: .percent(50))],
        [Bench.fault(.phone(.offline), on: .link, window: Self.span(1_500, 1_200))],
        [Bench.fault(.phone(.kill), on: .app, window: Self.span(1_500, 300))],
        [
            Bench.fault(.phone(.offline), on: .link, id: "offline", window: Self.span(1_200, 2_000)),
            Bench.fault(.phone(.kill), on: .app, id: "kill", window: Self.span(2_000, 300)),
        ],
        [Bench.fault(.phone(.background), on: .app, window: Self.span(1_500, 700))],
        [Bench.fault(.phone(.storageFull), on: .app, window: Self.span(1_500, 900))],
    ]

    @Test(arguments: Journey.allCases.filter(\.hasJobs), Self.faults.indices)
    func `a canceled scan is a class of its own, whatever fails`(journey: Journey, fault: Int) throws {
        let run = try Bench.run(Self.scenario(journey, faults: Self.faults[fault]))
        #expect(run.broken == [])
        let scans = run.ledger.totals.scans
        #expect(scans.canceled > 0 && scans.completed > 0)
        #expect(scans.isConserved && scans.captured == scans.canceled + scans.completed + scans.refused)
        #expect(run.ledger.totals.books.missing == 0 && run.ledger.totals.rows.missing == 0)
        #expect(run.world.waitingOnDisk.isEmpty)
        // Each has its DELETE, in the way of its version, and the backend has heard it.
        let canceled = run.count { if case .phone(.canceled(.some)) = $0 { true } else { false } }
        let ended = run.count {
            switch $0 {
            case .backend(.canceled), .backend(.cleaned(_, effective: true)): true
            default: false
            }
        }
        #expect(ended >= canceled)
    }

    @Test func `the rows of canceled imports are in one number`() throws {
        let run = try Bench.run(Self.scenario(.csvImport))
        let rows = run.ledger.totals.rows
        #expect(rows.canceled > 0 && rows.unread > 0 && rows.withdrawn == 0)
        #expect(rows.sent == rows.counts.total)
    }

    @Test func `a cancel is a draw of its own`() throws {
        func arrivals(_ chance: Odds) throws -> [String] {
            try Bench.run(Self.scenario(.scan, chance: chance)).observations.compactMap {
                if case .phone(.captured) = $0.what { "\($0.device) \($0.scan) \($0.at)" } else { nil }
            }
        }
        #expect(try arrivals(.never) == arrivals(.always))
    }
}
