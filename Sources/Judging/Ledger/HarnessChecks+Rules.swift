import Metrics
package import SimBase
import Talaria

// Whom faults may hit, how often and when: what the scenario says of each, whatever the fault layer decides.

/// The scope and limits of one fault in the scenario, without its effect.
package struct FaultRule: Hashable, Sendable {
    /// The index of the one group that it may hit; nil if it may hit others.
    package var group: Int?
    /// The one phone that it may hit; nil if it may hit others.
    package var phone: DeviceNumber?
    /// The share of the phones, in millionths, that it may hit; nil if it may hit all.
    package var share: Int?
    /// The maximum number of firings for one scan; nil for no limit.
    package var firingsMax: Int?
    /// The start of the fault.
    package var from: Instant
    /// The maximum number of new events on a stream that the fault cuts; nil if the position of the cut is
    /// not a number of events.
    package var eventsMax: Int?

    package init(
        group: Int? = nil, share: Int? = nil, firingsMax: Int? = nil, from: Instant = .zero,
        eventsMax: Int? = nil
    ) {
        self.group = group
        self.share = share
        self.firingsMax = firingsMax
        self.from = from
        self.eventsMax = eventsMax
    }
}

extension HarnessChecks {
    /// The number of firings of a fault for a scan.
    struct Firings: Sendable {
        let fault: Int
        let scan: ScanNumber
        var count: Int
        /// The last time. What is written to several streams of a job at once counts once.
        var at: Instant
        /// The time at which it had fired as often as it may; nil until then.
        var fullAt: Instant?
    }

    /// An exchange that a fault may hit, from its beginning on.
    struct ArmedExchange: Sendable {
        let fault: Int
        let scan: ScanNumber
        let operation: Talaria.Operation
        let attempt: UInt32
        let at: Instant
    }

    /// The number of latest scans and faults that are remembered for each phone.
    static let firingsKept = 64

    func rule(of fault: Int) -> FaultRule? {
        fault < self.settings.rules.count ? self.settings.rules[fault] : nil
    }

    /// An exchange was opened that a fault may hit.
    mutating func opened(
        _ fault: Int, _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard self.rule(of: fault)?.firingsMax != nil else { return }
        if self.phones[phoneIndex].armed.count == Self.firingsKept {
            self.phones[phoneIndex].armed.removeFirst()
        }
        self.phones[phoneIndex].armed.append(
            ArmedExchange(fault: fault, scan: scan, operation: operation, attempt: attempt, at: self.now))
    }

    /// Whether an exchange was open already when the fault had fired as often as it may: such an exchange keeps it.
    private func wasOpen(
        _ firings: Firings, _ operation: Talaria.Operation, _ attempt: UInt32, _ phoneIndex: Int
    ) -> Bool {
        guard let fullAt = firings.fullAt else { return false }
        return self.phones[phoneIndex].armed.contains {
            $0.fault == firings.fault && $0.scan == firings.scan && $0.operation == operation
                && $0.attempt == attempt && $0.at <= fullAt
        }
    }

    /// A fault has fired for a scan of a phone.
    mutating func holdToRule(
        _ fault: Int, _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        self.holdToScope(fault, scan, phoneIndex)
        guard let most = self.rule(of: fault)?.firingsMax else { return }
        guard
            let index = self.phones[phoneIndex].firings.firstIndex(where: {
                $0.fault == fault && $0.scan == scan
            })
        else {
            if self.phones[phoneIndex].firings.count == Self.firingsKept {
                self.phones[phoneIndex].firings.removeFirst()
            }
            self.phones[phoneIndex].firings.append(
                Firings(
                    fault: fault, scan: scan, count: 1, at: self.now, fullAt: most == 1 ? self.now : nil))
            return
        }
        guard self.phones[phoneIndex].firings[index].at < self.now else { return }
        self.phones[phoneIndex].firings[index].at = self.now
        let firings = self.phones[phoneIndex].firings[index]
        guard !self.wasOpen(firings, operation, attempt, phoneIndex) else { return }
        self.phones[phoneIndex].firings[index].count += 1
        if firings.count + 1 == most { self.phones[phoneIndex].firings[index].fullAt = self.now }
        guard self.phones[phoneIndex].firings[index].count == most + 1 else { return }
        self.error(
            "fault \(fault + 1) of the list fired \(most + 1) times for one scan (maximum: \(most))", scan,
            phoneIndex)
    }

    /// A fault has hit a phone.
    mutating func holdToScope(_ fault: Int, _ scan: ScanNumber, _ phoneIndex: Int) {
        guard let rule = self.rule(of: fault) else { return }
        if let group = rule.group, self.settings.fleet.group(of: self.phones[phoneIndex].device) != group {
            self.error("fault \(fault + 1) of the list affected a phone of another group", scan, phoneIndex)
        }
        if let phone = rule.phone, self.phones[phoneIndex].device != phone {
            self.error("fault \(fault + 1) of the list affected another phone than its own", scan, phoneIndex)
        }
        if rule.share != nil { self.noteHit(fault, phoneIndex) }
        if self.now < rule.from {
            self.error("fault \(fault + 1) of the list fired before its start time", scan, phoneIndex)
        }
    }

    private mutating func noteHit(_ fault: Int, _ phoneIndex: Int) {
        guard fault < Self.lastFaultBit, self.phones[phoneIndex].hitBy & (1 << UInt64(fault)) == 0 else {
            return
        }
        self.phones[phoneIndex].hitBy |= 1 << UInt64(fault)
        while self.hits.count <= fault { self.hits.append(0) }
        self.hits[fault] += 1
    }

    /// The end of the run: who is hit is drawn for each phone, so that the number of those hit is binomial.
    mutating func judgeShares() {
        for (fault, hit) in self.hits.enumerated() {
            let (phones, million) = (self.settings.phones, 1_000_000)
            // A share of none or of all leaves nothing to chance.
            guard let share = self.rule(of: fault)?.share, (1..<million).contains(share),
                hit <= phones, hit * million > phones * share,
                ChernoffBound.exponent(hit, of: phones, share: share, of: million)
                    > BackoffSamples.exponentMin
            else { continue }
            self.errors.add(
                "fault \(fault + 1) of the list has a scope of \(share) in a million phones, but affected \(hit) of \(phones)",
                device: nil, scan: .none, at: self.now)
        }
    }
}
