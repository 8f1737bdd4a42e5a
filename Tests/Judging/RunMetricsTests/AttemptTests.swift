import Histories
import Ledger
import Metrics
import Observations
import RunMetrics
import SimBase
import Talaria
import Testing

/// Attempts: each that ends counts once, and fails or not by what it ended in.
@Suite struct AttemptTests {
    private func rate(_ metric: RateMetric, _ script: (inout History) -> Void) -> [Int64] {
        var tally = MetricsCollector(fleet: .ungrouped, faultIDs: [], hasBackendView: true)
        for observation in History(script).observations { tally.record(observation) }
        tally.finish()
        guard case .measured(let rate) = tally.measured.table.rate(metric, of: .fleet) else { return [] }
        return [rate.failed, rate.total]
    }

    private static let metrics: [(Talaria.Operation, RateMetric)] = [
        (.upload, .uploadAttemptsFailed), (.stream, .sseConnectAttemptsFailed),
        (.results, .resultsAttemptsFailed), (.cleanup, .cleanupAttemptsFailed),
    ]

    private func answered(_ operation: Talaria.Operation, status: Int) -> (inout History) -> Void {
        {
            $0.send(operation, job: operation == .upload ? nil : $0.job)
            $0.phone(.replied(operation, attempt: 1, status: status, took: .milliseconds(1)))
        }
    }

    @Test(arguments: [500, 502, 503, 401, 403, 422, 308])
    func `a refusal fails the attempt at once`(status: Int) {
        for (operation, metric) in Self.metrics {
            #expect(self.rate(metric, self.answered(operation, status: status)) == [1, 1], "\(operation)")
        }
    }

    @Test func `to be told to wait is no failure`() {
        for (operation, metric) in Self.metrics {
            #expect(self.rate(metric, self.answered(operation, status: 429)) == [0, 1], "\(operation)")
        }
    }

    @Test(arguments: [204, 404, 410]) func `a job that is gone is cleaned up`(status: Int) {
        #expect(self.rate(.cleanupAttemptsFailed, self.answered(.cleanup, status: status)) == [0, 1])
    }

    @Test func `a transport failure fails the attempt`() {
        for (operation, metric) in Self.metrics {
            let rate = self.rate(metric) {
                $0.send(operation, job: operation == .upload ? nil : $0.job)
                $0.phone(
                    .requestFailed(operation, attempt: 1, .connectRefused, took: .milliseconds(1)))
            }
            #expect(rate == [1, 1], "\(operation)")
        }
    }

    @Test func `an answer that cannot be read fails the attempt, and a refusal only once`() {
        let rate = self.rate(.uploadAttemptsFailed) {
            $0.send(.upload, job: nil)
            $0.phone(.replied(.upload, attempt: 1, status: 202, took: .milliseconds(1)))
            $0.phone(.badAnswer(.upload, attempt: 1, .undecodable))
            $0.send(.upload, attempt: 2, job: nil)
            $0.phone(.replied(.upload, attempt: 2, status: 500, took: .milliseconds(1)))
            $0.phone(.badAnswer(.upload, attempt: 2, .wrongContentType))
        }
        #expect(rate == [2, 2])
    }

    @Test func `attempts are counted although the operation goes on`() {
        let rate = self.rate(.uploadAttemptsFailed) {
            for attempt in UInt32(1)...3 {
                $0.send(.upload, attempt: attempt, job: nil)
                $0.phone(.replied(.upload, attempt: attempt, status: 503, took: .milliseconds(1)))
            }
            $0.upload(attempt: 4)
        }
        #expect(rate == [3, 4])
    }

    @Test func `every request for a stream is an attempt, and a loss behind its head is none`() {
        let rate = self.rate(.sseConnectAttemptsFailed) {
            $0.upload()
            $0.open()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.send(.stream, attempt: 2, job: $0.job)
            $0.phone(.requestFailed(.stream, attempt: 2, .connectRefused, took: .milliseconds(1)))
            $0.open(attempt: 3)
        }
        #expect(rate == [1, 3])
    }

    @Test func `what a kill or the end of the run cuts short is in no rate`() {
        for cut in [PhoneObservation.killed, .suspended] {
            let rate = self.rate(.uploadAttemptsFailed) {
                $0.send(.upload, job: nil)
                $0.phone(cut)
            }
            #expect(rate == [0, 0], "\(cut)")
        }
    }

    /// Of a phone that looks up a single book.
    private func lookUps(_ script: (inout History) -> Void) -> (attempts: [Int64], uploads: [Int64]) {
        var tally = MetricsCollector(fleet: PhoneGroups([("all", 1)]), faultIDs: [], hasBackendView: true)
        tally.journeys = [.bookEnrichment]
        for observation in History(script).observations { tally.record(observation) }
        tally.finish()
        func rate(_ metric: RateMetric) -> [Int64] {
            guard case .measured(let rate) = tally.measured.table.rate(metric, of: .fleet) else { return [] }
            return [rate.failed, rate.total]
        }
        return (rate(.uploadAttemptsFailed), rate(.uploadFailed))
    }

    @Test func `a book that no provider has is an answer, and another 404 is a failure`() {
        let unknown = self.lookUps {
            $0.send(.upload, job: nil)
            $0.phone(.replied(.upload, attempt: 1, status: 404, took: .milliseconds(1)))
            $0.phone(.lookupAnswered(found: false, repeated: false, took: .zero, service: .zero))
            $0.refuse("NOT_FOUND", answer: 404)
        }
        #expect(unknown.attempts == [0, 1] && unknown.uploads == [0, 1])
        let elsewhere = self.lookUps {
            $0.send(.upload, job: nil)
            $0.phone(.replied(.upload, attempt: 1, status: 404, took: .milliseconds(1)))
            $0.phone(.queued(.unexpectedStatus))
            $0.send(.upload, attempt: 2, job: nil)
            $0.phone(.replied(.upload, attempt: 2, status: 200, took: .milliseconds(1)))
            $0.phone(.lookupAnswered(found: true, repeated: true, took: .zero, service: .zero))
            $0.complete()
        }
        #expect(elsewhere.attempts == [1, 2] && elsewhere.uploads == [0, 1])
    }
}
