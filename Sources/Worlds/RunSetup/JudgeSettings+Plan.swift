import Backend
import Faults
package import Ledger
import Metrics
package import Phone
package import Plan
import RunControl
package import RunJudge
import RunMetrics
import SimBase
import Talaria
import TargetTrial
package import VirtualWorld

extension JudgeSettings {
    /// Creates the settings of the judge for any run of this plan. Completed runs have additional settings.
    package init(_ plan: RunPlan, world: WorldKind, hasBackendView: Bool) {
        self.init(
            shelf: plan.shelf, ledger: LedgerSettings(plan, world: world, hasBackendView: hasBackendView))
        self.faults = plan.scenario.faults.map(\.id)
        self.faultKinds = plan.scenario.faults.map(\.kind)
        if world == .live { self.firingDelay = .milliseconds(250) }
        self.objectives = plan.objectives
        self.steps = plan.scenario.steps
        self.rollout = plan.scenario.rollout.map { RolloutSettings($0) }
        self.faultEnds = plan.scenario.faults.compactMap { fault in
            fault.window.end.map { FaultEnd(id: fault.id, first: $0, last: $0 + fault.spread) }
        }
        self.expectations = Expectations(
            plan.scenario.expectBroken, groups: plan.scenario.groupsExpectedToBreak)
    }
}

extension CaptureSchedule {
    /// Creates the schedule of a run of this plan. `captures`: those that are stated, in order; nil if the schedule draws them.
    package init(_ plan: RunPlan, captures: [Arrival]? = nil) {
        let isOpenGroup = plan.groups.map { group in
            if case .open = group.spec.load { true } else { false }
        }
        if let captures {
            self.init(Captures(arrivals: captures.makeIterator()), isOpenGroup: isOpenGroup)
        } else {
            self.init(Captures(arrivals: plan.arrivals), isOpenGroup: isOpenGroup)
        }
    }

    private struct Captures<Arrivals: IteratorProtocol<Arrival> & Sendable>: IteratorProtocol, Sendable {
        var arrivals: Arrivals

        mutating func next() -> Capture? {
            self.arrivals.next().map { Capture(device: $0.device, due: $0.scheduled) }
        }
    }
}

extension RunJudge {
    /// Adds the captures of the stages that were decided on to the judge's schedule.
    package mutating func plan(_ arrivals: [Arrival]) {
        self.plan(arrivals.map { CaptureSchedule.Capture(device: $0.device, due: $0.scheduled) })
    }
}

extension SteppedCaptures {
    /// Nil for a run whose load has no steps, or whose captures are stated.
    package init?(_ plan: RunPlan, captures: [Arrival]? = nil) {
        guard plan.scenario.steps != nil, captures == nil else { return nil }
        self.init(plan.arrivals)
        // The judge has the first stage of its own.
        _ = self.takeKnown()
    }

    /// Follows an order: the load is extended by `extend`, and the judge is prepared for it.
    package mutating func follow(
        _ order: CapacityOrder, judge: inout RunJudge, extend: (ArrivalStage?) -> Void
    ) {
        let stage = order.decision.stage(after: order.rate, order.steps)
        self.extend(stage)
        judge.plan(self.takeKnown())
        extend(stage)
    }
}

extension LedgerSettings {
    /// Creates the settings of the ledger of a run.
    fileprivate init(_ plan: RunPlan, world: WorldKind, hasBackendView: Bool) {
        let standard = LedgerSettings.embedded
        let faults = plan.scenario.faults
        let looksUp = plan.groups.contains { $0.profile.journey == .bookEnrichment }
        func indexes(_ trait: (FaultKind) -> Bool) -> [Int] {
            faults.indices.filter { trait(faults[$0].kind) }
        }
        self.init(
            hasBackendView: hasBackendView, slotsMax: standard.slotsMax,
            clockTolerance: standard.clockTolerance,
            examplesMax: standard.examplesMax, fleet: PhoneGroups(plan),
            profiles: plan.groups.map { ProfileExpectation($0.spec) },
            faultsOffPath: indexes { $0.has(.sparesPath) },
            faultsThatRefuse: indexes { $0.refusesScans || looksUp && $0.refusesLookups },
            faultsThatCut: indexes { $0.cutting != nil },
            faultsThatGarble: indexes { $0.has(.garblesEvents) },
            faultsThatChange: indexes { $0.has(.changesEvents) },
            tokenLifetime: hasBackendView
                ? plan.scenario.server.backend.tokenLifetime : plan.scenario.trial.stated.tokenLifetime)
        for index in indexes({ $0.effects.takesBooks || $0 == .truncateResults }) {
            self.faultsThatTakeBooks[index] = faults[index].id
        }
        if world == .live, !hasBackendView, plan.scenario.trial.isOn {
            self.trial = Invariant.ofTarget.filter {
                ($0 != .targetLimit || plan.scenario.trial.stated.limit != nil)
                    && ($0 != .targetSocket || plan.scenario.hasSockets)
            }
        }
        self.journeys = plan.groups.map(\.profile.journey)
        self.prices = plan.scenario.prices
        self.regions = plan.groups.map { $0.profile.journey.takesPhotos ? $0.profile.upload.regions : 1...1 }
        self.cancelTimes = plan.groups.map { $0.profile.cancel.isMade ? $0.profile.cancel.after : nil }
        self.statusIntervals = plan.groups.map(\.profile.status.interval)
        self.passesChangesOver = hasBackendView && plan.scenario.server.backend.v2.progress == .poll
        let form = plan.scenario.server.backend.enrichmentForm
        self.texts = plan.groups.map { TextRule($0.profile, answers: hasBackendView ? form : nil) }
        self.isProgressive = plan.scenario.server.backend.progressive
        self.cancels = plan.groups.contains(where: \.profile.cancel.isMade)
        self.reviews = plan.groups.contains(where: \.profile.reviewer.isMade)
        self.duplicateWindows = plan.groups.map(\.profile.review.duplicateWindow)
        if world == .live { self.recordTime = LedgerSettings.recordTimeLive }
    }
}

extension TextRule {
    /// Nil for a group of another journey. `answers`: the form of the backend's answers; nil for a foreign backend.
    fileprivate init?(_ profile: ClientProfile, answers form: Enrichment.Form?) {
        guard profile.journey == .textEnrichment else { return nil }
        self.init(
            readsAnswers: form == profile.upload.enrichment, photoBelow: profile.upload.photoBelow,
            retriesMax: UInt32(AppLimits.textRetriesMax))
    }
}

extension SimulationInvariantSettings {
    package init(_ plan: WorldPlan) {
        let groups = plan.run.groups
        let scenario = plan.run.scenario
        self.init(
            idleTimeout: plan.run.idleTimeout, isSettled: plan.settle != nil,
            herdTime: ClientProfile.contract.pathReturnJitter,
            backoffBase: ClientProfile.contract.backoff.base,
            backoffCap: ClientProfile.contract.backoff.cap,
            retryField: scenario.server.backend.retryField,
            idleTimeouts: groups.map(\.profile.stream.idleTimeout),
            streamsMax: groups.map(\.profile.stream.slots))
        self.isShard = !plan.run.shard.isWhole
        self.requestTimeouts = groups.map(\.profile.timeoutMin)
        self.retryFields = groups.map { scenario.retryField(of: $0.profile.journey) }
        // A client that requests none is held to the contract's.
        self.resultsFormats = groups.map {
            $0.profile.results.format ?? ClientProfile.contract.results.format ?? "lite"
        }
        self.retryLimits = .contract
        self.faultsThatRound = scenario.faults.indices.filter { scenario.faults[$0].kind.roundsWaits }
    }
}

extension RetryLimits {
    /// Those of the contract's client.
    fileprivate static var contract: RetryLimits {
        let profile = ClientProfile.contract
        var limits = RetryLimits()
        limits.errors = profile.events.errorRetriesMax ?? .max
        limits.uploads = profile.token.uploadsMax
        limits.refusals = AppLimits.streamRefusalsMax
        limits.badResults = AppLimits.resultsBadAnswersMax
        limits.statusRequests = profile.status.requestsMax
        limits.statusFailures = profile.status.failuresMax + 1
        return limits
    }
}

extension CoverageTable {
    /// `expected`: in addition to what the scenario itself names.
    package init(_ scenario: Scenario, expected: [CoverageGoal], slotsMax: Int) {
        self.init(
            expected: expected, named: scenario.coverageGoals.compactMap { CoverageGoal(rawValue: $0) },
            slotsMax: slotsMax, raisesBase: scenario.raisesBase)
    }
}

extension PhoneGroups {
    package init(_ plan: RunPlan) { self.init(plan.groups.map { ($0.spec.name, $0.spec.devices) }) }
}

extension ArrivalAccount {
    /// `closedDue`: captures of closed groups. `stepped`: those of a load in steps.
    package init(
        _ plan: RunPlan, _ expectedArrivals: ExpectedArrivals, stepped: Int?, closedDue: Int, achieved: Int,
        late: Int
    ) {
        if let stepped {
            self.init(planned: stepped, achieved: achieved, late: late)
            return
        }
        let scheduled = zip(plan.groups, expectedArrivals.scansByGroup).reduce(0) {
            if case .open = $1.0.spec.load { $0 + $1.1 } else { $0 }
        }
        self.init(planned: scheduled + closedDue, achieved: achieved, late: late)
    }
}
