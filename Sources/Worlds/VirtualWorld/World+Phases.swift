import Backend
import Faults
import HTTPServer
package import Ledger
import Phone
package import Plan
package import SimBase

/// The phases of a run, from its first capture to its end.
enum RunPhase: Sendable, Equatable {
    /// Captures are made. Leaves to `draining` when none is to come.
    case running
    /// Unfinished scans get until then. Leaves to `suspending`, or back to `running` when a phone of a closed group has
    /// settled one and thinks of the next.
    case draining(until: Instant)
    /// Every app is sent away and cleans up. Leaves to `closing`.
    case suspending(until: Instant)
    /// The server receives what the phones sent last. Leaves to `expiring` or `over`.
    case closing(until: Instant)
    /// The faults have ended and every phone is taken up again: it gets until then to settle what it has. Leaves to
    /// `suspending`.
    case quiescing(until: Instant)
    /// Phones are off; the server's jobs live to their end. Leaves to `over`.
    case expiring(until: Instant)
    case over
}

/// The phase of a run, with its counts.
struct RunProgress: Sendable {
    var phase = RunPhase.running
    /// Whether all faults and tunnels have ended, and each link is the first of its itinerary.
    var faultsHaveEnded = false
    /// Phones that were still busy when their time to quiesce was over.
    var stuck: [DeviceNumber] = []
    /// Scans that were waiting then.
    var waiting: [WaitingRecord] = []
    /// Phones with unfinished work.
    var busy = 0
    /// Users of closed groups who think of their next capture.
    var thinkers = 0
    var captured = 0
    var closedDue = 0
    var shutdownsTimedOut = 0
    /// The time at which the last phone was done.
    var phonesEnded = Instant.zero
    /// The schedule of the open groups: explicit, or as the plan makes it.
    private var list: [Arrival]?
    private var listNext = 0
    private var schedule: ArrivalSchedule
    private(set) var nextArrival: Arrival?
    /// The phones that prepare photos for all. Nil for a photo that no phone prepares.
    private var preparers: [DeviceNumber?]
    /// Before this time the run is not over, though no phone of its shard has anything left to capture.
    let lastArrival: Instant

    init(_ plan: WorldPlan) {
        let shard = plan.run.shard
        self.list = plan.captures?.filter { shard.has($0.device) }
        self.schedule = plan.stepsAreOrdered ? plan.run.arrivals : plan.run.likelyArrivals
        self.preparers = plan.photoPreparers
        // A run of all phones has its last arrival itself.
        if shard.isWhole {
            self.lastArrival = .zero
        } else if let captures = plan.captures {
            self.lastArrival = captures.last?.scheduled ?? .zero
        } else {
            self.lastArrival = plan.run.expectedArrivals.lastArrival
        }
        self.advance()
    }

    var isGoing: Bool { self.phase != .over }

    /// Whether more captures may come than are known.
    var isOpenEnded: Bool { self.list == nil && self.schedule.isOpenEnded }

    /// Adds a stage to a load in steps; nil ends it. Returns the next capture, if there was none before.
    mutating func extend(_ stage: ArrivalStage?) -> Arrival? {
        let isWaiting = self.nextArrival == nil
        self.schedule.extend(stage)
        guard isWaiting else { return nil }
        self.advance()
        return self.nextArrival
    }

    mutating func advance() {
        if let list = self.list {
            self.nextArrival = self.listNext < list.count ? list[self.listNext] : nil
            self.listNext += 1
        } else {
            self.nextArrival = self.schedule.next()
        }
    }

    /// Returns whether a phone prepares a photo that is prepared once, and takes the time that it takes.
    mutating func prepare(_ photo: PhotoReference, for device: DeviceNumber) -> Bool {
        guard self.preparers[photo.raw] == device else { return false }
        self.preparers[photo.raw] = nil
        return true
    }

    mutating func end() { self.phase = .over }
}

extension World {
    // MARK: Captures

    mutating func beginSchedule() {
        if let next = self.progress.nextArrival {
            self.schedule(.arrivals, at: max(next.scheduled, self.now))
        }
        self.schedule(.phase, at: self.now)
        if self.progress.lastArrival > self.now { self.schedule(.phase, at: self.progress.lastArrival) }
    }

    /// Makes the captures that are due.
    mutating func makeCaptures() {
        guard case .running = self.progress.phase else { return }
        while let arrival = self.progress.nextArrival, arrival.scheduled <= self.now {
            self.progress.advance()
            self.capture(arrival)
        }
        if let next = self.progress.nextArrival { self.schedule(.arrivals, at: next.scheduled) }
    }

    /// Adds a stage to a load in steps, at the end of those that are known; nil ends it. Call it before that end.
    package mutating func extendLoad(_ stage: ArrivalStage?) {
        if let next = self.progress.extend(stage) {
            self.schedule(.arrivals, at: max(next.scheduled, self.now))
        }
        // The end of the load may be the end of the phase.
        if stage == nil { self.schedule(.phase, at: self.now) }
    }

    mutating func capture(_ arrival: Arrival) {
        guard !self.isEnding else { return }
        let phone = self.plan.run.shard.index(of: arrival.device)
        let photos = self.plan.photos[self.phones[phone].group]
        let photo = PhotoReference(photos.lowerBound + arrival.photo(of: photos.count))
        self.send(.captureDue(arrival, photo), to: phone)
    }

    /// The user of a phone in a closed group begins to think of the next capture.
    mutating func think(_ phone: Int, settled: Instant) {
        guard !self.isEnding else { return }
        let group = self.plan.run.groups[self.phones[phone].group]
        guard
            let arrival = self.plan.run.thinkTimes(of: group)?.arrival(
                self.phones[phone].machine.captures + 1, of: self.phones[phone].machine.number,
                settled: settled)
        else { return }
        self.progress.thinkers += 1
        self.schedule(.capture(arrival), at: max(arrival.scheduled, self.now))
        if case .draining = self.progress.phase { self.progress.phase = .running }
    }

    // MARK: The end

    /// The apps are sent away, or have been: nothing new happens to the phones.
    var isEnding: Bool {
        switch self.progress.phase {
        case .running, .draining: false
        case .suspending, .closing, .quiescing, .expiring, .over: true
        }
    }

    /// Advances to the next phase when the present one has ended.
    mutating func advancePhase() {
        switch self.progress.phase {
        case .running:
            guard self.progress.nextArrival == nil, !self.progress.isOpenEnded, self.progress.thinkers == 0,
                self.progress.lastArrival <= self.now
            else { return }
            self.enter(.draining(until: self.now + self.plan.run.scenario.drain))
        case .draining(let until):
            guard self.progress.busy == 0 || until <= self.now else { return }
            if let settle = self.plan.settle { self.endFaults(for: settle) } else { self.suspendPhones() }
        case .suspending(let until):
            guard until <= self.now || self.isQuiescent else { return }
            self.progress.shutdownsTimedOut += self.phones.count { !$0.machine.isQuiescent }
            for phone in self.phones.indices {
                for wire in self.phones[phone].wires { self.close(wire) }
                self.hangUp(phone)
            }
            self.progress.phonesEnded = self.now
            self.enter(.closing(until: self.now + WorldTime.closingTime))
        case .closing(let until):
            guard until <= self.now else { return }
            if self.progress.faultsHaveEnded {
                self.enter(.expiring(until: self.now + self.jobLifetime))
            } else {
                self.progress.phase = .over
            }
        case .quiescing(let until):
            guard self.progress.busy == 0 || until <= self.now else { return }
            self.progress.stuck = self.phones.filter(\.isBusy).map(\.machine.number)
            self.progress.waiting = self.waitingOnDisk
            self.suspendPhones()
        case .expiring(let until):
            if until <= self.now || self.server.jobsAlive == 0 { self.progress.phase = .over }
        case .over: break
        }
    }

    private mutating func enter(_ phase: RunPhase) {
        self.progress.phase = phase
        // It may be over already, with no event to come: it is looked at once more when the second ends.
        self.schedule(.phase, at: WorldTime.second(of: self.now + WorldTime.gauge - .nanoseconds(1)))
        switch phase {
        case .draining(let until), .suspending(let until), .closing(let until), .quiescing(let until),
            .expiring(let until):
            self.schedule(.phase, at: until)
        case .running, .over: break
        }
    }

    /// Ends all faults. An exchange that a fault has been armed for keeps it.
    private mutating func endFaults(for settle: Interval) {
        self.progress.faultsHaveEnded = true
        self.server.endFaults()
        self.refusals = nil
        // First, so that the phase does not end before the phones are taken up again.
        self.enter(.quiescing(until: self.now + settle))
        for phone in self.phones.indices {
            if self.staysOffline(phone) {
                self.phones[phone].isBroken = true
                self.send(.disturbed(.entersTunnel), to: phone)  // Which it never leaves.
            } else {
                self.send(.faultsEnded, to: phone)
            }
        }
    }

    /// The phones that will be left without a path when all other trouble ends.
    package var phonesToStayBroken: Set<DeviceNumber> {
        Set(self.phones.indices.filter(self.staysOffline).map { self.phones[$0].machine.number })
    }

    private func staysOffline(_ phone: Int) -> Bool {
        guard self.plan.staysOffline > .never else { return false }
        return self.plan.staysOffline.happens(
            self.random.draw(.staysOffline, UInt64(self.phones[phone].machine.number.raw)))
    }

    /// The maximum lifetime of a job after its last event.
    private var jobLifetime: Interval {
        let backend = self.plan.run.scenario.server.backend
        let results = max(backend.resultsLifetime, backend.v2.resultsLifetime ?? .zero)
        return max(backend.tokenLifetime, results) + backend.jobTime.upperBound
            + backend.eventBuffer + .seconds(1) + self.slowedTime
    }

    /// How much longer a job lasts whose stages were slowed down, by each of its streams once.
    private var slowedTime: Interval {
        let slowed = self.plan.run.scenario.faults.map { fault -> Int64 in
            guard case .slowStage(_, let by) = fault.kind else { return 0 }
            return by.upperBound.nanoseconds
        }
        return .nanoseconds((slowed.max() ?? 0) * Self.slowedStreamsMax)
    }

    /// Streams of one job that are opened while it runs; virtual time without events costs nothing.
    private static let slowedStreamsMax: Int64 = 16

    /// Ends captures at once, and suspends every phone.
    package mutating func endEarly() {
        guard !self.isEnding else { return }
        self.suspendPhones()
    }

    private mutating func suspendPhones() {
        self.enter(.suspending(until: self.now + PhoneLimits.shutdownTime))
        for phone in self.phones.indices { self.send(.runEnded, to: phone) }
    }

    private var isQuiescent: Bool {
        self.phones.allSatisfy { $0.machine.isQuiescent }
    }
}

extension World {
    // MARK: What is left

    /// The records that a fresh process of each phone, loaded from its storage, reports as waiting.
    package var waitingOnDisk: [WaitingRecord] {
        var records: [WaitingRecord] = []
        for phone in self.phones {
            guard let stored = phone.machine.stored, !stored.isEmpty else { continue }
            let number = phone.machine.number
            records += App.waiting(restoring: stored, profile: phone.machine.profile).map {
                WaitingRecord(device: number, scan: $0.0, cause: $0.1)
            }
        }
        return records
    }
}

extension World {
    /// The final state beyond the observations, of a run whose faults have ended.
    package var remains: FinalWorldState {
        var remains = FinalWorldState(
            stuck: self.progress.stuck,
            restless: self.progress.faultsHaveEnded
                ? self.phones.filter { $0.machine.nextWake != nil && !$0.isBroken }.map(\.machine.number)
                : [],
            broken: self.phones.filter(\.isBroken).map(\.machine.number))
        remains.waiting = self.progress.waiting
        return remains
    }
}

extension World {
    // MARK: Counts

    /// Captures that were made.
    package var captured: Int { self.progress.captured }
    /// Captures of closed groups that were due.
    package var closedDue: Int { self.progress.closedDue }
    /// Captures that were due while their phone was away, and that it did not come back to make.
    package var capturesDeferred: Int { self.phones.reduce(0) { $0 + $1.machine.deferred.count } }
    /// Phones that were still cleaning up when their time was over.
    package var shutdownsTimedOut: Int { self.progress.shutdownsTimedOut }
    /// The time at which the last phone was done.
    package var phonesEnded: Instant { self.progress.phonesEnded }
    package var phonesBusy: Int { self.progress.busy }
    package var phonesOffline: Int { self.phones.count { !$0.machine.hasPath } }
}
