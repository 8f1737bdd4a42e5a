import SimBase
import Talaria

/// One unsettled scan, whoever has it in custody: the queue or a slot.
struct Scan: Sendable {
    /// The record in the durable store, including pending writes.
    var record: DurableScan
    var photo: PhotoState
    /// What was scanned instead of a photo, as long as it is prepared.
    var barcode: String?
    /// What was read on its spine, likewise.
    var reading: BookReading?
    /// The scheduled time of the capture: completion is measured from it.
    let scheduled: Instant
    /// Failed uploads in a row.
    var uploadBackoff: Backoff
    /// Whether it was taken up by a drain of the offline queue that uploads each scan once.
    var isDrained = false
    /// Whether it is uploaded by the other path of its journey.
    var usesOtherPath = false
    /// What the flag of a rollout chose at its last upload; nil without a rollout.
    var arm: StreamTransport?
    /// The time of its cancel or, in a later process, of the launch.
    var canceledAt: Instant?
    /// The drains that still have it before them, besides the one that works on it.
    var copies = 0

    init(record: DurableScan, scheduled: Instant) {
        self.record = record
        self.photo = .absent
        self.scheduled = scheduled
        self.uploadBackoff = Backoff()
    }

    var number: ScanNumber { ScanNumber(self.record.scan) }

    /// The remaining work, once it has a slot.
    var work: ScanWork {
        if self.record.completed || self.record.refusal != nil { return .finish }
        // Compared with nil, the job would be copied.
        switch self.record.job {
        case .none: return .upload
        case .some: return .follow
        }
    }

    /// The number of the next request of this operation. It never starts over.
    mutating func nextAttempt(_ operation: Operation) -> UInt32 {
        switch operation {
        case .upload: Self.count(&self.record.attempts.upload)
        case .stream: Self.count(&self.record.attempts.stream)
        case .results: Self.count(&self.record.attempts.results)
        case .cleanup, .cancel: Self.count(&self.record.attempts.cleanup)
        case .status: Self.count(&self.record.attempts.status)
        case .refresh: Self.count(&self.record.attempts.refresh)
        }
    }

    private static func count(_ attempts: inout UInt32) -> UInt32 {
        attempts += 1
        return attempts
    }
}

/// The remaining work of a scan.
enum ScanWork: Hashable, Sendable {
    case upload
    /// A job is running: to its stream.
    case follow
    /// Completed, refused or canceled; the job is left to clean up.
    case finish
}

/// Whether the driver holds the prepared photo of a scan.
enum PhotoState: Hashable, Sendable {
    /// Not requested. Leaves to `preparing`.
    case absent
    /// Leaves to `prepared`, or the scan is refused.
    case preparing
    /// Leaves to `absent`.
    case prepared(bytes: Int)
}
