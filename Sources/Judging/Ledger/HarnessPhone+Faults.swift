import Observations
import SimBase
import Talaria

// What faults did to requests: each must have been seen, and each sign of one must have its fault.

extension HarnessPhone {
    mutating func record(_ payload: FaultObservation, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        switch payload {
        case .fired(let fault, let operation, let attempt):
            self.fired(fault, operation, attempt, scan, &fleet)
        case .decided(let fault, let operation, let attempt, fires: true):
            self.opened(fault, operation, attempt, scan, &fleet)
            guard operation == .upload, fleet.hasQuotas else { return }
            self.decided(fault, scan, attempt: attempt, &fleet)
        case .decided: break
        case .passed(_, let attempt, let events): self.passed(events, attempt, scan, &fleet)
        case .began(let fault):
            self.holdToScope(fault, scan, &fleet)
            self.began(fault, &fleet)
        case .ended(let fault): self.ended(fault, &fleet)
        }
    }

    /// A fault has done what it does: that must have been seen.
    mutating func fired(
        _ fault: Int, _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet
    ) {
        guard fleet.settings.faults.indices.contains(fault) else { return }
        self.holdToRule(fault, operation, attempt, scan, &fleet)
        let index = self.exchangeIndex(operation, scan, attempt)
        if let index { self.exchanges[index].fired |= 1 << UInt64(min(fault, Self.lastFaultBit)) }
        self.dispel(operation, attempt, scan, &fleet)
        let isSeen = self.explainEffect(of: fault, operation, attempt, scan, &fleet, exchange: index)
        guard !isSeen, fleet.server != nil else { return }
        self.error(
            "fault \(fault + 1) of the list fired (\(operation.name), attempt \(attempt)) without effect",
            scan, &fleet)
    }

    /// Whether what the fault does was seen, or can be seen only later.
    private mutating func explainEffect(
        of fault: Int, _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet, exchange index: Int?
    ) -> Bool {
        let effect = fleet.settings.faults[fault]
        switch effect {
        case .limit:
            self.limitFired(fault, scan, attempt: attempt, &fleet)
            return self.explain(.answered(operation, status: 429), attempt, scan, &fleet)
        case .status(let status):
            if operation == .upload { self.limitFired(fault, scan, attempt: attempt, &fleet) }
            return self.explain(.answered(operation, status: status), attempt, scan, &fleet)
        case .tokenRevoked:
            self.revoked(tokenOf: index, &fleet)
            _ = self.explain(.answered(operation, status: 401), attempt, scan, &fleet)
            // Where no token is needed, one that is over changes nothing.
            return self.explain(.tokenRevoked, scan, &fleet)
                || fleet.server.map { !$0.dialect.hasAuthorization } ?? false
        case .jobGone(let status):
            _ = self.explain(.answered(operation, status: status), attempt, scan, &fleet)
            return self.explain(.vanished, scan, &fleet)
        case .jobFailed:
            // Another fault may take the job away as it fails.
            return self.explain(.jobFailed, scan, &fleet) || self.explain(.vanished, scan, &fleet)
        case .degraded: return self.explainDegraded(scan, &fleet)
        case .secondTerminal: return self.wroteSecondTerminal(scan, &fleet) || !fleet.completesOnce
        case .noTerminal:
            _ = self.explain(.terminalOmitted, attempt, scan, &fleet)
            return self.explain(.streamEnded, attempt, scan, &fleet) || !fleet.completesOnce
        case .socketClosed:
            _ = self.explain(.terminalOmitted, attempt, scan, &fleet)
            return self.explain(.streamEnded, attempt, scan, &fleet)
        case .replayFromStart: return self.explain(.startedOver, attempt, scan, &fleet)
        case .slowed, .noPings, .latePings, .eventsForgotten:
            if let index, let job = self.exchanges[index].job {
                self.change(job, by: effect, attempt: attempt, &fleet)
            }
        case .eventAdded: if let index { self.exchanges[index].eventsAdded += 1 }
        case .cut: if let index { self.cut(index, by: fault, &fleet) }
        case .refused: if index == nil { self.refused(operation, attempt, scan, &fleet, by: fault) }
        case .eventGarbled: if let index { self.garbled(index) }
        case .delayed, .booksStripped, .resultsTruncated, .resultsReordered, .ofPhone, .unobserved: break
        }
        return true  // The phone sees it, later.
    }

    private mutating func explain(
        _ kind: HarnessFleet.Effect.Kind, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    )
        -> Bool
    {
        self.explain(scan, &fleet) { $0.kind == kind }
    }

    private mutating func explain(
        _ kind: HarnessFleet.Effect.Kind, _ attempt: UInt32, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) -> Bool {
        self.explain(scan, &fleet) { $0.kind == kind && $0.attempt == attempt }
    }

    private mutating func revoked(tokenOf exchange: Int?, _ fleet: inout HarnessFleet) {
        guard fleet.server == nil, let exchange, let job = self.exchanges[exchange].job else { return }
        self.revoked.append((job, fleet.now), max: Self.exchangesMax)
    }

    private mutating func explainDegraded(_ scan: ScanNumber, _ fleet: inout HarnessFleet) -> Bool {
        for job in self.jobs.indices where self.jobs[job].scan == scan {
            self.jobs[job].isDegraded = true
        }
        // A dialect may tell all books of a job at once.
        let isSeen = self.explain(.degraded, scan, &fleet)
        while self.explain(scan, &fleet, where: { $0.kind == .degraded && $0.needsFault }) {}
        return isSeen
    }

    private func wroteSecondTerminal(_ scan: ScanNumber, _ fleet: inout HarnessFleet) -> Bool {
        let written = fleet.effects.count {
            $0.phone == self.index && $0.scan == scan && $0.kind == .terminalWritten
        }
        return written >= 2
    }

    private mutating func cut(_ exchange: Int, by fault: Int, _ fleet: inout HarnessFleet) {
        self.exchanges[exchange].cutAt = fleet.now
        // Of a foreign backend, what is new is its own matter: the gateway says what has passed.
        guard fleet.server != nil else { return }
        self.exchanges[exchange].eventsMax = fleet.rule(of: fault)?.eventsMax
        self.judgeCut(exchange, &fleet)
    }

    /// The phone's side refuses a request as it is sent, and faults are observed before phones.
    private mutating func refused(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ fleet: inout HarnessFleet,
        by fault: Int
    ) {
        fleet.refusals.append(
            HarnessFleet.Refusal(
                phone: self.index, request: RequestKey(operation, scan, attempt), fault: fault))
    }

    /// An event of a stream was made unreadable. The first of a job is new to its phone, which reports it as ignored.
    private mutating func garbled(_ index: Int) {
        guard let id = self.exchanges[index].job,
            let job = self.jobs.lastIndex(where: { $0.id == id }),
            !self.jobs[job].isGarbled
        else { return }
        self.jobs[job].isGarbled = true
        self.exchanges[index].isGarbled = true
    }

    /// Removes doubts whose cause was found.
    mutating func dispel(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        guard !fleet.doubts.isEmpty else { return }
        let request = RequestKey(operation, scan, attempt)
        fleet.doubts.removeAll { $0.phone == self.index && $0.request == request }
    }
}
