package import SimBase

/// The captures of a run that were segmented, and the regions that are not complete.
package struct RegionSummary: Hashable, Sendable {
    package struct Incomplete: Hashable, Sendable {
        package let device: DeviceNumber
        package let text: String

        package init(device: DeviceNumber, text: String) {
            self.device = device
            self.text = text
        }
    }

    /// Incomplete regions that are named: those of the first phones.
    package static let namedMax = 8

    package private(set) var captures: Int
    package private(set) var regions: Int
    package private(set) var complete: Int
    package private(set) var named: [Incomplete] = []
    /// Incomplete regions beyond `namedMax`.
    package private(set) var more = 0

    package init(captures: Int, regions: Int, complete: Int, named: [Incomplete] = [], more: Int = 0) {
        self.captures = captures
        self.regions = regions
        self.complete = complete
        self.named = named
        self.more = more
    }

    /// The phones come in the order of their numbers.
    mutating func add(_ device: DeviceNumber, _ text: String) {
        if self.named.count < Self.namedMax {
            self.named.append(Incomplete(device: device, text: text))
        } else {
            self.more += 1
        }
    }

    /// Adds other phones.
    mutating func add(_ other: RegionSummary) {
        self.captures += other.captures
        self.regions += other.regions
        self.complete += other.complete
        // No phone is in both, and those of one are in their order.
        let all = (self.named + other.named).sorted { $0.device < $1.device }
        self.named = Array(all.prefix(Self.namedMax))
        self.more += other.more + all.count - self.named.count
    }

    /// Nil if nothing was segmented.
    package var remark: Remark? { self.captures > 0 ? .end(.regions(self)) : nil }
}
