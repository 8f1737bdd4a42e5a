import Faults
import Ledger
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// Runs of phones that import library files.
@Suite struct ImportRunTests {
    private static func scenario(
        rows: ClosedRange<Int> = 10...60, unreadable: Odds = .never, faults: [FaultSpec] = []
    ) -> Scenario {
        var group = Bench.group(devices: 6, scans: 3) { $0.journey = .csvImport }
        var files = LibraryFiles()
        files.rows = rows
        files.unreadable = unreadable
        group.library = files
        return Bench.scenario(groups: [group], faults: faults)
    }

    @Test func `every row of every file is counted by both sides`() throws {
        let run = try Bench.run(Self.scenario())
        #expect(run.broken == [])
        let (scans, rows) = (run.ledger.totals.scans, run.ledger.totals.rows)
        #expect(scans.completed == 18 && run.ledger.totals.books.expected == 0)
        var sent = 0
        for observation in run.observations {
            if case .phone(.filePrepared(.rows(let count))) = observation.what { sent += count }
        }
        #expect(rows.sent == sent && rows.sent == rows.counts.total && rows.missing == 0)
        #expect(rows.counts.created > 0 && rows.counts.skipped > 0 && rows.counts.updated == 0)
        #expect(rows.unread == 0)
    }

    @Test func `an import that fails half way is sent again, and its rows are updated`() throws {
        let failure = Bench.fault(
            .retryableError(code: "PROVIDER_ERROR"), on: .stream, after: .afterEvents(3...3))
        let run = try Bench.run(Self.scenario(rows: 40...60, faults: [failure]))
        #expect(run.broken == [])
        let rows = run.ledger.totals.rows
        #expect(run.ledger.totals.scans.completed == 18 && rows.missing == 0)
        // No file names a book of another one.
        #expect(rows.unread > 0 && rows.counts.updated == rows.unread)
    }

    @Test func `a file that is no library is refused, and nothing of it is taken`() throws {
        let run = try Bench.run(Self.scenario(unreadable: .always))
        #expect(run.broken == [])
        let scans = run.ledger.totals.scans
        #expect(scans.refused == 18 && scans.refusedUnexplained == 0)
        #expect(run.ledger.totals.rows == RowTotals())
        let codes = run.observations.compactMap { observation -> String? in
            if case .phone(.refused(let code, _)) = observation.what { code } else { nil }
        }
        #expect(codes == Array(repeating: ImportLimits.unreadableCode, count: 18))
    }

    @Test func `only a fleet whose files may fill the server may meet a 503 without a fault`() {
        let small = RunPlan(Self.scenario(), target: .embedded)
        #expect(small.documentBytesMax > 0)
        #expect(small.documentBytesMax < small.scenario.server.backend.documentBytesMax)
        var scenario = Self.scenario(rows: 5_000...5_000)
        scenario.groups[0].devices = 1_000
        #expect(
            RunPlan(scenario, target: .embedded).documentBytesMax
                > scenario.server.backend.documentBytesMax)
    }
}
