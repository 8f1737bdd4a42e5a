package import Ledger
package import RunJudge
package import SimBase
package import Talaria

// What a run did, in the words of its journeys.
extension RunResult {
    /// What all phones did.
    package var noun: WorkNoun { WorkNoun(self.groups.map(\.journey)) }

    /// What one phone did; that of a phone of no group is `scan`.
    package func journey(of device: DeviceNumber) -> Journey {
        // A result of one group has the numbers of the whole fleet.
        if self.groups.count == 1, let group = self.groups.first { return group.journey }
        var first = 0
        for group in self.groups {
            if Int(device.raw) < first + group.devices { return group.journey }
            first += group.devices
        }
        return .scan
    }

    /// `phone 17, batch 2`; the phone alone without a scan.
    func place(_ device: DeviceNumber, _ scan: ScanNumber) -> String {
        "phone \(device.raw)"
            + (scan == .none ? "" : ", \(WorkNoun(self.journey(of: device)).one) \(scan.raw)")
    }

    /// `phone 3, scan 1 at 0:02`.
    func place(_ device: DeviceNumber, _ scan: ScanNumber, at moment: Instant) -> String {
        "\(self.place(device, scan)) at \(Figures.clock(moment.nanoseconds))"
    }

    /// The phone, the scan and the time: `phone 17, scan 2, at 12.480 s`.
    package func place(of violation: Violation) -> String {
        let noun = violation.device.map { WorkNoun(self.journey(of: $0)) } ?? self.noun
        let phone = violation.device.map { "phone \($0.raw), " } ?? ""
        let scan = violation.scan == .none ? "" : "\(noun.one) \(violation.scan.raw), "
        return "\(phone)\(scan)at \(Figures.seconds(violation.at.nanoseconds)) s"
    }

    /// What was begun by kind, where there are several: `180 scans, 90 batches`.
    var kindsBegun: [(noun: WorkNoun, count: Int)] {
        var kinds: [(noun: WorkNoun, count: Int)] = []
        for group in self.groups {
            let noun = WorkNoun(group.journey)
            if let index = kinds.firstIndex(where: { $0.noun == noun }) {
                kinds[index].count += group.totals.scans.begun
            } else {
                kinds.append((noun, group.totals.scans.begun))
            }
        }
        return kinds
    }

    /// `180 scans, 90 batches`; nil for a fleet in which all do the same.
    var kindsText: String? {
        let kinds = self.kindsBegun
        guard kinds.count > 1 else { return nil }
        return kinds.map { Figures.count($0.count, $0.noun) }.joined(separator: ", ")
    }
}
