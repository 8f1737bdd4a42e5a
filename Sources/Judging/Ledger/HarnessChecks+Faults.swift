import SimBase
import Talaria

// What faults did to requests: each must have been seen, and each sign of one must have its fault.

extension HarnessChecks {
    /// A fault has done what it does: that must have been seen.
    mutating func fired(
        _ fault: Int, _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard self.settings.faults.indices.contains(fault) else { return }
        self.holdToRule(fault, operation, attempt, scan, phoneIndex)
        let index = self.exchangeIndex(operation, scan, attempt, phoneIndex)
        if let index {
            self.phones[phoneIndex].exchanges[index].fired |= 1 << UInt64(min(fault, Self.lastFaultBit))
        }
        self.dispel(operation, attempt, scan, phoneIndex)
        let isSeen = self.explainEffect(of: fault, operation, attempt, scan, phoneIndex, exchange: index)
        guard !isSeen, self.server != nil else { return }
        self.error(
            "fault \(fault + 1) of the list fired (\(operation.name), attempt \(attempt)) without effect",
            scan, phoneIndex)
    }

    /// Whether what the fault does was seen, or can be seen only later.
    private mutating func explainEffect(
        of fault: Int, _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber,
        _ phoneIndex: Int, exchange index: Int?
    ) -> Bool {
        let effect = self.settings.faults[fault]
        switch effect {
        case .limit:
            self.limitFired(fault, scan, attempt: attempt, phoneIndex)
            return self.explain(.answered(operation, status: 429), attempt, scan, phoneIndex)
        case .status(let status):
            if operation == .upload { self.limitFired(fault, scan, attempt: attempt, phoneIndex) }
            return self.explain(.answered(operation, status: status), attempt, scan, phoneIndex)
        case .tokenRevoked:
            self.revoked(tokenOf: index, phoneIndex)
            _ = self.explain(.answered(operation, status: 401), attempt, scan, phoneIndex)
            // Where no token is needed, one that is over changes nothing.
            return self.explain(.tokenRevoked, scan, phoneIndex)
                || self.server.map { !$0.dialect.hasAuthorization } ?? false
        case .jobGone(let status):
            _ = self.explain(.answered(operation, status: status), attempt, scan, phoneIndex)
            return self.explain(.vanished, scan, phoneIndex)
        case .jobFailed:
            // Another fault may take the job away as it fails.
            return self.explain(.jobFailed, scan, phoneIndex) || self.explain(.vanished, scan, phoneIndex)
        case .degraded: return self.explainDegraded(scan, phoneIndex)
        case .secondTerminal: return self.wroteSecondTerminal(scan, phoneIndex) || !self.completesOnce
        case .noTerminal:
            _ = self.explain(.terminalOmitted, attempt, scan, phoneIndex)
            return self.explain(.streamEnded, attempt, scan, phoneIndex) || !self.completesOnce
        case .replayFromStart: return self.explain(.startedOver, attempt, scan, phoneIndex)
        case .slowed, .noPings, .latePings, .eventsForgotten:
            if let index, let job = self.phones[phoneIndex].exchanges[index].job {
                self.change(job, by: effect, attempt: attempt, phoneIndex)
            }
        case .eventAdded: if let index { self.phones[phoneIndex].exchanges[index].eventsAdded += 1 }
        case .cut: if let index { self.cut(index, by: fault, phoneIndex) }
        case .refused: if index == nil { self.refused(operation, attempt, scan, phoneIndex, by: fault) }
        case .eventGarbled: if let index { self.garbled(index, phoneIndex) }
        case .delayed, .booksStripped, .resultsTruncated, .resultsReordered, .ofPhone, .unobserved: break
        }
        return true  // The phone sees it, later.
    }

    private mutating func explain(_ kind: Effect.Kind, _ scan: ScanNumber, _ phoneIndex: Int) -> Bool {
        self.explain(scan, phoneIndex) { $0.kind == kind }
    }

    private mutating func explain(
        _ kind: Effect.Kind, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int
    ) -> Bool {
        self.explain(scan, phoneIndex) { $0.kind == kind && $0.attempt == attempt }
    }

    private mutating func revoked(tokenOf exchange: Int?, _ phoneIndex: Int) {
        guard self.server == nil, let exchange, let job = self.phones[phoneIndex].exchanges[exchange].job
        else { return }
        if self.phones[phoneIndex].revoked.count == Self.exchangesMax {
            self.phones[phoneIndex].revoked.removeFirst()
        }
        self.phones[phoneIndex].revoked.append((job, self.now))
    }

    private mutating func explainDegraded(_ scan: ScanNumber, _ phoneIndex: Int) -> Bool {
        for job in self.phones[phoneIndex].jobs.indices where self.phones[phoneIndex].jobs[job].scan == scan {
            self.phones[phoneIndex].jobs[job].isDegraded = true
        }
        // A dialect may tell all books of a job at once.
        let isSeen = self.explain(.degraded, scan, phoneIndex)
        while self.explain(scan, phoneIndex, where: { $0.kind == .degraded && $0.needsFault }) {}
        return isSeen
    }

    private func wroteSecondTerminal(_ scan: ScanNumber, _ phoneIndex: Int) -> Bool {
        let written = self.effects.count {
            $0.phoneIndex == phoneIndex && $0.scan == scan && $0.kind == .terminalWritten
        }
        return written >= 2
    }

    private mutating func cut(_ exchange: Int, by fault: Int, _ phoneIndex: Int) {
        self.phones[phoneIndex].exchanges[exchange].cutAt = self.now
        // Of a foreign backend, what is new is its own matter: the gateway says what has passed.
        guard self.server != nil else { return }
        self.phones[phoneIndex].exchanges[exchange].eventsMax = self.rule(of: fault)?.eventsMax
        self.judgeCut(exchange, phoneIndex)
    }

    /// The phone's side refuses a request as it is sent, and faults are observed before phones.
    private mutating func refused(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int,
        by fault: Int
    ) {
        self.refusals.append(
            Refusal(phoneIndex: phoneIndex, scan: scan, operation: operation, attempt: attempt, fault: fault))
    }

    /// An event of a stream was made unreadable. The first of a job is new to its phone, which reports it as ignored.
    private mutating func garbled(_ index: Int, _ phoneIndex: Int) {
        guard let id = self.phones[phoneIndex].exchanges[index].job,
            let job = self.phones[phoneIndex].jobs.lastIndex(where: { $0.id == id }),
            !self.phones[phoneIndex].jobs[job].isGarbled
        else { return }
        self.phones[phoneIndex].jobs[job].isGarbled = true
        self.phones[phoneIndex].exchanges[index].isGarbled = true
    }

    /// Removes doubts whose cause was found.
    mutating func dispel(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard !self.doubts.isEmpty else { return }
        self.doubts.removeAll {
            $0.phoneIndex == phoneIndex && $0.scan == scan && $0.operation == operation
                && $0.attempt == attempt
        }
    }

    func hasFired(_ exchange: Exchange, _ fits: (FaultEffect) -> Bool) -> Bool {
        if exchange.fired == 0 { return false }
        return self.settings.faults.indices.contains {
            exchange.fired & (1 << UInt64(min($0, Self.lastFaultBit))) != 0 && fits(self.settings.faults[$0])
        }
    }

    func isCut(_ exchange: Exchange, _ fits: (CutEffect) -> Bool = { _ in true }) -> Bool {
        self.hasFired(exchange) { if case .cut(let cut) = $0 { fits(cut) } else { false } }
    }

    /// Returns the status with which a fault answered a request; nil if none did.
    func statusDue(_ exchange: Exchange) -> Int? {
        guard exchange.fired != 0 else { return nil }
        for fault in self.settings.faults.indices.prefix(Self.lastFaultBit)
        where exchange.fired & (1 << UInt64(fault)) != 0 {
            switch self.settings.faults[fault] {
            case .limit: return 429
            case .status(let status): return status
            case .tokenRevoked, .jobGone, .jobFailed, .degraded, .slowed, .booksStripped,
                .resultsTruncated, .resultsReordered, .eventAdded, .eventGarbled, .secondTerminal,
                .noTerminal,
                .replayFromStart, .eventsForgotten, .noPings, .latePings, .cut, .delayed, .refused,
                .ofPhone, .unobserved:
                continue
            }
        }
        return nil
    }
}
