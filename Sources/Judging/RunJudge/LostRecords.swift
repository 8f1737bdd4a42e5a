package import SimBase

/// The scans whose records a state folder has lost, the first of them by name.
package struct LostRecords: Hashable, Codable, Sendable {
    private static let namedMax = 10

    package private(set) var named: [String] = []
    private var count = 0

    package init() {}

    package mutating func add(_ scan: ScanNumber, of device: DeviceNumber) {
        self.count += 1
        guard self.named.count < Self.namedMax else { return }
        self.named.append("phone \(device.raw) scan \(scan.raw)")
    }

    /// Those without a name.
    package var more: Int { self.count - self.named.count }

    /// Nil if there are none. `areBooksKnown`: whether the number of their books is.
    package func remark(areBooksKnown: Bool) -> Remark? {
        self.count > 0 ? .recordsLost(self, areBooksKnown: areBooksKnown) : nil
    }
}
