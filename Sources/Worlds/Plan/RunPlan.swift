internal import Backend
package import Faults
package import Metrics
package import Phone
package import SimBase
package import Talaria

/// A group with its index in the fleet.
package struct PlannedGroup: Hashable, Sendable {
    package let spec: FleetGroup
    /// The number of its first phone; the others follow.
    package let first: DeviceNumber
    /// The client profile of its phones, with the idle timeout resolved.
    package let profile: ClientProfile

    /// Keys the group's draws by its name, so that another group before it changes nothing but device numbers.
    var entity: UInt64 { Digest.of(self.spec.name) }

    /// Nil for a closed group, which has no schedule.
    func times(random: KeyedRandom, knownUntil stage: ArrivalStage? = nil) -> ArrivalTimes? {
        guard case .open(let curve, let spacing) = self.spec.load else { return nil }
        let known = stage.map { ArrivalCurve.staged(ArrivalStages([$0])) } ?? curve
        return ArrivalTimes(curve: known, spacing: spacing, random: random, entity: self.entity)
    }

    /// The first stage of a load in steps; nil for every other load.
    var firstStage: ArrivalStage? {
        guard case .open(.stepped(let arrivals), _) = self.spec.load else { return nil }
        return arrivals.first
    }

    /// The curve of a load in steps, if every step holds; nil for every other load.
    var stairs: ArrivalStages? {
        guard case .open(.stepped(let arrivals), _) = self.spec.load else { return nil }
        return arrivals.stairs
    }

    package var devices: Range<UInt32> {
        self.first.raw..<self.first.raw + UInt32(self.spec.devices)
    }
}

/// The target of a run.
package enum PlanTarget: Hashable, Sendable {
    /// The simulated backend, whose settings the scenario has.
    case embedded
    /// A foreign backend.
    case foreign
}

/// The plan of a run: the group of each phone, and the time of each capture. A pure function of the scenario.
package struct RunPlan: Hashable, Sendable {
    /// The number of silent pings after which a stream of the embedded backend is lost: two may be late, a
    /// third may not.
    package static let idlePings = (halves: Int64(5), of: Int64(2))

    package let scenario: Scenario
    package let groups: [PlannedGroup]
    package let random: KeyedRandom
    /// The number of phones of the whole fleet; they are numbered from 0.
    package let devices: Int
    /// Which of them run. Numbers, schedule, faults and books are those of the whole fleet.
    package let shard: FleetShard
    /// The maximum silence of a stream in the contract.
    package let idleTimeout: Interval
    /// The shortest silence at which a phone may give up a stream.
    package let idleTimeoutMin: Interval
    /// The objectives of the scenario, and the default ones.
    package let objectives: [SLO]

    package init(_ scenario: Scenario, target: PlanTarget, shard: FleetShard = .whole) {
        self.scenario = scenario
        self.shard = shard
        self.random = KeyedRandom(seed: scenario.seed)
        self.devices = scenario.devices
        self.objectives = scenario.objectives(against: target)
        let idleTimeout =
            target == .embedded
            ? scenario.server.ping * Self.idlePings.halves / Self.idlePings.of
            : ClientProfile.contract.stream.idleTimeout
        self.idleTimeout = idleTimeout
        var groups: [PlannedGroup] = []
        var first: UInt32 = 0
        for group in scenario.groups {
            var profile = group.profile
            if target == .embedded, group.idleTimeout == .automatic {
                profile.stream.idleTimeout = idleTimeout
            }
            groups.append(PlannedGroup(spec: group, first: DeviceNumber(first), profile: profile))
            first += UInt32(group.devices)
        }
        self.groups = groups
        self.idleTimeoutMin = groups.reduce(idleTimeout) { min($0, $1.profile.stream.idleTimeout) }
    }

    /// The number of phones that run.
    package var phones: Int { self.shard.phoneCount(of: 0..<UInt32(self.devices)) }

    /// The phones of a group that run, in the order of their numbers.
    package func phones(of group: PlannedGroup) -> [UInt32] {
        Array(self.shard.phones(of: group.devices))
    }

    /// The group of a phone; the number must be one of the fleet's.
    package func group(of device: DeviceNumber) -> PlannedGroup {
        guard let group = self.groups.last(where: { $0.first <= device }), group.devices.contains(device.raw)
        else { preconditionFailure("a phone that is not in the fleet") }
        return group
    }

    /// The group of a number that came from outside; nil for a foreign caller.
    package func groupIfAny(of device: DeviceNumber) -> PlannedGroup? {
        self.groups.last { $0.first <= device }.flatMap { $0.devices.contains(device.raw) ? $0 : nil }
    }

    /// What a phone does; that of a foreign caller is `scan`.
    package func journey(of device: DeviceNumber) -> Journey {
        self.groupIfAny(of: device)?.profile.journey ?? .scan
    }

    /// Returns the link of a phone at a time.
    package func link(of device: DeviceNumber, at moment: Instant) -> LinkProfile {
        self.group(of: device).spec.network.profile(at: moment)
    }

    /// Every capture of the phones that run, of the open groups, in order. The whole list is never held. Of a load in steps it has
    /// the first stage, and is extended.
    package var arrivals: ArrivalSchedule {
        ArrivalSchedule(
            self.groups, until: self.arrivalsEnd, random: self.random, shard: self.shard,
            stepsAreDecided: false)
    }

    /// Every capture as far as it can be known beforehand: of a load in steps, if every step holds.
    package var likelyArrivals: ArrivalSchedule {
        ArrivalSchedule(
            self.groups, until: self.arrivalsEnd, random: self.random, shard: self.shard,
            stepsAreDecided: true)
    }

    /// The captures of the whole fleet, whichever phones run; of a load in steps, if every step holds.
    package var fleetArrivals: ArrivalSchedule {
        ArrivalSchedule(
            self.groups, until: self.arrivalsEnd, random: self.random, shard: .whole, stepsAreDecided: true)
    }

    /// Returns the times of a closed group's captures; nil for an open group.
    package func thinkTimes(of group: PlannedGroup) -> ThinkTimes? {
        guard case .closed(let time) = group.spec.load else { return nil }
        return ThinkTimes(
            time, scans: group.spec.scansPerDevice, until: self.arrivalsEnd, random: self.random)
    }

    /// The end of all captures.
    package var arrivalsEnd: Instant {
        self.scenario.duration.map { Instant.zero + $0 } ?? .distantFuture
    }

    /// The time of all phones that run in closed groups, up to the end of all captures; zero if there is none.
    package var closedPhoneTime: PhoneTime {
        guard let duration = self.scenario.duration else { return .zero }
        let phones = self.groups.filter { self.thinkTimes(of: $0) != nil }.reduce(0) {
            $0 + self.phones(of: $1).count
        }
        return PhoneTime(duration) * Int64(phones)
    }

    /// The books on the shelves, for the backend and the ledger.
    package var shelf: Shelf {
        var shelf = Shelf(
            seed: self.scenario.seed, booksMin: self.scenario.server.books.lowerBound,
            booksMax: self.scenario.server.books.upperBound)
        shelf.lookup = self.scenario.server.backend.dialect.books
        shelf.statuses = self.scenario.server.statuses
        shelf.confidence = self.scenario.server.confidence
        shelf.exceptions = self.groups.filter { $0.spec.stock != .books || $0.spec.repeatsOfShelf > .never }
            .map {
                Shelf.Exception(
                    devices: $0.devices.lowerBound...($0.devices.upperBound - 1), stock: $0.spec.stock,
                    repeats: $0.spec.repeatsOfShelf, reader: $0.spec.reader)
            }
        return shelf
    }

    package var faultDesk: FaultPlanner { FaultPlanner(specs: self.scenario.faults, random: self.random) }
}
