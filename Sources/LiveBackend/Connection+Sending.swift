import Backend
import EventLoop
import Faults
import SimBase

// What goes out, and how it ends where a fault cuts it.

extension Connection {
    func send(_ bytes: [UInt8], at now: Instant) {
        guard case .open = self.state, !self.isCut else { return }
        let arrival = self.arrivalDown(of: bytes.count, at: now)
        if let lengths = self.slices(bytes.count, at: now) {
            var (start, moment) = (0, arrival)
            for length in lengths {
                self.outbox.insert(.piece(Array(bytes[start..<start + length])), at: moment)
                self.link.holdDown(until: moment)
                start += length
                moment = moment + Slicer.spacing
            }
        } else {
            self.outbox.insert(.bytes(bytes), at: arrival)
        }
        self.settle(at: now)
    }

    /// The lengths of the pieces in which these bytes go out; nil for one.
    private func slices(_ count: Int, at now: Instant) -> [Int]? {
        for index in (self.exchange?.slicers ?? []).indices {
            guard let lengths = self.exchange?.slicers[index].cut(count, at: now) else { continue }
            if let fault = self.exchange?.slicers[index].fault { self.acted([fault], at: now) }
            return lengths
        }
        return nil
    }

    private func arrivalDown(of count: Int, at now: Instant) -> Instant {
        var acted: [Int] = []
        var troubles = self.exchange?.down ?? LinkTroubles()
        let arrival = self.link.arrivalDown(of: count, at: now, &troubles, acted: &acted)
        self.exchange?.down = troubles
        self.acted(acted, at: now)
        return arrival
    }

    /// Faults of the link have changed how bytes of this exchange pass: each fires with the first.
    func acted(_ faults: [Int], at now: Instant) {
        guard !faults.isEmpty, let key = self.exchange?.key else { return }
        for fault in faults where self.exchange?.acted.contains(fault) == false {
            self.exchange?.acted.append(fault)
            self.server.faultConsumed(fault, key)
            self.server.faultFired(fault, key, at: now)
        }
    }

    func finish(at now: Instant) {
        guard case .open = self.state, !self.isCut else { return }
        self.outbox.insert(.finish, at: self.arrivalDown(of: 0, at: now))
        self.settle(at: now)
    }

    /// A fault cuts the connection after everything that was sent so far.
    ///
    /// The backend hears of it as a server does: of an RST or a FIN of its own at once, of a silence never.
    func cut(_ order: CutOrder, at now: Instant) {
        self.server.faultConsumed(order.fault, order.key)
        self.outbox.insert(.cut(order), at: self.arrivalDown(of: 0, at: now))
        self.isCut = true
        switch order.ending {
        case .reset, .close: self.abandonExchange(at: now)
        case .silence: break
        }
        self.settle(at: now)
    }

    /// What is due at once does not wait for the timer; what is not, arms it.
    private func settle(at now: Instant) {
        self.sendDue(at: now)
        self.updateInterest(at: now)
        self.armTimer(at: now)
    }

    func sendDue(at now: Instant) {
        while let item = self.outbox.take(at: now) {
            switch item {
            case .bytes(let bytes):
                self.outbox.append(bytes)
            case .piece(let bytes):
                self.flush()
                self.outbox.append(bytes)
                self.flush()
                if case .closed = self.state { return }
                self.outbox.closeGate(until: self.server.loop.now() + Slicer.spacing)
            case .finish:
                self.flush()
                self.linger(at: now)
            case .cut(let order):
                self.beginCut(order, at: now)
                return
            case .cutRest(let id, let order):
                guard self.answered == id, !self.outbox.isLinkEmpty, !self.isCut else { continue }
                self.outbox.dropUnderway()
                self.server.faultConsumed(order.fault, order.key)
                self.isCut = true
                self.abandonExchange(at: now)
                self.beginCut(order, at: now)
                return
            }
        }
        self.flush()
    }

    func flush() {
        switch self.state {
        case .closed, .silent: return
        case .open, .lingering, .ending: break
        }
        switch self.outbox.flush(to: self.socket) {
        case .all:
            if case .lingering = self.state, self.outbox.isEmpty { StreamSocket.endSending(self.socket) }
        case .blocked:
            guard self.outbox.unsentCount > ServerLimits.unsentBytesMax else { return }
            StreamSocket.resetOnClose(self.socket)
            self.close()
        case .dead: self.close()
        }
    }

    // MARK: Cuts

    private func beginCut(_ order: CutOrder, at now: Instant) {
        self.flush()
        if case .closed = self.state { return }
        self.state = .ending(order, since: now)
        self.checkCut(order, since: now, at: now)
    }

    /// Ends the connection once everything before the cut is out, or the peer has had its time to take it.
    func checkCut(_ order: CutOrder, since: Instant, at now: Instant) {
        let isOut: Bool
        switch order.ending {
        // An RST throws away what the peer has not acknowledged.
        case .reset:
            isOut = self.outbox.unsentCount == 0 && (StreamSocket.unsentBytes(self.socket) ?? 0) == 0
        case .close, .silence: isOut = self.outbox.unsentCount == 0
        }
        guard isOut || now - since >= ServerLimits.cutWaitMax else { return }
        self.outbox.dropUnsent()
        self.outbox.dropUnderway()
        self.server.faultFired(order.fault, order.key, at: now)
        switch order.ending {
        case .reset:
            StreamSocket.resetOnClose(self.socket)
            self.close()
        case .close: self.linger(at: now)
        case .silence:
            self.state = .silent(until: now + ServerLimits.silenceTime)
            self.updateInterest(at: now)
        }
    }
}
