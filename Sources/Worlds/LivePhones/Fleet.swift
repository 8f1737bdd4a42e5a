import CurlLoop
import EventLoop
import Faults
import HTTPClient
import Imaging
import Metrics
import Observations
import Phone
import Plan
import SimBase
import SystemIO
import Talaria
import TargetTrial

/// One thread's phones of a run on real sockets: one loop, every phone a value in an array.
///
/// Made, run and released on its own thread. Two mailboxes connect it with the main thread. See `FleetThreads`.
final class Fleet {
    var plan: FleetPlan
    /// Judges the target; nil where a gateway does, and with a backend of this program.
    var trial: TargetTrial?
    /// Makes the requests of the trial.
    var probes: ProbePool?
    var probing: LoopTimer?
    let loop: Loop
    let pool: ClientPool
    let journal: StateJournal
    let preprocessing: PreprocessingQueue.Intake
    /// Nil if the scenario refuses nothing.
    let refusals: Refusals?
    private let reports: Mailbox<ShardReport>
    private let backlog: ReportBacklog
    private var orders: MailboxReader<FleetOrder>?

    var phones: [FleetPhone] = []
    var effects: [PhoneEffect] = []
    var waiting: [(phone: Int, event: PhoneEvent)] = []
    var isHandling = false
    var wakes: WakeTable?
    private var schedule: LoopTimer?
    private var handOver: LoopTimer?
    private var storing: LoopTask?
    private var ending: LoopTimer?

    private var observations: [Observation] = []
    private var observationsMade = 0
    private var reportsMade = 0
    private var handOvers = 0
    /// Phones that want what they wrote durable.
    private var storers: [Int] = []
    private var arrivals: ArrivalSchedule
    private var nextArrival: Arrival?
    /// The next captures of the phones of closed groups, after their think time.
    private var thinking = EventHeap<Arrival>()
    var closedDue = 0
    private var arrivalsLate = 0
    var held: HeldLoad
    private var disturbances = EventHeap<Disturbance>()
    let random: KeyedRandom
    private var lateness = HDRHistogram()
    var reconcileTimes = HDRHistogram()
    var photoWaits = HDRHistogram()
    private var timersLate: Int64 = 0
    var phase = Phase.running
    /// The indexes of the phones that were opened and have not closed, where `plan.phonesMax` is set.
    var opened: [DeviceNumber: Int] = [:]
    /// Places of phones that have closed.
    var freePlaces: [Int] = []
    /// Phones that are about to close.
    var closing: [Closing] = []
    var closings: LoopTimer?
    /// Captures that phones whose places are taken by others did not come back to make.
    private var deferredOfClosed = 0
    /// Whether captures are over for good.
    private var takesNoCaptures = false
    private var failure: FleetFailure?
    private var shutdownsTimedOut = 0
    var captured = 0
    var photosRejected = 0
    /// The prepared photos by photo, for groups that prepare each photo once.
    var prepared: [PreparedPhoto?]

    /// The phase of the fleet.
    enum Phase {
        /// Captures are made. Leaves to `draining` when none is scheduled, or to `suspending`.
        case running
        /// Unfinished scans get until then. Leaves to `suspending`, or back to `running` when a phone of a closed group
        /// has settled one and thinks of the next.
        case draining(until: Instant)
        /// Every phone shuts down. Leaves to `over`.
        case suspending(until: Instant)
        case over
    }

    /// What happens to a phone at its time.
    enum DueEvent {
        case disturbance(PhoneDisturbance)
        /// The phone has read the spine of a scan, unless another process runs by then.
        case reading(ScanNumber, process: UInt32)
    }

    private struct Disturbance {
        let phone: Int
        /// Another phone may have its place by then.
        let opening: Int
        let what: DueEvent
    }

    /// A phone that is about to close.
    struct Closing {
        let phone: Int
        /// Until then its scans may settle.
        let drained: Instant
        /// Set once it shuts down: until then it has time for it.
        var ended: Instant?
    }

    /// Starts the phones with what the state folder held. Nothing moves before the loop runs.
    init(
        _ plan: FleetPlan, loop: Loop, state: StateFolder, journal: StateJournal,
        preprocessing: PreprocessingQueue.Intake,
        orders: Mailbox<FleetOrder>, reports: Mailbox<ShardReport>, backlog: ReportBacklog
    ) {
        self.plan = plan
        self.random = KeyedRandom(seed: plan.seed)
        self.held = HeldLoad(until: plan.phones.lazy.compactMap(\.think).first?.until ?? .distantFuture)
        self.arrivals = plan.arrivals
        self.trial = plan.trial.map { TargetTrial($0) }
        self.loop = loop
        self.reports = reports
        self.backlog = backlog
        self.journal = journal
        self.prepared = Array(repeating: nil, count: plan.photos.count)
        self.preprocessing = preprocessing
        self.refusals = Refusals(plan.faults, seed: plan.seed)
        self.pool = ClientPool(
            loop: loop, target: plan.target, phones: plan.phonesMax ?? plan.phones.count, client: .own)
        self.pool.delegate = self
        self.pool.keepsIdleBelow = plan.socketsKept / plan.threads
        self.nextArrival = self.takeArrival()
        self.wakes = WakeTable(loop: loop, keys: plan.phones.count) { [unowned self] phone, _, lateness in
            self.timerRan(lateness)
            self.send(.woke, toAppOf: phone)
        }
        self.makeTimers()
        self.orders = orders.read(on: loop) { [unowned self] batch in
            for order in batch { self.follow(order) }
        }
        self.phones.reserveCapacity(plan.phones.count)
        for index in plan.phones.indices {
            self.launch(index, state.restored(plan.phones[index].number), at: .zero)
        }
        self.flushStore()
    }

    private func makeTimers() {
        self.schedule = LoopTimer(loop: self.loop) { [unowned self] due in
            self.timerRan(self.loop.now() - due)
            self.followSchedule()
        }
        self.handOver = LoopTimer(loop: self.loop) { [unowned self] _ in
            if !self.storers.isEmpty { self.flushStore() }
            self.report()
        }
        if self.trial?.isProbing == true {
            self.probes = ProbePool(
                loop: self.loop, base: self.plan.base, target: self.plan.target, headers: self.plan.headers
            ) { [unowned self] in self.take($0) }
            self.probing = LoopTimer(loop: self.loop) { [unowned self] _ in self.probeTarget() }
        }
        self.storing = LoopTask(loop: self.loop) { [unowned self] in self.flushStore() }
        self.ending = LoopTimer(loop: self.loop) { [unowned self] _ in self.checkEnd() }
        self.closings = LoopTimer(loop: self.loop) { [unowned self] _ in self.checkClosings() }
    }

    /// Runs the loop until every phone is done, and lets go of everything.
    func run() {
        self.followSchedule()
        self.report()
        self.loop.run()
        self.orders = nil
    }

    /// Makes the phone of a plan and switches it on; phones have the places of their plans.
    func launch(_ index: Int, _ restored: StateFolder.Restored, at now: Instant) {
        let setup = self.plan.phones[index]
        var context = RunContext(
            random: self.random, run: self.plan.run,
            clockZero: self.plan.readsStamps ? self.plan.clock.zero : nil,
            wallClockAtZero: self.plan.wallClockAtZero)
        context.deviceSalt = self.plan.deviceSalt
        context.rollout = self.plan.rollout
        let installation = UInt64(max(0, restored.installations - 1))
        let kept = restored.identity.flatMap { DeviceIdentity(text: $0) }
        let identity =
            kept
            ?? DeviceIdentity.draw(
                self.random, setup.number, installation: installation, salt: self.plan.deviceSalt)
        if kept == nil { self.journal.keep(identity: identity.text, of: setup.number) }
        let remembers = setup.faults.contains { $0.kind.has(.tearsStorage) }
        var phone = FleetPhone(
            machine: Phone(
                number: setup.number, profile: setup.profile, identity: identity,
                installation: installation, lastScan: max(restored.lastScan, setup.lastScan),
                remembers: remembers, context: context), remembers: remembers)
        if index < self.phones.count {
            phone.opening = self.phones[index].opening
            self.deferredOfClosed += self.phones[index].machine.deferred.count
            self.phones[index] = phone
        } else {
            self.phones.append(phone)
        }
        // What is over before a phone is opened does not happen to it.
        for window in setup.faults where window.to > now {
            self.insert(.disturbance(.begins(window)), of: index, at: window.from)
        }
        for tunnel in setup.network?.tunnels ?? [] where tunnel.to > now {
            self.insert(.disturbance(.entersTunnel), of: index, at: tunnel.from)
            if tunnel.to != .distantFuture {
                self.insert(.disturbance(.leavesTunnel), of: index, at: tunnel.to)
            }
        }
        self.send(.switchedOn(restored: restored.scans, review: restored.review), to: index)
        self.think(index, settled: now)
    }

    // MARK: Time

    private func timerRan(_ lateness: Interval) {
        self.lateness.record(lateness.nanoseconds)
        if lateness > FleetLimits.timerLatenessMax { self.timersLate += 1 }
    }

    /// Adds a stage to a load in steps.
    private func extend(_ stage: ArrivalStage?) {
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
    private func takeArrival() -> Arrival? {
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

    private func follow(_ order: FleetOrder) {
        switch order {
        case .stop: self.stop()
        case .drain: self.drain()
        case .extend(let stage): self.extend(stage)
        case .open(let phones): self.open(phones)
        case .close(let devices): self.close(devices)
        case .control(let control): self.follow(control)
        case .photo(let done): self.photoDone(done)
        }
    }

    // MARK: The end

    /// Ends captures for good; unfinished scans get the time of the drain.
    private func drain() {
        guard case .running = self.phase else { return }
        self.takesNoCaptures = true
        let now = self.loop.now()
        self.phase = .draining(until: now + self.plan.drain)
        self.ending?.arm(at: now)
        self.reportGauges()
    }

    /// Ends captures at once; Ctrl-C, the end of the drain and the word that all threads are done come here.
    private func stop() {
        switch self.phase {
        case .running, .draining: break
        case .suspending, .over: return
        }
        let now = self.loop.now()
        self.phase = .suspending(until: now + PhoneLimits.shutdownTime)
        for phone in self.phones.indices { self.send(.runEnded, to: phone) }
        self.checkEnd()
    }

    private func checkEnd() {
        let now = self.loop.now()
        switch self.phase {
        case .running, .over: break
        case .draining(let until):
            if until <= now { return self.stop() }
            // Faults of the phones continue as long as any thread has work: it is not for one thread to end the run.
            self.ending?.arm(at: until)
        case .suspending(let until):
            guard !self.isQuiescent, now < until else { return self.finish() }
            self.ending?.arm(at: min(until, now + .milliseconds(5)))
        }
    }

    private var isQuiescent: Bool {
        self.phones.indices.allSatisfy { self.phones[$0].machine.isQuiescent }
    }

    /// Phones shut down, or have: nothing new happens to them.
    var isEnding: Bool {
        switch self.phase {
        case .running, .draining: false
        case .suspending, .over: true
        }
    }

    func fail(_ failure: FleetFailure) {
        if self.failure == nil { self.post(.failing(at: self.loop.now())) }
        self.failure = self.failure ?? failure
        self.stop()
    }

    private func finish() {
        self.phase = .over
        self.countHeldScans()
        self.shutdownsTimedOut = self.phones.count { !$0.machine.isQuiescent }
        for phone in self.phones.indices { self.pool.hangUp(phone: phone, by: .fin) }
        self.flushStore()
        do throws(SystemError) { try self.journal.flush() } catch { self.fail(.storage("\(error)")) }
        self.handOver?.disarm()
        self.report()
        self.handOver?.disarm()
        var outcome = FleetOutcome(
            failure: self.failure, captured: self.captured,
            capturesDeferred: self.phones.reduce(self.deferredOfClosed) {
                $0 + $1.machine.deferred.count
            },
            closedDue: self.closedDue, arrivalsLate: self.arrivalsLate, heldBack: self.held.captures,
            heldTime: self.held.time,
            shutdownsTimedOut: self.shutdownsTimedOut,
            lateness: self.lateness, curl: self.pool.counts, photosRejected: self.photosRejected)
        outcome.reconcileTimes = self.reconcileTimes
        outcome.photoWaits = self.photoWaits
        self.post(.finished(outcome, observations: self.observationsMade))
        self.loop.stop()
    }

    // MARK: Reports

    func observe(_ observation: consuming Observation) {
        self.observationsMade += 1
        self.observations.append(observation)
    }

    func post(_ payload: ShardReport.Payload) {
        self.reportsMade += 1
        self.reports.post(
            ShardReport(thread: self.plan.thread, number: self.reportsMade, payload: payload))
    }

    /// A flood of events comes in turns that are much longer than `handOverInterval`.
    func reportIfMany() {
        guard self.observations.count >= FleetLimits.handOverMost else { return }
        // The timer, which is put off by this, would have flushed them.
        if !self.storers.isEmpty { self.wantFlush() }
        self.report()
    }

    func report() {
        var batch: [Observation] = []
        swap(&batch, &self.observations)
        self.observations.reserveCapacity(min(batch.count, FleetLimits.handOverMost))
        self.backlog.add(batch.count)
        defer { self.backlog.wait() }
        self.post(
            .observations(batch, before: self.observationsMade - batch.count, upTo: self.loop.now()))
        self.handOver?.arm(after: FleetLimits.handOverInterval)
        self.handOvers += 1
        if self.handOvers % FleetLimits.handOversPerGauge == 1 || self.isEnding { self.reportGauges() }
    }

    private func reportGauges() {
        var gauges = FleetGauges()
        gauges.captured = self.captured
        gauges.arrivalsLate = self.arrivalsLate
        gauges.heldBack = self.held.captures
        gauges.latenessMost = Interval(nanoseconds: self.lateness.maximum ?? 0)
        gauges.timers = self.lateness.total
        gauges.timersLate = self.timersLate
        // By index: a closure would get a copy of each phone.
        for index in self.phones.indices {
            if self.phones[index].machine.isBusy { gauges.phonesBusy += 1 }
            if !self.phones[index].machine.hasPath { gauges.phonesOffline += 1 }
        }
        switch self.phase {
        case .running: gauges.isIdle = false
        case .draining, .suspending, .over: gauges.isIdle = gauges.phonesBusy == 0
        }
        self.post(.gauges(gauges))
    }

    // MARK: Storage

    /// The phone is told of the next flush. A phone that remembers its writes hands them over only then; what another one
    /// writes has asked for its flush by itself, or may wait until observations are handed over.
    func acknowledgeFlush(to phone: Int) {
        self.storers.append(phone)
        if self.phones[phone].remembers { self.wantFlush() }
    }

    /// Makes what was stored in this turn durable together, at its end.
    func wantFlush() { self.storing?.schedule() }

    /// False when that ends the fleet.
    @discardableResult func flushStore() -> Bool {
        var storers: [Int] = []
        swap(&storers, &self.storers)
        for phone in storers where self.phones[phone].remembers { self.sendNow(.flushing, to: phone) }
        do throws(SystemError) {
            try self.journal.flush()
        } catch {
            self.fail(.storage("cannot write the state folder: \(error)"))
            return false
        }
        for phone in storers { self.send(.flushed, to: phone) }
        if self.storers.isEmpty {
            storers.removeAll(keepingCapacity: true)
            swap(&storers, &self.storers)
        }
        return true
    }

    /// Schedules a disturbance, also out of order: a flush may begin what ends later.
    func schedule(_ disturbance: PhoneDisturbance, of phone: Int, at moment: Instant) {
        self.schedule(due: .disturbance(disturbance), of: phone, at: moment)
    }

    func schedule(due: DueEvent, of phone: Int, at moment: Instant) {
        self.insert(due, of: phone, at: moment)
        if self.schedule?.armedFor.map({ moment < $0 }) ?? true { self.schedule?.arm(at: moment) }
    }

    private func insert(_ disturbance: DueEvent, of phone: Int, at moment: Instant) {
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

    func setWake(_ phone: Int) { self.wakes?.set(key: phone, at: self.phones[phone].machine.nextWake) }
}

/// One phone of the fleet with what the driver keeps for it.
struct FleetPhone {
    var machine: Phone
    /// Whether the phone keeps its writes itself until they are flushed.
    let remembers: Bool
    /// Its requests in the hands of the client.
    var requests: [(id: RequestID, transfer: TransferID)] = []
    /// Tells apart the phones that have its place one after another, where phones start and stop.
    var opening = 0
    /// Whether it captures nothing more and closes once its scans are settled.
    var isClosing = false
    /// Photos that are ready, by scan.
    var photos: [(scan: ScanNumber, photo: PreparedPhoto)] = []

    var number: DeviceNumber { self.machine.number }
}

extension StoreChange {
    /// Whether nothing waits for it to be durable: a phone that resumes from an older event gets some again and drops them.
    var mayWait: Bool {
        switch self {
        case .lastEventID: true
        case .put, .book, .pending, .reviewed, .settled: false
        }
    }
}
