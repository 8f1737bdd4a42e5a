package import Phone
package import SimBase

extension Arrival {
    package static func photoDraw(_ random: KeyedRandom, _ device: DeviceNumber, _ ordinal: Int) -> UInt64 {
        random.draw(.photo, UInt64(device.raw), UInt64(ordinal))
    }
}

/// The times of the arrivals of an open group, without their phones.
struct ArrivalTimes: IteratorProtocol, Sendable {
    private var curve: ArrivalCurve
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

    /// Adds a stage to a load in steps, at the end of those that are known.
    mutating func extend(_ stage: ArrivalStage) {
        guard case .staged(let stages) = self.curve else { return }
        self.curve = .staged(ArrivalStages(stages.stages + [stage]))
    }

    /// Nil when the schedule is over, as far as it is known. One without an end is endless and saturates at the end of time.
    mutating func next() -> Instant? {
        var position = self.position
        let moment: Instant?
        switch self.spacing {
        case .uniform:
            moment = self.curve.moment(of: self.index)
        case .burst(let size):
            // A burst is due when the last of it would be due by itself, so that the rate is kept from the start on.
            moment = self.curve.moment(of: self.index / size * size + size - 1)
        case .poisson:
            // Random arrivals of any rate are those of rate 1, on a clock that runs as the curve rises.
            let draw = self.random.draw(.arrival, self.entity, UInt64(self.index))
            position += ArrivalPosition(Exponential.draw(draw))
            moment = self.curve.moment(of: position)
        }
        // What is not reached yet is drawn again when the curve is longer.
        guard let moment else { return nil }
        self.index += 1
        self.position = position
        return moment
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
    init?(_ group: PlannedGroup, until: Instant, random: KeyedRandom, stepsAreDecided: Bool) {
        let first = stepsAreDecided ? nil : group.firstStage
        guard let times = group.times(random: random, knownUntil: first) else { return nil }
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

    /// Adds a stage to a load in steps.
    mutating func extend(_ stage: ArrivalStage) {
        self.times.extend(stage)
        if self.nextAt == nil { self.advance() }
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

/// The scheduled arrivals of the whole fleet, those of its open groups, in the order of their times; of equal
/// times the earlier group comes first.
///
/// The schedule of a shard has the same times: it is the whole one without the arrivals of other phones.
package struct ArrivalSchedule: Sequence, IteratorProtocol, Sendable {
    private var groups: [GroupArrivals]
    private let shard: FleetShard
    /// Whether more arrivals may come than are known.
    package private(set) var isOpenEnded: Bool

    /// `stepsAreDecided`: whether the load in steps is that of a run whose every step holds, and not only the first stage.
    init(
        _ groups: [PlannedGroup], until: Instant, random: KeyedRandom, shard: FleetShard,
        stepsAreDecided: Bool
    ) {
        self.groups = groups.compactMap {
            GroupArrivals($0, until: until, random: random, stepsAreDecided: stepsAreDecided)
        }
        self.shard = shard
        self.isOpenEnded = !stepsAreDecided && groups.contains { $0.firstStage != nil }
    }

    /// Adds a stage to the load in steps, at the end of those that are known; nil ends it.
    package mutating func extend(_ stage: ArrivalStage?) {
        guard let stage else { return self.isOpenEnded = false }
        for index in self.groups.indices { self.groups[index].extend(stage) }
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
