import Faults
import HTTPServer
import Phone
import Plan
import SimBase
import Talaria

/// One phone of a world with what stands around it.
struct WorldPhone: Sendable {
    var handset: Handset
    /// Its place in the plan's groups.
    let group: Int
    /// Wires that are open from its side, in the order in which they were made.
    var wires: [WireID] = []
    /// Wires that were left without a word.
    var parked: [WireID] = []
    /// Photos that are ready, by scan: their sizes.
    var photos: [ReadyPhoto] = []
    /// Something is under way, or will be.
    var isBusy = false
    /// It stays without a path when all trouble is over. Nobody waits for it.
    var isBroken = false
    /// So many flushes of its storage so far, and pieces of what it was sent.
    var flushes: UInt64 = 0
    var pieces: UInt64 = 0

    init(handset: Handset, group: Int) {
        self.handset = handset
        self.group = group
    }
}

struct ReadyPhoto: Sendable {
    let scan: ScanNumber
    let bytes: Int
}

extension World {
    /// Every phone starts with an empty storage.
    mutating func switchOn(_ desk: FaultDesk?) {
        let surroundings = Surroundings(
            random: self.random, run: Self.runID(self.plan.run.scenario.seed), clockZero: 0,
            wallClockAtZero: self.plan.wallClockAtZero)
        for (place, group) in self.plan.run.groups.enumerated() {
            for number in group.devices {
                let device = DeviceNumber(number)
                self.phones.append(
                    WorldPhone(
                        handset: Handset(
                            number: device, profile: group.profile,
                            identity: DeviceIdentity.draw(self.random, device), installation: 0,
                            lastScan: .none, remembers: true, surroundings: surroundings),
                        group: place))
                let phone = self.phones.count - 1
                let windows = desk?.phoneSchedule(device: device, group: group.spec.name) ?? []
                for window in windows { self.schedule(.begins(window), of: phone, at: window.from) }
                for tunnel in group.spec.network.tunnels {
                    self.schedule(.entersTunnel, of: phone, at: tunnel.from)
                    if tunnel.to != .distantFuture {
                        self.schedule(.leavesTunnel, of: phone, at: tunnel.to)
                    }
                }
                self.tell(phone, .switchedOn(restored: []))
                self.think(phone, settled: .zero)
            }
        }
    }

    /// The trace id's run: of the seed alone, never 0.
    private static func runID(_ seed: UInt64) -> UInt64 {
        KeyedRandom(seed: seed).draw(.deviceIdentity, .max) | 1
    }

    private mutating func schedule(_ act: LifeAct, of phone: Int, at moment: Instant) {
        self.acts.append(act)
        self.schedule(.act(phone: Int32(phone), Int32(self.acts.count - 1)), at: moment)
    }

    /// Hands an event to a phone and carries out what it wants.
    mutating func tell(_ phone: Int, _ event: HandsetEvent) {
        var effects: [HandsetEffect] = []
        swap(&effects, &self.handsetEffects)
        self.phones[phone].handset.handle(event, at: self.now, into: &effects)
        for place in effects.indices { self.carryOut(effects.take(place, leaving: .flushNow), of: phone) }
        effects.clear()
        swap(&effects, &self.handsetEffects)
        let wake = self.phones[phone].handset.nextWake
        self.wakes.set(key: phone, at: wake)
        let isBusy = self.phones[phone].handset.isBusy && !self.phones[phone].isBroken
        if isBusy != self.phones[phone].isBusy {
            self.phones[phone].isBusy = isBusy
            self.course.busy += isBusy ? 1 : -1
        }
        if event.mayFill { self.lookAtBounds(of: phone) }
    }

    private mutating func carryOut(_ effect: consuming HandsetEffect, of phone: Int) {
        if self.isTracing { self.trace(copy effect, of: phone) }
        switch consume effect {
        case .observe(let observation): self.observe(observation)
        case .send(let request): self.send(request, of: phone)
        case .abort(let id): self.abort(id, of: phone)
        case .preparePhoto(let scan, let photo, let process):
            self.prepare(photo, for: scan, of: phone, process: process)
        case .releasePhoto(let scan):
            self.phones[phone].photos.removeAll { $0.scan == scan }
        case .use: self.course.captured += 1
        case .write: break  // The handset remembers what it has stored.
        case .flush: self.flushSoon(phone)
        case .flushNow, .wiped: break
        case .park: self.park(phone)
        case .hangUp: self.hangUp(phone)
        case .forgetProcess: self.phones[phone].photos = []
        case .schedule(let act, let moment): self.schedule(act, of: phone, at: moment)
        case .awaitedSettled: self.think(phone, settled: self.now)
        }
    }

    // MARK: Storage

    private mutating func flushSoon(_ phone: Int) {
        self.phones[phone].flushes += 1
        let width = UInt64((WorldTime.storage.upperBound - WorldTime.storage.lowerBound).nanoseconds) + 1
        let drawn = self.random.below(
            width, .storage, UInt64(self.phones[phone].handset.number.raw), self.phones[phone].flushes)
        self.schedule(
            .flush(phone: Int32(phone)),
            at: self.now + WorldTime.storage.lowerBound + .nanoseconds(Int64(drawn)))
    }

    // MARK: Photos

    private mutating func prepare(
        _ photo: PhotoReference, for scan: ScanNumber, of phone: Int, process: UInt32
    ) {
        let group = self.plan.run.groups[self.phones[phone].group].spec
        let isFirst = group.preprocess == .each || self.course.isFirst(photo)
        self.schedule(
            .photo(phone: Int32(phone), scan, process: process, photo, isFirst: isFirst),
            at: isFirst ? self.now + WorldTime.photo : self.now)
    }

    mutating func photoIsReady(
        _ phone: Int, _ scan: ScanNumber, process: UInt32, _ photo: PhotoReference, isFirst: Bool
    ) {
        let handset = self.phones[phone].handset.process
        guard self.phones[phone].handset.isAlive, handset == process else { return }
        let bytes = self.plan.photoBytes[photo.raw]
        self.phones[phone].photos.append(ReadyPhoto(scan: scan, bytes: bytes))
        self.tell(
            phone,
            .photoPrepared(scan, process: process, bytes: bytes, took: isFirst ? WorldTime.photo : nil))
    }
}
