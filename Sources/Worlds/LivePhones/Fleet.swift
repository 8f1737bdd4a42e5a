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
    var schedule: LoopTimer?
    private var handOver: LoopTimer?
    private var storing: LoopTask?
    var ending: LoopTimer?

    private var observations: [Observation] = []
    private var observationsMade = 0
    private var reportsMade = 0
    private var handOvers = 0
    /// Phones that want what they wrote durable.
    private var storers: [Int] = []
    var arrivals: ArrivalSchedule
    var nextArrival: Arrival?
    /// The next captures of the phones of closed groups, after their think time.
    var thinking = EventHeap<Arrival>()
    var closedDue = 0
    var arrivalsLate = 0
    var held: HeldLoad
    var disturbances = EventHeap<Disturbance>()
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
    var takesNoCaptures = false
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

    struct Disturbance {
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

    // MARK: Orders

    private func timerRan(_ lateness: Interval) {
        self.lateness.record(lateness.nanoseconds)
        if lateness > FleetLimits.timerLatenessMax { self.timersLate += 1 }
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

    func setWake(_ phone: Int) { self.wakes?.set(key: phone, at: self.phones[phone].machine.nextWake) }
}
