import Observations
import SimBase
import Talaria

/// The second source of the times that begin when a capture was due, `scan.time` and `upload.time`: the scans of one phone that
/// have not ended. The phone measures them itself, from what its storage says (`App+DueTimes`).
struct DueTimesAccount: Sendable {
    private struct Scan: Sendable {
        let scan: ScanNumber
        let due: Instant
        var uploads = 0
    }

    private var scans: [Scan] = []

    /// Returns the time of the scan or of the upload that this observation ends. Nil where only the phone knows when it was
    /// due: a scan of an earlier run, and an upload that is not the first of its scan.
    mutating func record(_ payload: PhoneObservation, _ scan: ScanNumber, at now: Instant) -> Interval? {
        switch payload {
        case .captured(let due): self.scans.append(Scan(scan: scan, due: due))
        case .reinstalled: self.scans = []
        case .requestSent(.upload, _, _, _):
            if let index = self.index(of: scan) { self.scans[index].uploads += 1 }
        case .uploadAccepted, .lookupAnswered:
            guard let index = self.index(of: scan), self.scans[index].uploads == 1 else { return nil }
            self.scans[index].uploads += 1
            return now - self.scans[index].due
        case .bookRead, .enriched: return self.index(of: scan).map { now - self.scans[$0].due }
        case .completed: return self.index(of: scan).map { now - self.scans.remove(at: $0).due }
        case .refused, .canceled: self.scans.removeAll { $0.scan == scan }
        default: break
        }
        return nil
    }

    private func index(of scan: ScanNumber) -> Int? { self.scans.firstIndex { $0.scan == scan } }
}
