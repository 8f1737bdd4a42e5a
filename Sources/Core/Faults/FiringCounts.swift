import SimBase

/// The number of firings of each fault for each scan, for a bounded number of scans.
struct FiringCounts: Sendable {
    private struct ScanKey: Hashable, Sendable {
        var device: DeviceNumber
        var scan: ScanNumber
    }

    private struct FiringCount: Sendable {
        var fault: Int
        var count: Int
    }

    private let scansMax: Int
    private var tallies: [ScanKey: [FiringCount]] = [:]
    /// Keys in the order of their first firing, from `oldest` on.
    private var order: [ScanKey] = []
    private var oldest = 0

    init(scansMax: Int) {
        precondition(scansMax > 0, "a memory of size zero would let every fault repeat")
        self.scansMax = scansMax
    }

    var scans: Int { self.tallies.count }

    func count(_ fault: Int, device: DeviceNumber, scan: ScanNumber) -> Int {
        let key = ScanKey(device: device, scan: scan)
        return self.tallies[key]?.first { $0.fault == fault }?.count ?? 0
    }

    mutating func add(_ fault: Int, device: DeviceNumber, scan: ScanNumber) {
        let key = ScanKey(device: device, scan: scan)
        if self.tallies[key] == nil {
            self.makeRoom()
            self.order.append(key)
        }
        var tallies = self.tallies.removeValue(forKey: key) ?? []
        if let index = tallies.firstIndex(where: { $0.fault == fault }) {
            tallies[index].count += 1
        } else {
            tallies.append(FiringCount(fault: fault, count: 1))
        }
        self.tallies[key] = tallies
    }

    /// Takes back one firing that did not take effect.
    mutating func takeBack(_ fault: Int, device: DeviceNumber, scan: ScanNumber) {
        let key = ScanKey(device: device, scan: scan)
        guard var tallies = self.tallies[key], let index = tallies.firstIndex(where: { $0.fault == fault }),
            tallies[index].count > 0
        else { return }
        tallies[index].count -= 1
        self.tallies[key] = tallies
    }

    private mutating func makeRoom() {
        while self.tallies.count >= self.scansMax, self.oldest < self.order.count {
            self.tallies[self.order[self.oldest]] = nil
            self.oldest += 1
        }
        // The list of keys is cleared of forgotten ones when they make up more than half of it.
        if self.order.count >= 1_024, self.order.count > 2 * self.tallies.count {
            let kept = self.order[self.oldest...].filter { self.tallies[$0] != nil }
            self.order = kept
            self.oldest = 0
        }
    }
}
