import Histories
import Ledger
import RunMetrics
import SimBase
import Talaria
import Testing

@Suite struct JobInvariantTests {
    /// A completed scan whose job is left to clean up.
    private func completed(_ history: inout History) {
        history.streaming()
        history.terminal(2)
        history.addBooks()
        history.complete()
    }

    // MARK: One id for two jobs

    /// A foreign server: its own view of its jobs is not known.
    private func foreign(_ settings: inout LedgerSettings) { settings.hasBackendView = false }

    private func findings(_ history: History) -> [String] {
        var tally = MetricsCollector(fleet: .ungrouped, faultIDs: [], hasBackendView: false)
        for observation in history.observations { tally.record(observation) }
        return tally.measured.whole.findings.rows.map { "\($0.finding.path): \($0.finding.seen)" }
    }

    /// What a phone observes where the id of a new job is that of an earlier one.
    private func acceptedAgain(_ history: inout History, attempt: UInt32 = 1) {
        history.send(.upload, attempt: attempt, job: nil)
        history.phone(
            .found(
                ContractFinding(
                    operation: .upload, part: "202", path: "data.jobId", expected: "an id of its own",
                    seen: "the id of an earlier job", excerpt: history.job, isDecisive: false, count: 1)))
        history.phone(
            .uploadAccepted(job: history.job, took: .milliseconds(9), service: .milliseconds(8)))
    }

    /// Two scans whose streams are open at once under one id. The phone leaves the DELETE to the scan that is done last.
    private func twoScansWithOneJob(isDeleted: Bool) -> History {
        History {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.open()
            $0.scan = ScanNumber(2)
            $0.capture()
            self.acceptedAgain(&$0)
            $0.open()
            for scan in UInt32(1)...2 {
                $0.scan = ScanNumber(scan)
                $0.event(0)
                $0.terminal(1)
                $0.addBooks()
                $0.complete()
                if scan == 2, isDeleted {
                    $0.clean()
                } else {
                    $0.phone(.jobAbandoned(job: $0.job, cause: .jobIDReused))
                }
            }
        }
    }

    @Test func `two scans with one job id lose no book, and no phone is accused`() {
        let history = self.twoScansWithOneJob(isDeleted: true)
        let totals = history.ledger(self.foreign).totals
        #expect(history.broken(self.foreign) == [])
        #expect(totals.scans.completed == 2 && totals.scans.isConserved)
        #expect(totals.books.received == 6 && totals.books.duplicated == 0)
        #expect(totals.jobs.accepted == 2 && totals.jobs.cleaned == 1 && totals.jobs.abandoned == 1)
        #expect(self.findings(history) == ["data.jobId: the id of an earlier job"])
    }

    @Test func `the last of two scans with one job id is to delete it`() {
        #expect(self.twoScansWithOneJob(isDeleted: false).broken(self.foreign) == [.jobCleaned])
    }

    /// A phone that does not delete a job that has failed: nothing of it is over when the scan goes up again.
    @Test func `a scan that gets its old job id again begins anew`() {
        let history = History {
            $0.streaming()
            $0.event(2, .error)
            $0.phone(.terminalApplied(job: $0.job, kind: .error, inline: .absent))
            $0.phone(.queued(.retryableError))
            self.acceptedAgain(&$0, attempt: 2)
            $0.open(attempt: 2)
            $0.event(0)
            $0.ending(1)
        }
        let totals = history.ledger(self.foreign).totals
        #expect(history.broken(self.foreign) == [])
        #expect(totals.scans.completed == 1 && totals.books.received == 3)
        #expect(totals.jobs.accepted == 2 && totals.jobs.cleaned == 1)
        #expect(self.findings(history) == ["data.jobId: the id of an earlier job"])
    }

    // MARK: job.cleaned

    @Test func `a DELETE that has no effect does not clean`() {
        let history = History {
            self.completed(&$0)
            $0.send(.cleanup, job: $0.job)
            $0.backend(.cleaned(job: $0.job, effective: false))
            $0.phone(.cleanupAnswered(job: $0.job, status: 204, took: .milliseconds(1)))
        }
        #expect(history.broken() == [.jobCleaned])
        #expect(history.complaint(.jobCleaned) == "job job-1 was not deleted: its DELETE had no effect")
    }

    @Test func `giving up by itself is no excuse`() {
        let history = History {
            self.completed(&$0)
            $0.phone(.jobAbandoned(job: $0.job, cause: .scanRefused))
        }
        #expect(history.broken() == [.jobCleaned])
    }

    @Test func `against a foreign target a DELETE must at least be sent`() {
        let history = History { self.completed(&$0) }
        #expect(history.broken { $0.hasBackendView = false } == [.jobCleaned])
    }

    @Test(arguments: [204, 404, 410, 401, 403, 500])
    func `a foreign target that refuses a DELETE keeps the job`(status: Int) {
        let isKept = status == 403 || status == 500
        let history = History {
            self.completed(&$0)
            $0.send(.cleanup, job: $0.job)
            $0.phone(.replied(.cleanup, attempt: 1, status: status, took: .milliseconds(1)))
            if isKept || status == 401 {
                $0.phone(.jobAbandoned(job: $0.job, cause: .status(status)))
            } else {
                $0.phone(.cleanupAnswered(job: $0.job, status: status, took: .milliseconds(1)))
            }
        }
        #expect(history.broken { $0.hasBackendView = false } == (isKept ? [.jobCleaned] : []))
    }

    @Test func `a job that was replaced before it was complete need not be cleaned`() {
        let history = History {
            $0.streaming()
            $0.backend(.tokenRevoked(job: $0.job))
            $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1))
            $0.phone(.replied(.stream, attempt: 2, status: 401, took: .milliseconds(1)))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
            $0.phone(.queued(.tokenExpired))
            $0.job = "job-2"
            $0.upload(attempt: 2)
            $0.open(attempt: 3)
            $0.ending(0)
        }
        #expect(history.broken() == [])
    }

    // MARK: job.not-cleaned-early

    @Test func `a DELETE before the terminal event, or before the books are durable, is early`() {
        let running = History {
            $0.streaming()
            $0.clean()
            $0.onDisk(.suspended)
        }
        #expect(running.broken() == [.jobNotCleanedEarly])
        #expect(
            running.complaint(.jobNotCleanedEarly) == "DELETE sent before its terminal event was applied")

        let undurable = History {
            $0.streaming()
            $0.terminal(2)
            $0.clean()
            $0.addBooks()
            $0.complete()
        }
        #expect(undurable.broken() == [.jobNotCleanedEarly])
        #expect(
            undurable.complaint(.jobNotCleanedEarly) == "DELETE sent before its books were durable")
    }

    @Test func `a phone that goes to the background gives its running jobs up`() {
        let late = History {
            $0.streaming()
            $0.phone(.suspended)
            $0.phone(.resumed)
            $0.clean()
            $0.onDisk(.suspended)
        }
        #expect(late.broken() == [], "the last of the DELETEs go out when the app is back")
        let next = History {
            $0.launch()
            $0.phone(.suspended)
            $0.phone(.resumed)
            $0.capture()
            $0.upload()
            $0.clean()
            $0.onDisk(.suspended)
        }
        #expect(next.broken() == [.jobNotCleanedEarly], "a job from after the return is not given up")
    }

    // MARK: limit.honoured

    @Test func `an upload before the time that a 429 named is too early, to the nanosecond`() {
        func upload(after wait: Interval, scan: UInt32 = 2) -> History {
            History {
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
                let told = $0.now
                $0.phone(.rateLimited(.upload, retryAfter: .seconds(2)))
                $0.pass(told + wait - $0.now)
                $0.scan = ScanNumber(scan)
                let back = $0.now
                $0.pass(.milliseconds(-5))
                $0.capture()
                $0.pass(back - $0.now)
                $0.upload()
                $0.open()
                $0.ending(0)
                $0.scan = ScanNumber(1)
                $0.onDisk(.rateLimited)
            }
        }
        #expect(upload(after: .seconds(2)).broken() == [])
        #expect(upload(after: .seconds(2) - .nanoseconds(1)).broken() == [.limitHonoured])
        #expect(
            upload(after: .milliseconds(1_999)).complaint(.limitHonoured)
                == "upload sent 1 ms (1000000 ns) too early")
    }

    @Test func `a later and shorter 429 does not lift the first`() {
        func upload(after wait: Interval) -> History {
            History {
                $0.launch()
                $0.capture()
                $0.phone(.rateLimited(.upload, retryAfter: .seconds(9)))
                $0.phone(.rateLimited(.upload, retryAfter: .seconds(1)))
                $0.pass(wait)
                $0.send(.upload, job: nil)
                $0.onDisk(.rateLimited)
            }
        }
        #expect(upload(after: .seconds(5)).broken() == [.limitHonoured])
        #expect(upload(after: .seconds(9)).broken() == [])
    }

    @Test func `a limit on one job's results does not hold for another's, nor for uploads`() {
        func results(scan: UInt32) -> History {
            History {
                $0.streaming()
                $0.terminal(2, inline: .absent)
                $0.phone(.rateLimited(.results, retryAfter: .seconds(9)))
                $0.scan = ScanNumber(2)
                $0.capture()
                $0.send(.upload, job: nil)
                $0.onDisk(.transport)
                $0.scan = ScanNumber(scan)
                $0.send(.results, job: "job-\(scan)")
                $0.scan = ScanNumber(1)
                $0.onDisk(.resultsUnavailable)
            }
        }
        #expect(results(scan: 1).broken() == [.limitHonoured])
        #expect(results(scan: 2).broken() == [])
    }

    @Test func `a wait beyond all clocks is a wait for ever`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.phone(.rateLimited(.upload, retryAfter: Interval(nanoseconds: .max)))
            $0.pass(.hours(10_000))
            $0.send(.upload, job: nil)
            $0.onDisk(.rateLimited)
        }
        #expect(history.broken() == [.limitHonoured])
    }

    // MARK: slots.bounded

    @Test func `a phone never has less than no slot, and none at the end`() {
        func slots(taken: Int, given: Int) -> [Invariant] {
            History {
                $0.launch()
                for _ in 0..<taken { $0.phone(.slotTaken) }
                for _ in 0..<given { $0.phone(.slotGiven) }
            }.broken()
        }
        #expect(slots(taken: 1, given: 2) == [.slotsBounded])
        #expect(slots(taken: 2, given: 1) == [.slotsBounded])
    }

    // MARK: server.agrees

    @Test func `a backend that finds other than the shelf's books disagrees`() {
        func finding(_ books: Int) -> History {
            History {
                $0.streaming()
                $0.backend(.finished(job: $0.job, kind: .completed, books: books))
                $0.onDisk(.interrupted)
            }
        }
        #expect(finding(2).broken() == [.serverAgrees])
        #expect(finding(3).broken() == [])
    }

}
