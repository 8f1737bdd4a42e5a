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

extension HarnessPhone {
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
        let request: RequestKey
        let at: Instant
    }

    /// The number of latest scans and faults that are remembered for each phone.
    static let firingsKept = 128

    /// An exchange was opened that a fault may hit.
    mutating func opened(
        _ fault: Int, _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet
    ) {
        guard fleet.rule(of: fault)?.firingsMax != nil else { return }
        let request = RequestKey(operation, scan, attempt)
        self.armed.append(
            ArmedExchange(fault: fault, request: request, at: fleet.now), max: Self.firingsKept)
    }

    /// Whether an exchange was open already when the fault had fired as often as it may: such an exchange keeps it.
    private func wasOpen(_ firings: Firings, _ operation: Talaria.Operation, _ attempt: UInt32) -> Bool {
        guard let fullAt = firings.fullAt else { return false }
        let request = RequestKey(operation, firings.scan, attempt)
        return self.armed.contains { $0.fault == firings.fault && $0.request == request && $0.at <= fullAt }
    }

    /// A fault has fired for a scan of a phone.
    mutating func holdToRule(
        _ fault: Int, _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet
    ) {
        self.holdToScope(fault, scan, &fleet)
        guard let most = fleet.rule(of: fault)?.firingsMax else { return }
        guard
            let index = self.firings.firstIndex(where: {
                $0.fault == fault && $0.scan == scan
            })
        else {
            if self.firings.count == Self.firingsKept { self.firings.removeFirst() }
            self.firings.append(
                Firings(
                    fault: fault, scan: scan, count: 1, at: fleet.now, fullAt: most == 1 ? fleet.now : nil))
            return
        }
        guard self.firings[index].at < fleet.now else { return }
        self.firings[index].at = fleet.now
        let firings = self.firings[index]
        guard !self.wasOpen(firings, operation, attempt) else { return }
        self.firings[index].count += 1
        if firings.count + 1 == most { self.firings[index].fullAt = fleet.now }
        guard self.firings[index].count == most + 1 else { return }
        self.error(
            "fault \(fault + 1) of the list fired \(most + 1) times for one scan (maximum: \(most))", scan,
            &fleet)
    }

    /// A fault has hit a phone.
    mutating func holdToScope(_ fault: Int, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        guard let rule = fleet.rule(of: fault) else { return }
        if let group = rule.group, fleet.settings.fleet.group(of: self.device) != group {
            self.error("fault \(fault + 1) of the list affected a phone of another group", scan, &fleet)
        }
        if let phone = rule.phone, self.device != phone {
            self.error("fault \(fault + 1) of the list affected another phone than its own", scan, &fleet)
        }
        if rule.share != nil { self.noteHit(fault, &fleet) }
        if fleet.now < rule.from {
            self.error("fault \(fault + 1) of the list fired before its start time", scan, &fleet)
        }
    }

    private mutating func noteHit(_ fault: Int, _ fleet: inout HarnessFleet) {
        guard fault < Self.lastFaultBit, self.hitBy & (1 << UInt64(fault)) == 0 else { return }
        self.hitBy |= 1 << UInt64(fault)
        while fleet.hits.count <= fault { fleet.hits.append(0) }
        fleet.hits[fault] += 1
    }
}
