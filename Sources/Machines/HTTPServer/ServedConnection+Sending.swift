import Faults
import OriginServer
import SimBase

// What goes out, and how it ends where a fault cuts it.

extension ServedConnection {
    mutating func send(_ bytes: [UInt8], at now: Instant, _ context: inout ServerContext) {
        guard self.isOpen else { return }
        self.down.sent += bytes.count
        let arrival = self.arrivalDown(of: bytes.count, at: now, &context)
        if self.isArmed, let lengths = self.slices(bytes.count, at: now, &context) {
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
        self.sendDue(at: now, &context)
    }

    /// The lengths of the pieces in which these bytes go out; nil for one.
    private mutating func slices(_ count: Int, at now: Instant, _ context: inout ServerContext) -> [Int]? {
        for index in 0..<(self.exchange?.slicers.count ?? 0) {
            guard let lengths = self.exchange?.slicers[index].cut(count, at: now) else { continue }
            if let fault = self.exchange?.slicers[index].fault { self.acted([fault], at: now, &context) }
            return lengths
        }
        return nil
    }

    private mutating func arrivalDown(
        of count: Int, at now: Instant, _ context: inout ServerContext
    ) -> Instant {
        guard self.isArmed else { return self.link.arrivalDown(of: count, at: now) }
        var acted: [Int] = []
        var impairments = self.exchange?.down ?? LinkImpairments()
        let arrival = self.link.arrivalDown(of: count, at: now, &impairments, acted: &acted)
        self.exchange?.down = impairments
        self.acted(acted, at: now, &context)
        return arrival
    }

    /// Faults of the link have changed how bytes of this exchange pass: each fires with the first.
    mutating func acted(_ faults: [Int], at now: Instant, _ context: inout ServerContext) {
        guard !faults.isEmpty, let key = self.exchange?.key else { return }
        for fault in faults where self.exchange?.acted.contains(fault) == false {
            self.exchange?.acted.append(fault)
            context.faultConsumed(fault, key)
            context.faultFired(fault, key, at: now)
        }
    }

    mutating func finish(at now: Instant, _ context: inout ServerContext) {
        guard self.isOpen else { return }
        self.outbox.insert(.finish, at: self.arrivalDown(of: 0, at: now, &context))
        self.sendDue(at: now, &context)
    }

    /// A fault cuts the connection after everything that was sent so far.
    ///
    /// The backend hears of it as a server does: of an RST or a FIN of its own at once, of a silence never.
    mutating func cut(_ order: CutOrder, at now: Instant, _ context: inout ServerContext) {
        guard self.isOpen else { return }
        self.consume(order, &context)
        self.outbox.insert(.cut, at: self.arrivalDown(of: 0, at: now, &context))
        self.state = .cutPending(order)
        switch order.ending {
        case .reset, .close: self.abandonExchange(&context)
        case .silence: break
        }
        self.sendDue(at: now, &context)
    }

    /// Sends the data that has passed the link.
    mutating func sendDue(at now: Instant, _ context: inout ServerContext) {
        switch self.state {
        case .open, .closing, .cutPending: break
        case .cutting, .silent, .over: return
        }
        while let item = self.outbox.take(at: now) {
            switch item {
            case .bytes(let bytes):
                self.down.delivered += bytes.count
                context.effects.append(.send(self.id, bytes))
            case .piece(let bytes):
                self.down.delivered += bytes.count
                context.effects.append(.sendApart(self.id, bytes))
                self.outbox.closeGate(until: now + Slicer.spacing)
            case .finish:
                self.finishNow(&context)
                return
            case .cut:
                if case .cutPending(let order) = self.state { self.beginCut(order, &context) }
                return
            case .cutRest(let id, let order):
                if case .cutPending = self.state { continue }
                // A later request is on the way only after the whole answer has arrived.
                guard self.answered == id, self.exchange.map({ $0.id == id }) ?? true,
                    !self.outbox.isEmpty || self.isPassing(id)
                else { continue }
                self.loseUnderway(to: .fault, &context)
                self.consume(order, &context)
                self.abandonExchange(&context)
                self.beginCut(order, &context)
                return
            }
        }
    }

    /// More of the answer is to come from the upstream.
    private func isPassing(_ id: ExchangeID) -> Bool {
        guard let exchange = self.exchange, exchange.id == id, case .passing = exchange.answer else {
            return false
        }
        return true
    }

    // MARK: Cuts

    /// Consumes the firing for the scan. `leave` returns it if the peer closes before the cut is made.
    private mutating func consume(_ order: CutOrder, _ context: inout ServerContext) {
        guard let (fault, key) = order.cause else { return }
        context.faultConsumed(fault, key)
    }

    private mutating func beginCut(_ order: CutOrder, _ context: inout ServerContext) {
        self.state = .cutting(order)
        context.effects.append(.cut(self.id, order.ending))
    }

    mutating func cutDone(at now: Instant, _ context: inout ServerContext) {
        guard case .cutting(let order) = self.state else { return }
        self.state = .silent  // Or over: a cut that is made is not missed when the connection ends.
        self.loseUnderway(to: .fault, &context)
        if let (fault, key) = order.cause { context.faultFired(fault, key, at: now) }
        switch order.ending {
        case .reset, .close: self.leave(&context)
        case .silence: break
        }
    }
}
