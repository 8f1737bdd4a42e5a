import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

@Suite struct ConservationTests {
    private func scans(_ history: History) -> ScanTotals { history.ledger().totals.scans }

    private func totals(_ change: (inout ScanTotals) -> Void) -> ScanTotals {
        var totals = ScanTotals()
        change(&totals)
        return totals
    }

    @Test func `a scan from shutter to DELETE is completed and breaks nothing`() {
        let history = History {
            $0.launch()
            $0.wholeScan()
        }
        var expected = LedgerTotals()
        expected.scans.captured = 1
        expected.scans.completed = 1
        expected.books.expected = 3
        expected.books.received = 3
        expected.jobs.accepted = 1
        expected.jobs.cleaned = 1
        #expect(history.ledger().totals == expected)
        #expect(history.broken() == [])
    }

    @Test func `a captured scan that is nowhere is lost`() {
        let history = History {
            $0.launch()
            $0.capture()
        }
        #expect(
            self.scans(history)
                == self.totals {
                    $0.captured = 1
                    $0.lost = 1
                })
        #expect(history.broken() == [.scanCustody])
    }

    @Test func `a scan that the state folder has lost is restored and lost, by its number`() {
        let ledger = self.ledger(.embedded, booksInLibrary: 1)
        #expect(ledger.totals.scans.restored == 1 && ledger.totals.scans.lost == 1)
        #expect(ledger.totals.scans.isConserved)
        let broken = ledger.verdicts.first { $0.standing == .broken }
        #expect(broken?.invariant == .scanCustody)
        #expect(broken?.examples.first?.device == DeviceNumber(3))
        #expect(broken?.examples.first?.scan == ScanNumber(2))
        #expect(broken?.examples.first?.text.hasSuffix("books in the library: 1 of 3") == true)
    }

    @Test func `the books of a scan that the state folder has lost are expected, received and missing`() {
        let books = self.ledger(.embedded, booksInLibrary: 1).totals.books
        #expect(books.expected == 3 && books.received == 1 && books.missing == 2)
        let all = self.ledger(.embedded, booksInLibrary: 30).totals.books
        #expect(all.expected == 3 && all.received == 3 && all.missing == 0, "of another shelf")
    }

    @Test func `of a foreign target's lost scan it is said that its books are not known`() {
        var foreign = LedgerSettings.embedded
        foreign.hasBackendView = false
        let ledger = self.ledger(foreign, booksInLibrary: 1)
        #expect(ledger.totals.books == BookTotals())
        let broken = ledger.verdicts.first { $0.standing == .broken }
        #expect(broken?.examples.first?.text.hasSuffix("its number of books is unknown") == true)
    }

    @Test func `a phone that takes no part in the run keeps what is still there of its state folder`() {
        let scan = WaitingRecord(device: DeviceNumber(3), scan: ScanNumber(4), cause: .offline)
        let ledger = self.ledger(.embedded, booksInLibrary: 0, waiting: [scan])
        #expect(ledger.totals.scans.restored == 2 && ledger.totals.scans.waiting == 1)
        #expect(ledger.totals.scans.lost == 1 && ledger.totals.scans.isConserved)
    }

    /// The ledger of a run whose state folder has lost one scan.
    private func ledger(
        _ settings: LedgerSettings, booksInLibrary: Int, waiting: [WaitingRecord] = []
    ) -> Ledger {
        var ledger = Ledger(shelf: History.shelf, settings: settings)
        ledger.record(
            Observation(
                at: .zero, device: DeviceNumber(3), scan: ScanNumber(2),
                what: .phone(.lostFromStorage(books: booksInLibrary))))
        ledger.finish(waitingOnDisk: waiting, at: .zero)
        return ledger
    }

    @Test func `a scan with a record on disk is waiting, by its cause`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.onDisk(.rateLimited)
        }
        let scans = self.scans(history)
        #expect(scans.waiting == 1)
        #expect(scans.waitingByCause[.rateLimited] == 1)
        #expect(scans.waitingByCause[.offline] == 0)
        #expect(scans.lost == 0)
        #expect(history.broken() == [])
    }

    @Test func `a refused scan is neither lost nor expected to have books`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.uploadProblem(413)
            $0.refuse("FILE_TOO_LARGE", answer: 413)
        }
        let totals = history.ledger().totals
        #expect(totals.scans.refused == 1)
        #expect(totals.scans.isConserved)
        var books = BookTotals()
        books.refused = 3
        #expect(totals.books == books)
        #expect(history.broken() == [])
    }

    @Test func `a scan that is completed without all its books is lost`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.open()
            $0.terminal(0)
            $0.addBooks([0, 2])
            $0.complete()
            $0.clean()
        }
        var books = BookTotals()
        books.expected = 3
        books.received = 2
        books.missing = 1
        let totals = history.ledger().totals
        #expect(totals.scans.lost == 1)
        #expect(totals.scans.completed == 0)
        #expect(totals.books == books)
        #expect(history.broken() == [.bookNeverLost])
    }

    @Test func `a scan of an earlier run is restored and completed, not captured`() {
        let history = History {
            $0.launch(restored: 2)
            $0.scan = ScanNumber(7)
            $0.upload(attempt: 2)
            $0.open()
            $0.terminal(0)
            $0.repeatBooks([0])
            $0.addBooks([1, 2])
            $0.complete()
            $0.clean()
            $0.scan = ScanNumber(9)
            $0.onDisk(.offline)
        }
        let scans = self.scans(history)
        #expect(scans.captured == 0)
        #expect(scans.restored == 2)
        #expect(scans.completed == 1)
        #expect(scans.waitingByCause[.offline] == 1)
        #expect(scans.isConserved)
        #expect(history.broken() == [])
    }

    @Test func `restored scans that are never heard of again are lost`() {
        let history = History { $0.launch(restored: 2) }
        #expect(
            self.scans(history)
                == self.totals {
                    $0.restored = 2
                    $0.lost = 2
                })
        #expect(history.broken() == [.scanCustody])
    }

    @Test func `records of a phone that took no part in the run keep waiting`() {
        let history = History {
            $0.onDisk(.offline)
            $0.scan = ScanNumber(2)
            $0.onDisk(.captured)
        }
        let scans = self.scans(history)
        #expect(scans.restored == 2)
        #expect(scans.waiting == 2)
        #expect(scans.isConserved)
        #expect(history.broken() == [])
    }

    @Test func `a record of a scan that nobody captured belongs to no class`() {
        let history = History {
            $0.launch()
            $0.onDisk(.offline)
        }
        #expect(self.scans(history) == ScanTotals())
        #expect(history.broken() == [.scanCustody])
    }

    @Test func `a 202 that the phone never read leaves an orphaned job`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.backend(.accepted(job: "lost-202", books: 3))
            $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(3)))
            $0.upload(attempt: 2)
            $0.open()
            $0.ending(0)
        }
        let jobs = history.ledger().totals.jobs
        #expect(jobs.accepted == 2)
        #expect(jobs.cleaned == 1)
        #expect(jobs.orphaned == 1)
        #expect(history.broken() == [])
    }

    @Test func `abandoned jobs are counted by their cause`() {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            $0.backend(.tokenRevoked(job: $0.job))
            $0.send(.cleanup, job: $0.job)
            $0.phone(.replied(.cleanup, attempt: 1, status: 401, took: .milliseconds(1)))
            $0.phone(.cleanupAnswered(job: $0.job, status: 401, took: .milliseconds(1)))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
            $0.backend(.expired(job: $0.job))
        }
        let jobs = history.ledger().totals.jobs
        #expect(jobs.abandoned == 1)
        #expect(jobs.abandonedByCause["token-expired"] == 1)
        #expect(jobs.expired == 1)
        #expect(jobs.cleaned == 0)
        #expect(history.broken() == [])
    }

    @Test func `a phone's totals are counted in its group`() {
        var history = History()
        for device: UInt32 in 0..<3 {
            history.device = DeviceNumber(device)
            history.job = "job-of-\(device)"
            history.launch()
            history.wholeScan()
        }
        let ledger = history.ledger {
            $0.fleet = PhoneGroups(groups: ["walkers", "riders"], groupOfDevice: [0, 1, 1])
            $0.profiles = [.contract, .contract]
        }
        #expect(ledger.totalsByGroup.map(\.scans.completed) == [1, 2])
        #expect(ledger.totals.books.received == 9)

        var table = MetricTable(groups: ["walkers", "riders"])
        ledger.record(into: &table)
        #expect(table.count(.scansCompleted, of: .group("riders")) == .measured(2))
        #expect(table.count(.booksMissing, of: .fleet) == .measured(0))
    }

    @Test func `without the backend's view, what needs it is not available`() {
        let history = History {
            $0.launch()
            $0.wholeScan()
        }
        let ledger = history.ledger { $0.hasBackendView = false }
        let missing = ledger.verdicts.filter { $0.standing == .notAvailable }.map(\.invariant)
        #expect(missing == [.bookNeverLost, .bookFaithful, .streamNoGap, .serverAgrees])
        #expect(ledger.totals.scans.completed == 1)
        #expect(ledger.totals.jobs.accepted == 1)
        #expect(ledger.totals.jobs.cleaned == 1)

        var table = MetricTable(groups: [])
        ledger.record(into: &table)
        #expect(table.count(.booksExpected, of: .fleet) == .notAvailable)
        #expect(table.count(.scansCompleted, of: .fleet) == .measured(1))
    }

    @Test func `settled scans and cleaned jobs leave nothing behind`() {
        var history = History()
        history.launch()
        for number: UInt32 in 1...50 {
            history.scan = ScanNumber(number)
            history.job = "job-\(number)"
            history.wholeScan()
        }
        var ledger = Ledger(shelf: History.shelf, settings: .embedded)
        for observation in history.observations { ledger.record(observation) }
        #expect(ledger.followed == (scans: 0, jobs: 0))
        #expect(ledger.totals.scans.completed == 50)
        #expect(ledger.totals.scans.isConserved)
    }
}
