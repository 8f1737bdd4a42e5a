import EventLoop
import Ledger
import LivePhones
import Metrics
import Observations
import Plan
import RunArchive
package import RunJudge
import RunMetrics
import RunSetup
package import ScenarioFile
import SimBase
package import VirtualWorld

/// The parameters of `simulate`.
package struct VirtualRequest {
    let options: RunOptions
    let plan: WorldPlan
    package var savesPlanTo: String?
    /// The outcome of the run when its plan was written, and the program that wrote it.
    package var expected: (outcome: SavedPlan.Outcome, tool: String)?
    /// What the live run broke that the plan is of; nil for a plan of no live run.
    package var live: LiveRecord?

    package init(_ options: RunOptions, plan: WorldPlan) {
        self.options = options
        self.plan = plan
    }
}

/// One run of the virtual world from its plan to its report. It decides nothing: it passes
/// the observations to the judge and the report, as the live run does.
package final class VirtualRun {
    /// Events between two looks at the clock on the wall.
    private static let eventsPerLook = 4_096
    /// And between two looks at objectives that may end the run.
    private static let eventsPerJudgement = 64
    /// The number of measured intervals per run in the files.
    private static let intervalsOfALength = 300

    private let request: VirtualRequest
    private let plan: RunPlan
    private let expectedArrivals: ExpectedArrivals
    private let console: Console
    private let loop: Loop
    private let directory: RunDirectory
    private var world: World
    private var judge: RunJudge
    private let head: RunHead
    /// Nil without a collector.
    private var export: SpanExport?
    private var progress: ProgressLine
    private var batch: [Observation] = []
    /// Nil if the load has no steps.
    private var stepped: SteppedCaptures?

    /// Makes the run's folder.
    package init(_ request: VirtualRequest, console: Console) throws {
        self.request = request
        self.console = console
        self.plan = request.plan.run
        self.expectedArrivals = self.plan.expectedArrivals
        self.loop = try Loop(clock: .startingNow())
        let scenario = self.plan.scenario
        let stepped = SteppedCaptures(self.plan, captures: request.plan.captures)
        self.stepped = stepped
        var plan = request.plan
        plan.stepsAreOrdered = stepped != nil
        self.world = World(plan)
        var settings = JudgeSettings(self.plan, world: .virtual, hasBackendView: true)
        settings.harness = HarnessSettings(self.plan, hasBackendView: true, hasGateway: false)
        settings.invariants = SimulationInvariantSettings(request.plan)
        settings.coverage = CoverageTable(
            scenario, expected: scenario.sometimes, slotsMax: settings.ledger.slotsMax)
        settings.leftOut = self.world.phonesToStayBroken
        settings.intervalsOfALength = Self.intervalsOfALength
        settings.schedule = CaptureSchedule(self.plan, captures: request.plan.captures)
        if stepped == nil { settings.steps = nil } else { settings.intervalsOfALength = nil }
        self.judge = RunJudge(settings)
        self.progress = ProgressLine(
            console, isQuiet: request.options.isQuiet,
            outlook: RunOutlook(self.plan, self.expectedArrivals),
            seed: scenario.seed)
        let started = WallClock.now() / 1_000_000
        var head = request.options.head(self.plan, world: .virtual, started: started, hasBackendView: true)
        head.rules.settle = request.plan.settle
        head.rules.shufflesTies = request.plan.shufflesTies
        self.head = head
        self.directory = try request.options.makeFolder(scenario, started: started)
        self.directory.begin(self.head)
        guard let collector = request.options.collector else { return }
        let export = try SpanExport(to: collector, of: self.head, server: nil, basePath: "")
        self.export = export
        self.directory.observationLogged = { export.record($0, $1) }
    }

    /// The folder of its reports.
    package var folder: String { self.directory.path }

    /// Runs to the end, prints the summary, and answers what the process ends with.
    package func run() throws -> ExitCode {
        var failure: WorldFailure?
        do throws(WorldFailure) { try self.live() } catch { failure = error }
        self.console.clearProgress()
        return self.finish(failure, planFailures: self.savePlan())
    }

    /// Saves the plan and returns the failures, which must not cost the results.
    private func savePlan() -> [OutputError.Failure] {
        guard let path = self.request.savesPlanTo, !self.judge.isInterrupted else { return [] }
        do throws(OutputError) {
            try PlanFiles.save(
                self.request.plan, digest: self.world.chain.value, events: self.world.chain.events,
                note: self.plan.scenario.description, to: path)
            return []
        } catch {
            return error.failures
        }
    }

    private func live() throws(WorldFailure) {
        let mayEndEarly = self.plan.scenario.slos.contains(where: \.abort)
        let events = mayEndEarly ? Self.eventsPerJudgement : Self.eventsPerLook
        while true {
            let due = self.judge.capacityOrderDue
            let end = try self.world.steps(events, upTo: due ?? .distantFuture)
            self.processObservations()
            switch end {
            case .over: return
            case .atMoment: if let due { self.followSteps(at: due) }
            case .ongoing: break
            }
            if mayEndEarly { self.checkObjectives() }
            guard !Interruption.isRequested else { return self.judge.interrupted(at: self.world.now) }
            self.progress.show(
                now: self.loop.now(),
                RunStanding(
                    at: self.world.now,
                    RunProgress(
                        self.gauges, self.judge.ledger.totals.scans, errors: self.judge.timeline.errors.count)
                ))
        }
    }

    /// An objective with `abort` that is broken ends the run: by the run's own clock, so that it ends alike each time.
    private func checkObjectives() {
        guard let ending = self.judge.ending(at: self.world.now) else { return }
        self.console.error(ending.text)
        self.world.endEarly()
    }

    /// Decides on the next stage of a load in steps, before anything happens after the time of the decision.
    private func followSteps(at due: Instant) {
        guard let order = self.judge.capacityOrder(at: due, GeneratorCounts(), into: self.directory)
        else { return }
        self.stepped?.follow(order, judge: &self.judge) { self.world.extendLoad($0) }
        if let text = order.text, !self.request.options.isQuiet {
            self.console.error("\(ProgressLine.clock(due))  \(text)")
        }
    }

    /// Judges, measures and logs the observations since the last call.
    private func processObservations() {
        self.reportFindings()
        self.world.take(&self.batch)
        self.judge.receive(&self.batch, into: self.directory)
        self.directory.reportTrouble(on: self.console)
        self.export?.reportTrouble(on: self.console)
    }

    private func reportFindings() {
        guard var invariants = self.judge.invariants.take() else { return }
        self.world.report(to: &invariants)
        self.judge.invariants = invariants
    }

    private var gauges: FleetGauges {
        var gauges = FleetGauges()
        gauges.captured = self.world.captured
        gauges.phonesBusy = self.world.phonesBusy
        gauges.phonesOffline = self.world.phonesOffline
        return gauges
    }

    // MARK: The verdict

    private func finish(_ failure: WorldFailure?, planFailures: [OutputError.Failure]) -> ExitCode {
        let ended = self.world.now
        self.world.checkConservation()
        self.reportFindings()
        let isCut = self.judge.isInterrupted || failure != nil
        var facts = RunFacts(
            endedAt: ended, length: (isCut ? ended : self.world.phonesEnded) - .zero,
            waiting: self.world.waitingOnDisk, observationsMade: self.world.observationsMade,
            drain: self.plan.scenario.drain + (self.request.plan.settle ?? .zero),
            resources: Resources(client: .init(.own()), backend: nil))
        facts.failure = failure.map { RunFailure(.internalError, $0.text) }
        let arrivals = ArrivalAccount(
            self.plan, self.expectedArrivals, stepped: self.stepped?.planned, closedDue: self.world.closedDue,
            achieved: self.world.captured,
            late: 0)
        facts.arrivals = arrivals
        facts.skipped = SkippedWork(
            deferred: self.world.capturesDeferred, shutdownsTimedOut: self.world.shutdownsTimedOut)
        // A run that was cut short has not come to an end in peace, and what is left in it says nothing.
        let hadItsEnd = self.judge.endedBy == nil || self.request.plan.settle == nil
        if !isCut, hadItsEnd { facts.remains = self.world.remains }
        facts.streamsOpen = self.world.streams
        facts.remarks = self.warnings(failure) + self.notes
        var result = self.judge.finish(facts, of: self.head, into: self.directory)
        if !isCut, self.judge.endedBy == nil, result.rollout?.rollback != nil {
            result.rollout?.harmedWithoutRollback = self.request.plan.harmedWithoutRollback()
        }
        return RunOutput(
            directory: self.directory, console: self.console, failures: planFailures,
            isOneLine: self.request.options.isOneLine,
            isShard: !self.head.shard.isWhole, export: self.export
        ).finish(result, of: self.judge)
    }

    private var notes: [Remark] {
        let digest = Hexadecimal.text(self.world.chain.value, digits: 16)
        let broken = self.world.phonesToStayBroken.count
        let notes: [(Remark, Bool)] = [
            (.end(.digest(digest, events: Int(self.world.chain.events))), true),
            (.end(.judgedWhenMerged), !self.head.shard.isWhole), (.end(.phonesLeftOut(broken)), broken > 0),
        ]
        let first = self.request.live?.failures.first.map {
            Remark.start(.planOfLiveRun(broke: $0.name, subject: $0.subject))
        }
        return notes.filter(\.1).map(\.0) + [first, self.judge.coverage?.remark].compactMap { $0 }
    }

    private func warnings(_ failure: WorldFailure?) -> [Remark] {
        var warnings: [Remark] = []
        if let failure {
            warnings.append(.end(.worldFailed(at: failure.at.nanoseconds, events: failure.lastEvents)))
        }
        if let expected = self.request.expected, !self.judge.isInterrupted,
            expected.outcome.digest != Hexadecimal.text(self.world.chain.value, digits: 16)
        {
            warnings.append(
                .end(
                    .notReproduced(
                        by: ThisProgram.version, savedBy: expected.tool, digest: expected.outcome.digest,
                        events: Int(expected.outcome.events))))
        }
        return warnings
    }
}
