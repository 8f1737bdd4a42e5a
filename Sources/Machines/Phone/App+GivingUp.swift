import Observations
import SimBase
import Talaria

// A scan that its client does not try to finish any more.

extension App {
    /// What happens to the job of a scan that is given up.
    enum AbandonedJob: Hashable, Sendable {
        /// It stays on the server, without anybody who knows it.
        case left
        /// It is deleted if the scan is removed. A scan that waits keeps it.
        case deletedWithScan
        case deleted
    }

    /// Gives up a scan, whose job is not followed any further: by the profile, it waits for the next launch, or is removed
    /// with its record, which loses it.
    mutating func giveUp(
        _ scan: ScanNumber, _ cause: WaitingCause, job fate: AbandonedJob, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(scan) else {
            preconditionFailure("only an active scan is given up")
        }
        let job = self.active[index].scan.record.job
        if job != nil {
            let wasFetching = if case .fetching = self.active[index].stage { true } else { false }
            self.giveUpEpisodes(
                index, isSuperseded: false, resultsToo: wasFetching, at: now, into: &effects)
        }
        switch self.profile.failedScans {
        case .wait:
            if fate == .deleted {
                self.active[index].scan.record.job = nil
                self.active[index].scan.record.uploadDueUnixNs = nil
            }
            self.requeue(scan, cause, .nextLaunch, floor: now, at: now, into: &effects)
            if fate == .deleted, let job { self.discard(job, of: scan, at: now, into: &effects) }
        case .removed:
            // Without a path the one DELETE fails at once.
            if fate == .left || !self.pathAvailable {
                if let job {
                    self.observe(
                        .jobAbandoned(job: job.jobId, cause: .waiting(cause)), of: scan, at: now,
                        into: &effects)
                }
                self.active[index].scan.record.job = nil
            }
            self.remove(index, overlay: self.profile.failureOverlay, at: now, into: &effects)
        }
    }
}
