import EventLoop
import Imaging
import Phone
import Plan
import SimBase

// What happens at a time: captures by the arrivals of open groups and the think times of closed ones, and disturbances.

extension Fleet {
    /// Adds a stage to a load in steps.
    func extend(_ stage: ArrivalStage?) {
        self.arrivals.extend(stage)
        if self.nextArrival == nil { self.nextArrival = self.takeArrival() }
        self.followSchedule()
    }

    /// Does what the schedule wants now, and waits for the next.
    func followSchedule() {
        let now = self.loop.now()
        while let due = self.disturbances.popDue(at: now) {
            self.disturb(due.element)
        }
        while case .running = self.phase, let arrival = self.nextArrival, arrival.scheduled <= now {
            self.nextArrival = self.takeArrival()
            if !self.held.holdsBack(arrival.device) { self.capture(arrival, at: now) }
        }
        while case .running = self.phase, let due = self.thinking.popDue(at: now) {
            if self.plan.phonesMax == nil { self.closedDue += 1 }
            if self.held.putsOff(due.element.device) { continue }
            self.capture(due.element, at: now)
        }
        var next = self.disturbances.nextAt ?? .distantFuture
        if case .running = self.phase {
            if let due = [self.nextArrival?.scheduled, self.thinking.nextAt].compactMap({ $0 }).min() {
                next = min(next, due)
            } else if self.plan.phonesMax == nil, !self.held.keepsRunning, !self.arrivals.isOpenEnded {
                self.phase = .draining(until: max(now, self.plan.lastArrival) + self.plan.drain)
                self.ending?.arm(at: now)
            }
        }
        if next != .distantFuture { self.schedule?.arm(at: next) }
    }

    /// Every thread goes through the schedule of the process, which is cheap, and takes what is its own.
    func takeArrival() -> Arrival? {
        while let arrival = self.arrivals.next() {
            if self.plan.shard.has(arrival.device) { return arrival }
        }
        return nil
    }

    /// The user of a phone in a closed group begins to think of the next capture.
    func think(_ phone: Int, settled: Instant) {
        switch self.phase {
        case .running, .draining: break
        case .suspending, .over: return
        }
        guard !self.takesNoCaptures, !self.phones[phone].isClosing,
            let arrival = self.plan.phones[phone].think?.arrival(
                self.phones[phone].machine.captures + 1, of: self.phones[phone].number, settled: settled)
        else { return }
        self.thinking.insert(arrival, at: arrival.scheduled)
        self.phase = .running
        if self.schedule?.armedFor.map({ arrival.scheduled < $0 }) ?? true {
            self.schedule?.arm(at: arrival.scheduled)
        }
    }

    private func capture(_ arrival: Arrival, at now: Instant) {
        guard let phone = self.index(of: arrival.device) else {
            precondition(self.plan.phonesMax != nil, "a capture for a phone that is not here")
            return
        }
        if self.plan.phonesMax != nil {
            // The thought of an earlier opening of the phone is not this one's.
            let isStale =
                self.plan.phones[phone].think != nil
                && arrival.ordinal != self.phones[phone].machine.captures + 1
            guard !self.phones[phone].isClosing, !isStale else { return }
            self.closedDue += 1
        }
        // Where there is no shutter it is the phone that is late, not the schedule.
        if self.phones[phone].machine.isOnScreen,
            now - arrival.scheduled > FleetLimits.arrivalLatenessMax
        {
            self.arrivalsLate += 1
        }
        let photos = self.plan.phones[phone].photos
        let photo = PhotoReference(photos.lowerBound + arrival.photo(of: photos.count))
        self.send(.captureDue(arrival, photo), to: phone)
    }

    /// The index of a phone in this fleet.
    func index(of device: DeviceNumber) -> Int? {
        guard self.plan.shard.has(device) else { return nil }
        if self.plan.phonesMax != nil { return self.opened[device] }
        let index = self.plan.shard.index(of: device)
        return self.phones.indices.contains(index) ? index : nil
    }

    // MARK: Disturbances

    /// Schedules a disturbance, also out of order: a flush may begin what ends later.
    func schedule(_ disturbance: PhoneDisturbance, of phone: Int, at moment: Instant) {
        self.schedule(due: .disturbance(disturbance), of: phone, at: moment)
    }

    func schedule(due: DueEvent, of phone: Int, at moment: Instant) {
        self.insert(due, of: phone, at: moment)
        if self.schedule?.armedFor.map({ moment < $0 }) ?? true { self.schedule?.arm(at: moment) }
    }

    func insert(_ disturbance: DueEvent, of phone: Int, at moment: Instant) {
        self.disturbances.insert(
            Disturbance(phone: phone, opening: self.phones[phone].opening, what: disturbance), at: moment)
    }

    private func disturb(_ due: Disturbance) {
        guard self.phones[due.phone].opening == due.opening else { return }
        switch due.what {
        case .disturbance(let what): self.send(.disturbed(what), to: due.phone)
        case .reading(let scan, let process): self.spineRead(due.phone, scan, process: process)
        }
    }
}
