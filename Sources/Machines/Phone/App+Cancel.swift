import Observations
import SimBase
import Talaria

// A user who cancels a scan that takes too long. The cancel is drawn when the scan is accepted, and its time is in the record,
// so that a later process knows of it. Once the cancel is durable it is an outcome like any other: nothing of the scan is
// requested, sent or taken any more but the DELETE of its job.

extension App {
    /// Draws whether the user cancels a scan that was accepted for the first time, and when.
    mutating func drawCancel(_ index: Int, at now: Instant) {
        let policy = self.profile.cancel
        guard policy.isMade, self.active[index].scan.record.cancelDueUnixNs == nil else { return }
        let (device, scan) = (UInt64(self.number.raw), UInt64(self.active[index].number.raw))
        guard policy.chance.happens(self.random.draw(.cancel, device, scan, 0)) else { return }
        let width = UInt64((policy.after.upperBound - policy.after.lowerBound).nanoseconds) + 1
        let more = Interval.nanoseconds(Int64(self.random.below(width, .cancel, device, scan, 1)))
        let due = now + policy.after.lowerBound + more
        self.active[index].scan.record.cancelDueUnixNs = self.unixNanoseconds(at: due)
    }

    /// Cancels what the user cancels by now. The app has to be on the screen, and nothing is canceled during
    /// an upload, whose job could not be deleted.
    mutating func cancelDueScans(at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.profile.cancel.isMade, self.phase == .running else { return }
        for scan in self.active.indices.map({ self.active[$0].number }) {
            guard let index = self.activeIndex(scan), self.cancelMoment(active: index).isPast(now) else {
                continue
            }
            self.cancel(active: index, at: now, into: &effects)
        }
        while let index = self.queue.scans.indices.first(where: { self.cancelMoment(waiting: $0).isPast(now) }
        ) {
            self.cancel(waiting: index, at: now, into: &effects)
        }
    }

    /// The time of the next cancel; nil if none is scheduled.
    var nextCancel: Instant? {
        guard self.profile.cancel.isMade, self.phase == .running else { return nil }
        var next: Instant?
        for index in self.active.indices {
            guard let moment = self.cancelMoment(active: index) else { continue }
            next = min(next ?? moment, moment)
        }
        for index in self.queue.scans.indices {
            guard let moment = self.cancelMoment(waiting: index) else { continue }
            next = min(next ?? moment, moment)
        }
        return next
    }

    private func cancelMoment(active index: Int) -> Instant? {
        switch self.active[index].stage {
        case .recording, .opening, .streaming, .disconnected, .polling, .unpolled, .fetching, .unfetched:
            self.cancelDue(self.active[index].scan.record)
        case .uploading, .filing, .cleaning: nil
        }
    }

    private func cancelMoment(waiting index: Int) -> Instant? {
        guard self.queue.scans[index].scan.work != .finish else { return nil }
        return self.cancelDue(self.queue.scans[index].scan.record)
    }

    private mutating func cancel(active index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        let scan = self.active[index].number
        self.observe(.cancelRequested, of: scan, at: now, into: &effects)
        self.abort(activeScan: scan, into: &effects)
        self.abortRefresh(of: scan, into: &effects)
        self.giveUpEpisodes(index, isSuperseded: true, resultsToo: false, at: now, into: &effects)
        if self.preview?.scan == scan { self.preview = nil }
        self.active[index].scan.cancel(at: now)
        self.rejectBooks(of: scan, at: now, into: &effects)
        self.file(.canceled, index, into: &effects)
    }

    private mutating func cancel(waiting index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        var scan = self.queue.remove(at: index).scan
        self.observe(.cancelRequested, of: scan.number, at: now, into: &effects)
        Self.release(&scan, into: &effects)
        scan.cancel(at: now)
        self.rejectBooks(of: scan.number, at: now, into: &effects)
        let attempt = scan.record.job == nil ? nil : scan.nextAttempt(.cleanup)
        let writeID = self.store(.put(scan.record), into: &effects)
        var filing = ActiveScan.Filing(writeID: writeID, outcome: .canceled, cleanupAttempt: attempt)
        filing.holdsSlot = false
        self.active.append(ActiveScan(scan: scan, stage: .filing(filing)))
    }
}

extension App {
    /// The job of a scan is deleted: a cancel has come to its end.
    mutating func observeCanceled(_ cleanup: Cleanup, at now: Instant, into effects: inout [PhoneEffect]) {
        guard cleanup.purpose == .settle, let index = self.activeIndex(cleanup.scan),
            let canceledAt = self.active[index].scan.canceledAt
        else { return }
        self.observe(
            .cancelAnswered(job: cleanup.job.jobId, took: now - canceledAt), of: cleanup.scan, at: now,
            into: &effects)
    }
}

extension Scan {
    fileprivate mutating func cancel(at moment: Instant) {
        self.record.cancel()
        self.canceledAt = moment
    }
}

extension Instant? {
    fileprivate func isPast(_ now: Instant) -> Bool { self.map { $0 <= now } ?? false }
}
