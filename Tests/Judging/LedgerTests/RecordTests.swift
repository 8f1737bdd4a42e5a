import Histories
import Ledger
import SimBase
import Talaria
import Testing

/// What a kill leaves in the storage is at most one write behind what the process knew (decision 0116).
@Suite struct RecordTests {
    /// A scan whose upload was accepted some time before a kill that leaves this job in its record.
    private func accepted(
        _ kept: String?, after time: Interval, _ between: (inout History) -> Void = { _ in }
    ) -> [Invariant] {
        History {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.pass(time - .milliseconds(2))
            between(&$0)
            $0.kill(keeping: kept)
            $0.launch(restored: 1)
            $0.onDisk(.interrupted)
            $0.backend(.expired(job: $0.job))
        }.broken()
    }

    @Test func `the job of an upload is in the record a second after it was accepted`() {
        #expect(self.accepted("job-1", after: .seconds(9)) == [])
        #expect(self.accepted(nil, after: .seconds(1)) == [])
        #expect(self.accepted(nil, after: .milliseconds(1_001)) == [.scanCustody])
        #expect(self.accepted(nil, after: .seconds(9)) { $0.phone(.storageFilled) } == [])
    }

    @Test func `a job that was given up need not be in it`() {
        let gone = self.accepted(nil, after: .seconds(9)) {
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.jobGone)))
            $0.phone(.queued(.jobGone))
        }
        #expect(!gone.contains(.scanCustody))
        let left = self.accepted(nil, after: .seconds(9)) {
            $0.phone(.suspended)
            $0.phone(.queued(.suspended))
            $0.clean()
        }
        #expect(left == [])
    }

    /// A completed scan that a kill finds undecided in the storage.
    private func undecided(after time: Interval, _ between: (inout History) -> Void = { _ in }) -> [Invariant]
    {
        History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            $0.send(.cleanup, job: $0.job)
            $0.pass(time - .milliseconds(3))
            between(&$0)
            $0.kill(keeping: $0.job, after: History.id(1))
            $0.launch(restored: 1)
            $0.complete()
            $0.clean()
        }.broken()
    }

    @Test func `that a scan is decided is in the record`() {
        #expect(self.undecided(after: .seconds(1)) == [])
        #expect(self.undecided(after: .milliseconds(1_001)) == [.scanCustody])
        #expect(self.undecided(after: .seconds(9)) { $0.phone(.storageFilled) } == [])
    }

    @Test func `an undecided record does not resume after the terminal event`() {
        func broken(keeping id: String, decided: Bool) -> [Invariant] {
            History {
                $0.streaming()
                $0.terminal(2)
                $0.addBooks()
                if decided { $0.complete() }
                $0.kill(keeping: $0.job, after: id, decided: decided)
                $0.launch(restored: decided ? 0 : 1)
                if !decided {
                    $0.open(attempt: 2, after: id, serverAfter: nil)
                    $0.event(2, .completed, replayed: true)
                    $0.phone(.terminalApplied(job: $0.job, kind: .completed, inline: .books))
                    $0.complete()
                }
                $0.clean()
            }.broken()
        }
        #expect(broken(keeping: History.id(1), decided: false) == [])
        #expect(broken(keeping: History.id(2), decided: true) == [])
        #expect(broken(keeping: History.id(2), decided: false).contains(.streamIDMonotone))
    }

    @Test func `a scan that waits after a 429 has a record`() {
        func broken(restored: Int) -> [Invariant] {
            History {
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
                $0.uploadProblem(429, retryable: true, retryAfter: .seconds(60))
                $0.phone(.rateLimited(.upload, retryAfter: .seconds(60)))
                $0.phone(.queued(.rateLimited))
                $0.phone(.killed)
                if restored > 0 { $0.phone(.recordKept(job: nil, lastEventID: nil, decided: false)) }
                $0.launch(restored: restored)
                $0.onDisk(.rateLimited)
            }.broken()
        }
        #expect(broken(restored: 1) == [])
        #expect(broken(restored: 0) == [.scanCustody])
    }

    // MARK: Once

    /// A server that does not heed Last-Event-ID; what it says again has these ids.
    private func again(
        ids: (Int) -> String, _ between: (inout History) -> Void = { _ in }, changed: Bool = false
    ) -> [Invariant] {
        History {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            between(&$0)
            if changed { $0.fault(.fired(fault: 0, .stream, attempt: 2)) }
            $0.open(attempt: 2, after: History.id(1), serverAfter: nil)
            for position in 0...1 {
                let id = ids(position)
                $0.backend(
                    .eventWritten(
                        job: $0.job, id: id, position: position, kind: .progress, replayed: true))
                $0.phone(
                    .eventApplied(job: $0.job, id: id, kind: .progress, latency: nil, replayed: true))
            }
            $0.ending(2)
        }.broken { if changed { $0.faultsThatChange = [0] } }
    }

    @Test func `an event is applied once, whatever the server says again`() {
        #expect(self.again(ids: History.id) == [.streamIDMonotone])
        // It cannot be known with a new id.
        #expect(self.again(ids: { "fresh-\($0)" }) == [])
        // With other data neither can the phone.
        #expect(self.again(ids: History.id, changed: true) == [])
    }

    @Test func `a job that was laid aside is taken up with what its record says`() {
        #expect(self.again(ids: History.id, { $0.phone(.queued(.unexpectedStatus)) }) == [])
    }
}
