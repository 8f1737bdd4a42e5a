import Histories
import Ledger
import Metrics
import SimBase
import Talaria
import Testing

/// What counts as unfinished or unexplained, though no invariant is broken
/// (Docs/design.md sections 11.1 and 11.3).
@Suite struct UnfinishedWorkTests {
    private func refusing(_ settings: inout LedgerSettings) { settings.faultsThatRefuse = [1] }

    private func refusal(_ history: inout History, _ code: String = "INVALID_FILE") {
        history.phone(.refused(code: code, cause: code == "STORAGE_FULL" ? .storage : .photo))
    }

    private func unexplained(_ history: History) -> Int {
        history.ledger { self.refusing(&$0) }.totals.scans.refusedUnexplained
    }

    // MARK: scans.refused.unexplained

    private func uploadRefused(faultAt attempt: UInt32?, index: Int = 1) -> History {
        History {
            $0.launch()
            $0.capture()
            $0.send(.upload, attempt: 1, job: nil)
            $0.phone(.replied(.upload, attempt: 1, status: 503, took: .milliseconds(1)))
            $0.phone(.queued(.serverError))
            $0.send(.upload, attempt: 2, job: nil)
            if let attempt { $0.fault(.fired(fault: index, .upload, attempt: attempt)) }
            $0.phone(.replied(.upload, attempt: 2, status: 422, took: .milliseconds(1)))
            self.refusal(&$0)
        }
    }

    @Test func `a refusal is explained by the fault that fired at the very attempt`() {
        #expect(self.unexplained(self.uploadRefused(faultAt: 2)) == 0)
    }

    @Test func `neither no fault nor one of another attempt or of another kind explains a refusal`() {
        #expect(self.unexplained(self.uploadRefused(faultAt: nil)) == 1)
        #expect(self.unexplained(self.uploadRefused(faultAt: 1)) == 1)
        #expect(self.unexplained(self.uploadRefused(faultAt: 2, index: 0)) == 1)
    }

    @Test func `an error event that a fault wrote explains a refusal, also behind a reconnect`() {
        func story(isFired: Bool) -> History {
            History {
                $0.streaming()
                if isFired { $0.fault(.fired(fault: 1, .stream, attempt: 1)) }
                $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
                $0.open(attempt: 2, after: History.id(1), serverAfter: 1)
                $0.event(2, .error)
                $0.phone(.terminalApplied(job: $0.job, kind: .error, inline: .absent))
                self.refusal(&$0)
                $0.clean()
            }
        }
        #expect(self.unexplained(story(isFired: true)) == 0)
        #expect(self.unexplained(story(isFired: false)) == 1)
    }

    @Test func `the error of one job does not explain the refusal by the next`() {
        let history = History {
            $0.streaming()
            $0.fault(.fired(fault: 1, .stream, attempt: 1))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
            $0.phone(.queued(.tokenExpired))
            $0.job = "job-2"
            $0.upload(attempt: 2)
            $0.open(attempt: 2)
            $0.event(0, .error)
            $0.phone(.terminalApplied(job: $0.job, kind: .error, inline: .absent))
            self.refusal(&$0)
        }
        #expect(self.unexplained(history) == 1)
    }

    @Test func `a full storage explains the refusal of a capture, and of nothing else`() {
        func story(isFull: Bool, _ code: String) -> History {
            History {
                $0.launch()
                if isFull { $0.phone(.storageFilled) }
                $0.phone(.captured(scheduled: $0.now))
                self.refusal(&$0, code)
            }
        }
        #expect(self.unexplained(story(isFull: true, "STORAGE_FULL")) == 0)
        #expect(self.unexplained(story(isFull: false, "STORAGE_FULL")) == 1)
        #expect(self.unexplained(story(isFull: true, "QUEUE_FULL")) == 1)
    }

    // MARK: cleanup.unfinished

    private func unfinished(
        _ change: (inout LedgerSettings) -> Void = { _ in }, _ end: (inout History) -> Void
    ) -> Int {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            end(&$0)
        }
        return history.ledger(change).totals.jobs.unfinishedCleanups
    }

    private func delete(_ history: inout History, status: Int, attempt: UInt32 = 1) {
        history.send(.cleanup, attempt: attempt, job: history.job)
        history.phone(.replied(.cleanup, attempt: attempt, status: status, took: .milliseconds(1)))
    }

    @Test func `a DELETE that succeeds, or finds nothing, finishes a completed scan`() {
        #expect(self.unfinished { $0.clean() } == 0)
        for status in [204, 404, 410] {
            let count = self.unfinished {
                self.delete(&$0, status: status)
                $0.phone(.cleanupAnswered(job: $0.job, status: status, took: .milliseconds(1)))
            }
            #expect(count == 0)
        }
    }

    @Test
    func `no DELETE, one that is turned away, and one that is given up leave a completed scan unfinished`() {
        #expect(self.unfinished { _ in } == 1)
        #expect(self.unfinished { self.delete(&$0, status: 503) } == 1)
        let abandoned = self.unfinished {
            self.delete(&$0, status: 403)
            $0.phone(.jobAbandoned(job: $0.job, cause: .status(403)))
        }
        #expect(abandoned == 1)
    }

    @Test func `a 401 finishes a DELETE only where the token had expired or was revoked`() {
        func turnedAway(_ history: inout History) {
            self.delete(&history, status: 401)
            history.phone(.jobAbandoned(job: history.job, cause: .waiting(.tokenExpired)))
        }
        #expect(self.unfinished { turnedAway(&$0) } == 1)
        let revoked = self.unfinished {
            $0.backend(.tokenRevoked(job: $0.job))
            turnedAway(&$0)
        }
        #expect(revoked == 0)
        let expired = self.unfinished({ $0.tokenLifetime = .seconds(60) }) {
            $0.pass(.seconds(60))
            turnedAway(&$0)
        }
        #expect(expired == 0)
    }

    @Test func `the gateway in front of a foreign target is believed where it revoked a token`() {
        func count(isRevoked: Bool) -> Int {
            self.unfinished({ $0.hasBackendView = false }) {
                if isRevoked { $0.backend(.tokenRevoked(job: $0.job)) }
                self.delete(&$0, status: 401)
            }
        }
        #expect(count(isRevoked: true) == 0)
        #expect(count(isRevoked: false) == 1)
    }

    @Test func `a reinstallation takes the DELETE with it`() {
        #expect(self.unfinished { $0.phone(.reinstalled(discarded: 0)) } == 0)
    }

    // MARK: books.expected

    private func books(_ history: History) -> BookTotals { history.ledger().totals.books }

    private func totals(received: Int, pending: Int, missing: Int) -> BookTotals {
        var totals = BookTotals()
        totals.expected = received + pending + missing
        totals.received = received
        totals.pending = pending
        totals.missing = missing
        return totals
    }

    @Test func `the books of a waiting scan are pending, less those that the library has`() {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks([0])
            $0.onDisk(.suspended)
        }
        #expect(self.books(history) == self.totals(received: 1, pending: 2, missing: 0))
    }

    @Test func `the books of a lost scan are missing, whether the backend found them or not`() {
        let history = History {
            $0.launch()
            $0.capture()
        }
        #expect(self.books(history) == self.totals(received: 0, pending: 0, missing: 3))
    }

    @Test func `a discarded scan expects no books`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.phone(.reinstalled(discarded: 1))
        }
        var books = BookTotals()
        books.discarded = 3
        #expect(self.books(history) == books)
    }

    @Test func `each of them has a metric`() {
        let history = History {
            $0.launch()
            $0.capture()
            self.refusal(&$0, "QUEUE_FULL")
            $0.scan = ScanNumber(2)
            $0.capture()
            $0.onDisk(.offline)
        }
        var table = MetricTable(groups: [])
        history.ledger().record(into: &table)
        #expect(table.count(.scansRefusedUnexplained, of: .fleet) == .measured(1))
        #expect(table.count(.cleanupUnfinished, of: .fleet) == .measured(0))
        #expect(table.count(.booksPending, of: .fleet) == .measured(3))
    }
}
