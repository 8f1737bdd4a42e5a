import Observations
import SimBase

/// The captures whose photos the app split into regions. A capture is complete when each of its regions is. Each region is a
/// scan, and the other accounts count it as one.
struct RegionAccount: Sendable {
    /// A region that is not complete.
    private struct Region: Sendable {
        let scan: ScanNumber
        let number: Int
        /// The last known state, for people.
        var fate = "not finished"
    }

    private struct Capture: Sendable {
        /// The number of the scan of its first region.
        let first: UInt32
        let regions: Int
        /// The number of regions that were taken so far.
        var taken = 0
        var incomplete: [Region] = []
    }

    private struct Phone: Sendable {
        let device: DeviceNumber
        /// The captures that are not complete.
        var captures: [Capture] = []
    }

    private var indexes = DeviceIndex()
    private var phones: [Phone] = []
    // Counts of the fleet.
    private var captures = 0
    private var regions = 0
    private var complete = 0

    mutating func record(_ observation: borrowing Observation) {
        guard observation.side == .phone, case .phone(let payload) = observation.what else { return }
        switch payload {
        case .regionTaken(let capture, let number, let regions):
            let phone = self.index(of: observation.device)
            self.taken(observation.scan, capture, number, of: regions, phone)
        case .completed: self.completed(observation.scan, of: observation.device)
        case .queued(let cause):
            self.heard("waiting: \(cause.rawValue)", observation.scan, observation.device)
        case .canceled: self.heard("canceled", observation.scan, observation.device)
        case .refused(let code, _): self.heard("refused: \(code)", observation.scan, observation.device)
        default: break
        }
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        self.phones.append(Phone(device: device))
        self.indexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }

    private mutating func taken(
        _ scan: ScanNumber, _ first: UInt32, _ number: Int, of regions: Int, _ phone: Int
    ) {
        self.regions += 1
        if self.phones[phone].captures.last?.first != first {
            self.captures += 1
            self.phones[phone].captures.append(Capture(first: first, regions: regions))
        }
        let last = self.phones[phone].captures.count - 1
        self.phones[phone].captures[last].taken += 1
        self.phones[phone].captures[last].incomplete.append(Region(scan: scan, number: number))
    }

    private mutating func completed(_ scan: ScanNumber, of device: DeviceNumber) {
        guard let (phone, capture, region) = self.find(scan, device) else { return }
        self.phones[phone].captures[capture].incomplete.remove(at: region)
        let known = self.phones[phone].captures[capture]
        guard known.incomplete.isEmpty, known.taken == known.regions else { return }
        self.complete += 1
        self.phones[phone].captures.remove(at: capture)
    }

    private mutating func heard(_ fate: String, _ scan: ScanNumber, _ device: DeviceNumber) {
        guard let (phone, capture, region) = self.find(scan, device) else { return }
        self.phones[phone].captures[capture].incomplete[region].fate = fate
    }

    private func find(_ scan: ScanNumber, _ device: DeviceNumber) -> (phone: Int, capture: Int, region: Int)?
    {
        guard self.captures > 0, let phone = self.indexes[device] else { return nil }
        for (capture, known) in self.phones[phone].captures.enumerated() {
            if let region = known.incomplete.firstIndex(where: { $0.scan == scan }) {
                return (phone, capture, region)
            }
        }
        return nil
    }

    /// The counts and the captures that are not complete, in the order of devices.
    var summary: RegionSummary {
        var summary = RegionSummary(captures: self.captures, regions: self.regions, complete: self.complete)
        for phone in self.phones.sorted(by: { $0.device < $1.device }) {
            for capture in phone.captures {
                for region in capture.incomplete {
                    summary.add(
                        phone.device,
                        "phone \(phone.device.raw) scan \(region.scan.raw), region \(region.number) of \(capture.regions) (\(region.fate))"
                    )
                }
                // The user may have left the screen between two regions.
                guard capture.taken < capture.regions else { continue }
                summary.add(
                    phone.device,
                    "phone \(phone.device.raw) scan \(capture.first), \(capture.regions - capture.taken) of \(capture.regions) regions not taken"
                )
            }
        }
        return summary
    }
}
