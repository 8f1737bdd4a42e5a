import Observations
package import SimBase
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

    /// The jobs with the smallest digests: the same jobs in every shard of a run, so that two shards that were given one job both
    /// have it here.
    var sample: [TargetJobOwner] {
        self.owners.sorted { $0.key < $1.key }.prefix(TargetJobOwner.sampleMax).map { digest, owner in
            TargetJobOwner(
                digest: digest, device: DeviceNumber(UInt32(owner >> 32)),
                scan: ScanNumber(UInt32(truncatingIfNeeded: owner)))
        }
    }
}

/// Whose a job of a target is.
package struct TargetJobOwner: Hashable, Sendable {
    /// Those that a shard hands over.
    package static let sampleMax = 16_384

    /// The digest of the job's id.
    package let digest: UInt64
    package let device: DeviceNumber
    package let scan: ScanNumber

    package init(digest: UInt64, device: DeviceNumber, scan: ScanNumber) {
        self.digest = digest
        self.device = device
        self.scan = scan
    }

    /// The violations of the jobs that were given to phones of several lists.
    package static func shared(_ lists: [[TargetJobOwner]], at end: Instant) -> [Violation] {
        var owners: [UInt64: TargetJobOwner] = [:]
        return lists.joined().compactMap { owner in
            guard let first = owners[owner.digest] else {
                owners[owner.digest] = owner
                return nil
            }
            return Violation(
                invariant: .targetJobUnique, device: owner.device, scan: owner.scan, at: end,
                text: "its job was given to phone \(first.device.raw) for its scan \(first.scan.raw), too",
                isExpected: false, cause: .target)
        }
    }
}
