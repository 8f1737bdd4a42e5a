import Faults
import SimBase

/// The phone's link as one connection has it, both ways, with what faults do to the bytes of the present exchange.
///
/// Until the first request tells whose link it is, bytes are only counted: they are charged with the first that come
/// after.
struct ConnectionLink: Sendable {
    private let acceptedAt: Instant
    private(set) var isKnown = false
    private var up = LinkQueue(LinkProfile.perfect.up, readyAt: .zero)
    private var down = LinkQueue(LinkProfile.perfect.down, readyAt: .zero)
    private var itinerary = FleetLinks.perfect
    /// When the link changes next.
    private var changesAt = Instant.distantFuture
    private(set) var roundTrip = Interval.zero
    /// From when on it lets bytes pass.
    private(set) var readyAt: Instant?
    private var bytesBefore = 0
    /// The last arrival in each direction: faults come and go, and nothing may overtake.
    private var lastUp = Instant.zero
    private var lastDown = Instant.zero

    init(acceptedAt: Instant) { self.acceptedAt = acceptedAt }

    /// Whose link it is. `random` is the connection's own.
    mutating func identify(_ itinerary: Itinerary, random: KeyedRandom) {
        let profile = itinerary.profile(at: self.acceptedAt)
        (self.up, self.down) = profile.connection(acceptedAt: self.acceptedAt, random: random)
        self.isKnown = true
        self.readyAt = self.up.idleAt
        self.itinerary = itinerary
        self.changesAt = itinerary.nextChange(after: self.acceptedAt) ?? .distantFuture
        self.roundTrip = profile.roundTrip
    }

    /// Bytes that are handed over now meet the link of now.
    private mutating func follow(at now: Instant) {
        guard now >= self.changesAt else { return }
        let profile = self.itinerary.profile(at: now)
        self.changesAt = self.itinerary.nextChange(after: now) ?? .distantFuture
        self.up.change(to: profile, .up)
        self.down.change(to: profile, .down)
        self.roundTrip = profile.roundTrip
    }

    /// When bytes that the phone has sent reach the backend.
    mutating func arrivalUp(
        of bytes: Int, at now: Instant, _ impairments: inout LinkImpairments, acted: inout [Int]
    ) -> Instant {
        guard self.isKnown else {
            self.bytesBefore += bytes
            return now
        }
        self.follow(at: now)
        let count = bytes + self.bytesBefore
        self.bytesBefore = 0
        let arrival = impairments.admit(bytes: count, at: now, through: &self.up, acted: &acted)
        self.lastUp = max(self.lastUp, arrival)
        return self.lastUp
    }

    /// The same where no fault acts.
    mutating func arrivalUp(of bytes: Int, at now: Instant) -> Instant {
        guard self.isKnown else {
            self.bytesBefore += bytes
            return now
        }
        self.follow(at: now)
        let count = bytes + self.bytesBefore
        self.bytesBefore = 0
        self.lastUp = max(self.lastUp, self.up.admit(bytes: count, at: now))
        return self.lastUp
    }

    /// The same where no fault acts.
    mutating func arrivalDown(of bytes: Int, at now: Instant) -> Instant {
        self.follow(at: now)
        self.lastDown = max(self.lastDown, self.down.admit(bytes: bytes, at: now))
        return self.lastDown
    }

    /// When bytes that the backend has sent reach the phone.
    mutating func arrivalDown(
        of bytes: Int, at now: Instant, _ impairments: inout LinkImpairments, acted: inout [Int]
    ) -> Instant {
        self.follow(at: now)
        let arrival = impairments.admit(bytes: bytes, at: now, through: &self.down, acted: &acted)
        self.lastDown = max(self.lastDown, arrival)
        return self.lastDown
    }

    /// Nothing more arrives at the phone before.
    mutating func holdDown(until moment: Instant) { self.lastDown = max(self.lastDown, moment) }

    /// When the phone may send on, while its link is too far behind; nil when it is not. Mutating, so that the link is asked
    /// where it stands and not copied first; so is what asks it.
    mutating func upResumes(at now: Instant, _ impairments: LinkImpairments?) -> Instant? {
        guard self.isKnown else { return nil }
        let idle = max(self.up.idleAt, impairments?.idleAt ?? .zero)
        return idle - now > HTTPServerLimits.linkBacklogMax ? idle - HTTPServerLimits.linkBacklogMax : nil
    }
}
