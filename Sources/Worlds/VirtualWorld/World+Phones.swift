import Faults
import HTTPServer
import Phone
import Plan
import SimBase
import Talaria

/// One phone of a world, with its driver's state.
struct WorldPhone: Sendable {
    var machine: Phone
    /// Its index in the plan's groups.
    let group: Int
    /// Wires that are open from its side, in the order in which they were made.
    var wires: [WireID] = []
    /// Wires that were left open and unread.
    var parked: [WireID] = []
    /// Photos that are ready, by scan: their sizes.
    var photos: [ReadyPhoto] = []
    /// Whether it has unfinished work, now or when it is taken up again.
    var isBusy = false
    /// Whether it stays without a path when the faults end. The run does not wait for it.
    var isBroken = false
    /// The numbers of flushes of its storage, and of pieces of what it was sent.
    var flushes: UInt64 = 0
    var pieces: UInt64 = 0
}

struct ReadyPhoto: Sendable {
    let scan: ScanNumber
    let bytes: Int
}

extension World {
    /// Every phone starts with an empty storage.
    mutating func switchOn(_ planner: FaultPlanner?) {
        let context = RunContext(
            random: self.random, run: Self.runID(self.plan.run.scenario.seed), clockZero: 0,
            wallClockAtZero: self.plan.wallClockAtZero)
        for (index, group) in self.plan.run.groups.enumerated() {
            for number in self.plan.run.shard.phones(of: group.devices) {
                let device = DeviceNumber(number)
                self.phones.append(
                    WorldPhone(
                        machine: Phone(
                            number: device, profile: group.profile,
                            identity: DeviceIdentity.draw(self.random, device), installation: 0,
                            lastScan: .none, remembers: true, context: context),
                        group: index))
                let phone = self.phones.count - 1
                let windows = planner?.phoneSchedule(device: device, group: group.spec.name) ?? []
                for window in windows { self.schedule(.begins(window), of: phone, at: window.from) }
                for tunnel in group.spec.network.tunnels {
                    self.schedule(.entersTunnel, of: phone, at: tunnel.from)
                    if tunnel.to != .distantFuture {
                        self.schedule(.leavesTunnel, of: phone, at: tunnel.to)
                    }
                }
                self.send(.switchedOn(restored: []), to: phone)
                self.think(phone, settled: .zero)
            }
        }
    }

    /// The trace id's run: of the seed alone, never 0.
    private static func runID(_ seed: UInt64) -> UInt64 {
        KeyedRandom(seed: seed).draw(.deviceIdentity, .max) | 1
    }

    private mutating func schedule(_ disturbance: PhoneDisturbance, of phone: Int, at moment: Instant) {
        self.disturbances.append(disturbance)
        self.schedule(
            .disturbance(phone: Int32(phone), index: Int32(self.disturbances.count - 1)), at: moment)
    }

    /// Sends the outcome of a request or wake-up of the present process to the app.
    mutating func send(_ event: AppEvent, toAppOf phone: Int) {
        self.send(.app(event, process: self.phones[phone].machine.process), to: phone)
    }

    /// Passes an event to a phone and runs its effects.
    mutating func send(_ event: PhoneEvent, to phone: Int) {
        var effects: [PhoneEffect] = []
        swap(&effects, &self.phoneEffects)
        self.phones[phone].machine.handle(event, at: self.now, into: &effects)
        for index in effects.indices { self.carryOut(effects.take(index, leaving: .flushNow), of: phone) }
        effects.clear()
        swap(&effects, &self.phoneEffects)
        let wake = self.phones[phone].machine.nextWake
        self.wakes.set(key: phone, at: wake)
        let isBusy = self.phones[phone].machine.isBusy && !self.phones[phone].isBroken
        if isBusy != self.phones[phone].isBusy {
            self.phones[phone].isBusy = isBusy
            self.progress.busy += isBusy ? 1 : -1
        }
        if event.mayFill { self.lookAtBounds(of: phone) }
    }

    private mutating func carryOut(_ effect: consuming PhoneEffect, of phone: Int) {
        if self.isTracing { self.trace(copy effect, of: phone) }
        switch consume effect {
        case .observe(let observation), .app(.observe(let observation)): self.observe(observation)
        case .app(.send(let request)): self.start(request, of: phone)
        case .app(.transmit(let id, let bytes)): self.transmit(bytes, on: id, of: phone)
        case .app(.abort(let id)): self.abort(id, of: phone)
        case .app(.preparePhoto(let scan, let photo)): self.prepare(photo, for: scan, of: phone)
        case .app(.readSpine(let scan, _)):
            let took = self.document(of: scan, of: phone).took ?? .zero
            let process = self.phones[phone].machine.process
            self.schedule(.reading(phone: Int32(phone), scan, process: process), at: self.now + took)
        case .app(.releasePhoto(let scan)):
            self.phones[phone].photos.removeAll { $0.scan == scan }
        case .app(.store): break  // The phone remembers what it has stored.
        case .use(_, let beginsCapture): self.progress.captured += beginsCapture ? 1 : 0
        case .flush: self.flushSoon(phone)
        case .flushNow, .wiped: break
        case .park: self.park(phone)
        case .hangUp: self.hangUp(phone)
        case .forgetProcess: self.phones[phone].photos = []
        case .schedule(let disturbance, let at): self.schedule(disturbance, of: phone, at: at)
        case .awaitedSettled: self.think(phone, settled: self.now)
        }
    }

    // MARK: Storage

    private mutating func flushSoon(_ phone: Int) {
        self.phones[phone].flushes += 1
        let width = UInt64((WorldTime.storage.upperBound - WorldTime.storage.lowerBound).nanoseconds) + 1
        let drawn = self.random.below(
            width, .storage, UInt64(self.phones[phone].machine.number.raw), self.phones[phone].flushes)
        self.schedule(
            .flush(phone: Int32(phone)),
            at: self.now + WorldTime.storage.lowerBound + .nanoseconds(Int64(drawn)))
    }

    // MARK: Photos

    private mutating func prepare(_ photo: PhotoReference, for scan: ScanNumber, of phone: Int) {
        let group = self.plan.run.groups[self.phones[phone].group].spec
        guard group.profile.journey.takesPhotos else {
            self.schedule(
                .photo(
                    phone: Int32(phone), scan, process: self.phones[phone].machine.process, photo,
                    isFirst: false),
                at: self.now)
            return
        }
        let isFirst =
            group.preprocess == .each
            || self.progress.prepare(photo, for: self.phones[phone].machine.number)
        self.schedule(
            .photo(
                phone: Int32(phone), scan, process: self.phones[phone].machine.process, photo,
                isFirst: isFirst),
            at: isFirst ? self.now + WorldTime.photo : self.now)
    }

    mutating func spineIsRead(_ phone: Int, _ scan: ScanNumber, process: UInt32) {
        guard self.phones[phone].machine.isAlive, self.phones[phone].machine.process == process else {
            return
        }
        let document = self.document(of: scan, of: phone)
        self.send(
            .photoPrepared(
                scan: scan, bytes: document.bytes.count, took: nil, reading: document.reading),
            toAppOf: phone)
    }

    mutating func photoIsReady(
        _ phone: Int, _ scan: ScanNumber, process: UInt32, _ photo: PhotoReference, isFirst: Bool
    ) {
        guard self.phones[phone].machine.isAlive, self.phones[phone].machine.process == process else {
            return
        }
        let hasPhotos = self.phones[phone].machine.profile.journey.takesPhotos
        let document = hasPhotos ? nil : self.document(of: scan, of: phone)
        let bytes = document?.bytes.count ?? self.plan.photoBytes[photo.raw]
        self.phones[phone].photos.append(ReadyPhoto(scan: scan, bytes: bytes))
        self.send(
            .photoPrepared(
                scan: scan, bytes: bytes, took: isFirst ? WorldTime.photo : nil, file: document?.file,
                barcode: document?.barcode),
            toAppOf: phone)
    }
}
