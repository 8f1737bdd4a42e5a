import Observations
import SimBase

/// The second source of `job.first_event.time`: the jobs of one phone of which no event has come. `ScanOperations` in RunMetrics
/// makes the metric.
struct FirstEventAccount: Sendable {
    private struct Job: Sendable {
        let scan: ScanNumber
        let id: String
        let acceptedAt: Instant
    }

    private var jobs: [Job] = []

    /// Returns the time of the job whose first event this observation is.
    mutating func record(_ payload: PhoneObservation, _ scan: ScanNumber, at now: Instant) -> Interval? {
        switch payload {
        case .uploadAccepted(let job, _, _):
            self.jobs.removeAll { $0.scan == scan }
            self.jobs.append(Job(scan: scan, id: job, acceptedAt: now))
        case .firstEvent(let id, _):
            guard let index = self.jobs.firstIndex(where: { $0.scan == scan && $0.id == id }) else {
                return nil
            }
            return now - self.jobs.remove(at: index).acceptedAt
        case .completed, .refused, .canceled: self.jobs.removeAll { $0.scan == scan }
        case .jobAbandoned(let id, _): self.jobs.removeAll { $0.scan == scan && $0.id == id }
        case .recordKept(let id, _, _): self.jobs.removeAll { $0.scan == scan && $0.id != id }
        case .reinstalled: self.jobs = []
        default: break
        }
        return nil
    }
}
