/// A part of a fleet: every phone whose number leaves the shard's index when it is divided by the number of shards. Each
/// shard therefore has its part of every group.
package struct FleetShard: Hashable, Sendable {
    /// The maximum number of shards of one run.
    package static let countMax = 1_000

    /// From 0.
    package let index: Int
    package let count: Int

    package init(index: Int, count: Int) {
        precondition((0..<count).contains(index), "a shard is one of its number")
        self.index = index
        self.count = count
    }

    /// The only shard of a fleet that is not divided.
    package static let whole = FleetShard(index: 0, count: 1)

    package var isWhole: Bool { self.count == 1 }

    package func has(_ device: DeviceNumber) -> Bool { Int(device.raw) % self.count == self.index }

    /// The index of one of its phones among them.
    package func index(of device: DeviceNumber) -> Int { Int(device.raw) / self.count }

    /// Its phones among these, in their order.
    package func phones(of devices: Range<UInt32>) -> some Sequence<UInt32> {
        let (count, index) = (UInt32(self.count), UInt32(self.index))
        let first = devices.lowerBound + (index + count - devices.lowerBound % count) % count
        return stride(from: first, to: devices.upperBound, by: Int(count))
    }

    /// The number of its phones among these.
    package func phoneCount(of devices: Range<UInt32>) -> Int {
        func below(_ bound: UInt32) -> Int { (Int(bound) - self.index + self.count - 1) / self.count }
        return below(devices.upperBound) - below(devices.lowerBound)
    }
}

extension FleetShard: CustomStringConvertible {
    /// `2/4`, the index from 0.
    package var description: String { "\(self.index)/\(self.count)" }

    /// Reads `2/4`; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let index = Int(parts[0]), let count = Int(parts[1]), (1...Self.countMax).contains(count),
            index < count
        else { return nil }
        self.init(index: index, count: count)
    }
}
