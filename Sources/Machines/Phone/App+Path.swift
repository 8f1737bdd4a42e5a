import Observations
import SimBase
import Talaria

// The path of the network.

extension App {
    /// Handles the loss of the path: every request is given up, its connection is left without a close, and
    /// none is sent.
    mutating func pathLost(at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.pathAvailable else { return }
        self.pathAvailable = false
        self.observe(.pathLost, of: .none, at: now, into: &effects)
        self.giveUpRequests(.offline, at: now, into: &effects)
        if self.phase.isAway {
            self.abandonDiscards(cause: .offline, at: now, into: &effects)
        }
    }

    /// Another network: everything that was under way is lost, and tried again over the new one.
    mutating func pathChanged(isAvailable: Bool, at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.pathAvailable else { return }  // It had none that could be lost.
        self.observe(.pathChanged, of: .none, at: now, into: &effects)
        if isAvailable {
            self.giveUpRequests(.handover, at: now, into: &effects)
            self.tryAgain(at: now)
        } else {
            self.pathAvailable = false
            self.observe(.pathLost, of: .none, at: now, into: &effects)
            self.giveUpRequests(.handover, at: now, into: &effects)
            if self.phase.isAway {
                self.abandonDiscards(cause: .offline, at: now, into: &effects)
            }
        }
    }

    /// Gives up all requests: their connections are left without a close.
    private mutating func giveUpRequests(
        _ cause: LossCause, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        var given: [Exchange] = []
        for index in self.exchanges.indices.reversed() {
            let isUnderWay = self.exchanges[index].ending == nil
            if self.hold(.failed(.noPath), exchange: index) {
                if isUnderWay { effects.append(.app(.abort(self.exchanges[index].id))) }
            } else {
                given.append(self.exchanges.remove(at: index))
            }
        }
        for exchange in given.reversed() {
            effects.append(.app(.abort(exchange.id)))
            switch exchange.purpose {
            case .drain, .left:
                break
            case .upload:
                self.observeNoPath(exchange, at: now, into: &effects)
                self.uploadFailed(
                    exchange.scan, .pathLost(hasAnother: self.pathAvailable), at: now, into: &effects)
            case .stream:
                if exchange.head?.status != 200 { self.observeNoPath(exchange, at: now, into: &effects) }
                self.streamLost(exchange.scan, cause, after: nil, at: now, into: &effects)
            case .results:
                self.observeNoPath(exchange, at: now, into: &effects)
                self.resultsFailed(exchange.scan, after: nil, at: now, into: &effects)
            case .status:
                self.observeNoPath(exchange, at: now, into: &effects)
                self.statusMissed(exchange.scan, after: nil, isFailure: false, at: now)
            case .cleanup, .cancel, .refresh:
                self.observeNoPath(exchange, at: now, into: &effects)
            }
        }
        for index in self.cleanups.indices { self.cleanups[index].interrupted(at: now) }
    }

    private mutating func observeNoPath(
        _ exchange: Exchange, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.observe(
            .requestFailed(
                exchange.operation, attempt: exchange.attempt, .noPath, took: now - exchange.sentAt),
            of: exchange.scan, at: now, into: &effects)
    }

    mutating func pathReturned(at now: Instant, into effects: inout [PhoneEffect]) {
        guard !self.pathAvailable else { return }
        self.pathAvailable = true
        self.observe(.pathReturned, of: .none, at: now, into: &effects)
        self.drainAgain(at: now)
        self.tryAgain(at: now)
    }

    /// Everything tries again within a jittered time: the jobs each at their own, the queue at one for all,
    /// so that it goes oldest first. Only what a server requested is waited out.
    private mutating func tryAgain(at now: Instant) {
        self.pathReturns += 1
        for index in self.active.indices {
            let moment = self.returnMoment(self.active[index].number, at: now)
            self.active[index].stage = self.active[index].stage.pathReturned(tryAt: moment)
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
}
