import Histories
import Ledger
import Observations
import SimBase
import Talaria
import Testing

/// rows.conserved: what is compared, and how rows are counted.
@Suite struct RowTests {
    private static func counts(created: Int, updated: Int = 0, pending: Int = 0) -> RowCounts {
        var counts = RowCounts()
        counts.created = created
        counts.updated = updated
        counts.pending = pending
        return counts
    }

    private func imported(_ file: LibraryContent = .rows(10), _ said: (inout History) -> Void) -> History {
        History {
            $0.streaming()
            $0.phone(.filePrepared(file))
            $0.terminal(2)
            said(&$0)
            $0.addBooks()
            $0.complete()
            $0.clean()
        }
    }

    @Test func `rows that the results lack are missing`() {
        let history = self.imported {
            $0.backend(.rowsTaken(job: $0.job, Self.counts(created: 10)))
            $0.phone(.rowsRead(job: $0.job, Self.counts(created: 8)))
        }
        let rows = history.ledger().totals.rows
        #expect(rows.sent == 10 && rows.counts.created == 8 && rows.missing == 2)
        #expect(history.broken() == [.rowsConserved])
    }

    @Test func `an import of a foreign backend that takes no row is told, and why`() {
        func rows(_ change: (inout RowCounts) -> Void) -> RowTotals {
            var counts = RowCounts()
            change(&counts)
            let history = self.imported { $0.phone(.rowsRead(job: $0.job, counts)) }
            return history.ledger { $0.hasBackendView = false }.totals.rows
        }
        let failed = rows { $0.failed = 10 }
        #expect(failed.isNothingTaken && !failed.isNothingNew)
        let skipped = rows { $0.skipped = 10 }
        #expect(!skipped.isNothingTaken && skipped.isNothingNew)
        let one = rows { ($0.created, $0.failed) = (1, 9) }
        #expect(!one.isNothingTaken && !one.isNothingNew)
        var (both, other) = (LedgerTotals(), LedgerTotals())
        (both.rows, other.rows) = (failed, one)
        both.add(other)
        #expect(!both.rows.isNothingTaken)
        #expect(!RowTotals().isNothingTaken && !RowTotals().isNothingNew)
    }

    @Test func `the list of books has one for each row that was taken`() {
        func history(_ listed: Int) -> History {
            self.imported {
                $0.backend(.rowsTaken(job: $0.job, Self.counts(created: 10)))
                $0.phone(.rowsRead(job: $0.job, Self.counts(created: 10)))
                $0.phone(.booksListed(job: $0.job, count: listed))
            }
        }
        #expect(history(10).broken() == [])
        #expect(
            history(9).complaint(.rowsConserved)
                == "the results list 9 books, and count 10 rows that were created or updated")
        #expect(history(9).broken { $0.hasBackendView = false } == [.rowsConserved])
    }

    @Test func `a completed import without results has lost its rows`() {
        let history = self.imported { _ in }
        #expect(history.ledger().totals.rows.missing == 10)
        #expect(history.broken() == [.rowsConserved])
    }

    @Test func `rows of a file that is none are invented`() {
        let history = self.imported(.unreadable) {
            $0.phone(.rowsRead(job: $0.job, Self.counts(created: 1)))
        }
        #expect(history.broken { $0.hasBackendView = false }.contains(.rowsConserved))
    }

    @Test func `a backend that cannot read a good file breaks it, and a fault that says so does not`() {
        func history(_ rows: RowCounts) -> History {
            self.imported {
                $0.backend(.rowsTaken(job: $0.job, rows))
                $0.backend(.failed(job: $0.job, code: ImportLimits.unreadableCode, retryable: true))
                $0.backend(.rowsTaken(job: "again", Self.counts(created: 10)))
                $0.phone(.rowsRead(job: "again", Self.counts(created: 10)))
            }
        }
        #expect(history(RowCounts()).broken() == [.rowsConserved])
        #expect(
            history(RowCounts()).complaint(.rowsConserved) == "the backend counts 0 rows of a file with 10")
        #expect(history(Self.counts(created: 4, pending: 6)).broken() == [])
    }

    @Test func `a file of an earlier run is compared as well`() {
        let history = History {
            $0.launch(restored: 1)
            $0.phone(.queued(.interrupted))
            $0.phone(.filePrepared(.rows(10)))
            $0.phone(.rowsRead(job: "from-before", Self.counts(created: 7)))
            $0.onDisk(.interrupted)
        }
        #expect(history.broken { $0.hasBackendView = false } == [.rowsConserved])
    }

    @Test func `rows of imports that are under way when a run ends early are unsettled`() {
        let history = History {
            $0.streaming()
            $0.phone(.filePrepared(.rows(10)))
        }
        var killed = Ledger(shelf: History.shelf, settings: .embedded)
        for observation in history.observations { killed.record(observation) }
        var interrupted = killed
        killed.breakOff()
        #expect(killed.totals.rows.unsettled == 10 && killed.totals.rows.sent == 0)
        interrupted.interrupted(at: history.now)
        interrupted.finish(waitingOnDisk: [], at: history.now)
        #expect(interrupted.totals.rows.unsettled == 10)
        #expect(history.ledger().totals.rows.unsettled == 0)
    }

    @Test func `an import of a foreign backend has one file`() {
        func broken(second job: String, scan: ScanNumber) -> Set<Invariant> {
            let history = self.imported {
                $0.phone(.rowsRead(job: $0.job, Self.counts(created: 10)))
                $0.scan = scan
                $0.phone(.rowsRead(job: job, Self.counts(created: 10)))
                $0.scan = ScanNumber(1)
            }
            return Set(history.broken { $0.hasBackendView = false })
        }
        let first = History { _ in }.job
        #expect(broken(second: first, scan: ScanNumber(2)).contains(.rowsConserved))
        #expect(!broken(second: "another", scan: ScanNumber(2)).contains(.rowsConserved))
        #expect(!broken(second: first, scan: ScanNumber(1)).contains(.rowsConserved))
    }

    @Test func `many imports may end before their results are read`() {
        let history = History {
            $0.launch()
            for scan in 1...40 as ClosedRange<UInt32> {
                $0.scan = ScanNumber(scan)
                $0.capture()
                $0.phone(.filePrepared(.rows(3)))
                $0.backend(.rowsTaken(job: "job-\(scan)", Self.counts(created: 3)))
            }
            for scan in 1...40 as ClosedRange<UInt32> {
                $0.scan = ScanNumber(scan)
                $0.phone(.rowsRead(job: "job-\(scan)", Self.counts(created: 3)))
                $0.onDisk(.interrupted)
            }
        }
        #expect(history.complaint(.rowsConserved) == nil)
        #expect(history.ledger().totals.rows.unread == 0)
    }
}
