package import SimBase

/// Which group of the scenario each phone belongs to.
package struct PhoneGroups: Hashable, Sendable {
    /// The names of the groups, in the order of the scenario.
    package let groups: [String]
    /// The group of each phone, by its number.
    private let indexes: [UInt16]

    /// `groupOfDevice` holds an index in `groups` for each phone, from phone 0.
    package init(groups: [String], groupOfDevice: [UInt16]) {
        precondition(groupOfDevice.allSatisfy { Int($0) < groups.count }, "a phone's group must exist")
        self.groups = groups
        self.indexes = groupOfDevice
    }

    /// Phones are numbered group by group.
    package init(_ groups: [(name: String, devices: Int)]) {
        self.init(
            groups: groups.map(\.name),
            groupOfDevice: groups.enumerated().flatMap { index, group in
                Array(repeating: UInt16(index), count: max(0, group.devices))
            })
    }

    /// The map without groups.
    package static let ungrouped = PhoneGroups(groups: [], groupOfDevice: [])

    /// The number of its phones.
    package var count: Int { self.indexes.count }

    /// Nil for a phone that belongs to no group: a foreign client, or a phone beyond the fleet.
    package func group(of device: DeviceNumber) -> Int? {
        let index = Int(device.raw)
        return index < self.indexes.count ? Int(self.indexes[index]) : nil
    }

    /// The value of a phone's group in a list by groups; nil if the list has none for it.
    package func value<Value>(of device: DeviceNumber, in values: [Value]) -> Value? {
        self.group(of: device).flatMap { $0 < values.count ? values[$0] : nil }
    }

    package func metricGroup(of device: DeviceNumber) -> MetricGroup {
        self.group(of: device).map { MetricGroup(index: $0) } ?? .none
    }
}
