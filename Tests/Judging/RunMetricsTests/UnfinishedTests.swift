import Histories
import Ledger
import Metrics
import Observations
import RunMetrics
import SimBase
import Talaria
import Testing

/// Operations that are open at the end of a run.
@Suite struct UnfinishedTests {
    /// Those of the metrics that have any: how many, and the age of the oldest in milliseconds.
    private func unfinished(_ script: (inout History) -> Void) -> [LatencyMetric: [Int64]] {
        var tally = MetricsCollector(fleet: .ungrouped, faultIDs: [], hasBackendView: true)
        for observation in History(script).observations { tally.record(observation) }
        tally.finish()
        var found: [LatencyMetric: [Int64]] = [:]
        for metric in LatencyMetric.allCases {
            let unfinished = tally.measured.table.unfinished(metric, of: .fleet)
            guard !unfinished.isEmpty else { continue }
            found[metric] = [unfinished.count, unfinished.oldest.wholeMilliseconds]
        }
        return found
    }

    @Test func `a scan is unfinished from the moment when its capture was due`() {
        let found = self.unfinished {
            $0.launch()
            $0.phone(.captured(scheduled: .zero))
            $0.pass(.seconds(3))
            $0.phone(.queued(.offline))
        }
        #expect(found == [.scanTime: [1, 3_002], .firstBookTime: [1, 3_002], .uploadTime: [1, 3_002]])
    }

    @Test func `a scan that is completed or refused leaves nothing open`() {
        #expect(
            self.unfinished {
                $0.launch()
                $0.wholeScan()
            } == [:])
        #expect(
            self.unfinished {
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
                $0.refuse("BAD_IMAGE", answer: 400)
            } == [:])
    }

    @Test func `a cancel is unfinished until its job is deleted`() {
        func canceled(_ rest: (inout History) -> Void) -> [Int64]? {
            self.unfinished {
                $0.streaming()
                $0.phone(.cancelRequested)
                rest(&$0)
            }[.cancelTime]
        }
        let open = canceled {
            $0.phone(.canceled(job: $0.job))
            $0.send(.cancel, job: $0.job)
            $0.pass(.seconds(2))
            $0.phone(.suspended)
        }
        #expect(open == [1, 2_003])
        #expect(canceled { $0.phone(.canceled(job: nil)) } == nil)
        let ended: [PhoneObservation] = [
            .cancelAnswered(job: "job-1", took: .seconds(1)),
            .jobAbandoned(job: "job-1", cause: .waiting(.tokenExpired)),
        ]
        for end in ended {
            #expect(
                canceled {
                    $0.phone(.canceled(job: $0.job))
                    $0.phone(end)
                } == nil)
        }
    }

    @Test func `a request that has no answer is open from the first attempt of its operation`() {
        let found = self.unfinished {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .zero))
            $0.pass(.seconds(2))
            $0.send(.upload, attempt: 2, job: nil)
        }
        #expect(found[.uploadServiceTime] == [1, 2_002])
    }

    @Test func `a stream without an event and a loss without a head are open`() {
        let silent = self.unfinished {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.open()
            $0.pass(.seconds(1))
            $0.phone(.ping(id: nil, gap: nil))
        }
        #expect(
            silent == [
                .scanTime: [1, 1_009], .firstBookTime: [1, 1_009], .sseFirstEventTime: [1, 1_001],
                .jobFirstEventTime: [1, 1_004],
                .jobTime: [1, 1_004],
            ])
        let lost = self.unfinished {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.pass(.seconds(4))
            $0.phone(.pathLost)
        }
        #expect(lost[.sseReconnectTime] == [1, 4_001])
    }

    @Test func `a job without an event is open from its 202, over all streams, unless the client polls it`() {
        func waiting(_ rest: (inout History) -> Void) -> [Int64]? {
            self.unfinished {
                $0.launch()
                $0.capture()
                $0.upload()
                rest(&$0)
            }[.jobFirstEventTime]
        }
        let lost = waiting {
            $0.open()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.pass(.seconds(4))
            $0.open(attempt: 2)
        }
        #expect(lost?.first == 1 && lost.map { $0[1] >= 4_000 } == true)
        #expect(
            waiting {
                $0.open()
                $0.phone(.firstEvent(job: $0.job, took: .milliseconds(1)))
            } == nil)
        #expect(waiting { $0.send(.status, job: $0.job) } == nil)
        #expect(waiting { $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired))) } == nil)
    }

    private func suspended(_ after: [PhoneObservation]) -> [LatencyMetric: [Int64]] {
        self.unfinished {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .offline, silence: nil))
            $0.pass(.seconds(1))
            $0.phone(.suspended)
            $0.phone(.reconnectGivenUp(job: $0.job, .offline, attempts: 1))
            for payload in after { $0.phone(payload) }
        }
    }

    @Test func `what the end of the run cuts short is open, with its age`() {
        #expect(self.suspended([])[.sseReconnectTime] == [1, 1_002])
    }

    @Test func `what the background cut short is over when the app returns, and the scan is not`() {
        for after: PhoneObservation in [.resumed, .launched(restored: 1)] {
            let found = self.suspended([after])
            #expect(found[.sseReconnectTime] == nil)
            #expect(found[.scanTime]?.first == 1)
        }
    }

    @Test func `a scan that a kill or a reinstallation discarded is not open`() {
        #expect(
            self.unfinished {
                $0.launch()
                $0.phone(.captured(scheduled: .zero))
                $0.phone(.killed)
            } == [:])
        #expect(
            self.unfinished {
                $0.streaming()
                $0.phone(.reinstalled(discarded: 1))
            } == [:])
    }

    @Test func `a scan with a durable record outlives a kill`() {
        let found = self.unfinished {
            $0.streaming()
            $0.phone(.killed)
            $0.launch(restored: 1)
            $0.pass(.seconds(1))
            $0.phone(.pathLost)
        }
        #expect(found[.scanTime]?.first == 1)
        #expect(found[.sseReconnectTime] == [1, 1_001])
    }
}
