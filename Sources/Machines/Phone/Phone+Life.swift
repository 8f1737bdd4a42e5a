import Faults
import Observations
import SimBase
import Talaria

// What happens to a phone apart from its requests: it loses its path or changes it, its app goes to the background, dies, is
// reinstalled, its clock is set, its storage fills up.

extension Phone {
    mutating func apply(_ disturbance: PhoneDisturbance, at now: Instant, into effects: inout [PhoneEffect]) {
        switch disturbance {
        case .begins(let window): self.begin(window, at: now, into: &effects)
        case .ends(let window): self.end(window, at: now, into: &effects)
        case .entersTunnel: self.losePath(at: now, into: &effects)
        case .leavesTunnel: self.regainPath(resetsParked: true, at: now, into: &effects)
        case .oldPathGone:
            // Without a path nothing says goodbye; then it is the path's return that does.
            if self.lossesOfPath == 0 { effects.append(.hangUp) }
        }
    }

    private mutating func begin(
        _ window: PhoneWindow, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        if window.kind.has(.needsApp), self.isRunEnded { return }  // The run is over for the user.
        if window.trigger == nil {
            self.enter(window, kept: nil, at: now, into: &effects)
        } else {
            self.armed.append(window)
        }
    }

    /// `kept`: how many of the writes under way the storage takes, where that is decided; else it is drawn.
    mutating func enter(
        _ window: PhoneWindow, kept: Int?, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.observe(.fault(.began(fault: window.fault)), at: now, into: &effects)
        switch window.kind {
        case .offline: self.losePath(at: now, into: &effects)
        case .handover: self.changePath(isThere: window.to <= window.from, at: now, into: &effects)
        case .background:
            self.hold(\.timesAway, window)
            if self.timesAway == 1 { self.handle(app: .suspended, at: now, into: &effects) }
        case .kill:
            self.hold(\.timesDead, window)
            self.kill(kept: kept, at: now, into: &effects)
        case .reinstall:
            self.hold(\.timesDead, window)
            self.kill(kept: kept, at: now, into: &effects)
            self.wipe(at: now, into: &effects)
        case .clockSkew(let by): self.setClock(further: by, at: now, into: &effects)
        case .storageFull:
            self.timesFull += 1
            if self.timesFull == 1 { self.fillStorage(kept: kept, at: now, into: &effects) }
        }
        guard window.to != .distantFuture else { return }
        effects.append(.schedule(.ends(window), at: window.to))
    }

    private mutating func end(_ window: PhoneWindow, at now: Instant, into effects: inout [PhoneEffect]) {
        self.observe(.fault(.ended(fault: window.fault)), at: now, into: &effects)
        switch window.kind {
        case .offline: self.regainPath(resetsParked: true, at: now, into: &effects)
        case .handover:
            if window.to > window.from { self.regainPath(resetsParked: false, at: now, into: &effects) }
        case .background:
            self.timesAway -= 1
            self.open(at: now, into: &effects)
        case .kill, .reinstall:
            self.timesDead -= 1
            self.open(at: now, into: &effects)
        case .clockSkew(let by): self.setClock(further: .zero - by, at: now, into: &effects)
        case .storageFull:
            self.timesFull -= 1
            if self.timesFull == 0 { self.freeStorage(at: now, into: &effects) }
        }
    }

    private mutating func hold(_ times: WritableKeyPath<Phone, Int>, _ window: PhoneWindow) {
        self[keyPath: times] += 1
        if window.to == .distantFuture { self.timesForGood += 1 }
    }

    private func observe(_ what: ObservationPayload, at now: Instant, into effects: inout [PhoneEffect]) {
        effects.append(
            .observe(Observation(at: now, device: self.number, scan: .none, what: what)))
    }

    /// Captures that were deferred are left out: the schedule is over.
    mutating func endFaults(at now: Instant, into effects: inout [PhoneEffect]) {
        self.isRunEnded = false
        self.deferred = []
        self.armed = []
        if self.timesFull > 0 {
            self.timesFull = 0
            self.freeStorage(at: now, into: &effects)
        }
        if self.lossesOfPath > 0 {
            self.lossesOfPath = 1
            self.regainPath(resetsParked: true, at: now, into: &effects)
        } else {
            effects.append(.hangUp)
        }
        (self.timesAway, self.timesDead, self.timesForGood) = (0, 0, 0)
        self.open(at: now, into: &effects)
    }

    // MARK: The path

    /// Loses the path without a close: the connections stay open and unread, as those of a phone in a tunnel.
    private mutating func losePath(at now: Instant, into effects: inout [PhoneEffect]) {
        self.lossesOfPath += 1
        guard self.lossesOfPath == 1 else { return }
        effects.append(.park)
        self.handle(app: .pathLost, at: now, into: &effects)
    }

    /// The connections belong to a network that the phone has left: no RST of its own will ever reach the peer over it.
    private mutating func changePath(isThere: Bool, at now: Instant, into effects: inout [PhoneEffect]) {
        let hadPath = self.lossesOfPath == 0
        if !isThere { self.lossesOfPath += 1 }
        guard hadPath else { return }
        effects.append(.park)
        effects.append(.schedule(.oldPathGone, at: now + PhoneLimits.oldPathTime))
        self.handle(app: .pathChanged(isAvailable: isThere), at: now, into: &effects)
    }

    private mutating func regainPath(
        resetsParked: Bool, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.lossesOfPath -= 1
        guard self.lossesOfPath == 0 else { return }
        if resetsParked { effects.append(.hangUp) }
        self.handle(app: .pathReturned, at: now, into: &effects)
    }

    // MARK: The process

    /// The process is gone with everything in its memory, without notice: its connections stay open and
    /// unread until the next one starts. What was acknowledged as durable is kept. Of the writes under way
    /// the storage took none, some or all, in their order.
    private mutating func kill(kept: Int?, at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.isAlive else { return }
        precondition(
            self.storage != nil, "the process of a phone that does not remember what it stored was ended")
        let keptCount = kept ?? self.drawKept(.kill)
        _ = self.storage?.takeUnflushed(behind: keptCount)
        self.keepWritten(at: now, into: &effects)
        self.unacknowledged = nil
        self.held = []
        effects.append(.park)
        effects.append(.forgetProcess)
        self.isAlive = false
        self.observe(.phone(.killed), at: now, into: &effects)
        let records = self.storage?.scans ?? []
        for record in records { self.observeKept(record, at: now, into: &effects) }
        if let review = self.storage?.review { self.observeKept(review, at: now, into: &effects) }
        self.left = (records.count, records.count { $0.isUnsettled })
        self.app = self.freshApp()
    }

    private func observeKept(_ record: DurableScan, at now: Instant, into effects: inout [PhoneEffect]) {
        effects.append(
            .observe(
                Observation(
                    at: now, device: self.number, scan: ScanNumber(record.scan),
                    what: .phone(
                        .recordKept(
                            job: record.job?.jobId, lastEventID: record.job?.lastEventID,
                            decided: !record.isUnsettled)))))
    }

    /// The books that a fresh process finds waiting.
    func observeKept(_ review: DurableReview, at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.profile.reviewer.isMade else { return }
        for entry in review.entries {
            effects.append(
                .observe(
                    Observation(
                        at: now, device: self.number, scan: entry.key.scan,
                        what: .phone(.bookKept(entry: entry.key.ordinal, book: entry.resolved)))))
        }
    }

    /// The writes were made, and the process ended before it could act on that: only what they mean was seen.
    private mutating func keepWritten(at now: Instant, into effects: inout [PhoneEffect]) {
        guard let last = self.storage?.unflushed.last else { return }
        self.write(into: &effects)
        effects.append(.flushNow)
        var wanted: [PhoneEffect] = []
        self.app.handle(.stored(last.writeID), at: now, into: &wanted)
        for case .app(.observe(let observation)) in wanted where observation.what.isOfStorage {
            effects.append(.observe(observation))
        }
    }

    /// All that the app stored goes with it, and the next one has another device id.
    private mutating func wipe(at now: Instant, into effects: inout [PhoneEffect]) {
        self.observe(.phone(.reinstalled(discarded: self.left.unsettled)), at: now, into: &effects)
        self.left = (0, 0)
        self.installation += 1
        self.identity = DeviceIdentity.draw(
            self.context.random, self.number, installation: self.installation,
            salt: self.context.deviceSalt)
        self.storage?.wipe()
        effects.append(.wiped(self.identity))
        self.app = self.freshApp()
    }

    // MARK: Clock and storage

    private mutating func setClock(
        further: Interval, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let (sum, overflow) = self.clockAhead.nanoseconds.addingReportingOverflow(further.nanoseconds)
        guard !overflow else { return }
        self.clockAhead = .nanoseconds(sum)
        self.handle(app: .clockSet(ahead: self.clockAhead), at: now, into: &effects)
    }

    /// A write becomes durable with the next flush.
    mutating func store(
        _ change: StoreChange, _ writeID: WriteID, into effects: inout [PhoneEffect]
    ) {
        if self.storage == nil {
            effects.append(.app(.store(change, writeID)))
        } else {
            self.storage?.write(change, writeID)
        }
        if self.unacknowledged == nil { effects.append(.flush) }
        self.unacknowledged = writeID
    }

    /// Passes on the writes since the last flush.
    private mutating func write(into effects: inout [PhoneEffect]) {
        // Without a storage of its own it handed everything over as it came.
        self.records += self.storage?.unflushed.count ?? 0
        self.storage?.flush { effects.append(.app(.store($0, $1))) }
    }

    /// Makes records durable, up to the one that a fault waits for.
    mutating func flush(at now: Instant, into effects: inout [PhoneEffect]) {
        if !self.armed.isEmpty, let (window, kept) = self.takeArmed(at: now) {
            self.enter(window, kept: kept, at: now, into: &effects)
        }
        self.write(into: &effects)
    }

    /// Fills the storage. It keeps none, some or all of the pending writes, in their order.
    private mutating func fillStorage(kept: Int?, at now: Instant, into effects: inout [PhoneEffect]) {
        self.observe(.phone(.storageFilled), at: now, into: &effects)
        guard let written = self.storage?.unflushed, !written.isEmpty else { return }
        let keptCount = kept ?? self.drawKept(.storageFull)
        let rest = self.storage?.takeUnflushed(behind: keptCount) ?? []
        self.unacknowledged = keptCount > 0 ? written[keptCount - 1].writeID : nil
        for write in rest { self.holdBack(write.change, write.writeID) }
        for write in rest { self.handle(app: .storeFailed(write.writeID), at: now, into: &effects) }
    }

    private mutating func freeStorage(at now: Instant, into effects: inout [PhoneEffect]) {
        self.observe(.phone(.storageFreed), at: now, into: &effects)
        let held = self.held
        self.held = []
        for write in held { self.store(write.change, write.writeID, into: &effects) }
    }

    /// A write for which there is no room stays with its process, and is made when there is. Of the last event ids of a
    /// scan only the newest is kept, so that a stream cannot fill the memory; of a settled scan nothing but that it is: a
    /// kill between its record and that would bring back a scan that was refused.
    mutating func holdBack(_ change: StoreChange, _ writeID: WriteID) {
        switch change {
        case .lastEventID(let scan, _):
            if case .lastEventID(scan, _)? = self.held.last?.change { self.held.removeLast() }
        case .settled(let scan, _): self.held.removeAll { $0.change.isRecord(of: scan) }
        case .put, .book, .pending, .reviewed: break
        }
        self.held.append(PendingWrite(change: change, writeID: writeID))
    }
}

extension DurableScan {
    /// Its outcome is not durable yet: more than its DELETE is left to do.
    fileprivate var isUnsettled: Bool { !self.completed && self.refusal == nil }
}
