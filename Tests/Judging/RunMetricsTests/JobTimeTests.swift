import Histories
import Metrics
import Observations
import RunMetrics
import SimBase
import Talaria
import Testing

/// The time of jobs, by what the phone learns of them.
@Suite struct JobTimeTests {
    private func measured(_ script: (inout History) -> Void) -> Measurements {
        var tally = MetricsCollector(fleet: .ungrouped, faultIDs: [], hasBackendView: true)
        for observation in History(script).observations { tally.record(observation) }
        tally.finish()
        return tally.measured
    }

    @Test func `a job ends once, with its terminal event or the status that says so`() {
        func jobs(_ rest: (inout History) -> Void) -> [Int64] {
            let table = self.measured {
                $0.launch()
                $0.capture()
                $0.upload()
                rest(&$0)
            }.table
            guard case .measured(let jobs) = table.histogram(.jobTime, of: .fleet), !jobs.isEmpty else {
                return []
            }
            return [jobs.total, (jobs.minimum ?? -1) / 1_000_000, (jobs.maximum ?? -1) / 1_000_000]
        }
        for kind in [EventKind.completed, .error] {
            #expect(
                jobs { $0.phone(.terminalApplied(job: $0.job, kind: kind, inline: .absent)) } == [1, 1, 1])
        }
        for status in [JobStatus.completed, .failed, .canceled] {
            let polled = jobs {
                $0.phone(.requestSent(.status, attempt: 1, job: $0.job, lastEventID: nil))
                $0.phone(.statusDecoded(job: $0.job, status: .processing, took: .milliseconds(1)))
                $0.phone(.statusDecoded(job: $0.job, status: status, took: .milliseconds(1)))
                $0.phone(.statusDecoded(job: $0.job, status: status, took: .milliseconds(1)))
            }
            #expect(polled == [1, 3, 3])
        }
        let killed = jobs {
            $0.kill(keeping: $0.job)
            $0.pass(.seconds(60))
            $0.launch(restored: 1)
            $0.open(attempt: 2)
            $0.phone(.terminalApplied(job: $0.job, kind: .completed, inline: .books))
        }
        #expect(killed == [1, 60_007, 60_007], "from the 202 on, over all processes")
        #expect(
            jobs {
                $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
                $0.phone(.terminalApplied(job: $0.job, kind: .completed, inline: .books))
            } == [])
    }

    @Test func `a job is open from its 202 until the phone learns of its end, or has no job any more`() {
        func running(_ rest: (inout History) -> Void) -> [Int64]? {
            let table = self.measured {
                $0.streaming()
                rest(&$0)
            }.table
            let unfinished = table.unfinished(.jobTime, of: .fleet)
            return unfinished.isEmpty ? nil : [unfinished.count, unfinished.oldest.wholeMilliseconds]
        }
        let open = running {
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.pass(.seconds(4))
            $0.send(.status, job: $0.job)
        }
        #expect(open?.first == 1 && open.map { $0[1] >= 4_000 } == true)
        #expect(running { $0.kill(keeping: $0.job) }?.first == 1)
        #expect(running { $0.kill(keeping: nil) } == nil)
        #expect(running { $0.terminal(2) } == nil)
        #expect(running { $0.phone(.statusDecoded(job: $0.job, status: .failed, took: .zero)) } == nil)
        #expect(running { $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired))) } == nil)
        let suspended = running {
            $0.phone(.suspended)
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
        }
        #expect(suspended?.first == 1, "the end of the run gave it up")
    }
}
