import CurlLoop
import Device
import EventLoop
import Faults
import Plan
import SimBase
import Talaria

/// What happens to a phone apart from its requests: it loses its path or changes it, its app leaves the screen, dies, is
/// installed anew, its clock is set, its storage fills up. Windows of one kind may overlap; the phone is well again when
/// the last of them has ended.
struct PhoneLife {
    /// The app's process. Off between a kill and the next launch.
    var isAlive = false
    /// Which process of the phone it is, from 1: what an earlier one asked for is not this one's.
    var process: UInt32 = 0
    /// How many times the app was installed before.
    var installation: UInt64 = 0
    var identity: DeviceIdentity
    /// How many windows hold its path down, its app off the screen, its process dead, its storage full.
    var lossesOfPath = 0
    var timesAway = 0
    var timesDead = 0
    var timesFull = 0
    /// Of the windows that hold the app off the screen or dead, those that never end.
    var timesForGood = 0
    /// How far the wall clock is ahead of the true time.
    var clockAhead = Interval.zero
    /// Writes for which there is no room, in their order.
    var held: [(change: StoreChange, ticket: StoreTicket)] = []
    /// Captures that were due while there was no shutter: they are made when the app is on the screen again, and their
    /// time counts from when they were due.
    var deferred: [Arrival] = []
    /// The last capture, until it is settled: in a closed group nothing else is captured meanwhile.
    var awaited: ScanNumber?
    /// Scans that a dead process left in its storage, and of these the ones of which more than the DELETE is left.
    var left = (records: 0, unsettled: 0)

    init(identity: DeviceIdentity, installation: UInt64) {
        self.identity = identity
        self.installation = installation
    }

    var isOnScreen: Bool { self.isAlive && self.timesAway == 0 }

    /// Off the screen or dead, and sure to come back.
    var isComingBack: Bool { self.timesAway + self.timesDead > 0 && self.timesForGood == 0 }
}

/// One end of a window of a phone, or what follows from it.
enum LifeAct: Sendable {
    case begins(PhoneWindow)
    case ends(PhoneWindow)
    /// The phone's way leads through a time without a path, which is no fault.
    case entersTunnel
    case leavesTunnel
    /// Nobody waits any more for the connections of a network that the phone has left.
    case oldPathGone
}

extension Fleet {
    func perform(_ act: LifeAct, of phone: Int) {
        switch act {
        case .begins(let window): self.begin(window, of: phone)
        case .ends(let window): self.end(window, of: phone)
        case .entersTunnel: self.losePath(phone)
        case .leavesTunnel: self.regainPath(phone, saysGoodbye: true)
        case .oldPathGone:
            // Without a path nothing says goodbye; then it is the path's return that does.
            if self.phones[phone].life.lossesOfPath == 0 { self.pool.unpark(phone: phone) }
        }
    }

    private func begin(_ window: PhoneWindow, of phone: Int) {
        if window.kind.needsApp, self.isEnding { return }  // The run is over for the user.
        self.observe(.fault(.began(fault: window.fault)), of: phone)
        switch window.kind {
        case .offline: self.losePath(phone)
        case .handover: self.changePath(phone, isThere: window.to <= window.from)
        case .background:
            self.hold(\.timesAway, window, of: phone)
            if self.phones[phone].life.timesAway == 1 { self.tell(phone, .suspended) }
        case .kill:
            self.hold(\.timesDead, window, of: phone)
            self.kill(phone)
        case .reinstall:
            self.hold(\.timesDead, window, of: phone)
            self.kill(phone)
            self.wipe(phone)
        case .clockSkew(let by): self.setClock(phone, further: by)
        case .storageFull:
            self.phones[phone].life.timesFull += 1
            if self.phones[phone].life.timesFull == 1 { self.fillStorage(phone) }
        default: preconditionFailure("\(window.kind.name) is not a fault of the phone")
        }
        guard window.to != .distantFuture else { return }
        self.acts.insert((phone, .ends(window)), at: window.to)
    }

    private func end(_ window: PhoneWindow, of phone: Int) {
        self.observe(.fault(.ended(fault: window.fault)), of: phone)
        switch window.kind {
        case .offline: self.regainPath(phone, saysGoodbye: true)
        case .handover:
            if window.to > window.from { self.regainPath(phone, saysGoodbye: false) }
        case .background:
            self.phones[phone].life.timesAway -= 1
            self.open(phone)
        case .kill, .reinstall:
            self.phones[phone].life.timesDead -= 1
            self.open(phone)
        case .clockSkew(let by): self.setClock(phone, further: .zero - by)
        case .storageFull:
            self.phones[phone].life.timesFull -= 1
            if self.phones[phone].life.timesFull == 0 { self.freeStorage(phone) }
        default: preconditionFailure("\(window.kind.name) is not a fault of the phone")
        }
    }

    private func hold(_ times: WritableKeyPath<PhoneLife, Int>, _ window: PhoneWindow, of phone: Int) {
        self.phones[phone].life[keyPath: times] += 1
        if window.to == .distantFuture { self.phones[phone].life.timesForGood += 1 }
    }

    private func observe(_ what: Sighting, of phone: Int) {
        self.observe(
            Observation(
                at: self.loop.now(), device: self.phones[phone].number, scan: .none, what: what))
    }

    // MARK: The path

    /// Without a word to the peer: the connections stay open and unread, as a phone's do in a tunnel.
    private func losePath(_ phone: Int) {
        self.phones[phone].life.lossesOfPath += 1
        guard self.phones[phone].life.lossesOfPath == 1 else { return }
        self.park(phone)
        self.tell(phone, .pathLost)
    }

    /// The same, but the connections are those of a network that the phone is not in any more: no RST of its own will
    /// ever reach the peer over it.
    private func changePath(_ phone: Int, isThere: Bool) {
        let hadPath = self.phones[phone].life.lossesOfPath == 0
        if !isThere { self.phones[phone].life.lossesOfPath += 1 }
        guard hadPath else { return }
        self.park(phone)
        self.acts.insert((phone, .oldPathGone), at: self.loop.now() + FleetLimits.oldPathTime)
        self.tell(phone, .pathChanged(isAvailable: isThere))
    }

    private func regainPath(_ phone: Int, saysGoodbye: Bool) {
        self.phones[phone].life.lossesOfPath -= 1
        guard self.phones[phone].life.lossesOfPath == 0 else { return }
        if saysGoodbye { self.pool.unpark(phone: phone) }
        self.tell(phone, .pathReturned)
    }

    private func park(_ phone: Int) {
        self.pool.park(phone: phone)
        self.phones[phone].requests.removeAll()
    }

    // MARK: The process

    /// The process is gone with all that it had in memory, and nobody is told: its connections stay open and unread until
    /// the next one starts. What was acknowledged as durable is kept; a write under way may have reached the storage or
    /// not, and both happen.
    private func kill(_ phone: Int) {
        guard self.phones[phone].life.isAlive else { return }
        let number = self.phones[phone].number
        let draw = self.random.draw(.kill, UInt64(number.raw), UInt64(self.phones[phone].life.process))
        let written = self.phones[phone].unacknowledged
        self.phones[phone].unacknowledged = nil
        if let written, draw % 2 == 0 {
            self.keepWritten(upTo: written, of: phone)
        } else {
            self.journal.forgetUnflushed(of: number)
        }
        self.phones[phone].life.held = []
        self.park(phone)
        self.phones[phone].photos = []
        self.phones[phone].life.isAlive = false
        self.observe(.phone(.killed), of: phone)
        let records = self.journal.durable(of: number)
        self.phones[phone].life.left = (records.count, records.count { $0.isUnsettled })
        self.phones[phone].device = self.freshDevice(phone)
        self.setWake(phone)
    }

    /// The write was made, and the process ended before it could act on that: only what it means was seen. What the
    /// other phones wrote is acknowledged with it, so that nothing is ever durable that is not known to be.
    private func keepWritten(upTo ticket: StoreTicket, of phone: Int) {
        guard self.flushStore() else { return }
        var effects: [DeviceEffect] = []
        self.phones[phone].device.handle(.stored(ticket), at: self.loop.now(), into: &effects)
        for case .observe(let observation) in effects { self.observe(observation) }
    }

    /// All that the app stored goes with it, and the next one has another device id.
    private func wipe(_ phone: Int) {
        let number = self.phones[phone].number
        self.observe(.phone(.reinstalled(discarded: self.phones[phone].life.left.unsettled)), of: phone)
        self.phones[phone].life.left = (0, 0)
        self.phones[phone].life.installation += 1
        let identity = DeviceIdentity.draw(
            self.random, number, installation: self.phones[phone].life.installation)
        self.phones[phone].life.identity = identity
        self.journal.wipe(number, newIdentity: identity.text)
        self.wantFlush()
        self.phones[phone].device = self.freshDevice(phone)
    }

    func freshDevice(_ phone: Int) -> Device {
        Device(
            number: self.phones[phone].number, identity: self.phones[phone].life.identity,
            profile: self.profile(of: phone), random: self.random, run: self.plan.run,
            clockZero: self.plan.clock.zero, wallClockAtZero: self.plan.wallClockAtZero)
    }

    /// The user takes the phone up again, unless something still keeps the app away.
    private func open(_ phone: Int) {
        let life = self.phones[phone].life
        guard life.timesDead == 0, life.timesAway == 0, !self.isEnding else { return }
        if life.isAlive {
            self.tell(phone, .resumed)
        } else {
            if life.lossesOfPath == 0 { self.pool.unpark(phone: phone) }
            self.start(phone, restored: self.journal.durable(of: self.phones[phone].number))
        }
        self.phones[phone].life.deferred = []
        // The phone is late, not the schedule.
        for arrival in life.deferred { self.capture(arrival, at: arrival.scheduled) }
    }

    /// A fresh process, with what its storage holds.
    func start(_ phone: Int, restored: [DurableScan]) {
        self.phones[phone].life.isAlive = true
        self.phones[phone].life.process += 1
        self.tell(
            phone,
            .launched(restored: restored, pathAvailable: self.phones[phone].life.lossesOfPath == 0))
        let ahead = self.phones[phone].life.clockAhead
        if ahead != .zero { self.tell(phone, .clockSet(ahead: ahead)) }
        // The scan that the user waited for went with the process or with the app.
        if let awaited = self.phones[phone].life.awaited,
            !restored.contains(where: { $0.scan == awaited.raw })
        {
            self.settled(awaited, of: phone)
        }
    }

    // MARK: Clock and storage

    private func setClock(_ phone: Int, further: Interval) {
        let (sum, overflow) = self.phones[phone].life.clockAhead.nanoseconds
            .addingReportingOverflow(further.nanoseconds)
        guard !overflow else { return }
        self.phones[phone].life.clockAhead = .nanoseconds(sum)
        self.tell(phone, .clockSet(ahead: .nanoseconds(sum)))
    }

    /// What was written before has its place.
    private func fillStorage(_ phone: Int) {
        self.observe(.phone(.storageFilled), of: phone)
    }

    private func freeStorage(_ phone: Int) {
        self.observe(.phone(.storageFreed), of: phone)
        let held = self.phones[phone].life.held
        self.phones[phone].life.held = []
        for (change, _) in held { self.journal.store(change, of: self.phones[phone].number) }
        if let last = held.last { self.wantFlush(last.ticket, of: phone) }
    }

    /// A write for which there is no room stays with its process, and is made when there is. Of the last event ids of a
    /// scan only the newest is kept, so that a stream cannot fill the memory.
    func holdBack(_ change: StoreChange, _ ticket: StoreTicket, of phone: Int) {
        if case .lastEventID(let scan, _) = change,
            case .lastEventID(scan, _)? = self.phones[phone].life.held.last?.change
        {
            self.phones[phone].life.held.removeLast()
        }
        self.phones[phone].life.held.append((change, ticket))
        if case .settled(let scan, _) = change { self.settled(scan, of: phone) }
        self.tell(phone, .storeFailed(ticket))
    }
}

extension FaultKind {
    /// Whether it is something that a user does with the app, or that happens to it while it is used.
    fileprivate var needsApp: Bool {
        switch self {
        case .background, .kill, .reinstall: true
        default: false
        }
    }
}

extension DurableScan {
    /// Its outcome is not durable yet: more than its DELETE is left to do.
    var isUnsettled: Bool { !self.completed && self.refusal == nil }
}
