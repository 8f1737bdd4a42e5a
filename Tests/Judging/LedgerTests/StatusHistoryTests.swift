import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

/// Scans that are followed by requests for the status of their jobs.
@Suite struct StatusHistoryTests {
    private static func polled(
        _ statuses: [JobStatus], ended kind: EventKind? = .completed, then rest: (inout History) -> Void
    ) -> History {
        History {
            $0.launch()
            $0.capture()
            $0.upload()
            for (index, status) in statuses.enumerated() {
                if status.isTerminal, let kind {
                    $0.backend(.finished(job: $0.job, kind: kind, books: kind == .completed ? 3 : 0))
                }
                $0.pass(.seconds(2))
                $0.send(.status, attempt: UInt32(index + 1), job: $0.job)
                $0.phone(.replied(.status, attempt: UInt32(index + 1), status: 200, took: .milliseconds(2)))
                $0.phone(.statusDecoded(job: $0.job, status: status, took: .milliseconds(2)))
            }
            rest(&$0)
        }
    }

    private static func fetch(_ history: inout History) {
        history.send(.results, job: history.job)
        history.phone(.resultsDecoded(job: history.job, books: 3, took: .milliseconds(2)))
        history.addBooks()
        history.complete()
        history.clean()
    }

    @Test func `a scan without a stream is completed`() {
        let history = Self.polled([.initialized, .processing, .completed], then: Self.fetch)
        #expect(history.broken() == [])
        let totals = history.ledger().totals
        #expect(totals.scans.completed == 1 && totals.books.received == 3 && totals.books.missing == 0)
        #expect(totals.jobs.unfinishedCleanups == 0)
    }

    @Test func `results are requested after the status that allows them`() {
        #expect(Self.polled([.processing], then: Self.fetch).broken() == [.streamTerminalOnce])
    }

    @Test func `an end that the backend does not know is no end`() {
        let early = Self.polled([.completed], ended: nil, then: Self.fetch)
        #expect(
            early.complaint(.serverAgrees)
                == "the phone read that job job-1 is completed, but the backend had not ended it")
    }

    @Test func `the job of a scan whose status was failed is to be deleted`() {
        func failed(isDeleted: Bool) -> History {
            Self.polled([.failed], ended: .error) {
                $0.phone(.queued(.retryableError))
                if isDeleted { $0.clean() }
                $0.pass(.seconds(60))
                $0.job = "job-2"
                $0.upload(attempt: 2)
                $0.open()
                $0.ending(0)
            }
        }
        #expect(failed(isDeleted: true).broken() == [])
        #expect(failed(isDeleted: false).broken() == [.jobCleaned])
    }

    @Test func `a spent budget leaves a scan waiting, with its books`() {
        var history = Self.polled([.processing], then: { $0.phone(.queued(.statusBudget)) })
        history.onDisk(.statusBudget)
        let totals = history.ledger().totals
        #expect(history.broken() == [])
        #expect(totals.scans.waitingByCause[.statusBudget] == 1 && totals.books.pending == 3)
    }

    @Test func `a status is requested as often as the profile says`() {
        func complaint(
            after pause: Interval, every interval: Interval = .seconds(2),
            then: (inout History) -> Void = { _ in }
        ) -> String? {
            let history = Self.polled([.processing]) {
                then(&$0)
                $0.pass(pause - .milliseconds(2))
                $0.send(.status, attempt: 2, job: $0.job)
            }
            let ledger = history.ledger {
                $0.fleet = PhoneGroups([("all", 1)])
                $0.statusIntervals = [interval]
            }
            return ledger.verdicts.first { $0.invariant == .limitHonoured }?.examples.first?.text
        }
        #expect(complaint(after: .seconds(2)) == nil)
        #expect(
            complaint(after: .milliseconds(1_999))
                == "status requested 1999 ms after the last answer, and not after 2000 ms")
        #expect(complaint(after: .milliseconds(500), every: .milliseconds(500)) == nil)
        #expect(complaint(after: .milliseconds(499), every: .milliseconds(500)) != nil)
        // A process, and a path, know nothing of the request before.
        for excuse in [PhoneObservation.pathReturned, .resumed, .launched(restored: 1), .queued(.offline)] {
            #expect(complaint(after: .milliseconds(10)) { $0.phone(excuse) } == nil, "\(excuse)")
        }
    }

    @Test func `a request before the end of the wait that a 429 asked for is too early`() {
        func limited(pause: Interval) -> History {
            Self.polled([]) {
                $0.send(.status, attempt: 1, job: $0.job)
                $0.backend(
                    .problem(
                        .status, attempt: 1, status: 429, job: $0.job, retryable: true,
                        retryAfter: .seconds(2)))
                $0.phone(.replied(.status, attempt: 1, status: 429, took: .milliseconds(1)))
                $0.phone(.rateLimited(.status, retryAfter: .seconds(2)))
                $0.pass(pause)
                $0.send(.status, attempt: 2, job: $0.job)
            }
        }
        #expect(limited(pause: .milliseconds(2_100)).broken().contains(.limitHonoured) == false)
        #expect(limited(pause: .milliseconds(1_500)).broken().contains(.limitHonoured))
    }
}
