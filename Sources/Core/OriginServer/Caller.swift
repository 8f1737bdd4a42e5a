package import SimBase

/// A request with its answer; unique within a run.
package struct ExchangeID: Hashable, Sendable {
    @usableFromInline package let raw: UInt64
    package init(_ raw: UInt64) { self.raw = raw }
    @inlinable package static func == (left: ExchangeID, right: ExchangeID) -> Bool { left.raw == right.raw }
}

/// The phone and the scan that a request is attributed to: from `traceparent` or, for clients without it, the
/// hash of their device id and a counter of their uploads. Never used for decisions that the contract makes
/// by device id and token.
package struct Caller: Hashable, Sendable {
    package var device: DeviceNumber
    /// The number of the scan; for an upload of a foreign client, the number of its uploads so far, from 1.
    package var scan: ScanNumber
    package var attempt: UInt32

    package init(device: DeviceNumber, scan: ScanNumber, attempt: UInt32) {
        self.device = device
        self.scan = scan
        self.attempt = attempt
    }

    private static let foreignersFrom: UInt32 = 0x8000_0000

    /// The number of a foreign client: in the upper half of the numbers, so that none is mistaken for a phone of the
    /// fleet.
    package static func foreigner(_ hash: UInt64) -> DeviceNumber {
        DeviceNumber(UInt32(truncatingIfNeeded: hash) | Self.foreignersFrom)
    }

    package var isForeign: Bool { self.device.raw >= Self.foreignersFrom }
}
