import Faults
import Observations
package import SimBase
import Talaria

/// A phone: the app with its process, path, clock, storage and user. It decides which events reach the app and what is left
/// when its process ends; `App` makes the decisions of the app.
///
/// Windows of one kind may overlap; the phone is well again when the last of them has ended.
package struct Phone: Sendable {
    package let number: DeviceNumber
    package let profile: ClientProfile
    private(set) var context: RunContext
    package internal(set) var app: App
    package internal(set) var identity: DeviceIdentity
    /// The number of earlier installations of the app.
    var installation: UInt64
    /// The last number that was given to a scan.
    package internal(set) var lastScan: ScanNumber
    /// Captures of this run.
    package internal(set) var captures = 0

    /// The app's process. Off between a kill and the next launch.
    package internal(set) var isAlive = false
    /// Which process of the phone it is, from 1: what an earlier one requested is not this one's.
    package internal(set) var process: UInt32 = 0
    var isRunEnded = false
    /// The number of windows that hold its path down, its app in the background, its process dead, its
    /// storage full.
    var lossesOfPath = 0
    var timesAway = 0
    var timesDead = 0
    var timesFull = 0
    /// The number of windows without an end that hold the app in the background or dead.
    var timesForGood = 0
    /// The offset of the wall clock from the true time.
    var clockAhead = Interval.zero
    /// Nil if no fault ends the process or fills the storage: then the driver's journal alone knows what is stored.
    var storage: Storage?
    /// The last write that has not been acknowledged.
    var unacknowledged: WriteID?
    /// Writes for which there is no room, in their order.
    var held: [PendingWrite] = []
    /// Records that this process has made durable; counted where the phone remembers.
    var records = 0
    /// Faults that wait for a record, or for a step of a scan.
    var armed: [PhoneWindow] = []
    /// Captures that were due while there was no shutter: they are made when the app is in the foreground again, and their
    /// time counts from when they were due.
    package internal(set) var deferred: [DeferredCapture] = []
    /// The scans of the last capture that are not settled: a closed group captures nothing else before.
    var awaited: [ScanNumber] = []
    /// Scans that a dead process left in its storage, and of these the ones with more than the DELETE left.
    var left = (records: 0, unsettled: 0)
    /// The time of the app's next own action.
    package private(set) var nextWake: Instant?
    /// Whether nothing more happens without a new event from outside.
    package private(set) var isQuiescent = true
    /// Something is under way, or will be when the user takes the phone up again.
    package private(set) var isBusy = false
    package private(set) var hasPath = true

    /// `installation`: how many device ids it had before this one. `remembers`: whether it has to know itself what it has
    /// stored, because its process may end before the run does, or its storage may run full.
    package init(
        number: DeviceNumber, profile: ClientProfile, identity: DeviceIdentity, installation: UInt64,
        lastScan: ScanNumber, remembers: Bool, context: RunContext
    ) {
        self.number = number
        self.profile = profile
        self.context = context
        self.identity = identity
        self.installation = installation
        self.lastScan = lastScan
        self.storage = remembers ? Storage() : nil
        self.app = App(
            number: number, identity: identity, profile: profile, random: context.random,
            run: context.run, clockZero: context.clockZero, wallClockAtZero: context.wallClockAtZero)
        self.app.deviceSalt = context.deviceSalt
        self.app.rollout = context.rollout
    }

    /// Continues with other draws. Its identity stays.
    package mutating func redraw(_ random: KeyedRandom) {
        self.context.random = random
        self.app.random = random
    }

    // MARK: Events

    package mutating func handle(
        _ event: PhoneEvent, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.apply(event, at: now, into: &effects)
        // Kept, not computed when requested: a driver that asks a phone of thousands would copy it first.
        self.nextWake = self.app.nextWake
        self.isQuiescent = self.app.isQuiescent
        self.isBusy = self.hasWork
        self.hasPath = self.lossesOfPath == 0
    }

    private mutating func apply(_ event: PhoneEvent, at now: Instant, into effects: inout [PhoneEffect]) {
        switch event {
        case .switchedOn(let stored, let review):
            let restored = stored.filter { !$0.isVolatile }
            self.storage?.restore(restored, review)
            self.observeKept(review, at: now, into: &effects)
            self.start(restored, review, at: now, into: &effects)
        case .disturbed(let disturbance): self.apply(disturbance, at: now, into: &effects)
        case .captureDue(let arrival, let photo): self.capture(arrival, photo, at: now, into: &effects)
        case .runEnded:
            self.isRunEnded = true
            self.handle(app: .suspended, at: now, into: &effects)
        case .rolledOut(let flag):
            self.context.rollout = flag
            self.app.rollout = flag
        case .faultsEnded: self.endFaults(at: now, into: &effects)
        case .app(let event, let process):
            guard process == self.process else { return }
            self.handle(app: event, at: now, into: &effects)
        case .flushing: self.flush(at: now, into: &effects)
        case .flushed:
            guard let writeID = self.unacknowledged else { return }
            self.unacknowledged = nil
            self.handle(app: .stored(writeID), at: now, into: &effects)
        }
    }

    /// Passes an event to the app, if it runs, and does the phone's part of its effects.
    mutating func handle(app event: AppEvent, at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.isAlive else { return }
        let first = effects.count
        self.app.handle(event, at: now, into: &effects)
        if self.storage == nil, self.timesFull == 0, self.armed.isEmpty {
            return self.noteWrites(from: first, in: &effects)
        }
        let end = effects.count
        // What neither ends the process nor is written stays where it is.
        let writes = (first..<end).contains { effects.update($0) { $0.write != nil } }
        guard writes || !self.armed.isEmpty else { return }
        // The app receives the failures once it is done with this event.
        var failed: [WriteID] = []
        var window: PhoneWindow?
        for index in first..<end where window == nil {
            guard case .app(let effect) = effects.take(index, leaving: .flush) else {
                preconditionFailure("an app wants nothing of a phone but its own effects")
            }
            switch effect {
            case .store(let change, let writeID):
                if self.timesFull > 0 {
                    self.holdBack(change, writeID)
                    failed.append(writeID)
                } else {
                    self.store(change, writeID, into: &effects)
                }
                if case .settled(let scan, _) = change { self.settled(scan, into: &effects) }
            case .observe(let observation):
                effects.append(.app(effect))
                // The process may end here: what else it wanted is not done any more.
                if !self.armed.isEmpty { window = self.takeArmed(at: observation, now) }
            case .send, .transmit, .abort, .preparePhoto, .readSpine, .releasePhoto:
                effects.append(.app(effect))
            }
        }
        effects.removeSubrange(first..<end)
        if let window { self.enter(window, kept: nil, at: now, into: &effects) }
        for writeID in failed { self.handle(app: .storeFailed(writeID), at: now, into: &effects) }
    }

    /// Does the phone's part of what the app wants where no fault is in the way: the effects stay where they are.
    private mutating func noteWrites(from first: Int, in effects: inout [PhoneEffect]) {
        var index = first
        while index < effects.count {
            defer { index += 1 }
            guard let write = effects[index].write else { continue }
            if self.unacknowledged == nil {
                index += 1
                effects.insert(.flush, at: index)
            }
            self.unacknowledged = write.id
            guard let scan = write.settled, self.endsWait(for: scan) else { continue }
            index += 1
            effects.insert(.awaitedSettled, at: index)
        }
    }

    // MARK: The user

    /// Makes a capture. Captures need the app in the foreground: one that is due before is made when the app
    /// returns.
    private mutating func capture(
        _ arrival: Arrival, _ photo: PhotoReference, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard self.isOnScreen else {
            self.deferred.append(DeferredCapture(arrival: arrival, photo: photo))
            return
        }
        let first = ScanNumber(self.lastScan.raw + 1)
        let regions = self.regionCount(of: first)
        self.captures += 1
        self.awaited = (0..<UInt32(regions)).map { ScanNumber(first.raw + $0) }
        for number in 1...regions {
            // A fault may have taken the app off the screen between two regions.
            guard self.isOnScreen else { return self.drop(from: ScanNumber(self.lastScan.raw + 1)) }
            let scan = ScanNumber(self.lastScan.raw + 1)
            self.lastScan = scan
            effects.append(.use(scan, beginsCapture: number == 1))
            if regions > 1 { self.observe(region: number, of: regions, first, scan, at: now, into: &effects) }
            self.handle(
                app: .captured(scan: scan, photo: photo, scheduled: arrival.scheduled), at: now,
                into: &effects)
        }
    }

    /// Returns the number of regions of a capture, by its first scan; 1 for what has no photo.
    private func regionCount(of first: ScanNumber) -> Int {
        guard self.profile.journey.takesPhotos else { return 1 }
        let regions = self.profile.upload.regions
        // Nothing is drawn where there is no choice.
        guard regions.count > 1 else { return regions.lowerBound }
        let more = self.context.random.below(
            UInt64(regions.count), .regionsPerCapture, UInt64(self.number.raw), UInt64(first.raw))
        return regions.lowerBound + Int(more)
    }

    private func observe(
        region: Int, of regions: Int, _ capture: ScanNumber, _ scan: ScanNumber, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        let payload = PhoneObservation.regionTaken(capture: capture.raw, number: region, of: regions)
        effects.append(
            .observe(Observation(at: now, device: self.number, scan: scan, what: .phone(payload))))
    }

    /// Regions that are not captured are not waited for.
    private mutating func drop(from first: ScanNumber) { self.awaited.removeAll { $0 >= first } }

    /// A scan that an earlier run left behind does not count.
    private mutating func settled(_ scan: ScanNumber, into effects: inout [PhoneEffect]) {
        if self.endsWait(for: scan) { effects.append(.awaitedSettled) }
    }

    /// A scan is settled, or gone. Returns whether it was the last that the user waited for.
    private mutating func endsWait(for scan: ScanNumber) -> Bool {
        guard let index = self.awaited.firstIndex(of: scan) else { return false }
        self.awaited.remove(at: index)
        return self.awaited.isEmpty
    }

    /// The user takes the phone up again, unless something still keeps the app away.
    mutating func open(at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.timesDead == 0, self.timesAway == 0, !self.isRunEnded else { return }
        if self.isAlive {
            self.handle(app: .resumed, at: now, into: &effects)
        } else {
            if self.lossesOfPath == 0 { effects.append(.hangUp) }
            self.start(
                self.storage?.scans ?? [], self.storage?.review ?? DurableReview(), at: now, into: &effects)
        }
        let deferred = self.deferred
        self.deferred = []
        for capture in deferred { self.capture(capture.arrival, capture.photo, at: now, into: &effects) }
    }

    /// A fresh process, with what its storage holds.
    private mutating func start(
        _ restored: [DurableScan], _ review: DurableReview, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        self.isAlive = true
        self.process += 1
        self.records = 0
        self.handle(
            app: .launched(restored: restored, review: review, pathAvailable: self.lossesOfPath == 0),
            at: now, into: &effects)
        if self.clockAhead != .zero {
            self.handle(app: .clockSet(ahead: self.clockAhead), at: now, into: &effects)
        }
        // What the user waited for went with the process or with the app.
        for awaited in self.awaited where !restored.contains(where: { $0.scan == awaited.raw }) {
            self.settled(awaited, into: &effects)
        }
    }

    func freshApp() -> App {
        var app = App(
            number: self.number, identity: self.identity, profile: self.profile,
            random: self.context.random, run: self.context.run,
            clockZero: self.context.clockZero, wallClockAtZero: self.context.wallClockAtZero)
        app.deviceSalt = self.context.deviceSalt
        app.rollout = self.context.rollout
        return app
    }

    // MARK: Queries

    package var isOnScreen: Bool { self.isAlive && self.timesAway == 0 }

    /// Off the screen or dead, and sure to come back.
    private var isComingBack: Bool { self.timesAway + self.timesDead > 0 && self.timesForGood == 0 }

    private var hasWork: Bool {
        if !self.isQuiescent { return true }
        guard self.isComingBack else { return false }
        return !self.deferred.isEmpty || self.left.records > 0 || self.app.unsettledCount > 0
    }

    /// Whether its storage would give a fresh process the scan with that job; nil for a phone that does not remember.
    package func holds(job: String, of scan: ScanNumber) -> Bool? {
        self.storage?.holds(job: job, of: scan)
    }

    /// Whether its storage takes what is written, and nothing waits for it to do so.
    package var hasRoom: Bool { self.timesFull == 0 && self.held.isEmpty }

    /// The records that its storage would give to a fresh process; nil for a phone without a memory.
    package var stored: [DurableScan]? { self.storage?.scans }
}

/// A capture that waits for its shutter.
package struct DeferredCapture: Hashable, Sendable {
    package let arrival: Arrival
    package let photo: PhotoReference
}

/// A write of the app that is not durable.
struct PendingWrite: Sendable {
    let change: StoreChange
    let writeID: WriteID
}
