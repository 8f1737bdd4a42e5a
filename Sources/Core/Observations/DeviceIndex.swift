package import SimBase
import Talaria

/// The indexes that were given to devices, in whatever list: by number for a fleet, and by key for
/// callers from elsewhere.
package struct DeviceIndex: Sendable {
    package init() {}

    private static let fleetMax: UInt32 = 1 << 20
    /// The index by device number; below 0 for none.
    private var ofFleet: [Int32] = []
    private var ofOthers: [DeviceNumber: Int] = [:]

    package subscript(device: DeviceNumber) -> Int? {
        get {
            guard device.raw < Self.fleetMax else { return self.ofOthers[device] }
            guard Int(device.raw) < self.ofFleet.count else { return nil }
            let index = self.ofFleet[Int(device.raw)]
            return index < 0 ? nil : Int(index)
        }
        set {
            guard device.raw < Self.fleetMax else {
                self.ofOthers[device] = newValue
                return
            }
            while Int(device.raw) >= self.ofFleet.count { self.ofFleet.append(-1) }
            self.ofFleet[Int(device.raw)] = newValue.map { Int32($0) } ?? -1
        }
    }
}
