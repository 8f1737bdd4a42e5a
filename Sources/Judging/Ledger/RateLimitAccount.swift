import Observations
import SimBase
import Talaria

/// The times until which a phone must not use a resource. Uploads share one resource; any other request has
/// one for each job. Cleared with the process, whose monotonic clock starts again.
///
/// Where the answer is seen at its sender, its wait counts as the sender means it, from the time at which the
/// phone has the answer. The phone's own report is used only for an answer that was not observed elsewhere,
/// or that names no wait.
struct RateLimitAccount: Sendable {
    /// A 429 that was sent. Whether it arrives, only the phone knows.
    private struct Sent: Sendable {
        var operation: Operation
        var scan: ScanNumber
        var attempt: UInt32
        var job: String?
        var wait: Interval?
    }

    private struct Limit: Sendable {
        var operation: Operation
        var owner: ScanNumber
        /// Nil for an upload, and if only the phone has reported it.
        var job: String?
        var until: Instant
    }

    /// A 429 whose head has come. What its body says may still be on its way.
    private struct Arriving: Sendable {
        var operation: Operation
        var scan: ScanNumber
        var attempt: UInt32
        var limit: Limit
    }

    /// More answers are never on their way to one phone.
    private static let sentMax = 64

    private var sent: [Sent] = []
    private var arriving: [Arriving] = []
    private var limits: [Limit] = []
    /// The last 429 that was read was seen at its sender: the phone's word adds nothing to it.
    private var known: (operation: Operation, scan: ScanNumber)?

    private static func owner(_ operation: Operation, _ scan: ScanNumber) -> ScanNumber {
        operation == .upload ? .none : scan
    }

    // MARK: The sender's side

    mutating func receivedRetryAfter(
        _ operation: Operation, scan: ScanNumber, attempt: UInt32, job: String?, wait: Interval?
    ) {
        guard let wait else { return }  // Then the phone says how long it will wait.
        self.sent.append(
            Sent(operation: operation, scan: scan, attempt: attempt, job: job, wait: wait), max: Self.sentMax)
    }

    /// A fault cut the exchange: what the answer says did not arrive whole.
    mutating func cut(_ operation: Operation, scan: ScanNumber, attempt: UInt32) {
        self.sent.removeAll { $0.operation == operation && $0.scan == scan && $0.attempt == attempt }
        self.arriving.removeAll { $0.operation == operation && $0.scan == scan && $0.attempt == attempt }
    }

    // MARK: The phone's side

    /// The head of a 429 has come.
    mutating func delivered(_ operation: Operation, scan: ScanNumber, attempt: UInt32, at: Instant) {
        self.known = nil
        guard
            let index = self.sent.firstIndex(where: {
                $0.operation == operation && $0.scan == scan && $0.attempt == attempt
            })
        else { return }
        let told = self.sent.remove(at: index)
        self.sent.removeAll { $0.operation == operation && $0.scan == scan && $0.attempt < attempt }
        self.arriving.append(
            Arriving(
                operation: operation, scan: scan, attempt: attempt,
                limit: Limit(
                    operation: operation, owner: Self.owner(operation, scan), job: told.job,
                    until: Self.moment(told.wait ?? .zero, after: at))))
    }

    /// An answer has been read when its phone does something more for its scan. What a phone gives up, or loses its path
    /// to, was never read.
    mutating func record(_ payload: PhoneObservation, scan: ScanNumber) {
        guard !self.arriving.isEmpty else { return }
        switch payload {
        case .suspended, .pathLost, .pathChanged:
            self.arriving.removeAll()
        case .requestFailed(let operation, let attempt, _, _):
            self.arriving.removeAll {
                $0.operation == operation && $0.scan == scan && $0.attempt == attempt
            }
        default:
            while let index = self.arriving.firstIndex(where: { $0.scan == scan }) {
                let answer = self.arriving.remove(at: index)
                self.known = (answer.operation, scan)
                self.add(answer.limit)
            }
        }
    }

    /// Records a limit as the phone reported it.
    mutating func limited(_ operation: Operation, scan: ScanNumber, wait: Interval, at: Instant) {
        if let known = self.known, known == (operation, scan) { return }
        self.limits.removeAll { $0.until <= at }
        self.add(
            Limit(
                operation: operation, owner: Self.owner(operation, scan), job: nil,
                until: Self.moment(wait, after: at)))
    }

    /// A second 429 can be for a request that was on its way: the first one's word still holds.
    private mutating func add(_ limit: Limit) {
        guard
            let index = self.limits.firstIndex(where: {
                $0.operation == limit.operation && $0.owner == limit.owner && $0.job == limit.job
            })
        else {
            self.limits.append(limit)
            return
        }
        self.limits[index].until = max(self.limits[index].until, limit.until)
    }

    private static func moment(_ wait: Interval, after at: Instant) -> Instant {
        let (sum, overflow) = at.nanoseconds.addingReportingOverflow(max(0, wait.nanoseconds))
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }

    /// Returns by how much a request at this time is too early; nil if it is allowed.
    mutating func early(
        _ operation: Operation, scan: ScanNumber, job: String?, at: Instant
    ) -> Interval? {
        guard !self.limits.isEmpty else { return nil }
        self.limits.removeAll { $0.until <= at }
        let owner = Self.owner(operation, scan)
        var until: Instant?
        for limit in self.limits where limit.operation == operation && limit.owner == owner {
            guard limit.job == nil || job == nil || limit.job == job else { continue }
            until = max(until ?? limit.until, limit.until)
        }
        guard let until else { return nil }
        let (early, overflow) = until.nanoseconds.subtractingReportingOverflow(at.nanoseconds)
        return Interval(nanoseconds: overflow ? .max : early)
    }
}
