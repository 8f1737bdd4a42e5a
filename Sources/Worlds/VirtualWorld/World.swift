import Faults
import HTTPServer
import Ledger
package import Metrics
package import Observations
import Phone
import Plan
import RunControl
package import SimBase
import Talaria
import Wire

/// The virtual world: the phones and the server of a run on a clock that jumps from event to event.
///
/// It drives the same machines as the live world does (`Phone` with its `App`, `Server` with its `Backend`) and adds
/// what is outside of them: wires, a storage, a photo that takes its time, and a schedule. A value: a copy is a snapshot.
package struct World: Sendable {
    let plan: WorldPlan
    private(set) var random: KeyedRandom
    package internal(set) var now = Instant.zero
    var queue = EventHeap<WorldEvent>()
    /// The time of each phone's next wake-up.
    var wakes: WakeQueue
    var server: Server
    var phones: [WorldPhone] = []
    var wires = WireTable()
    /// The faults on the phones' side; nil without any.
    var refusals: FaultPlanner?
    /// The disturbances of phones, by the index in their events.
    var disturbances: [PhoneDisturbance] = []
    var progress: RunProgress
    /// Nil in a scenario without one.
    var rollout: Rollout?
    var rolloutEffects: [RolloutEffect] = []
    package internal(set) var chain = Chain()
    var observations: [Observation] = []
    /// The digest of all observations.
    private var seen = ObservationDigest()
    /// Open event streams as the server counts them.
    package internal(set) var streams = GaugeSeries()
    /// The end of the first second in which they are not counted.
    var nextCount = Instant.zero + WorldTime.gauge
    var failure: WorldFailure?
    /// The findings of the world about itself, and the bytes that did not arrive.
    var findings: [AuditFinding] = []
    var lost = LostBytes()
    /// Silences of open streams that somebody has to judge.
    var silences: [SilentStream] = []
    var forms: [RequestForm] = []
    var givenUp: [RequestGivenUp] = []

    // Reused.
    var serverEffects: [ServerEffect] = []
    var phoneEffects: [PhoneEffect] = []
    var responseEvents: [ResponseEvent] = []

    /// Whether every event is traced, for finding the first difference of two runs.
    var isTracing = false
    var tracedEffects: [String] = []
    /// The range of traced events, by number from 0.
    package var tracedEvents = 0..<0
    package private(set) var trace: [TracedEvent] = []

    private var lastHappenings: [(at: Instant, what: Happening)] = []
    private var lastHappeningsNext = 0
    private var eventsOfInstant = 0
    private static let happeningsKept = 32
    /// A short run makes fewer, and none of them is moved to a larger buffer.
    private static let observationsExpected = 1_024

    package init(_ plan: WorldPlan) {
        self.plan = plan
        self.random = plan.run.random
        let scenario = plan.run.scenario
        let faults = plan.bypassesFaults ? nil : scenario.faults
        self.wakes = WakeQueue(keys: plan.run.phones)
        self.server = Server(
            HTTPServerConfiguration(
                origin: .simulated(
                    scenario.server.configuration(wallClockAtZero: plan.wallClockAtZero), plan.run.shelf),
                random: plan.run.random, faults: faults,
                links: FleetLinks(
                    groups: plan.run.groups.map {
                        .init(name: $0.spec.name, devices: $0.devices, link: $0.spec.network)
                    }),
                clockZero: 0, nonce: nil))
        if let faults, faults.contains(where: { $0.kind.has(.isHandledByPhone) }) {
            self.refusals = FaultPlanner(specs: faults, random: plan.run.random, side: .phone)
        }
        self.progress = RunProgress(plan)
        self.rollout = scenario.rollout.map { Rollout($0) }
        self.observations.reserveCapacity(Self.observationsExpected)
        self.switchOn(faults.map { FaultPlanner(specs: $0, random: plan.run.random) })
        self.beginSchedule()
        self.stepRollout(.began)
    }

    /// Continues with other draws: what was drawn already stays.
    package mutating func redraw(_ random: KeyedRandom) {
        self.random = random
        self.server.redraw(random)
        self.refusals?.redraw(random)
        for phone in self.phones.indices { self.phones[phone].machine.redraw(random) }
    }

    // MARK: Time

    /// Handles the next event. Returns false if the present phase has ended, or nothing is left.
    package mutating func step() throws(WorldFailure) -> Bool {
        let isGoing = self.progress.isGoing
        guard isGoing else { return false }
        let queued = self.queue.nextAt ?? .distantFuture
        let serving = self.server.nextWake ?? .distantFuture
        let waking = self.wakes.nextDue() ?? .distantFuture
        let steering = self.nextOfRollout
        let next = min(queued, serving, waking, steering)
        guard next < .distantFuture else {
            self.progress.end()
            return false
        }
        if next > self.now {
            self.now = next
            self.eventsOfInstant = 0
        }
        self.eventsOfInstant += 1
        self.isTracing = self.tracedEvents.contains(self.chain.events)
        self.chain.absorb(self.now)
        if queued <= self.now, let event = self.queue.takeFirst() {
            event.absorb(into: &self.chain)
            self.happen(event)
            self.remember(.event(event))
        } else if serving <= self.now {
            self.chain.absorb(15)
            self.sendToServer(.woke)
            self.remember(.serverWoke)
        } else if let (phone, _) = self.wakes.popDue(at: self.now) {
            self.chain.absorb(16 << 40 | phone)
            self.send(.woke, toAppOf: phone)
            self.remember(.phoneWoke(phone))
        } else if steering <= self.now {
            self.chain.absorb(17)
            self.stepRollout(.woke)
            self.remember(.rolloutWoke)
        }
        self.chain.absorb(self.seen.value)
        self.chain.endEvent()
        if self.isTracing { self.noteTrace() }
        self.advancePhase()
        try self.check()
        return true
    }

    /// Handles a number of events, and none after a time.
    package mutating func steps(_ count: Int, upTo moment: Instant) throws(WorldFailure) -> StepsEnd {
        for _ in 0..<count {
            guard self.nextMoment() <= moment else { return self.progress.isGoing ? .atMoment : .over }
            guard try self.step() else { return .over }
        }
        return .ongoing
    }

    /// Why a number of events was handled and no more.
    package enum StepsEnd: Hashable, Sendable {
        /// It is the number that was asked for.
        case ongoing
        /// The next one is after the time.
        case atMoment
        /// Nothing is left.
        case over
    }

    private mutating func nextMoment() -> Instant {
        min(
            self.queue.nextAt ?? .distantFuture, self.server.nextWake ?? .distantFuture,
            self.wakes.nextDue() ?? .distantFuture, self.nextOfRollout)
    }

    /// Handles a number of events. Returns false if there were fewer.
    package mutating func steps(_ count: Int) throws(WorldFailure) -> Bool {
        for _ in 0..<count {
            guard try self.step() else { return false }
        }
        return true
    }

    private mutating func noteTrace() {
        self.trace.append(
            TracedEvent(
                number: self.chain.events - 1, what: self.lastEvent, effects: self.tracedEffects,
                digest: self.chain.value))
        self.tracedEffects.removeAll(keepingCapacity: true)
    }

    private mutating func remember(_ what: consuming Happening) {
        if self.lastHappenings.count < Self.happeningsKept {
            self.lastHappenings.append((self.now, what))
        } else {
            self.lastHappenings[self.lastHappeningsNext] = (self.now, what)
            self.lastHappeningsNext = (self.lastHappeningsNext + 1) % Self.happeningsKept
        }
    }

    private mutating func check() throws(WorldFailure) {
        if self.queue.count > self.plan.limits.heapMax {
            self.fail(.heapLimit(self.plan.limits.heapMax))
        } else if self.eventsOfInstant > self.plan.limits.eventsPerInstantMax {
            self.fail(.noProgress(self.eventsOfInstant))
        }
        guard var failure = self.failure else { return }
        failure.lastEvents = self.lastEvents
        throw failure
    }

    mutating func fail(_ cause: WorldFailure.Cause) {
        guard self.failure == nil else { return }
        self.failure = WorldFailure(cause: cause, at: self.now, lastEvents: [])
    }

    /// The last events, oldest first.
    package var lastEvents: [String] {
        let order =
            self.lastHappenings[self.lastHappeningsNext...] + self.lastHappenings[..<self.lastHappeningsNext]
        return order.map { "\($0.at.nanoseconds) \($0.what)" }
    }

    /// The description of what happened last.
    package var lastEvent: String {
        guard !self.lastHappenings.isEmpty else { return "" }
        let count = self.lastHappenings.count
        let last = self.lastHappenings[(self.lastHappeningsNext + count - 1) % count]
        return "\(last.at.nanoseconds) \(last.what)"
    }

    private mutating func happen(_ event: WorldEvent) {
        switch event {
        case .arrivals: self.makeCaptures()
        case .capture(let arrival):
            self.progress.thinkers -= 1
            self.progress.closedDue += 1
            self.capture(arrival)
        case .disturbance(let phone, let index):
            guard !self.progress.faultsHaveEnded else { return }  // The faults have ended.
            self.send(.disturbed(self.disturbances[Int(index)]), to: Int(phone))
        case .reading(let phone, let scan, let process):
            self.spineIsRead(Int(phone), scan, process: process)
        case .photo(let phone, let scan, let process, let photo, let isFirst):
            self.photoIsReady(Int(phone), scan, process: process, photo, isFirst: isFirst)
        case .flush(let phone):
            self.send(.flushing, to: Int(phone))
            self.send(.flushed, to: Int(phone))
        case .failed(let phone, let process, let id, let failure):
            self.send(.app(.replyFailed(id, failure), process: process), to: Int(phone))
        case .connect(let wire):
            guard self.wires.exists(wire) else { return }
            self.wires.connect(wire, as: self.server.accept(from: nil, at: self.now))
        case .bytes(let wire, let bytes):
            guard let connection = self.arrived(bytes.count, on: wire) else { return }
            self.sendToServer(.received(connection, bytes[...]))
        case .upload(let wire): self.continueUpload(wire)
        case .fin(let wire): self.finArrives(wire)
        case .reset(let wire): self.resetArrives(wire)
        case .givenUp(let wire): self.resetArrives(wire)
        case .phase: break  // The phase is checked after every event.
        }
    }

    // MARK: What is seen

    /// The number of observations so far.
    package var observationsMade: Int { Int(self.seen.count) }

    mutating func observe(_ observation: consuming Observation) {
        self.seen.absorb(observation)
        self.rollout?.handle(.observed(observation), at: self.now, into: &self.rolloutEffects)
        self.observations.append(observation)
    }

    /// Everything seen since the last time, in the order of time; `emptied` is the array of an earlier call.
    package mutating func take(_ emptied: inout [Observation]) {
        swap(&self.observations, &emptied)
        if !self.observations.isEmpty { self.observations.removeAll(keepingCapacity: true) }
    }
}
