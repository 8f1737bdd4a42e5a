import Histories
import Ledger
import Observations
import SimBase
import Talaria
import Testing

/// What the server's faults look like to the ledger: none of them is the phone's doing, and none hides what is.
@Suite struct ServerFaultHistoryTests {
    private func fired(_ history: inout History) {
        history.fault(.fired(fault: 0, .stream, attempt: 1))
    }

    private func lose(_ history: inout History, _ cause: LossCause) {
        history.phone(.streamLost(job: history.job, attempt: 1, cause, silence: nil))
    }

    /// The scan goes up again, and comes to its end.
    private func again(_ history: inout History, _ cause: WaitingCause) {
        history.phone(.queued(cause))
        history.job = "job-2"
        history.upload(attempt: 2)
        history.open(attempt: 2)
        history.event(0)
        history.ending(1)
    }

    // MARK: job-gone

    @Test func `a job that a fault took away is followed no longer, and its scan goes up again`() {
        let history = History {
            $0.streaming()
            self.lose(&$0, .reset)
            $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1))
            self.fired(&$0)
            $0.backend(.vanished(job: $0.job))
            $0.phone(.replied(.stream, attempt: 2, status: 410, took: .milliseconds(1)))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.jobGone)))
            self.again(&$0, .jobGone)
        }
        #expect(history.broken() == [])
        let totals = history.ledger().totals
        #expect(totals.jobs.accepted == 2 && totals.jobs.cleaned == 1 && totals.jobs.abandoned == 1)
        #expect(totals.jobs.abandonedByCause["job-gone"] == 1)
        var open = Ledger(shelf: History.shelf, settings: .embedded)
        for observation in history.observations { open.record(observation) }
        #expect(open.followed.jobs <= 1)
    }

    @Test func `a vanished job does not excuse the next one of the scan`() {
        let history = History {
            $0.streaming()
            $0.backend(.vanished(job: $0.job))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.jobGone)))
            $0.phone(.queued(.jobGone))
            $0.job = "job-2"
            $0.upload(attempt: 2)
            $0.open(attempt: 2)
            $0.terminal(0)
            $0.addBooks()
            $0.complete()
        }
        #expect(history.broken() == [.jobCleaned])
    }

    @Test func `a phone that drops a scan whose job vanished has lost it`() {
        let history = History {
            $0.streaming()
            self.fired(&$0)
            $0.backend(.vanished(job: $0.job))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.jobGone)))
        }
        #expect(history.broken() == [.scanCustody])
    }

    // MARK: Errors

    @Test func `an error event refuses or repeats a scan, and is no cause before it came`() {
        func failing(isTold: Bool, isRetryable: Bool = false, _ outcome: (inout History) -> Void) -> History {
            History {
                $0.streaming()
                self.fired(&$0)
                $0.backend(.failed(job: $0.job, code: "INVALID_FILE", retryable: isRetryable))
                $0.backend(.finished(job: $0.job, kind: .error, books: 0))
                $0.write(2, .error)
                if isTold {
                    $0.apply(2, .error)
                    $0.phone(.terminalApplied(job: $0.job, kind: .error, inline: .absent))
                }
                outcome(&$0)
            }
        }
        let refuse: (inout History) -> Void = {
            $0.refuse("INVALID_FILE")
            $0.clean()
        }
        let repeating: (inout History) -> Void = {
            $0.clean()
            self.again(&$0, .retryableError)
        }
        let refused = failing(isTold: true, refuse)
        let unheard = failing(isTold: false, refuse)
        let repeated = failing(isTold: true, isRetryable: true, repeating)
        #expect(refused.broken() == [])
        #expect(refused.ledger().totals.scans.refused == 1)
        #expect(unheard.broken() == [.scanRefusedForCause])
        #expect(repeated.broken() == [])
        #expect(repeated.ledger().totals.scans.completed == 1)
    }

    // MARK: two-terminals

    @Test func `a second terminal event breaks nothing unless the phone applies it`() {
        func ending(applies: Bool) -> History {
            History {
                $0.streaming()
                $0.terminal(2)
                self.fired(&$0)
                $0.write(3, .completed)
                if applies { $0.apply(3, .completed) }
                $0.addBooks()
                $0.complete()
                $0.clean()
            }
        }
        #expect(ending(applies: false).broken() == [])
        #expect(ending(applies: true).broken() == [.streamTerminalOnce])
    }

    // MARK: end-without-terminal

    @Test func `an end without a terminal event is no end of the job`() {
        func lost(_ rest: (inout History) -> Void) -> History {
            History {
                $0.streaming()
                self.fired(&$0)
                $0.backend(.finished(job: $0.job, kind: .completed, books: 3))
                self.lose(&$0, .endWithoutTerminal)
                rest(&$0)
            }
        }
        let resumed = lost {
            $0.open(attempt: 2, after: History.id(1), serverAfter: 1)
            $0.ending(2)
        }
        let cleanedEarly = lost {
            $0.clean()
            $0.onDisk(.interrupted)
        }
        #expect(resumed.broken() == [])
        #expect(cleanedEarly.broken() == [.jobNotCleanedEarly])
    }

    // MARK: unknown-event, bad-json

    @Test func `an id of an event that is no event of the job may be what a reconnect asks for`() {
        func reconnect(after id: String) -> History {
            History {
                $0.streaming()
                self.fired(&$0)
                $0.phone(
                    .eventIgnored(
                        job: $0.job, id: "1738419600500-telemetry", name: "telemetry", malformed: false))
                self.lose(&$0, .reset)
                $0.open(attempt: 2, after: id, serverAfter: 1)
                $0.event(2, replayed: true)
                $0.ending(3)
            }
        }
        #expect(reconnect(after: "1738419600500-telemetry").broken() == [])
        #expect(reconnect(after: History.id(1)).broken() == [])
        #expect(reconnect(after: History.id(0)).broken() == [.streamIDMonotone])
    }

    // MARK: ignore-last-event-id, forget-events

    @Test func `books that a stream brings again must not enter the library again`() {
        func startingOver(_ books: (inout History) -> Void) -> History {
            History {
                $0.streaming()
                self.lose(&$0, .reset)
                self.fired(&$0)
                $0.open(attempt: 2, after: History.id(1), serverAfter: nil)
                for position in 0...1 { $0.write(position, replayed: true) }
                $0.terminal(2)
                $0.addBooks()
                books(&$0)
                $0.complete()
                $0.clean()
            }
        }
        #expect(startingOver { _ in }.broken() == [])
        #expect(startingOver { $0.repeatBooks([1]) }.broken() == [])
        #expect(startingOver { $0.addBooks([1]) }.broken() == [.bookNeverDoubleAdded])
    }

    @Test func `what a server forgot is no gap of the phone's, what it wrote is one`() {
        func forgotten(isOffered: Bool, hasResults: Bool) -> History {
            History {
                $0.streaming()
                self.fired(&$0)
                self.lose(&$0, .reset)
                $0.open(attempt: 2, after: History.id(1), serverAfter: nil)
                if isOffered { $0.write(4, replayed: true) }
                $0.terminal(5, inline: .absent)
                if hasResults { $0.phone(.resultsDecoded(job: $0.job, books: 3, took: .milliseconds(4))) }
                $0.addBooks()
                $0.complete()
                $0.clean()
            }
        }
        #expect(forgotten(isOffered: false, hasResults: true).broken() == [])
        #expect(forgotten(isOffered: false, hasResults: false).broken() == [.streamNoGap])
        #expect(forgotten(isOffered: true, hasResults: true).broken() == [.streamNoGap])
    }
}
