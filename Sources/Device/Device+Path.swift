import SimBase
import Talaria

// The path of the network, and the end of the run.

extension Device {
    /// Without a path nothing is tried. Every request is given up; its connection is left without a goodbye.
    mutating func pathLost(at now: Instant, into effects: inout [DeviceEffect]) {
        guard self.pathAvailable else { return }
        self.pathAvailable = false
        self.observe(.pathLost, of: .none, at: now, into: &effects)
        let given = self.exchanges
        self.exchanges = []
        for exchange in given {
            effects.append(.abort(exchange.id))
            switch exchange.purpose {
            case .drain:
                break
            case .upload:
                self.observeNoPath(exchange, at: now, into: &effects)
                self.requeue(exchange.scan, .offline, .none, floor: now, at: now, into: &effects)
            case .stream:
                if exchange.head?.status != 200 { self.observeNoPath(exchange, at: now, into: &effects) }
                self.streamLost(exchange.scan, .offline, after: nil, at: now, into: &effects)
            case .results:
                self.observeNoPath(exchange, at: now, into: &effects)
                self.resultsFailed(exchange.scan, after: nil, at: now, into: &effects)
            case .cleanup:
                self.observeNoPath(exchange, at: now, into: &effects)
            }
        }
        for index in self.cleanups.indices { self.cleanups[index].interrupted(at: now) }
        if self.phase == .suspended {
            self.abandonDiscards(cause: WaitingCause.offline.rawValue, at: now, into: &effects)
        }
    }

    private func observeNoPath(_ exchange: Exchange, at now: Instant, into effects: inout [DeviceEffect]) {
        self.observe(
            .requestFailed(
                exchange.operation, attempt: exchange.attempt, .noPath, took: now - exchange.sentAt),
            of: exchange.scan, at: now, into: &effects)
    }

    /// Everything tries again within a jittered moment: the jobs each at their own, the queue at one for all, so that it
    /// goes oldest first. Only what a server asked for is waited out.
    mutating func pathReturned(at now: Instant, into effects: inout [DeviceEffect]) {
        guard !self.pathAvailable else { return }
        self.pathAvailable = true
        self.pathReturns += 1
        self.observe(.pathReturned, of: .none, at: now, into: &effects)
        for index in self.journeys.indices {
            let moment = self.returnMoment(self.journeys[index].number, at: now)
            switch self.journeys[index].stage {
            case .disconnected(_, let floor):
                self.journeys[index].stage = .disconnected(until: moment, floor: floor)
            case .unfetched(_, let floor):
                self.journeys[index].stage = .unfetched(until: moment, floor: floor)
            case .uploading, .recording, .opening, .streaming, .fetching, .filing, .cleaning:
                break
            }
        }
        for index in self.cleanups.indices {
            self.cleanups[index].pathReturned(tryAt: self.returnMoment(self.cleanups[index].scan, at: now))
        }
        if self.phase == .running {
            self.releaseQueue(at: self.returnMoment(.none, at: now))
        }
    }

    private func returnMoment(_ scan: ScanNumber, at now: Instant) -> Instant {
        let most = UInt64(max(0, self.profile.pathReturnJitter.nanoseconds))
        let jitter = self.random.below(
            most + 1, .pathReturn, UInt64(self.number.raw), UInt64(scan.raw), self.pathReturns)
        return now + .nanoseconds(Int64(jitter))
    }

    /// The run ends: what runs is cleaned up, what is not done goes back to the durable queue, nothing is started. Scans
    /// whose outcome is decided still finish.
    mutating func suspended(at now: Instant, into effects: inout [DeviceEffect]) {
        guard self.phase != .suspended else { return }
        self.phase = .suspended
        self.observe(.suspended, of: .none, at: now, into: &effects)
        for exchange in self.exchanges where exchange.purpose != .cleanup {
            effects.append(.abort(exchange.id))
        }
        self.exchanges.removeAll { $0.purpose != .cleanup }
        for number in self.journeys.map(\.number) { self.suspend(number, at: now, into: &effects) }
        for index in 0..<self.queue.count { self.suspendWaiting(index, at: now, into: &effects) }
        if !self.pathAvailable {
            self.abandonDiscards(cause: WaitingCause.offline.rawValue, at: now, into: &effects)
        }
    }

    private mutating func suspend(_ scan: ScanNumber, at now: Instant, into effects: inout [DeviceEffect]) {
        guard let index = self.journeyIndex(scan) else { return }
        switch self.journeys[index].stage {
        case .filing, .cleaning:
            self.journeys[index].holdsSlot = false
            self.observe(.slotGiven, of: scan, at: now, into: &effects)
            return
        case .uploading:
            self.requeue(scan, .suspended, .nextLaunch, floor: now, at: now, into: &effects)
            return
        case .recording, .opening, .streaming, .disconnected, .fetching, .unfetched:
            break
        }
        let job = self.journeys[index].job
        self.giveUpEpisodes(
            index, resultsToo: self.journeys[index].resultsFailures > 0, at: now, into: &effects)
        // A job that cannot be deleted now is kept: the next launch goes on with it.
        let isDiscarded = self.pathAvailable && self.profile.cleanup
        if isDiscarded { self.journeys[index].scan.record.job = nil }
        self.requeue(
            scan, self.pathAvailable ? .suspended : .offline, .nextLaunch, floor: now, at: now, into: &effects
        )
        if isDiscarded { self.discard(job, of: scan, at: now, into: &effects) }
    }

    /// A scan that was waiting already keeps a cause that says more than that the run ended.
    private mutating func suspendWaiting(
        _ index: Int, at now: Instant, into effects: inout [DeviceEffect]
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
            let ticket = self.store(.put(self.queue.scans[index].scan.record), into: &effects)
            guard waiting.isAnnounced else {
                // Its first record is not durable yet: it is observed as queued when this one is.
                self.queue.update(at: index) { $0.ticket = ticket }
                return
            }
            self.observe(.queued(cause), of: waiting.scan.number, at: now, into: &effects)
        case .offline, .rateLimited, .serverError, .transport, .retryableError, .tokenExpired, .jobGone,
            .resultsUnavailable, .suspended:
            break
        }
    }
}
