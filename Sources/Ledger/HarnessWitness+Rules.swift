package import SimBase
import Talaria

// Whom faults may hit, how often and when: what the scenario says of each, whatever the fault layer decides.

/// What a scenario says of one fault, beside what it does.
package struct FaultRule: Hashable, Sendable {
    /// The place of the one group that it may hit; nil where it may hit others.
    package var group: Int?
    /// How often it may fire for one scan; nil without a limit.
    package var firingsMax: Int?
    /// When it wakes up.
    package var from: Instant
    /// For a cut of a stream: no more new events than these come through; nil where the place of the cut is not told by events.
    package var eventsMax: Int?

    package init(group: Int? = nil, firingsMax: Int? = nil, from: Instant = .zero, eventsMax: Int? = nil) {
        self.group = group
        self.firingsMax = firingsMax
        self.from = from
        self.eventsMax = eventsMax
    }
}

extension HarnessWitness {
    /// How often a fault has fired for a scan.
    struct Firings: Sendable {
        let fault: Int
        let scan: ScanNumber
        var count: Int
    }

    /// Of one phone, the latest.
    static let firingsKept = 64

    func rule(of fault: Int) -> FaultRule? {
        fault < self.settings.rules.count ? self.settings.rules[fault] : nil
    }

    /// A fault has fired for a scan of a phone.
    mutating func holdToRule(_ fault: Int, _ device: DeviceNumber, _ scan: ScanNumber, _ place: Int) {
        self.holdToScope(fault, device, scan)
        guard let most = self.rule(of: fault)?.firingsMax else { return }
        guard
            let index = self.phones[place].firings.firstIndex(where: { $0.fault == fault && $0.scan == scan })
        else {
            if self.phones[place].firings.count == Self.firingsKept {
                self.phones[place].firings.removeFirst()
            }
            self.phones[place].firings.append(Firings(fault: fault, scan: scan, count: 1))
            return
        }
        self.phones[place].firings[index].count += 1
        guard self.phones[place].firings[index].count == most + 1 else { return }
        self.errors.add(
            "a fault fired \(most + 1) times for one scan (number \(fault + 1) of the list, at most \(most))",
            device: device, scan: scan, at: self.now)
    }

    /// A fault has hit a phone.
    mutating func holdToScope(_ fault: Int, _ device: DeviceNumber, _ scan: ScanNumber) {
        guard let rule = self.rule(of: fault) else { return }
        if let group = rule.group, self.settings.fleet.group(of: device) != group {
            self.errors.add(
                "a fault hit a phone of another group (number \(fault + 1) of the list)", device: device,
                scan: scan, at: self.now)
        }
        if self.now < rule.from {
            self.errors.add(
                "a fault fired before its time (number \(fault + 1) of the list)", device: device, scan: scan,
                at: self.now)
        }
    }
}
