import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

/// A scan that its user has canceled: how it is counted, and what may follow.
@Suite struct CancelTests {
    @Test func `a canceled scan is a class of its own, and its books are in no other number`() {
        let history = History {
            $0.streaming()
            $0.cancel()
        }
        let totals = history.ledger().totals
        #expect(totals.scans.captured == 1 && totals.scans.canceled == 1 && totals.scans.isConserved)
        #expect(totals.scans.completed + totals.scans.refused + totals.scans.lost == 0)
        var books = BookTotals()
        books.canceled = 3
        #expect(totals.books == books)
        #expect(totals.jobs.cleaned == 1)
        #expect(history.broken() == [])
    }

    @Test func `the rows of a canceled import are a number of their own`() {
        var rows = RowCounts()
        (rows.created, rows.pending) = (4, 6)
        let history = History {
            $0.streaming()
            $0.phone(.filePrepared(.rows(10)))
            $0.phone(.canceled(job: $0.job))
            $0.send(.cleanup, job: $0.job)
            $0.backend(.canceled(job: $0.job))
            $0.backend(.rowsTaken(job: $0.job, rows))
            $0.backend(.cleaned(job: $0.job, effective: true))
            $0.phone(.replied(.cleanup, attempt: 1, status: 200, took: .milliseconds(2)))
            $0.phone(.cleanupAnswered(job: $0.job, status: 200, took: .milliseconds(2)))
        }
        let totals = history.ledger().totals.rows
        #expect(totals.canceled == 10 && totals.unread == 4)
        #expect(totals.sent == 0 && totals.missing == 0 && totals.withdrawn == 0)
        #expect(history.broken() == [])
    }

    @Test func `a canceled job that nobody deletes breaks job cleaned`() {
        let history = History {
            $0.streaming()
            $0.phone(.canceled(job: $0.job))
            $0.pass(.seconds(60))
            $0.phone(.pathLost)
        }
        #expect(history.broken() == [.jobCleaned])
    }

    @Test func `a job that had ended before may be cleaned up after the cancel was refused`() {
        let history = History {
            $0.streaming()
            $0.phone(.canceled(job: $0.job))
            $0.backend(.finished(job: $0.job, kind: .completed, books: 3))
            $0.send(.cancel, job: $0.job)
            $0.phone(.replied(.cancel, attempt: 1, status: 409, took: .milliseconds(2)))
            $0.send(.cleanup, attempt: 2, job: $0.job)
            $0.backend(.cleaned(job: $0.job, effective: true))
            $0.phone(.replied(.cleanup, attempt: 2, status: 204, took: .milliseconds(2)))
            $0.phone(.cleanupAnswered(job: $0.job, status: 204, took: .milliseconds(2)))
        }
        #expect(history.broken() == [])
    }

    @Test func `a canceled scan is over`() {
        func history(_ then: (inout History) -> Void) -> History {
            History {
                $0.streaming()
                $0.cancel()
                then(&$0)
            }
        }
        #expect(
            history { $0.phone(.bookAdded(ordinal: 0, book: $0.book(0))) }.complaint(.cancelFinal)
                == "book 0 entered the library after the scan was canceled")
        #expect(
            history { $0.send(.upload, attempt: 2, job: nil) }.complaint(.cancelFinal)
                == "upload 2 was sent after the scan was canceled")
        #expect(history { $0.complete() }.broken() == [.scanCustody])
        #expect(history { $0.phone(.canceled(job: nil)) }.broken() == [.scanCustody])
        #expect(history { $0.send(.cancel, attempt: 2, job: $0.job) }.broken() == [])
    }

    @Test func `a user cancels when the profile says, and not during an upload`() {
        func complaint(
            after wait: Interval, isLive: Bool = false, before: (inout History) -> Void = { _ in }
        ) -> String? {
            let history = History {
                $0.streaming()
                before(&$0)
                let accepted = $0.observations.last {
                    if case .phone(.uploadAccepted) = $0.what { true } else { false }
                }
                $0.pass((accepted?.at ?? .zero) + wait - $0.now)
                $0.phone(.cancelRequested)
                $0.cancel()
            }
            let ledger = history.ledger {
                $0.fleet = PhoneGroups([("all", 1)])
                $0.cancelTimes = [.seconds(2)...(.seconds(4))]
                if isLive { $0.recordTime = LedgerSettings.recordTimeLive }
            }
            return ledger.verdicts.first { $0.invariant == .cancelFinal }?.examples.first?.text
        }
        #expect(complaint(after: .seconds(2)) == nil)
        #expect(
            complaint(after: .seconds(2) - .milliseconds(1))
                == "canceled 1999 ms after its first 202; its user waits 2000 ms at least")
        #expect(complaint(after: .seconds(5)) == nil)
        let late = "canceled 5001 ms after its first 202; its user waits 4000 ms at most"
        #expect(complaint(after: .milliseconds(5_001)) == late)
        #expect(complaint(after: .milliseconds(5_001), isLive: true) == nil)
        #expect(
            complaint(after: .milliseconds(5_001)) {
                $0.phone(.suspended)
                $0.pass(.seconds(4))
                $0.phone(.resumed)
            } == nil, "the app was away")
        let isUploading = { (history: inout History) in
            history.phone(.queued(.transport))
            history.send(.upload, attempt: 2, job: nil)
        }
        #expect(
            complaint(after: .seconds(3), before: isUploading) == "canceled while its upload was under way")
        #expect(
            complaint(after: .seconds(3)) {
                isUploading(&$0)
                $0.phone(.requestFailed(.upload, attempt: 2, .reset, took: .zero))
            } == nil)
        #expect(
            complaint(after: .seconds(3)) {
                isUploading(&$0)
                $0.phone(.pathLost)
            } == nil, "an upload ends with its path")
    }

    @Test func `a backend that has canceled a job says nothing more of it`() {
        func complaint(_ then: @escaping (inout History) -> Void) -> String? {
            History {
                $0.streaming()
                $0.cancel()
                then(&$0)
            }.complaint(.cancelFinal)
        }
        #expect(
            complaint { $0.backend(.resultsServed(job: $0.job, books: 3)) }
                == "the backend served results of the job after the scan was canceled")
        #expect(
            complaint { $0.write(2) } == "the backend wrote the event progress after the scan was canceled")
        #expect(
            complaint { $0.backend(.finished(job: $0.job, kind: .completed, books: 3)) }
                == "the backend completed the job after the scan was canceled")
        #expect(complaint { $0.write(2, .error) } == nil)
        #expect(complaint { $0.write(2, replayed: true) } == nil, "a stream that was requested before")
    }

    // MARK: A backend that is not observed

    /// What the ledger says of a cancel whose first DELETE gets `status`, against a foreign backend.
    private func foreign(
        _ status: Int = 404, after age: Interval = .seconds(1),
        before: (inout History) -> Void = { _ in }
    ) -> String? {
        let history = History {
            $0.streaming()
            $0.pass(age)
            before(&$0)
            $0.phone(.canceled(job: $0.job))
            $0.send(.cancel, job: $0.job)
            $0.phone(.replied(.cancel, attempt: 1, status: status, took: .milliseconds(2)))
            $0.phone(.cleanupAnswered(job: $0.job, status: status, took: .milliseconds(2)))
        }
        let ledger = history.ledger { $0.hasBackendView = false }
        #expect(ledger.totals.scans.canceled == 1 && ledger.totals.jobs.cleaned == 1)
        return ledger.verdicts.first { $0.invariant == .cancelFinal }?.examples.first?.text
    }

    @Test(arguments: [404, 410]) func `a job that ran is not canceled by an answer that there is none`(
        status: Int
    ) {
        #expect(
            self.foreign(status)
                == "the first DELETE of job job-1 was answered with \(status), though the job had not ended: nobody knows whether it was canceled"
        )
        #expect(self.foreign(200) == nil)
    }

    @Test func `a job that may be gone rightly is canceled`() {
        #expect(self.foreign(after: .hours(3)) == nil, "its token has expired, and the job with it")
        let ended = self.foreign {
            $0.apply(2, .error)
            $0.phone(.terminalApplied(job: $0.job, kind: .error, inline: .absent))
        }
        #expect(ended == nil)
        #expect(self.foreign { $0.backend(.tokenRevoked(job: $0.job)) } == nil, "by a fault of the gateway")
        #expect(
            self.foreign { $0.fault(.fired(fault: 0, .cancel, attempt: 1)) } == nil,
            "the answer is that of a fault")
        let repeated = History {
            $0.streaming()
            $0.phone(.canceled(job: $0.job))
            $0.send(.cancel, job: $0.job)
            $0.phone(.requestFailed(.cancel, attempt: 1, .reset, took: .milliseconds(2)))
            $0.send(.cancel, attempt: 2, job: $0.job)
            $0.phone(.replied(.cancel, attempt: 2, status: 404, took: .milliseconds(2)))
            $0.phone(.cleanupAnswered(job: $0.job, status: 404, took: .milliseconds(2)))
        }
        #expect(repeated.broken { $0.hasBackendView = false } == [], "the first may have canceled it")
    }

    @Test func `a cancel that was answered about another job has deleted none`() {
        let history = History {
            $0.streaming()
            $0.phone(.canceled(job: $0.job))
            $0.send(.cancel, job: $0.job)
            $0.phone(.replied(.cancel, attempt: 1, status: 200, took: .milliseconds(2)))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.unreadableAnswer)))
        }
        #expect(history.broken { $0.hasBackendView = false } == [.jobCleaned])
    }

    @Test func `the invariant is there where somebody cancels`() {
        let history = History { $0.streaming() }
        func isJudged(_ cancels: Bool) -> Bool {
            history.ledger { $0.cancels = cancels }.verdicts.contains { $0.invariant == .cancelFinal }
        }
        #expect(isJudged(true) && !isJudged(false))
    }
}
