import Backend
import HTTPServer
package import Ledger
import Phone
import Plan
package import SimBase

/// How a run goes from its first capture to its end.
struct Course: Sendable {
    /// What the run is about.
    enum Phase: Sendable, Equatable {
        /// Captures are made. Leaves to `draining` when none is to come.
        case running
        /// Unfinished scans get until then. Leaves to `suspending`, or back to `running` when a phone of a closed group has
        /// settled one and thinks of the next.
        case draining(until: Instant)
        /// Every phone says goodbye. Leaves to `closing`.
        case suspending(until: Instant)
        /// The server hears the phones' last words. Leaves to `over`.
        case closing(until: Instant)
        /// RunError is over and every phone is taken up again: it gets until then to settle what it has. Leaves to
        /// `closing`, by way of another goodbye.
        case settling(until: Instant)
        /// Phones are off; the server's jobs live to their end. Leaves to `over`.
        case expiring(until: Instant)
        case over
    }

    var phase = Phase.running
    /// The trouble is over: no fault, no tunnel, links as their ways begin.
    var isHealed = false
    /// Phones that were still at it when their time to settle was over.
    var stuck: [DeviceNumber] = []
    /// Phones with something under way.
    var busy = 0
    /// Users of closed groups who think of their next capture.
    var thinkers = 0
    var captured = 0
    var closedDue = 0
    var farewellsCut = 0
    /// When the last phone was done.
    var phonesEnded = Instant.zero
    /// The schedule of the open groups: explicit, or as the plan makes it.
    private var list: [Arrival]?
    private var listNext = 0
    private var schedule: ArrivalSchedule
    private(set) var nextArrival: Arrival?
    /// Photos that somebody has prepared already.
    private var preparedPhotos: [Bool]

    init(_ plan: WorldPlan) {
        self.list = plan.captures
        self.schedule = plan.run.arrivals
        self.preparedPhotos = Array(repeating: false, count: plan.photoBytes.count)
        self.advance()
    }

    var isGoing: Bool { self.phase != .over }

    mutating func advance() {
        if let list = self.list {
            self.nextArrival = self.listNext < list.count ? list[self.listNext] : nil
            self.listNext += 1
        } else {
            self.nextArrival = self.schedule.next()
        }
    }

    mutating func isFirst(_ photo: PhotoReference) -> Bool {
        defer { self.preparedPhotos[photo.raw] = true }
        return !self.preparedPhotos[photo.raw]
    }

    mutating func nothingIsLeft() { self.phase = .over }
}

extension World {
    // MARK: Captures

    mutating func beginSchedule() {
        self.schedule(.gauge, at: .zero + WorldTime.gauge)
        if let next = self.course.nextArrival { self.schedule(.arrivals, at: max(next.scheduled, self.now)) }
        self.schedule(.phase, at: self.now)
    }

    /// Of the schedule what is due.
    mutating func makeCaptures() {
        guard case .running = self.course.phase else { return }
        while let arrival = self.course.nextArrival, arrival.scheduled <= self.now {
            self.course.advance()
            self.capture(arrival)
        }
        if let next = self.course.nextArrival { self.schedule(.arrivals, at: next.scheduled) }
    }

    mutating func capture(_ arrival: Arrival) {
        guard !self.isEnding else { return }
        let phone = Int(arrival.device.raw)
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
        self.course.thinkers += 1
        self.schedule(.capture(arrival), at: max(arrival.scheduled, self.now))
        if case .draining = self.course.phase { self.course.phase = .running }
    }

    // MARK: The end

    /// Phones say goodbye, or have: nothing new happens to them.
    var isEnding: Bool {
        switch self.course.phase {
        case .running, .draining: false
        case .suspending, .closing, .settling, .expiring, .over: true
        }
    }

    /// Goes on to the next phase when the present one is over.
    mutating func followCourse() {
        switch self.course.phase {
        case .running:
            guard self.course.nextArrival == nil, self.course.thinkers == 0 else { return }
            self.goOn(to: .draining(until: self.now + self.plan.run.scenario.drain))
        case .draining(let until):
            guard self.course.busy == 0 || until <= self.now else { return }
            if let settle = self.plan.settle { self.heal(for: settle) } else { self.sayGoodbye() }
        case .suspending(let until):
            guard until <= self.now || self.isQuiescent else { return }
            self.course.farewellsCut += self.phones.count { !$0.machine.isQuiescent }
            for phone in self.phones.indices {
                for wire in self.phones[phone].wires { self.close(wire) }
                self.hangUp(phone)
            }
            self.course.phonesEnded = self.now
            self.goOn(to: .closing(until: self.now + WorldTime.lastWords))
        case .closing(let until):
            guard until <= self.now else { return }
            if self.course.isHealed {
                self.goOn(to: .expiring(until: self.now + self.jobLifetime))
            } else {
                self.course.phase = .over
            }
        case .settling(let until):
            guard self.course.busy == 0 || until <= self.now else { return }
            self.course.stuck = self.phones.filter(\.isBusy).map(\.machine.number)
            self.sayGoodbye()
        case .expiring(let until):
            if until <= self.now || self.server.jobsAlive == 0 { self.course.phase = .over }
        case .over: break
        }
    }

    private mutating func goOn(to phase: Course.Phase) {
        self.course.phase = phase
        switch phase {
        case .draining(let until), .suspending(let until), .closing(let until), .settling(let until),
            .expiring(let until):
            self.schedule(.phase, at: until)
        case .running, .over: break
        }
    }

    /// Ends all trouble; what had met a fault already keeps it.
    private mutating func heal(for settle: Interval) {
        self.course.isHealed = true
        self.server.heal()
        self.refusals = nil
        // Now, so that nobody ends the act before the phones are taken up again.
        self.goOn(to: .settling(until: self.now + settle))
        for phone in self.phones.indices {
            if self.staysBroken(phone) {
                self.phones[phone].isBroken = true
                self.send(.disturbed(.entersTunnel), to: phone)  // Which it never leaves.
            } else {
                self.send(.faultsEnded, to: phone)
            }
        }
    }

    /// The phones that will be left without a path when all other trouble ends.
    package var phonesToStayBroken: Set<DeviceNumber> {
        Set(self.phones.indices.filter(self.staysBroken).map { self.phones[$0].machine.number })
    }

    private func staysBroken(_ phone: Int) -> Bool {
        guard self.plan.staysBroken > .never else { return false }
        return self.plan.staysBroken.happens(
            self.random.draw(.staysBroken, UInt64(self.phones[phone].machine.number.raw)))
    }

    /// No job outlives its last event by more.
    private var jobLifetime: Interval {
        let backend = self.plan.run.scenario.server.backend
        return max(backend.tokenLifetime, backend.resultsLifetime) + backend.jobTime.upperBound
            + backend.eventBuffer + .seconds(1)
    }

    /// Ends captures at once; every phone says goodbye.
    package mutating func endEarly() {
        guard !self.isEnding else { return }
        self.sayGoodbye()
    }

    private mutating func sayGoodbye() {
        self.goOn(to: .suspending(until: self.now + PhoneLimits.farewellTime))
        for phone in self.phones.indices { self.send(.runEnded, to: phone) }
    }

    private var isQuiescent: Bool {
        self.phones.allSatisfy { $0.machine.isQuiescent }
    }
}

extension World {
    // MARK: What is left

    /// What a fresh process of each phone, loaded from its storage, reports as waiting.
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
    /// What nobody sees, at the end of a run that was healed.
    package var remains: WorldRemains {
        WorldRemains(
            stuck: self.course.stuck,
            restless: self.course.isHealed
                ? self.phones.filter { $0.machine.nextWake != nil && !$0.isBroken }.map(\.machine.number)
                : [],
            broken: self.phones.filter(\.isBroken).map(\.machine.number))
    }
}

extension World {
    // MARK: Counts

    /// Captures that were made.
    package var captured: Int { self.course.captured }
    /// Captures of closed groups that were due.
    package var closedDue: Int { self.course.closedDue }
    /// Captures that were due while their phone was away, and that it did not come back to make.
    package var capturesDeferred: Int { self.phones.reduce(0) { $0 + $1.machine.deferred.count } }
    /// Phones that were still saying goodbye when their time was over.
    package var farewellsCut: Int { self.course.farewellsCut }
    /// When the last phone was done.
    package var phonesEnded: Instant { self.course.phonesEnded }
    package var phonesBusy: Int { self.course.busy }
    package var phonesOffline: Int { self.phones.count { !$0.machine.hasPath } }
}
