import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

/// job.cleaned: what a phone owes, what excuses it, and until when. Each excuse has a history just inside it and one just
/// outside.
@Suite struct CleanupTests {
    /// A completed scan whose job is left to clean up.
    private func completed(_ rest: (inout History) -> Void) -> History {
        History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            rest(&$0)
        }
    }

    /// A DELETE that is answered with a problem, as both sides see it.
    private func answer(
        _ history: inout History, _ status: Int, attempt: UInt32 = 1
    ) {
        history.backend(
            .problem(
                .cleanup, attempt: attempt, status: status, job: history.job, retryable: status >= 500,
                retryAfter: nil))
        history.phone(.replied(.cleanup, attempt: attempt, status: status, took: .milliseconds(1)))
    }

    private func fire(_ history: inout History, attempt: UInt32 = 1) {
        history.fault(.fired(fault: 0, .cleanup, attempt: attempt))
    }

    /// A DELETE that a fault answers with 503.
    private func hit(_ history: inout History, attempt: UInt32 = 1) {
        history.send(.cleanup, attempt: attempt, job: history.job)
        self.fire(&history, attempt: attempt)
        self.answer(&history, 503, attempt: attempt)
    }

    private func left(_ history: History) -> String? { history.complaint(.jobCleaned) }

    private static let notSent = "job job-1 was not deleted: no DELETE was sent"
    private static let notAgain = "job job-1 was not deleted: its DELETE was not retried"
    private static let ineffective = "job job-1 was not deleted: its DELETE had no effect"

    // MARK: Journeys

    @Test func `a completed job of v2 is kept, and one that failed is deleted`() {
        func broken(_ history: History, _ journey: Journey) -> [Invariant] {
            history.broken {
                $0.fleet = PhoneGroups(groups: ["all"], groupOfDevice: [0, 0, 0, 0])
                $0.journeys = [journey]
            }
        }
        let kept = self.completed { $0.pass(.seconds(60)) }
        #expect(broken(kept, .bookshelfScan) == [] && broken(kept, .batchEnrichment) == [])
        #expect(broken(kept, .scan) == [.jobCleaned])
        let deleted = self.completed { $0.clean() }
        #expect(broken(deleted, .bookshelfScan) == [.jobNotCleanedEarly])
        #expect(broken(deleted, .scan) == [])
        let failed = History {
            $0.streaming()
            $0.fail(2, retryable: false)
            $0.refuse()
            $0.pass(.seconds(60))
        }
        #expect(broken(failed, .bookshelfScan) == [.jobCleaned])
    }

    @Test func `kept jobs are counted until they expire`() {
        func jobs(_ history: History, _ journey: Journey) -> JobTotals {
            history.ledger {
                $0.fleet = PhoneGroups(groups: ["all"], groupOfDevice: [0, 0, 0, 0])
                $0.journeys = [journey]
            }.totals.jobs
        }
        let kept = self.completed { $0.pass(.seconds(60)) }
        #expect(jobs(kept, .batchEnrichment).kept == 1 && jobs(kept, .scan).kept == 0)
        let expired = self.completed { $0.backend(.expired(job: $0.job)) }
        #expect(jobs(expired, .batchEnrichment).kept == 0 && jobs(expired, .batchEnrichment).expired == 1)
    }

    @Test func `a violation names what the phone does`() {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.phone(.killed)
            $0.launch(restored: 0)
        }
        func texts(_ journey: Journey) -> [String] {
            history.ledger {
                $0.fleet = PhoneGroups(groups: ["all"], groupOfDevice: [0, 0, 0, 0])
                $0.journeys = [journey]
            }.verdicts.flatMap(\.examples).map(\.text)
        }
        #expect(texts(.scan).contains("the app was started again and found 0 of 1 unsettled scans"))
        #expect(
            texts(.batchEnrichment).contains("the app was started again and found 0 of 1 unsettled batches"))
        #expect(texts(.batchEnrichment).contains { $0.hasPrefix("the batch is lost; books in the library") })
    }

    // MARK: A fault on the DELETE

    @Test func `the backoff of a DELETE grows`() {
        func ended(after wait: Interval) -> [Invariant] {
            self.completed {
                self.hit(&$0)
                $0.pass(.seconds(1))
                self.hit(&$0, attempt: 2)
                $0.pass(wait)
            }.broken()
        }
        #expect(ended(after: .milliseconds(2_990)) == [])
        #expect(ended(after: .milliseconds(3_010)) == [.jobCleaned])
    }

    @Test func `a 429 is waited out, and then the DELETE is due`() {
        func ended(after wait: Interval) -> [Invariant] {
            self.completed {
                $0.send(.cleanup, job: $0.job)
                self.fire(&$0)
                self.answer(&$0, 429)
                $0.phone(.rateLimited(.cleanup, retryAfter: .seconds(20)))
                $0.pass(wait)
            }.broken()
        }
        #expect(ended(after: .milliseconds(21_990)) == [])
        #expect(ended(after: .milliseconds(22_510)) == [.jobCleaned])
    }

    @Test(arguments: [true, false])
    func `a 429 whose body never ends is not over before the phone has waited for it`(hasBackendView: Bool) {
        func ended(after wait: Interval, _ rest: (inout History) -> Void = { _ in }) -> [Invariant] {
            self.completed {
                $0.send(.cleanup, job: $0.job)
                self.fire(&$0)
                self.answer(&$0, 429)
                $0.pass(.seconds(30))
                rest(&$0)
                $0.pass(wait)
            }.broken { $0.hasBackendView = hasBackendView }
        }
        let limited: (inout History) -> Void = { $0.phone(.rateLimited(.cleanup, retryAfter: .zero)) }
        #expect(ended(after: .milliseconds(2_490), limited) == [])
        #expect(ended(after: .milliseconds(2_510), limited) == [.jobCleaned], "it was not tried again")
    }

    @Test func `a fault excuses no later DELETE, and none that nothing befell`() {
        let second = self.completed {
            self.hit(&$0)
            $0.pass(.seconds(1))
            $0.send(.cleanup, attempt: 2, job: $0.job)
            $0.phone(.requestFailed(.cleanup, attempt: 2, .reset, took: .milliseconds(1)))
        }
        #expect(second.broken() == [.jobCleaned])
        #expect(self.left(second) == Self.ineffective)
        let alone = self.completed {
            $0.send(.cleanup, job: $0.job)
            $0.phone(.requestFailed(.cleanup, attempt: 1, .reset, took: .milliseconds(1)))
        }
        #expect(alone.broken() == [.jobCleaned])
        #expect(alone.broken { $0.hasBackendView = false } == [], "of a foreign network nobody knows")
    }

    @Test func `a fault on the DELETE of one job excuses no other job of the scan`() {
        let history = History {
            $0.streaming()
            $0.fail(2, retryable: true)
            $0.phone(.queued(.retryableError))
            self.hit(&$0)
            $0.send(.cleanup, attempt: 2, job: $0.job)
            $0.backend(.cleaned(job: $0.job, effective: true))
            $0.phone(.cleanupAnswered(job: $0.job, status: 204, took: .milliseconds(1)))
            $0.job = "job-2"
            $0.upload(attempt: 2)
            $0.open(attempt: 2)
            $0.terminal(0)
            $0.addBooks()
            $0.complete()
        }
        #expect(history.broken() == [.jobCleaned])
        #expect(self.left(history) == "job job-2 was not deleted: no DELETE was sent")
    }

    // MARK: 401

    @Test func `a token that was revoked excuses no phone that sends no DELETE`() {
        let history = self.completed { $0.backend(.tokenRevoked(job: $0.job)) }
        #expect(history.broken() == [.jobCleaned])
    }

    /// A job that its phone leaves, because of what its stream was answered.
    private func ended(_ status: Int?) -> [Invariant] {
        History {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1))
            if let status {
                $0.phone(.replied(.stream, attempt: 2, status: status, took: .milliseconds(1)))
            }
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
            $0.phone(.queued(.tokenExpired))
            $0.onDisk(.tokenExpired)
        }.broken()
    }

    @Test func `a running job is left without a DELETE only where the server said that it is over`() {
        #expect(self.ended(404) == [])
        #expect(self.ended(nil) == [.jobCleaned])
    }

    // MARK: Kill

    @Test func `a kill excuses the DELETE under way; after the relaunch it is owed again`() {
        func killed(_ rest: (inout History) -> Void) -> History {
            self.completed {
                $0.send(.cleanup, job: $0.job)
                $0.kill(keeping: $0.job, after: History.id(1), decided: true)
                rest(&$0)
            }
        }
        let dead = killed { $0.pass(.seconds(60)) }
        let late = killed {
            $0.launch()
            $0.pass(.milliseconds(2_010))
        }
        let again = killed {
            $0.launch()
            $0.clean()
        }
        #expect(dead.broken() == [] && again.broken() == [])
        #expect(late.broken() == [.jobCleaned])
        #expect(self.left(late) == Self.notAgain)
    }

    @Test func `a kill excuses the DELETE that is due in its instant, and not one that was due before`() {
        var inside = self.completed { _ in }
        inside.pass(.milliseconds(-1))
        inside.kill(keeping: inside.job, decided: true)
        #expect(inside.broken() == [])
        let outside = self.completed { $0.kill(keeping: $0.job, decided: true) }
        #expect(outside.broken() == [.jobCleaned])
        #expect(self.left(outside) == Self.notSent)
    }

    @Test func `a kill excuses no job that the next process completes`() {
        let history = History {
            $0.streaming()
            $0.kill(keeping: $0.job, after: History.id(1))
            $0.launch(restored: 1)
            $0.phone(.queued(.interrupted))
            $0.open(attempt: 2, after: History.id(1), serverAfter: 1)
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
        }
        #expect(history.broken() == [.jobCleaned])
    }

    @Test func `a record that loses a job of which the DELETE is owed is no excuse`() {
        let history = self.completed {
            $0.send(.cleanup, job: $0.job)
            $0.phone(.killed)
            $0.launch()
            $0.pass(.seconds(3))
        }
        #expect(history.broken() == [.jobCleaned])
    }

    @Test func `a job whose record was not durable at the kill is nobody's`() {
        func uploadedAgain(keeping job: String?) -> [Invariant] {
            History {
                $0.launch()
                $0.capture()
                $0.upload()
                $0.kill(keeping: job)
                $0.launch(restored: 1)
                $0.phone(.queued(.interrupted))
                $0.job = "job-2"
                $0.upload(attempt: 2)
                $0.open(attempt: 2)
                $0.ending(0)
                $0.pass(.seconds(3))
            }.broken()
        }
        #expect(uploadedAgain(keeping: nil) == [])
        #expect(uploadedAgain(keeping: "job-1") == [.jobCleaned])
    }

    // MARK: Path

    @Test func `another network excuses the DELETE under way, and asks for another`() {
        func changed(_ wait: Interval) -> [Invariant] {
            self.completed {
                $0.send(.cleanup, job: $0.job)
                $0.phone(.pathChanged)
                $0.phone(.requestFailed(.cleanup, attempt: 1, .noPath, took: .milliseconds(1)))
                $0.pass(wait)
            }.broken()
        }
        #expect(changed(.milliseconds(1_990)) == [])
        #expect(changed(.milliseconds(2_010)) == [.jobCleaned])
    }

    @Test func `a phone without a path owes nothing yet, and a launch without one neither`() {
        let cutOff = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.phone(.pathLost)
            $0.complete()
            $0.pass(.seconds(60))
        }
        #expect(cutOff.broken() == [])
        let launched = self.completed {
            $0.send(.cleanup, job: $0.job)
            $0.kill(keeping: $0.job, decided: true)
            $0.launch()
            $0.phone(.pathLost)
            $0.pass(.seconds(60))
        }
        #expect(launched.broken() == [])
        let returned = self.completed {
            $0.send(.cleanup, job: $0.job)
            $0.phone(.pathLost)
            $0.kill(keeping: $0.job, decided: true)
            $0.launch()
            $0.pass(.seconds(60))
        }
        #expect(returned.broken() == [.jobCleaned], "it was started with a path")
    }

    @Test func `a fault of the path hits what was sent before it`() {
        let history = self.completed {
            $0.send(.cleanup, job: $0.job)
            $0.fault(.began(fault: 1))
            $0.fault(.ended(fault: 1))
            $0.phone(.requestFailed(.cleanup, attempt: 1, .timedOut, took: .milliseconds(1)))
        }
        #expect(history.broken() == [])
    }

    @Test func `a fault that spares the path excuses no DELETE`() {
        let history = self.completed {
            $0.fault(.began(fault: 1))
            $0.send(.cleanup, job: $0.job)
            $0.phone(.requestFailed(.cleanup, attempt: 1, .timedOut, took: .milliseconds(1)))
            $0.fault(.ended(fault: 1))
        }
        #expect(history.broken() == [])
        #expect(history.broken { $0.faultsOffPath = [1] } == [.jobCleaned])
        #expect(history.broken { $0.faultsOffPath = [0] } == [])
    }

    // MARK: Background

    @Test func `an app in the background has five seconds`() {
        // The second backoff ends after three seconds, the third after four, with two of grace each.
        func away(_ failures: UInt32) -> [Invariant] {
            self.completed {
                for attempt in 1...failures {
                    self.hit(&$0, attempt: attempt)
                    $0.pass(.milliseconds(500))
                }
                $0.phone(.suspended)
                $0.pass(.seconds(60))
            }.broken()
        }
        #expect(away(2) == [.jobCleaned])
        #expect(away(3) == [.jobCleaned])
        #expect(away(4) == [])
    }

    @Test func `a running job is deleted when the app leaves the screen`() {
        func away(path: Bool = true, _ rest: (inout History) -> Void) -> History {
            History {
                $0.streaming()
                if !path { $0.phone(.pathLost) }
                $0.phone(.suspended)
                $0.phone(.queued(.suspended))
                rest(&$0)
                $0.onDisk(.suspended)
            }
        }
        #expect(away { $0.clean() }.broken() == [])
        #expect(away { $0.pass(.milliseconds(1_990)) }.broken() == [], "it still has time")
        #expect(away { $0.pass(.milliseconds(2_010)) }.broken() == [.jobCleaned])
        #expect(self.left(away { $0.pass(.milliseconds(2_010)) }) == Self.notSent)
        #expect(away(path: false) { $0.pass(.seconds(60)) }.broken() == [], "it is kept for later")
    }

    @Test func `a job that is given up in the background has one try, and an accident excuses it`() {
        func away(_ rest: (inout History) -> Void) -> [Invariant] {
            History {
                $0.streaming()
                $0.phone(.suspended)
                $0.phone(.queued(.suspended))
                rest(&$0)
                $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.transport)))
                $0.onDisk(.suspended)
            }.broken()
        }
        #expect(away { $0.phone(.pathLost) } == [])
        #expect(away { $0.pass(.seconds(3)) } == [.jobCleaned])
        let frozen: (inout History) -> Void = {
            $0.send(.cleanup, job: $0.job)
            $0.pass(.seconds(5))
        }
        #expect(away(frozen) == [], "the app was frozen while it was under way")
    }

    @Test func `a job that was given up and not deleted is not followed again without a word`() {
        func followed(after wait: Interval) -> [Invariant] {
            History {
                $0.streaming()
                $0.phone(.suspended)
                $0.phone(.queued(.suspended))
                $0.pass(wait)
                $0.phone(.resumed)
                $0.open(attempt: 2, after: History.id(1), serverAfter: 1)
                $0.ending(2)
            }.broken()
        }
        #expect(followed(after: .seconds(1)) == [])
        #expect(followed(after: .seconds(3)) == [.jobCleaned])
    }

    // MARK: Refusals, errors, other jobs

    @Test func `the job of a refused scan is deleted at once`() {
        func refused(_ rest: (inout History) -> Void) -> History {
            History {
                $0.streaming()
                $0.fail(2, retryable: false)
                $0.refuse()
                rest(&$0)
            }
        }
        #expect(refused { $0.clean() }.broken() == [])
        #expect(refused { $0.pass(.milliseconds(1_980)) }.broken() == [])
        #expect(refused { $0.pass(.milliseconds(2_010)) }.broken() == [.jobCleaned])
    }

    @Test func `the job of a refused scan is owed its DELETE through a kill`() {
        let killed = History {
            $0.streaming()
            $0.fail(2, retryable: false)
            $0.refuse()
            $0.send(.cleanup, job: $0.job)
            $0.kill(keeping: $0.job, after: History.id(1), decided: true)
            $0.launch()
            $0.pass(.milliseconds(2_010))
        }
        #expect(killed.broken() == [.jobCleaned])
        #expect(self.left(killed) == Self.notAgain)
    }

    @Test func `the job of a retryable error is deleted as soon as that is durable`() {
        func failed(_ rest: (inout History) -> Void) -> [Invariant] {
            History {
                $0.streaming()
                $0.fail(2, retryable: true)
                $0.phone(.queued(.retryableError))
                rest(&$0)
                $0.onDisk(.retryableError)
            }.broken()
        }
        #expect(failed { $0.pass(.milliseconds(1_990)) } == [])
        #expect(failed { $0.pass(.milliseconds(2_010)) } == [.jobCleaned])
    }

    @Test func `a job that another one follows is discarded`() {
        func superseded(_ before: (inout History) -> Void) -> [Invariant] {
            History {
                $0.streaming()
                before(&$0)
                $0.phone(.queued(.transport))
                $0.job = "job-2"
                $0.upload(attempt: 2)
                $0.open(attempt: 2)
                $0.ending(0)
                $0.pass(.seconds(3))
            }.broken()
        }
        #expect(superseded { _ in } == [.jobCleaned])
        #expect(superseded { $0.backend(.vanished(job: $0.job)) } == [])
    }

    // MARK: What happens to the job

    @Test func `a job that expires excuses the DELETE that was not due yet`() {
        func expired(_ before: (inout History) -> Void) -> History {
            self.completed {
                before(&$0)
                $0.backend(.expired(job: $0.job))
                $0.pass(.seconds(60))
            }
        }
        #expect(expired { $0.send(.cleanup, job: $0.job) }.broken() == [])
        #expect(expired { _ in }.broken() == [.jobCleaned])
        let failed = expired {
            $0.send(.cleanup, job: $0.job)
            $0.phone(.requestFailed(.cleanup, attempt: 1, .reset, took: .milliseconds(1)))
        }
        #expect(failed.broken() == [.jobCleaned])
        let late = expired {
            self.hit(&$0)
            $0.pass(.seconds(3))
        }
        #expect(self.left(late) == Self.notAgain)
    }

    @Test(arguments: [403, 500])
    func `a foreign target that keeps a job accuses its phone only of one with books`(
        status: Int
    ) {
        func kept(isCompleted: Bool) -> [Invariant] {
            History {
                $0.streaming()
                if isCompleted {
                    $0.terminal(2)
                    $0.addBooks()
                    $0.complete()
                }
                $0.phone(.suspended)
                if !isCompleted { $0.phone(.queued(.suspended)) }
                $0.send(.cleanup, job: $0.job)
                $0.phone(.replied(.cleanup, attempt: 1, status: status, took: .milliseconds(1)))
                $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.serverError)))
                if !isCompleted { $0.onDisk(.suspended) }
            }.broken { $0.hasBackendView = false }
        }
        #expect(kept(isCompleted: true) == [.jobCleaned])
        #expect(kept(isCompleted: false) == [])
    }

    @Test func `a foreign target that fails is no fault of a phone that would have tried again`() {
        func kept(_ status: Int, for wait: Interval) -> [Invariant] {
            self.completed {
                $0.send(.cleanup, job: $0.job)
                $0.phone(.replied(.cleanup, attempt: 1, status: status, took: .milliseconds(1)))
                if status == 429 { $0.phone(.rateLimited(.cleanup, retryAfter: .seconds(1))) }
                $0.pass(wait)
            }.broken { $0.hasBackendView = false }
        }
        #expect(kept(502, for: .milliseconds(2_490)) == [])
        #expect(kept(429, for: .milliseconds(2_490)) == [])
        #expect(kept(429, for: .seconds(4)) == [.jobCleaned], "it was not tried again")
    }

    @Test func `a foreign server may give the id of a job to the next one`() {
        func reused(cause: AbandonCause) -> [Invariant] {
            History {
                $0.streaming()
                $0.fail(2, retryable: true)
                $0.phone(.queued(.retryableError))
                $0.phone(.jobAbandoned(job: $0.job, cause: cause))
                $0.send(.upload, attempt: 2, job: nil)
                $0.phone(.uploadAccepted(job: $0.job, took: .zero, service: .zero))
                $0.open(attempt: 2)
                $0.event(0)
                $0.event(1)
                $0.ending(2)
            }.broken { $0.hasBackendView = false }
        }
        #expect(reused(cause: .jobIDReused) == [])
        #expect(reused(cause: .scanRefused) == [.jobCleaned])
    }

}
