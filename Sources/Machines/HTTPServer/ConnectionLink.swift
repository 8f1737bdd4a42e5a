import Faults
import SimBase

/// The phone's link for one connection in both directions, with the effect of faults on the bytes of the
/// present exchange.
///
/// Until the first request identifies the phone, bytes are only counted: they are charged with the first ones
/// that follow.
struct ConnectionLink: Sendable {
    private let acceptedAt: Instant
    private(set) var isKnown = false
    private var up = LinkQueue(LinkProfile.perfect.up, readyAt: .zero)
    private var down = LinkQueue(LinkProfile.perfect.down, readyAt: .zero)
    private var itinerary = FleetLinks.perfect
    /// The time of the link's next change.
    private var changesAt = Instant.distantFuture
    private(set) var roundTrip = Interval.zero
    /// The time from which it delivers bytes.
    private(set) var readyAt: Instant?
    private var bytesBefore = 0
    /// The last arrival in each direction: faults come and go, and nothing may overtake.
    private var lastUp = Instant.zero
    private var lastDown = Instant.zero

    init(acceptedAt: Instant) { self.acceptedAt = acceptedAt }

    /// Sets the link of the caller. `random` is the randomness of the connection.
    mutating func identify(_ itinerary: Itinerary, random: KeyedRandom) {
        let profile = itinerary.profile(at: self.acceptedAt)
        (self.up, self.down) = profile.connection(acceptedAt: self.acceptedAt, random: random)
        self.isKnown = true
        self.readyAt = self.up.idleAt
        self.itinerary = itinerary
        self.changesAt = itinerary.nextChange(after: self.acceptedAt) ?? .distantFuture
        self.roundTrip = profile.roundTrip
    }

    /// Bytes that are passed on now meet the link of now.
    private mutating func follow(at now: Instant) {
        guard now >= self.changesAt else { return }
        let profile = self.itinerary.profile(at: now)
        self.changesAt = self.itinerary.nextChange(after: now) ?? .distantFuture
        self.up.change(to: profile, .up)
        self.down.change(to: profile, .down)
        self.roundTrip = profile.roundTrip
    }

    /// Returns the time at which bytes of the phone reach the backend.
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

    /// Returns the arrival time without faults.
    mutating func arrivalUp(of bytes: Int, at now: Instant) -> Instant {
        var (none, acted) = (LinkImpairments(), [Int]())
        return self.arrivalUp(of: bytes, at: now, &none, acted: &acted)
    }

    /// Returns the arrival time without faults.
    mutating func arrivalDown(of bytes: Int, at now: Instant) -> Instant {
        var (none, acted) = (LinkImpairments(), [Int]())
        return self.arrivalDown(of: bytes, at: now, &none, acted: &acted)
    }

    /// Returns the time at which bytes of the backend reach the phone.
    mutating func arrivalDown(
        of bytes: Int, at now: Instant, _ impairments: inout LinkImpairments, acted: inout [Int]
    ) -> Instant {
        self.follow(at: now)
        let arrival = impairments.admit(bytes: bytes, at: now, through: &self.down, acted: &acted)
        self.lastDown = max(self.lastDown, arrival)
        return self.lastDown
    }

    /// Delays all data to the phone until a time.
    mutating func holdDown(until moment: Instant) { self.lastDown = max(self.lastDown, moment) }

    /// Returns the time at which the phone may continue to send if its link is too far behind; nil if it is
    /// not. `impairedUntil`: when the link has sent what it has, by the faults of the exchange.
    func upResumes(at now: Instant, impairedUntil: Instant) -> Instant? {
        guard self.isKnown else { return nil }
        let idle = max(self.up.idleAt, impairedUntil)
        return idle - now > HTTPServerLimits.linkBacklogMax ? idle - HTTPServerLimits.linkBacklogMax : nil
    }
}
