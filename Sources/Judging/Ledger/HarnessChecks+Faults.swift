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
        let effect = self.settings.faults[fault]
        let index = self.exchangeIndex(operation, scan, attempt, phoneIndex)
        if let index {
            self.phones[phoneIndex].exchanges[index].fired |= 1 << UInt64(min(fault, Self.lastFaultBit))
        }
        self.dispel(operation, attempt, scan, phoneIndex)
        let isAnswered = { (status: Int) in
            { (effect: Effect) in
                effect.kind == .answered(operation, status: status) && effect.attempt == attempt
            }
        }
        func is_(_ kind: Effect.Kind) -> (Effect) -> Bool { { $0.kind == kind } }
        let isSeen: Bool
        switch effect {
        case .limit:
            self.limitFired(fault, scan, attempt: attempt, phoneIndex)
            isSeen = self.explain(scan, phoneIndex, where: isAnswered(429))
        case .status(let status):
            if operation == .upload { self.limitFired(fault, scan, attempt: attempt, phoneIndex) }
            isSeen = self.explain(scan, phoneIndex, where: isAnswered(status))
        case .tokenRevoked:
            if self.server == nil, let job = index.flatMap({ self.phones[phoneIndex].exchanges[$0].job }) {
                if self.phones[phoneIndex].revoked.count == Self.exchangesMax {
                    self.phones[phoneIndex].revoked.removeFirst()
                }
                self.phones[phoneIndex].revoked.append((job, self.now))
            }
            _ = self.explain(scan, phoneIndex, where: isAnswered(401))
            // Where no token is needed, one that is over changes nothing.
            isSeen =
                self.explain(scan, phoneIndex, where: is_(.tokenRevoked))
                || self.server.map { !$0.dialect.hasAuthorization } ?? false
        case .jobGone(let status):
            _ = self.explain(scan, phoneIndex, where: isAnswered(status))
            isSeen = self.explain(scan, phoneIndex, where: is_(.vanished))
        case .jobFailed:
            // Another fault may take the job away as it fails.
            isSeen =
                self.explain(scan, phoneIndex, where: is_(.jobFailed))
                || self.explain(scan, phoneIndex, where: is_(.vanished))
        case .degraded:
            for job in self.phones[phoneIndex].jobs.indices
            where self.phones[phoneIndex].jobs[job].scan == scan {
                self.phones[phoneIndex].jobs[job].isDegraded = true
            }
            // A dialect may tell all books of a job at once.
            isSeen = self.explain(scan, phoneIndex, where: is_(.degraded))
            while self.explain(scan, phoneIndex, where: { $0.kind == .degraded && $0.needsFault }) {}
        case .secondTerminal:
            let written = self.effects.count {
                $0.phoneIndex == phoneIndex && $0.scan == scan && $0.kind == .terminalWritten
            }
            isSeen = written >= 2 || !self.completesOnce
        case .noTerminal:
            _ = self.explain(scan, phoneIndex) { $0.kind == .terminalOmitted && $0.attempt == attempt }
            isSeen =
                self.explain(scan, phoneIndex) { $0.kind == .streamEnded && $0.attempt == attempt }
                || !self.completesOnce
        case .replayFromStart:
            isSeen = self.explain(scan, phoneIndex) { $0.kind == .startedOver && $0.attempt == attempt }
        case .slowed, .noPings, .latePings, .eventsForgotten:
            if let index, let job = self.phones[phoneIndex].exchanges[index].job {
                self.change(job, by: effect, attempt: attempt, phoneIndex)
            }
            isSeen = true
        case .eventAdded:
            if let index { self.phones[phoneIndex].exchanges[index].eventsAdded += 1 }
            isSeen = true
        case .cut:
            if let index {
                self.phones[phoneIndex].exchanges[index].cutAt = self.now
                // Of a foreign backend, what is new is its own matter: the gateway says what has passed.
                if self.server != nil {
                    self.phones[phoneIndex].exchanges[index].eventsMax = self.rule(of: fault)?.eventsMax
                    self.judgeCut(index, phoneIndex)
                }
            }
            isSeen = true
        case .refused:
            // The phone's side refuses a request as it is sent, and faults are observed before phones.
            if index == nil {
                self.refusals.append(
                    Refusal(
                        phoneIndex: phoneIndex, scan: scan, operation: operation, attempt: attempt,
                        fault: fault))
            }
            isSeen = true
        case .eventGarbled:
            if let index { self.garbled(index, phoneIndex) }
            isSeen = true  // The phone sees it, later.
        case .delayed, .booksStripped, .resultsTruncated, .resultsReordered, .ofPhone, .unobserved:
            isSeen = true  // The phone sees it, later.
        }
        guard !isSeen, self.server != nil else { return }
        self.error(
            "fault \(fault + 1) of the list fired (\(operation.name), attempt \(attempt)) without effect",
            scan, phoneIndex)
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
