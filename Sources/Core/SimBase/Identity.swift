/// A phone of the fleet: its index in the whole fleet, from 0.
package struct DeviceNumber: Hashable, Comparable, Sendable {
    @usableFromInline package let raw: UInt32
    @inlinable package init(_ raw: UInt32) { self.raw = raw }
    @inlinable package static func == (left: DeviceNumber, right: DeviceNumber) -> Bool {
        left.raw == right.raw
    }
    @inlinable package static func < (left: DeviceNumber, right: DeviceNumber) -> Bool {
        left.raw < right.raw
    }
}

/// A capture of one phone, from 1. Kept with the phone's state folder and never started over.
package struct ScanNumber: Hashable, Comparable, Sendable {
    @usableFromInline package let raw: UInt32
    @inlinable package init(_ raw: UInt32) { self.raw = raw }
    @inlinable package static func == (left: ScanNumber, right: ScanNumber) -> Bool { left.raw == right.raw }
    /// A placeholder for no scan.
    package static let none = ScanNumber(0)
    /// The largest number that a file or a message may give to a scan: there is room for a run after it.
    package static let greatest = ScanNumber(1 << 31)
    @inlinable package static func < (left: ScanNumber, right: ScanNumber) -> Bool { left.raw < right.raw }
}

/// One book of one scan in a library.
package struct ResultKey: Hashable, Sendable {
    package let scan: ScanNumber
    /// Its index among the books of the scan that entered the library, from 0.
    package let ordinal: Int

    package init(scan: ScanNumber, ordinal: Int) {
        self.scan = scan
        self.ordinal = ordinal
    }
}
