package import Phone
package import SimBase

extension Arrival {
    package static func photoDraw(_ random: KeyedRandom, _ device: DeviceNumber, _ ordinal: Int) -> UInt64 {
        random.draw(.photo, UInt64(device.raw), UInt64(ordinal))
    }
}

/// The times of the arrivals of an open group, without their phones.
struct ArrivalTimes: IteratorProtocol, Sendable {
    private let curve: ArrivalCurve
    private let spacing: ArrivalSpacing
    private let random: KeyedRandom
    private let entity: UInt64
    private var index = 0
    /// The number of random arrivals so far.
    private var position: ArrivalPosition = 0

    /// `entity` keys the draws: two groups must not share it.
    init(curve: ArrivalCurve, spacing: ArrivalSpacing, random: KeyedRandom, entity: UInt64) {
        self.curve = curve
        self.spacing = spacing
        self.random = random
        self.entity = entity
    }

    /// Nil when the schedule is over. One without an end is endless and saturates at the end of time.
    mutating func next() -> Instant? {
        defer { self.index += 1 }
        switch self.spacing {
        case .uniform:
            return self.curve.moment(of: self.index)
        case .burst(let size):
            // A burst is due when the last of it would be due by itself, so that the rate is kept from the start on.
            return self.curve.moment(of: self.index / size * size + size - 1)
        case .poisson:
            // Random arrivals of any rate are those of rate 1, on a clock that runs as the curve rises.
            let draw = self.random.draw(.arrival, self.entity, UInt64(self.index))
            self.position += ArrivalPosition(Exponential.draw(draw))
            return self.curve.moment(of: self.position)
        }
    }
}

/// The arrivals of one open group in order.
private struct GroupArrivals: Sendable {
    private let first: UInt32
    private let until: Instant
    private let random: KeyedRandom
    private let entity: UInt64
    private var times: ArrivalTimes
    /// Phones that have scans left, by their index in the group, and what each has left.
    private var open: [UInt32]
    private var left: [UInt32]
    private let scans: Int
    private var index: UInt64 = 0
    private(set) var nextAt: Instant?

    /// Nil for a closed group, which has no schedule.
    init?(_ group: PlannedGroup, until: Instant, random: KeyedRandom) {
        guard let times = group.times(random: random) else { return nil }
        self.first = group.first.raw
        self.until = until
        self.random = random
        self.entity = group.entity
        self.times = times
        self.open = Array(0..<UInt32(group.spec.devices))
        self.left = Array(repeating: UInt32(group.spec.scansPerDevice), count: group.spec.devices)
        self.scans = group.spec.scansPerDevice
        self.advance()
    }

    private mutating func advance() {
        let next = self.open.isEmpty ? nil : self.times.next()
        self.nextAt = next.flatMap { $0 < self.until ? $0 : nil }
    }

    mutating func take() -> Arrival? {
        guard let at = self.nextAt else { return nil }
        let index = Int(self.random.below(UInt64(self.open.count), .arrivalDevice, self.entity, self.index))
        let member = Int(self.open[index])
        self.left[member] -= 1
        let ordinal = self.scans - Int(self.left[member])
        if self.left[member] == 0 {
            self.open.swapAt(index, self.open.count - 1)
            self.open.removeLast()
        }
        let device = DeviceNumber(self.first + UInt32(member))
        self.index += 1
        self.advance()
        return Arrival(
            scheduled: at, device: device, ordinal: ordinal,
            photoDraw: Arrival.photoDraw(self.random, device, ordinal))
    }
}

/// The scheduled arrivals of the whole fleet, those of its open groups, in the order of their moments; of equal moments the earlier group comes first.
///
/// The schedule of a shard has the same moments: it is the whole one without the arrivals of other phones.
package struct ArrivalSchedule: Sequence, IteratorProtocol, Sendable {
    private var groups: [GroupArrivals]
    private let shard: FleetShard

    init(_ groups: [PlannedGroup], until: Instant, random: KeyedRandom, shard: FleetShard) {
        self.groups = groups.compactMap { GroupArrivals($0, until: until, random: random) }
        self.shard = shard
    }

    package mutating func next() -> Arrival? {
        while let arrival = self.nextOfFleet() {
            if self.shard.has(arrival.device) { return arrival }
        }
        return nil
    }

    private mutating func nextOfFleet() -> Arrival? {
        var earliest: (at: Instant, group: Int)?
        for (index, group) in self.groups.enumerated() {
            guard let at = group.nextAt, at < earliest?.at ?? .distantFuture else { continue }
            earliest = (at, index)
        }
        return earliest.flatMap { self.groups[$0.group].take() }
    }
}
