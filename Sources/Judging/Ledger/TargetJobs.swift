import Observations
import SimBase
import Talaria

/// Whose the jobs of a foreign backend are: of one phone and one photo each. It keeps digests of ids, of a million jobs at most.
struct TargetJobs: Sendable {
    private static let jobsMax = 1_000_000

    private var owners: [UInt64: UInt64] = [:]

    /// - Returns: How the job of a 202 is another photo's, too; nil if it is not.
    mutating func accepted(_ job: String, _ device: DeviceNumber, _ scan: ScanNumber) -> String? {
        let key = Digest.of(job)
        guard let owner = self.owners[key] else {
            if self.owners.count < Self.jobsMax {
                self.owners[key] = UInt64(device.raw) << 32 | UInt64(scan.raw)
            }
            return nil
        }
        let other = (device: owner >> 32, scan: UInt64(UInt32(truncatingIfNeeded: owner)))
        // The photo of a scan may get its job again: the upload was repeated.
        guard other.device != UInt64(device.raw) || other.scan != UInt64(scan.raw) else { return nil }
        return "the job \(job.bounded) was given to phone \(other.device) for its scan \(other.scan), too"
    }
}
