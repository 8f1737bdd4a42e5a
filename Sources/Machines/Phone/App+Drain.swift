import Observations
import SimBase
import Talaria

// A client that uploads what was taken offline one scan after another, and each once (Docs/apps.md section 4.7).

extension App {
    /// Whether a scan that waits for this is in memory only.
    func isVolatile(waitingFor cause: WaitingCause) -> Bool {
        self.profile.queue.storage == .offlineOnly && cause != .offline
    }

    /// The earliest time for the next scan that was taken offline; nil while another one is being worked on.
    var offlineOpensAt: Instant? {
        guard self.profile.queue.drain == .once else { return .zero }
        return self.isDrainBusy ? nil : self.drainsAgainAt
    }

    private var isDrainBusy: Bool {
        for index in self.active.indices where self.active[index].scan.isDrained { return true }
        return false
    }

    /// Whether a scan of a drain is removed instead of waiting again. One that met a limit waits with the
    /// others, and one that is interrupted by the background keeps its position.
    func removesDrained(_ index: Int, _ cause: WaitingCause) -> Bool {
        self.active[index].scan.isDrained && cause != .rateLimited && !self.phase.isAway
    }

    /// The path has returned: another drain begins, over whatever the one before it has not finished.
    mutating func drainAgain(at now: Instant) {
        guard self.profile.queue.drain == .once, self.isDrainBusy || self.drainsAgainAt > now else { return }
        for index in self.active.indices where self.active[index].scan.isDrained {
            self.active[index].scan.copies += 1
        }
        for index in self.queue.scans.indices where self.queue.scans[index].cause == .offline {
            self.queue.update(at: index) { $0.scan.copies += 1 }
        }
    }

    /// Uploads a completed scan once more where another drain has it, too.
    ///
    /// - Returns: Whether it does.
    mutating func repeatsDrained(
        _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) -> Bool {
        guard self.active[index].scan.copies > 0, self.active[index].scan.record.refusal == nil else {
            return false
        }
        let number = self.active[index].number
        let job = self.active[index].scan.record.job
        self.active[index].scan.copies -= 1
        self.active[index].scan.isDrained = false
        self.active[index].scan.record.job = nil
        self.active[index].scan.record.completed = false
        self.active[index].scan.record.uploadDueUnixNs = self.unixNanoseconds(at: now)
        self.drainsAgainAt = now + (self.profile.stream.slotHold ?? .zero)
        self.requeue(number, .offline, .none, floor: now, at: now, into: &effects)
        if let job { self.discard(job, of: number, at: now, into: &effects) }
        return true
    }
}
