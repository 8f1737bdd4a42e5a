import Observations
import SimBase
import Talaria

/// The circuit breaker, recounted from the ends of jobs (Docs/contract.md section 2.5): it must open and close with the jobs that
/// its rules name, and let no upload of v2 in while it is open.
struct CircuitAccount: Sendable {
    /// An upload whose request came while the circuit was open.
    private struct Upload: Hashable, Sendable {
        let device: DeviceNumber
        let scan: ScanNumber
        let attempt: UInt32
    }

    private static let uploadsMax = 64

    private let rules: SimulatedServer.Breaker
    private var failures = 0
    private var successes = 0
    /// The end of the last cooldown; nil while the circuit is closed.
    private var opensAgainAt: Instant?
    /// The change that the end of a job has led to, and that was not reported yet.
    private var due: (job: String, opens: Bool)?
    /// The job that is failing, with the code of a provider.
    private var failing: String?
    private var uploads: [Upload] = []

    init(_ rules: SimulatedServer.Breaker) { self.rules = rules }

    func isOpen(at moment: Instant) -> Bool { self.opensAgainAt.map { moment < $0 } ?? false }

    /// Returns what is wrong with an observation of the backend; nil if nothing is.
    mutating func record(
        _ payload: BackendObservation, device: DeviceNumber, scan: ScanNumber, at: Instant
    ) -> String? {
        switch payload {
        case .circuitOpened(let job): return self.changed(job, opens: true)
        case .circuitClosed(let job): return self.changed(job, opens: false)
        default: break
        }
        if let due = self.due {
            self.due = nil
            return due.opens
                ? "the circuit did not open with the last of \(self.rules.failures) failures of a provider"
                : "the circuit did not close with the last of \(self.rules.successes) successes"
        }
        switch payload {
        case .failed(let job, let code, _):
            self.failing = ProviderFailure.codes.contains(code) ? job : nil
        case .finished(let job, let kind, _) where APIVersion(jobID: job).hasCircuit:
            let hasFailed = self.failing == job
            self.failing = nil
            if kind == .completed { self.ended(job, well: true, at: at) }
            if kind != .completed, hasFailed { self.ended(job, well: false, at: at) }
        case .requested(.upload, let attempt, _) where self.isOpen(at: at):
            self.uploads.append(Upload(device: device, scan: scan, attempt: attempt), max: Self.uploadsMax)
        case .answered(.upload, let attempt, _):
            self.uploads.removeAll { $0 == Upload(device: device, scan: scan, attempt: attempt) }
        case .accepted(let job, _) where APIVersion(jobID: job).hasCircuit:
            guard self.uploads.contains(where: { $0.device == device && $0.scan == scan }) else { return nil }
            return "an upload that came while the circuit was open was accepted"
        default: break
        }
        return nil
    }

    private mutating func ended(_ job: String, well: Bool, at: Instant) {
        guard let opensAgainAt = self.opensAgainAt else {
            self.failures = well ? 0 : self.failures + 1
            if self.failures == self.rules.failures { self.open(job, at: at) }
            return
        }
        guard opensAgainAt <= at else { return }
        guard well else { return self.open(job, at: at) }
        self.successes += 1
        guard self.successes == self.rules.successes else { return }
        self.opensAgainAt = nil
        self.failures = 0
        self.due = (job, false)
    }

    private mutating func open(_ job: String, at: Instant) {
        self.opensAgainAt = at + self.rules.cooldown
        self.successes = 0
        self.due = (job, true)
    }

    private mutating func changed(_ job: String, opens: Bool) -> String? {
        defer { self.due = nil }
        if let due = self.due, due == (job, opens) { return nil }
        return "the circuit \(opens ? "opened" : "closed"), but no job of it did that"
    }
}
