package import SimBase

/// The scans whose records a state folder has lost, as a warning names them.
package struct LostRecords: Equatable, Sendable {
    private static let namedMax = 10

    private var named: [String] = []
    private var count = 0

    package init() {}

    package mutating func add(_ scan: ScanNumber, of device: DeviceNumber) {
        self.count += 1
        guard self.named.count < Self.namedMax else { return }
        self.named.append("phone \(device.raw) scan \(scan.raw)")
    }

    /// Nil when there are none. `hasBackendView`: whether the number of their books is known.
    package func warning(hasBackendView: Bool) -> String? {
        guard self.count > 0 else { return nil }
        let more = self.count - self.named.count
        return "records of unfinished scans are missing from the state folder: "
            + self.named.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
            + (hasBackendView ? "" : "; their number of books is unknown and not counted")
    }
}
