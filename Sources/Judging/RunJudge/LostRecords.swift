package import SimBase

/// The scans whose records a state folder has lost, the first of them by name.
package struct LostRecords: Hashable, Sendable {
    private static let namedMax = 10

    package private(set) var named: [String]
    /// Those without a name.
    package private(set) var more: Int

    package init(_ named: [String] = [], more: Int = 0) {
        self.named = named
        self.more = more
    }

    package mutating func add(_ scan: ScanNumber, of device: DeviceNumber) {
        guard self.named.count < Self.namedMax else { return self.more += 1 }
        self.named.append("phone \(device.raw) scan \(scan.raw)")
    }

    /// Nil if there are none. `areBooksKnown`: whether the number of their books is.
    package func remark(areBooksKnown: Bool) -> Remark? {
        !self.named.isEmpty ? .start(.recordsLost(self, areBooksKnown: areBooksKnown)) : nil
    }
}
