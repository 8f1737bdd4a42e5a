package import SimBase

/// The worker's side of Locust's protocol: what it answers the master, and when phones start and stop. It holds no socket and
/// no phone: see `LocustWorkerEffect`.
package struct LocustWorker: Sendable {
    /// What a worker does.
    private enum Stage: Hashable, Sendable {
        /// Nothing yet. `asking` follows.
        case new
        /// Asks for the scenario. `preparing` follows, or `joining` where the scenario is prepared already.
        case asking
        /// The photos are read. `joining` follows.
        case preparing
        /// Has reported ready. `idle` follows with the master's answer.
        case joining
        /// Waits for a test; `next` is announced. `testing` follows with the order to spawn.
        case idle(next: TestOrder?)
        /// Leaves to `joining` once the master has said stop and the run has ended.
        case testing(Test)
        case over
    }

    /// A test in progress.
    private struct Test: Hashable, Sendable {
        let id: String
        var leased: LeasedPhones
        var state = WorkerState.spawning
        /// Why the run is to end; nil while phones run.
        var ending: Ending?
        /// The run is judged and written.
        var hasEnded = false
        var wasHandedOver = false
    }

    /// Why a run ends, the stronger reasons last.
    private enum Ending: Int, Hashable, Sendable {
        /// The plugin wants the evidence.
        case finish
        case stop
        case masterGone
        case quit
        case interrupted
    }

    private let settings: LocustWorkerSettings
    private var stage = Stage.new
    private var offer: ScenarioOffer?
    /// The last test that this worker ran to its end.
    private var lastTest: String?
    private var lastSpawn = Int64.min
    private var attempts = 0
    private var usage = ProcessUsage(processorPercent: 0, residentBytes: 0)
    // Timers.
    private var retryAt: Instant?
    private var heartbeatAt: Instant?
    private var statsAt: Instant?
    private var silentAt: Instant?

    package init(_ settings: LocustWorkerSettings) { self.settings = settings }

    /// The time of its next own action.
    package var nextWake: Instant? {
        [self.retryAt, self.heartbeatAt, self.statsAt, self.silentAt].compactMap { $0 }.min()
    }

    // MARK: Events

    package mutating func handle(
        _ event: LocustWorkerEvent, at now: Instant, into effects: inout [LocustWorkerEffect]
    ) {
        switch event {
        case .started:
            guard self.stage == .new else { return }
            self.ask(at: now, into: &effects)
        case .received(let message): self.receive(message, at: now, into: &effects)
        case .receivedMalformed: effects.append(.note(.malformedMessage))
        case .prepared:
            guard self.stage == .preparing else { return }
            self.join(at: now, into: &effects)
        case .preparationFailed: self.leave(.preparationFailed, into: &effects)
        case .closed(let phones): self.closed(phones, into: &effects)
        case .runEnded: self.runEnded(at: now, into: &effects)
        case .usageMeasured(let usage): self.usage = usage
        case .interrupted: self.interrupted(into: &effects)
        case .woke: self.wake(at: now, into: &effects)
        }
    }

    private mutating func receive(
        _ message: MasterMessage, at now: Instant, into effects: inout [LocustWorkerEffect]
    ) {
        if self.silentAt != nil { self.silentAt = now + self.settings.masterSilenceMax }
        switch message {
        case .scenario(let offer): self.offered(offer, at: now, into: &effects)
        case .refused(let reason):
            guard self.stage == .asking else { return }
            effects.append(.note(.refused(reason: reason)))
            self.leave(.refused, into: &effects)
        case .acknowledged: self.acknowledged(at: now)
        case .begin(let order):
            guard case .idle = self.stage else { return }
            self.stage = .idle(next: order)
        case .spawn(let order): self.spawn(order, into: &effects)
        case .leased(let test, let phones): self.leased(phones, for: test, into: &effects)
        case .finish(let test): self.finish(test, into: &effects)
        case .stop: self.stop(at: now, into: &effects)
        case .quit: self.quit(into: &effects)
        case .reconnect:
            effects.append(.resetConnection)
            self.askAgain(into: &effects)
        case .heartbeat, .other: break
        }
    }

    // MARK: Joining

    private mutating func ask(at now: Instant, into effects: inout [LocustWorkerEffect]) {
        self.stage = .asking
        self.attempts = 1
        self.heartbeatAt = nil
        self.statsAt = nil
        self.silentAt = nil
        self.retryAt = now + LocustWorkerSettings.retryInterval
        effects.append(.send(.hello(tool: self.settings.tool, phonesMax: self.settings.phonesMax)))
    }

    private mutating func offered(
        _ offer: ScenarioOffer, at now: Instant, into effects: inout [LocustWorkerEffect]
    ) {
        guard self.stage == .asking else { return }
        // What another version finds cannot be merged. A master that lets it run would notice at the end of the test.
        guard offer.tool == self.settings.tool else {
            effects.append(.note(.otherVersion(offer.tool)))
            return self.leave(.refused, into: &effects)
        }
        guard self.offer != offer else { return self.join(at: now, into: &effects) }
        self.offer = offer
        self.stage = .preparing
        self.retryAt = nil
        effects.append(.prepare(offer))
    }

    private mutating func join(at now: Instant, into effects: inout [LocustWorkerEffect]) {
        self.stage = .joining
        self.attempts = 1
        self.heartbeatAt = nil
        self.statsAt = nil
        self.silentAt = nil
        self.retryAt = now + LocustWorkerSettings.retryInterval
        // Locust counts the timestamps of a test from its master's clock.
        self.lastSpawn = .min
        effects.append(.send(.clientReady))
    }

    private mutating func acknowledged(at now: Instant) {
        guard self.stage == .joining else { return }
        self.stage = .idle(next: nil)
        self.retryAt = nil
        self.heartbeatAt = now
        self.statsAt = now + LocustWorkerSettings.statsInterval
        self.silentAt = now + self.settings.masterSilenceMax
    }

    // MARK: Phones

    private mutating func spawn(_ order: SpawnOrder, into effects: inout [LocustWorkerEffect]) {
        switch self.stage {
        case .new, .asking, .preparing, .joining, .over: return
        case .idle(let next):
            effects.append(.send(.spawning))
            guard order.timestamp > self.lastSpawn else { return }
            self.lastSpawn = order.timestamp
            guard let next else {
                effects.append(.note(.spawnedWithoutTest))
                effects.append(.send(.spawningComplete([])))
                return
            }
            var test = Test(
                id: next.test,
                leased: LeasedPhones(groups: next.groups.map(\.group), phonesMax: self.settings.phonesMax))
            effects.append(.beginRun(next, host: order.host))
            test.leased.want(order.counts)
            self.follow(&test, into: &effects)
            self.stage = .testing(test)
        case .testing(var test):
            effects.append(.send(.spawning))
            guard order.timestamp > self.lastSpawn else { return }
            self.lastSpawn = order.timestamp
            guard test.ending == nil, !test.hasEnded else { return }
            test.state = .spawning
            test.leased.want(order.counts)
            self.follow(&test, into: &effects)
            self.stage = .testing(test)
        }
    }

    /// Closes what is too much and asks for what is missing.
    private func follow(_ test: inout Test, into effects: inout [LocustWorkerEffect]) {
        let surplus = test.leased.takeSurplus()
        if !surplus.isEmpty { effects.append(.close(surplus)) }
        let (counts, isFull) = test.leased.ask()
        if isFull {
            effects.append(.note(.full(phonesMax: self.settings.phonesMax)))
            effects.append(
                .send(.exception("this worker can run \(self.settings.phonesMax) phones and was to run more"))
            )
        }
        if !counts.isEmpty { effects.append(.send(.lease(test: test.id, counts))) }
        guard test.leased.isComplete else { return }
        test.state = .running
        effects.append(.send(.spawningComplete(test.leased.users)))
    }

    private mutating func leased(
        _ phones: [LeasedPhone], for id: String, into effects: inout [LocustWorkerEffect]
    ) {
        guard case .testing(var test) = self.stage, test.id == id, test.leased.isAsking,
            test.ending == nil, !test.hasEnded
        else {
            return Self.giveBack(phones, of: id, into: &effects)
        }
        let (opened, unwanted, short) = test.leased.take(phones)
        Self.giveBack(unwanted, of: id, into: &effects)
        for group in short {
            effects.append(.note(.outOfNumbers(group: group)))
            effects.append(.send(.exception("the master has no more phones for \(group)")))
        }
        if !opened.isEmpty { effects.append(.open(opened)) }
        self.follow(&test, into: &effects)
        self.stage = .testing(test)
    }

    /// Phones that do not run here: their numbers are free again.
    private static func giveBack(
        _ phones: [LeasedPhone], of test: String, into effects: inout [LocustWorkerEffect]
    ) {
        guard !phones.isEmpty else { return }
        let unused = phones.map { ClosedPhone(number: $0.number, lastScan: $0.lastScan) }
        effects.append(.send(.returned(test: test, unused)))
    }

    private mutating func closed(_ phones: [ClosedPhone], into effects: inout [LocustWorkerEffect]) {
        guard case .testing(var test) = self.stage else { return }
        test.leased.closed(phones.count)
        effects.append(.send(.returned(test: test.id, phones)))
        self.stage = .testing(test)
    }

    /// What was asked on a connection that is gone may be lost.
    private mutating func askAgain(into effects: inout [LocustWorkerEffect]) {
        guard case .testing(var test) = self.stage, test.leased.isAsking, test.ending == nil else { return }
        test.leased.giveUpAsking()
        self.follow(&test, into: &effects)
        self.stage = .testing(test)
    }

    // MARK: The end of a test

    private mutating func finish(_ id: String, into effects: inout [LocustWorkerEffect]) {
        if case .testing(let test) = self.stage, test.id == id, !test.hasEnded {
            return self.end(.finish, into: &effects)
        }
        // Also a test that ended while the master was away.
        guard self.lastTest == id else { return }
        effects.append(.handOver(test: id))
        guard case .testing(var test) = self.stage, test.id == id else { return }
        test.wasHandedOver = true
        self.stage = .testing(test)
    }

    private mutating func stop(at now: Instant, into effects: inout [LocustWorkerEffect]) {
        switch self.stage {
        case .new, .asking, .preparing, .over: return
        case .joining, .idle: self.leaveTest(at: now, into: &effects)
        case .testing(let test):
            guard test.hasEnded else { return self.end(.stop, into: &effects) }
            self.leaveTest(at: now, into: &effects)
        }
    }

    private mutating func leaveTest(at now: Instant, into effects: inout [LocustWorkerEffect]) {
        effects.append(.send(.clientStopped))
        self.join(at: now, into: &effects)
    }

    private mutating func quit(into effects: inout [LocustWorkerEffect]) {
        if case .testing(let test) = self.stage, !test.hasEnded { return self.end(.quit, into: &effects) }
        self.leave(.quitByMaster, into: &effects)
    }

    private mutating func interrupted(into effects: inout [LocustWorkerEffect]) {
        if case .testing(let test) = self.stage, !test.hasEnded {
            return self.end(.interrupted, into: &effects)
        }
        guard self.stage != .over else { return }
        if case .testing(let test) = self.stage, !test.wasHandedOver {
            effects.append(.handOver(test: test.id))
        }
        effects.append(.send(.quit))
        self.leave(.interrupted, into: &effects)
    }

    /// A reason to end the run; what is said later only counts if it is stronger.
    private mutating func end(_ reason: Ending, into effects: inout [LocustWorkerEffect]) {
        guard case .testing(var test) = self.stage, test.ending.map({ $0.rawValue < reason.rawValue }) ?? true
        else { return }
        let before = test.ending.map(Self.end)
        test.ending = reason
        self.stage = .testing(test)
        if before != Self.end(reason), before != .atOnce { effects.append(.endRun(Self.end(reason))) }
    }

    private static func end(_ reason: Ending) -> RunEnd {
        switch reason {
        case .finish, .stop: .drained
        case .masterGone, .quit, .interrupted: .atOnce
        }
    }

    private mutating func runEnded(at now: Instant, into effects: inout [LocustWorkerEffect]) {
        guard case .testing(var test) = self.stage, !test.hasEnded else { return }
        test.hasEnded = true
        self.lastTest = test.id
        effects.append(.report(users: []))
        switch test.ending {
        // By itself: an objective was broken, or it failed. The evidence is asked for with the end of the test.
        case nil: self.stage = .testing(test)
        case .finish:
            effects.append(.handOver(test: test.id))
            test.wasHandedOver = true
            self.stage = .testing(test)
        case .stop:
            if !test.wasHandedOver { effects.append(.handOver(test: test.id)) }
            self.leaveTest(at: now, into: &effects)
        case .masterGone:
            effects.append(.resetConnection)
            self.ask(at: now, into: &effects)
        case .quit: self.leave(.quitByMaster, into: &effects)
        case .interrupted:
            effects.append(.handOver(test: test.id))
            effects.append(.send(.quit))
            self.leave(.interrupted, into: &effects)
        }
    }

    private mutating func leave(_ exit: LocustWorkerExit, into effects: inout [LocustWorkerEffect]) {
        guard self.stage != .over else { return }
        self.stage = .over
        self.retryAt = nil
        self.heartbeatAt = nil
        self.statsAt = nil
        self.silentAt = nil
        effects.append(.exit(exit))
    }

    // MARK: Time

    private mutating func wake(at now: Instant, into effects: inout [LocustWorkerEffect]) {
        if let due = self.retryAt, due <= now { self.retry(at: now, into: &effects) }
        if let due = self.silentAt, due <= now { return self.masterIsGone(at: now, into: &effects) }
        if let due = self.heartbeatAt, due <= now {
            self.heartbeatAt = now + LocustWorkerSettings.heartbeatInterval
            effects.append(.send(.heartbeat(self.state, self.usage)))
        }
        if let due = self.statsAt, due <= now {
            self.statsAt = now + LocustWorkerSettings.statsInterval
            effects.append(.report(users: self.users))
        }
    }

    private mutating func retry(at now: Instant, into effects: inout [LocustWorkerEffect]) {
        guard self.attempts < LocustWorkerSettings.attemptsMax else {
            return self.leave(.noMaster, into: &effects)
        }
        self.attempts += 1
        self.retryAt = now + LocustWorkerSettings.retryInterval
        if self.stage == .asking {
            if self.attempts == LocustWorkerSettings.attemptsQuiet { effects.append(.note(.noScenario)) }
            effects.append(.send(.hello(tool: self.settings.tool, phonesMax: self.settings.phonesMax)))
        } else {
            effects.append(.send(.clientReady))
        }
    }

    private mutating func masterIsGone(at now: Instant, into effects: inout [LocustWorkerEffect]) {
        effects.append(.note(.masterSilent))
        if case .testing(let test) = self.stage, !test.hasEnded {
            self.silentAt = nil
            self.heartbeatAt = nil
            self.statsAt = nil
            return self.end(.masterGone, into: &effects)
        }
        effects.append(.resetConnection)
        self.ask(at: now, into: &effects)
    }

    private var state: WorkerState {
        if case .testing(let test) = self.stage { test.state } else { .ready }
    }

    private var users: [SpawnOrder.Count] {
        guard case .testing(let test) = self.stage, !test.hasEnded else { return [] }
        return test.leased.users
    }
}
