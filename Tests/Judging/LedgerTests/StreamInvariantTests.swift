import Histories
import Ledger
import Observations
import SimBase
import Talaria
import Testing

@Suite struct StreamInvariantTests {
    private func lose(_ history: inout History) {
        history.phone(.streamLost(job: history.job, attempt: 1, .reset, silence: nil))
    }

    @Test(arguments: [(2, 2), (2, 1), (1, 2), (5, 4)])
    func `every photo of a scan reaches the backend`(taken: Int, received: Int) {
        let history = History {
            $0.launch()
            $0.capture()
            if taken > 1 { $0.phone(.photosTaken(taken)) }
            $0.send(.upload, job: nil)
            $0.backend(.accepted(job: $0.job, books: 3))
            if received > 1 { $0.backend(.photosReceived(job: $0.job, count: received)) }
            $0.phone(.uploadAccepted(job: $0.job, took: .milliseconds(9), service: .milliseconds(8)))
            $0.open()
            $0.ending(0)
        }
        #expect(history.broken() == (taken == received ? [] : [.serverAgrees]))
    }

    // MARK: stream.id-monotone

    @Test func `a reconnect asks for an id that came`() {
        let history = History {
            $0.streaming()
            self.lose(&$0)
            $0.open(attempt: 2, after: "made-up", serverAfter: nil)
            $0.event(2, replayed: true)
            $0.ending(3)
        }
        #expect(history.broken() == [.streamIDMonotone])
    }

    @Test func `an empty id takes the index to resume from away`() {
        func reconnect(after id: String, server: Int) -> History {
            History {
                $0.streaming()
                $0.phone(.ping(id: "", gap: nil))
                self.lose(&$0)
                $0.open(attempt: 2, after: id, serverAfter: server)
                $0.event(2, replayed: true)
                $0.ending(3)
            }
        }
        // The ping may have been lost.
        #expect(reconnect(after: History.id(1), server: 1).broken() == [])
        #expect(reconnect(after: History.id(0), server: 0).broken() == [.streamIDMonotone])
    }

    @Test func `a new job starts without an id, also the second of a scan`() {
        func second(after id: String?) -> History {
            History {
                $0.streaming()
                $0.backend(.vanished(job: $0.job))
                $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
                $0.phone(.queued(.tokenExpired))
                $0.job = "job-2"
                $0.upload(attempt: 2)
                $0.open(attempt: 2, after: id)
                $0.ending(0)
            }
        }
        #expect(second(after: nil).broken() == [])
        #expect(second(after: History.id(1)).broken() == [.streamIDMonotone])
    }

    @Test func `applied events never go back in the server's log`() {
        let back = History {
            $0.streaming()
            $0.apply(0, replayed: true)
            $0.ending(2)
        }
        #expect(back.broken() == [.streamIDMonotone])
        #expect(back.complaint(.streamIDMonotone) == "applied position 0 after 1")
        let again = History {
            $0.streaming()
            $0.apply(1, replayed: true)
            $0.ending(2)
        }
        #expect(again.complaint(.streamIDMonotone) == "applied position 1 after 1")
    }

    @Test func `an event that the backend never wrote is a phantom`() {
        let history = History {
            $0.streaming()
            $0.apply(2)
        }
        #expect(
            history.complaint(.streamIDMonotone)
                == "applied \(History.id(2)), an event the backend never wrote")
    }

    @Test func `an event of another job is a phantom`() {
        let history = History {
            $0.streaming()
            $0.job = "job-of-someone-else"
            $0.apply(2)
        }
        #expect(history.broken() == [.scanCustody, .streamIDMonotone])
    }

    @Test func `an event seen in the instant in which it is written is no phantom`() {
        var history = History { $0.streaming() }
        let now = history.now
        history.apply(2)
        history.pass(.milliseconds(-1))
        history.write(2)
        #expect(history.now == now + .milliseconds(1))
        history.ending(3)
        #expect(history.broken() == [])
    }

    @Test func `what lies within the clocks' tolerance may have happened in either order`() {
        var history = History { $0.streaming() }
        history.apply(2)
        history.write(2)
        history.ending(3)
        #expect(history.broken() == [.streamIDMonotone, .streamNoGap])
        #expect(history.broken { $0.clockTolerance = .milliseconds(1) } == [])
    }

    @Test func `pings, ignored events and events without an id change nothing that a reconnect asks for`() {
        func reconnect(after id: String) -> History {
            History {
                $0.streaming()
                $0.phone(.ping(id: nil, gap: nil))
                $0.phone(.eventApplied(job: $0.job, id: nil, kind: .progress, latency: nil, replayed: false))
                $0.write(2)
                $0.phone(.eventIgnored(job: $0.job, id: History.id(2), name: "novelty", malformed: false))
                self.lose(&$0)
                $0.open(attempt: 2, after: id, serverAfter: id == History.id(2) ? 2 : 1)
                $0.event(3)
                $0.ending(4)
            }
        }
        #expect(reconnect(after: History.id(1)).broken() == [])
        #expect(reconnect(after: History.id(2)).broken() == [])
        #expect(reconnect(after: History.id(0)).broken() == [.streamIDMonotone])
    }

    @Test func `a ping's id may be what a reconnect asks for`() {
        func reconnect(after id: String) -> History {
            History {
                $0.streaming()
                $0.phone(.ping(id: "1738419600999-ping", gap: nil))
                self.lose(&$0)
                $0.open(attempt: 2, after: id, serverAfter: 1)
                $0.ending(2)
            }
        }
        #expect(reconnect(after: "1738419600999-ping").broken() == [])
        #expect(reconnect(after: "1738419600998-ping").broken() == [.streamIDMonotone])
    }

    @Test func `after a relaunch the stream goes on from what was durable, or from later`() {
        func relaunch(kept: String?, after id: String?, server: Int?) -> History {
            History {
                $0.streaming()
                $0.kill(keeping: $0.job, after: kept)
                $0.launch(restored: 1)
                $0.write(2)
                $0.open(attempt: 2, after: id, serverAfter: server)
                for position in (0...2) where position > server ?? -1 { $0.event(position, replayed: true) }
                $0.ending(3)
            }
        }
        let durable = History.id(0)
        #expect(relaunch(kept: durable, after: durable, server: 0).broken() == [])
        #expect(relaunch(kept: durable, after: History.id(1), server: 1).broken() == [])
        #expect(relaunch(kept: durable, after: nil, server: nil).broken() == [.streamIDMonotone])
        #expect(
            relaunch(kept: durable, after: nil, server: nil).complaint(.streamIDMonotone)
                == "after a relaunch, requested without Last-Event-ID; \(durable) was durable")
        #expect(relaunch(kept: History.id(1), after: durable, server: 0).broken() == [.streamIDMonotone])
        #expect(relaunch(kept: "", after: nil, server: nil).broken() == [])
        #expect(relaunch(kept: "ping-1", after: "ping-1", server: 1).broken() == [])
        #expect(relaunch(kept: "ping-1", after: durable, server: 0).broken() == [.streamIDMonotone])
        #expect(relaunch(kept: durable, after: History.id(2), server: 2).broken().contains(.streamIDMonotone))
    }

    @Test func `without the backend's log a relaunched stream goes on from exactly what was durable`() {
        func relaunch(after id: String?) -> [Invariant] {
            History {
                $0.streaming()
                $0.kill(keeping: $0.job, after: History.id(0))
                $0.launch(restored: 1)
                $0.open(attempt: 2, after: id)
                $0.ending(3)
            }.broken { $0.hasBackendView = false }
        }
        #expect(relaunch(after: History.id(0)) == [])
        #expect(relaunch(after: nil) == [.streamIDMonotone])
    }

    @Test func `a finished job says its end again to a phone that was started again`() {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.kill(keeping: $0.job, after: History.id(1))
            $0.launch(restored: 1)
            $0.open(attempt: 2, after: History.id(2), serverAfter: 2)
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            $0.clean()
        }
        #expect(history.broken() == [])
    }

    @Test func `without the backend's log, what a reconnect asks for is still judged`() {
        func reconnect(after id: String) -> History {
            History {
                $0.streaming()
                self.lose(&$0)
                $0.open(attempt: 2, after: id)
                $0.ending(2)
            }
        }
        #expect(reconnect(after: History.id(1)).broken { $0.hasBackendView = false } == [])
        #expect(reconnect(after: History.id(0)).broken { $0.hasBackendView = false } == [.streamIDMonotone])
    }

    // MARK: stream.no-gap

    @Test func `a gap is named by its positions`() {
        let gap = History {
            $0.streaming()
            $0.write(2)
            $0.event(3)
            $0.ending(4)
        }
        #expect(
            gap.complaint(.streamNoGap)
                == "events of the server's log skipped before \(History.id(3)): positions 2 to 2")
    }

    @Test func `the first event of a job may be any`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.write(0)
            $0.write(1)
            $0.open()
            $0.event(2, replayed: true)
            $0.ending(3)
        }
        #expect(history.broken() == [])
    }

    @Test func `a reconnect without an id that misses events leaves a gap`() {
        let history = History {
            $0.streaming()
            self.lose(&$0)
            $0.open(attempt: 2, after: nil, serverAfter: nil)
            $0.event(4, replayed: true)
            $0.ending(5)
        }
        #expect(history.broken() == [.streamIDMonotone, .streamNoGap])
    }

    @Test func `what the server could not replay is excused when the books come with the last event`() {
        let forgotten = History {
            $0.streaming()
            self.lose(&$0)
            // The buffer is gone: the server goes on with what it has left.
            $0.open(attempt: 2, after: History.id(1), serverAfter: nil)
            $0.ending(7)
        }
        #expect(forgotten.broken() == [])
    }

    @Test func `what a server says again to a phone that asked properly is not the phone's doing`() {
        let history = History {
            $0.streaming()
            self.lose(&$0)
            $0.open(attempt: 2, after: History.id(1), serverAfter: nil)
            $0.write(0, replayed: true)
            $0.write(1, replayed: true)
            $0.event(2)
            $0.ending(3)
        }
        #expect(history.broken() == [])
    }

    @Test func `fresh ids of a replay stand for the same positions`() {
        let history = History {
            $0.streaming()
            $0.write(2)
            self.lose(&$0)
            $0.open(attempt: 2, after: History.id(1), serverAfter: 1)
            $0.backend(
                .eventWritten(job: $0.job, id: "fresh-2", position: 2, kind: .progress, replayed: true))
            $0.phone(
                .eventApplied(job: $0.job, id: "fresh-2", kind: .progress, latency: nil, replayed: true))
            self.lose(&$0)
            $0.open(attempt: 3, after: "fresh-2", serverAfter: 2)
            $0.ending(3)
        }
        #expect(history.broken() == [])
    }

    @Test func `events that share an id are told apart by their order`() {
        let history = History {
            $0.streaming()
            for position in 2...4 {
                $0.backend(
                    .eventWritten(
                        job: $0.job, id: "same", position: position, kind: .progress, replayed: false))
            }
            for _ in 2...4 {
                $0.phone(
                    .eventApplied(job: $0.job, id: "same", kind: .progress, latency: nil, replayed: false))
            }
            $0.ending(5)
        }
        #expect(history.broken() == [])
    }

    // MARK: stream.terminal-once

    @Test func `a terminal event is applied once`() {
        let terminal = History {
            $0.streaming()
            $0.terminal(2)
            $0.phone(.terminalApplied(job: $0.job, kind: .error, inline: .absent))
            $0.addBooks()
            $0.complete()
            $0.clean()
        }
        #expect(terminal.broken() == [.streamTerminalOnce])
    }
}
