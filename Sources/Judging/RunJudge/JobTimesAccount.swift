import Metrics
import Observations
import SimBase
import Talaria

/// The second source of `job.first_event.time` and `job.time`: the jobs of one phone that have not ended. `ScanOperations` in
/// RunMetrics makes the metrics.
struct JobTimesAccount: Sendable {
    private struct Job: Sendable {
        let scan: ScanNumber
        let id: String
        let acceptedAt: Instant
        var hasEvent = false
    }

    private var jobs: [Job] = []

    /// Returns the time of the job whose first event or whose end this observation is.
    mutating func record(
        _ payload: PhoneObservation, _ scan: ScanNumber, at now: Instant
    ) -> (metric: LatencyMetric, time: Interval)? {
        switch payload {
        case .uploadAccepted(let job, _, _):
            self.jobs.removeAll { $0.scan == scan }
            self.jobs.append(Job(scan: scan, id: job, acceptedAt: now))
        case .firstEvent(let id, _):
            guard let index = self.index(of: id, scan), !self.jobs[index].hasEvent else { return nil }
            self.jobs[index].hasEvent = true
            return (.jobFirstEventTime, now - self.jobs[index].acceptedAt)
        case .terminalApplied(let id, _, _): return self.ended(id, scan, at: now)
        case .statusDecoded(let id, let status, _) where status.isTerminal:
            return self.ended(id, scan, at: now)
        case .completed, .refused, .canceled: self.jobs.removeAll { $0.scan == scan }
        case .jobAbandoned(let id, _): self.jobs.removeAll { $0.scan == scan && $0.id == id }
        case .recordKept(let id, _, _): self.jobs.removeAll { $0.scan == scan && $0.id != id }
        case .reinstalled: self.jobs = []
        default: break
        }
        return nil
    }

    private func index(of id: String, _ scan: ScanNumber) -> Int? {
        self.jobs.firstIndex { $0.scan == scan && $0.id == id }
    }

    private mutating func ended(
        _ id: String, _ scan: ScanNumber, at now: Instant
    ) -> (metric: LatencyMetric, time: Interval)? {
        guard let index = self.index(of: id, scan) else { return nil }
        return (.jobTime, now - self.jobs.remove(at: index).acceptedAt)
    }
}
