import Ledger
import Metrics
package import Observations
import Phone
import Plan
import RunJudge
import RunSetup
package import SimBase
package import VirtualWorld

/// One run of the virtual world that is judged and neither measured nor logged: a search makes thousands of them.
///
/// The verdict is that of `simulate` with the same plan: the same ledger, invariants and checks of the harness judge it.
package struct Trial: Sendable {
    /// Events between two requests to stop.
    private static let eventsPerLook = 1_024

    private let plan: WorldPlan
    private var world: World
    private var ledger: Ledger
    private var invariants: SimulationInvariants
    private var coverage: CoverageTable
    private let expectations: Expectations
    private let fleet: PhoneGroups
    private var firings: [Int]
    private var observations = 0
    private var batch: [Observation] = []
    /// Why the world stopped before its end; nil if it did not.
    private var failure: WorldFailure?

    /// Creates a trial of a plan that has not begun.
    package init(_ plan: WorldPlan) {
        self.plan = plan
        self.world = World(plan)
        let settings = JudgeSettings(plan.run, world: .virtual, hasBackendView: true)
        let harness = HarnessSettings(plan.run, hasBackendView: true, hasGateway: false)
        self.fleet = settings.ledger.fleet
        self.ledger = Ledger(shelf: settings.shelf, settings: settings.ledger, harness: harness)
        self.invariants = SimulationInvariants(SimulationInvariantSettings(plan), ledger: settings.ledger)
        self.coverage = CoverageTable(
            plan.run.scenario, expected: CoverageGoal.allCases, slotsMax: settings.ledger.slotsMax)
        self.expectations = settings.expectations
        self.firings = Array(repeating: 0, count: plan.run.scenario.faults.count)
    }

    /// Runs a plan to its end.
    ///
    /// - Parameter isStopped: asked now and then; `true` ends the trial, whose outcome is then nil.
    /// - Parameter observe: sees every observation in the order of time.
    package static func outcome(
        of plan: WorldPlan, isStopped: () -> Bool = { false }, observe: (Observation) -> Void = { _ in }
    ) -> TrialOutcome? {
        var trial = Trial(plan)
        repeat {
            guard !isStopped() else { return nil }
        } while trial.goesOn(observe)
        return trial.finish(observe)
    }

    /// Runs to the end.
    package consuming func outcome() -> TrialOutcome {
        while self.goesOn({ _ in }) {}
        return self.finish { _ in }
    }

    /// Events so far.
    package var events: Int { self.world.chain.events }
    package var now: Instant { self.world.now }
    /// The description of the next event; nil at the end of the run.
    package var upcoming: String? { self.world.upcoming }

    /// Handles a number of events. Returns false at the end of the run.
    package mutating func advance(by events: Int) -> Bool { self.goesOn({ _ in }, events: events) }

    /// Continues with other draws: what was drawn already stays.
    package mutating func redraw(seed: UInt64) { self.world.redraw(KeyedRandom(seed: seed)) }

    private mutating func goesOn(
        _ observe: (Observation) -> Void, events: Int = Self.eventsPerLook
    ) -> Bool {
        var goesOn = false
        do throws(WorldFailure) {
            goesOn = try self.world.steps(events)
        } catch {
            self.failure = error
        }
        self.judge(observe)
        return goesOn
    }

    private mutating func judge(_ observe: (Observation) -> Void) {
        self.world.report(to: &self.invariants)
        self.world.take(&self.batch)
        self.observations += self.batch.count
        for index in self.batch.indices {
            let observation = self.batch.take(index, leaving: .nothing)
            observe(observation)
            switch observation.what {
            case .fault(.fired(let fault, _, _)), .fault(.began(let fault)): self.firings[fault] += 1
            case .fault, .phone, .backend, .network, .control: break
            }
            self.invariants.record(observation)
            self.coverage.record(observation)
            self.ledger.record(observation)
        }
        self.batch.removeAll(keepingCapacity: true)
    }

    private mutating func finish(_ observe: (Observation) -> Void) -> TrialOutcome {
        self.world.checkConservation()
        self.judge(observe)
        self.ledger.finish(waitingOnDisk: self.world.waitingOnDisk, at: self.world.now)
        if self.failure == nil { self.invariants.finish(self.world.remains) }
        var outcome = TrialOutcome(
            digest: self.world.chain.value, events: self.world.chain.events, endedAt: self.world.now)
        outcome.breaks = self.verdicts.compactMap { self.broken($0) }
        outcome.reached = CoverageGoal.allCases.filter { self.coverage.count(of: $0) > 0 }
        outcome.firings = self.firings
        // Of the sum of all totals only this is needed.
        outcome.scans = (self.ledger.totalsByGroup + [self.ledger.totalsOfNoGroup]).reduce(0) {
            $0 + $1.scans.begun
        }
        outcome.failure = self.failure.map { "\($0.text); the last event: \($0.lastEvents.last ?? "none")" }
        if outcome.failure == nil, self.observations != self.world.observationsMade {
            outcome.failure =
                "only \(self.observations) of \(self.world.observationsMade) observations were judged"
        }
        if outcome.failure == nil, let first = self.ledger.harnessErrors.texts.first {
            outcome.failure = "a check of the harness failed: \(first)"
        }
        return outcome
    }

    /// The verdicts without what the scenario expects.
    private var verdicts: [Verdict] {
        let verdicts = self.ledger.verdicts + self.invariants.verdicts
        guard !self.expectations.isEmpty else { return verdicts }
        let groups = self.fleet.groups.indices.map { index in
            GroupVerdicts(
                self.fleet.groups[index],
                self.ledger.verdicts(ofGroup: index) + self.invariants.verdicts(ofGroup: index))
        }
        return self.expectations.applied(to: verdicts, groups).fleet
    }

    private func broken(_ verdict: Verdict) -> TrialOutcome.Break? {
        guard verdict.violations > 0, let first = verdict.examples.first else { return nil }
        let isExpected: Bool
        switch verdict.standing {
        case .broken: isExpected = false
        case .brokenAsExpected: isExpected = true
        case .held, .notAvailable: return nil
        }
        let group = first.device.flatMap { self.fleet.group(of: $0) }
        let client = group.map { self.plan.run.groups[$0].profile.name }
        return TrialOutcome.Break(
            kind: .invariant(verdict.invariant, client: client), isExpected: isExpected,
            violations: isExpected ? verdict.violations : verdict.violations - verdict.expected,
            first: first,
            phones: Set(verdict.examples.filter { isExpected || !$0.isExpected }.compactMap(\.device))
                .sorted())
    }
}
