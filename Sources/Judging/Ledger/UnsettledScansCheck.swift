import Observations
import SimBase
import Talaria

/// How often the client of the design tries again by itself before a scan waits for the app to be opened (Docs/design.md
/// section 6).
package struct RetryLimits: Hashable, Sendable {
    /// `error` events of one scan that allow a retry; after the next one it waits for a path or a launch.
    package var errors = 1
    /// Uploads of one scan because its token has expired or its job is gone.
    package var uploads = 3
    /// Answers to the stream of one job by a 4xx that the contract does not name for a stream.
    package var refusals = 3
    /// Results of one job that could not be used.
    package var badResults = 3
    /// Requests for the status of one job, and those of them that failed.
    package var statusRequests = 75
    package var statusFailures = 5

    package init() {}
}

/// Judges scan.settles: after all faults have ended, no scan waits for its app to be opened, unless the answers of the server
/// have used up its retries.
struct UnsettledScansCheck: Sendable {
    /// What lets a scan go on whose retries are used up.
    fileprivate enum Parking: Hashable, Sendable {
        case untilPath, untilLaunch
    }

    fileprivate struct Scan: Sendable {
        let number: ScanNumber
        var errors = 0
        var jobEnds = 0
        var refusals = 0
        var badResults = 0
        var statusRequests = 0
        var statusFailures = 0
        /// Nil while it has retries left.
        var parking: Parking?

        init(_ number: ScanNumber) { self.number = number }

        /// What is counted for a job, or for a process, starts again from zero.
        mutating func startOver() {
            (self.refusals, self.badResults, self.statusRequests, self.statusFailures) = (0, 0, 0, 0)
        }
    }

    private let limits: RetryLimits
    /// The scans that are neither completed nor refused.
    private var scans: [Scan] = []

    init(_ limits: RetryLimits) { self.limits = limits }

    mutating func record(_ payload: PhoneObservation, scan: ScanNumber) {
        switch payload {
        case .launched, .resumed:
            for index in self.scans.indices {
                self.scans[index].startOver()
                self.scans[index].parking = nil
            }
        case .pathReturned, .pathChanged:
            for index in self.scans.indices where self.scans[index].parking == .untilPath {
                self.scans[index].parking = nil
            }
        case .reinstalled: self.scans = []
        case .captured: self.scans.append(Scan(scan))
        case .completed, .refused, .canceled: self.scans.removeAll { $0.number == scan }
        default:
            guard let index = self.scans.firstIndex(where: { $0.number == scan }) else { return }
            self.scans[index].record(payload, self.limits)
        }
    }

    /// Whether the answers to a scan have used up its retries.
    func isExcused(_ scan: ScanNumber) -> Bool {
        self.scans.contains { $0.number == scan && $0.parking != nil }
    }

    /// The number of scans that it follows.
    var remembered: Int { self.scans.count }
}

extension UnsettledScansCheck.Scan {
    fileprivate mutating func record(_ payload: PhoneObservation, _ limits: RetryLimits) {
        switch payload {
        case .uploadAccepted: self.startOver()
        case .requestSent(.status, _, _, _):
            self.statusRequests += 1
            self.parking = self.statusRequests >= limits.statusRequests ? .untilLaunch : nil
        case .requestSent(.upload, _, _, _), .requestSent(.stream, _, _, _), .requestSent(.results, _, _, _):
            self.parking = nil
        case .terminalApplied(_, kind: .error, _): self.failed(limits)
        case .statusDecoded(_, let status, _):
            if status.isTerminal, status != .completed { self.failed(limits) }
        case .replied(let operation, _, let status, _): self.replied(operation, status, limits)
        case .badAnswer(.results, _, _):
            self.badResults += 1
            if self.badResults >= limits.badResults { self.parking = .untilLaunch }
        case .badAnswer(.status, _, _), .requestFailed(.status, _, _, _): self.statusFailed(limits)
        default: break
        }
    }

    private mutating func replied(_ operation: Operation, _ status: Int, _ limits: RetryLimits) {
        guard operation == .stream || operation == .results || operation == .status else { return }
        switch status {
        case 401, 404, 410:
            self.jobEnds += 1
            if self.jobEnds > limits.uploads { self.parking = .untilLaunch }
        case 408, 429, 500...599:
            if operation == .status, status != 429 { self.statusFailed(limits) }
        case 400...499 where operation == .stream:
            self.refusals += 1
            if self.refusals >= limits.refusals { self.parking = .untilLaunch }
        default: break
        }
    }

    private mutating func failed(_ limits: RetryLimits) {
        self.errors += 1
        if self.errors > limits.errors { self.parking = .untilPath }
    }

    private mutating func statusFailed(_ limits: RetryLimits) {
        self.statusFailures += 1
        if self.statusFailures >= limits.statusFailures { self.parking = .untilLaunch }
    }
}
