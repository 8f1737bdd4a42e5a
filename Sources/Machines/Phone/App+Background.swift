import Observations
import SimBase
import Talaria

// The app goes to the background, and comes back.

extension App {
    /// Suspends the app: running jobs are deleted, unfinished scans return to the durable queue, nothing is
    /// started. Scans whose outcome is decided still finish if the time allows.
    mutating func suspended(at now: Instant, into effects: inout [PhoneEffect]) {
        guard !self.phase.isAway else { return }
        self.phase = .suspended(until: now + AppLimits.backgroundTime)
        self.observe(.suspended, of: .none, at: now, into: &effects)
        self.leaveStreams(at: now)
        let unanswered = self.exchanges.filter {
            $0.head == nil && !$0.purpose.isDelete && $0.sentAt + AppLimits.patience <= now
        }.map(\.scan)
        for exchange in self.exchanges where !exchange.purpose.isDelete && exchange.purpose != .left {
            exchange.abort(into: &effects)
        }
        self.exchanges.removeAll { !$0.purpose.isDelete && $0.purpose != .left }
        for index in self.outlasted.indices { self.outlasted[index].until = now }
        for number in self.active.map(\.number) {
            let cause = unanswered.contains(number) ? WaitingCause.noAnswer : .suspended
            self.suspend(number, cause, at: now, into: &effects)
        }
        for index in 0..<self.queue.count { self.suspendWaiting(index, at: now, into: &effects) }
        if !self.pathAvailable {
            self.abandonDiscards(cause: .offline, at: now, into: &effects)
        }
    }

    /// `cause`: why it waits from now on, unless what it waited for in its slot says more.
    private mutating func suspend(
        _ scan: ScanNumber, _ cause: WaitingCause, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(scan) else { return }
        guard self.active[index].stage.isDecided || !self.abandonsInBackground else {
            self.abandonInBackground(index, at: now, into: &effects)
            return
        }
        switch self.active[index].stage {
        case .filing, .cleaning:
            // Given back when it was suspended before.
            guard self.active[index].stage.holdsSlot else { return }
            self.active[index].stage = self.active[index].stage.slotGiven()
            self.observe(.slotGiven, of: scan, at: now, into: &effects)
            return
        case .uploading:
            self.requeue(scan, cause, .nextLaunch, floor: now, at: now, into: &effects)
            return
        case .recording, .opening, .streaming, .disconnected, .polling, .unpolled, .fetching, .unfetched:
            break
        }
        let cause = self.pathAvailable ? self.active[index].stage.trouble ?? cause : .offline
        let job = self.active[index].job
        self.giveUpEpisodes(
            index, isSuperseded: false, resultsToo: self.active[index].stage.resultsFailures > 0, at: now,
            into: &effects)
        // A job that cannot be deleted now is kept: the next launch, or the return, continues with it.
        let isDiscarded = self.pathAvailable && self.profile.cleanup.isMade
        if isDiscarded {
            self.active[index].scan.record.job = nil
            // The upload that had succeeded is over; the next is due when the app is opened.
            self.active[index].scan.record.uploadDueUnixNs = nil
        }
        // What the server asked to wait holds for a job that is kept, too.
        let floor = isDiscarded ? now : self.active[index].stage.pause?.floor ?? now
        self.requeue(scan, cause, .nextLaunch, floor: floor, at: now, into: &effects)
        if isDiscarded { self.discard(job, of: scan, at: now, into: &effects) }
    }

    /// A scan that was waiting already keeps a cause that says more than that the app went to the background.
    private mutating func suspendWaiting(
        _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let waiting = self.queue.scans[index]
        self.queue.update(at: index) { waiting in
            waiting.hold = .nextLaunch
            Self.release(&waiting.scan, into: &effects)
        }
        switch waiting.cause {
        case .captured, .interrupted:
            guard waiting.scan.work != .finish else { return }
            let cause = self.presentCause(at: now) ?? .suspended
            self.queue.update(at: index) { waiting in
                waiting.cause = cause
                waiting.scan.record.cause = cause.rawValue
            }
            self.note(.put(self.queue.scans[index].scan.record), into: &effects)
            // Else its first record is not durable yet: it is observed as queued when this one is.
            guard waiting.isAnnounced else { return }
            self.observe(.queued(cause), of: waiting.scan.number, at: now, into: &effects)
        case .offline, .rateLimited, .serverError, .transport, .retryableError, .tokenExpired,
            .tokenRefused, .jobGone, .resultsUnavailable, .resultsExpired, .suspended, .unreadableAnswer,
            .answerTooLarge, .noAnswer, .unexpectedStatus, .unauthorized, .foreignURL, .statusBudget:
            break
        }
    }

    /// The system stops the app at once. What only helps the server is abandoned; the DELETE of a decided
    /// scan is made when the app is opened again.
    mutating func freezeIfDue(at now: Instant, into effects: inout [PhoneEffect]) {
        guard case .suspended(let until) = self.phase, until <= now else { return }
        self.phase = .frozen
        for exchange in self.exchanges where exchange.purpose != .left { exchange.abort(into: &effects) }
        self.exchanges.removeAll { $0.purpose != .left }
        for index in self.cleanups.indices { self.cleanups[index].interrupted(at: now) }
        self.abandonDiscards(cause: .suspended, at: now, into: &effects)
    }

    /// The app is opened: like a launch for everything that waits, with what the process still has in memory.
    mutating func resumed(at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.phase.isAway else { return }
        self.phase = .running
        self.observe(.resumed, of: .none, at: now, into: &effects)
        for index in 0..<self.queue.count { self.release(waiting: index, at: now) }
    }
}
