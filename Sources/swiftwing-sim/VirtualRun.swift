import Backend
import EventLoop
import Faults
import Foundation
import Ledger
import LivePhones
import Metrics
import Observations
import Phone
import Plan
import Reports
import RunArchive
import RunJudge
import RunMetrics
import ScenarioFile
import SimBase
import Talaria
import VirtualWorld

/// What `simulate` is to do.
struct VirtualRequest {
    var loaded: LoadedScenario
    var plan: WorldPlan
    var output: String?
    var isTraced: Bool
    var isQuiet: Bool
    /// The words that run it again.
    var command: [String]
    var labels: RunLabels
    var savesPlanTo: String?
    /// How the run went when its plan was written, and what wrote it.
    var expected: (outcome: SavedPlan.Outcome, tool: String)?
}

/// One run of the virtual world from its plan to its report. It decides nothing: it listens, and has what it hears judged
/// and reported, as the live run does.
final class VirtualRun {
    /// Events between two looks at the clock on the wall.
    private static let eventsPerLook = 4_096
    /// And between two looks at objectives that may end the run.
    private static let eventsPerJudgement = 64
    /// Of what is measured, in the files.
    private static let intervalsOfALength = 300

    private let request: VirtualRequest
    private let plan: RunPlan
    private let expectedArrivals: ExpectedArrivals
    private let console: Console
    private let loop: Loop
    private let directory: RunDirectory
    private let startedWall = WallClock.now() / 1_000_000
    private var world: VirtualWorld.World
    private var recorder: RunRecorder
    private var invariants: SimulationInvariants
    private var sometimes: CoverageTable
    private var isInterrupted = false
    /// What ended the run before its time.
    private var endedBy: RunEnding?
    private var shownAt = Instant.zero
    private var batch: [Observation] = []

    /// Makes the run's folder.
    init(_ request: VirtualRequest, console: Console) throws {
        self.request = request
        self.console = console
        self.plan = request.plan.run
        self.expectedArrivals = self.plan.expectedArrivals
        self.loop = try Loop(clock: .startingNow())
        let settings = LedgerSettings(self.plan, hasBackendView: true)
        let scenario = self.plan.scenario
        self.recorder = RunRecorder(
            ledger: Ledger(
                shelf: self.plan.shelf, settings: settings,
                harness: HarnessSettings(self.plan, hasBackendView: true, hasGateway: false)),
            tally: MetricsCollector(
                fleet: settings.fleet, faultIDs: scenario.faults.map(\.id), hasBackendView: true),
            objectives: SLOParts(self.plan), aborting: scenario.slos, faults: scenario.faults.count,
            intervalsOfALength: Self.intervalsOfALength)
        var rules = SimulationInvariantSettings(
            idleTimeout: self.plan.idleTimeout,
            isSettled: request.plan.settle != nil,
            herdTime: ClientProfile.contract.pathReturnJitter,
            backoffBase: ClientProfile.contract.backoff.base,
            backoffCap: ClientProfile.contract.backoff.cap,
            retryField: scenario.server.backend.retryField,
            idleTimeouts: self.plan.groups.map(\.profile.idleTimeout),
            streamsMax: self.plan.groups.map(\.profile.streamsMax))
        rules.requestTimeouts = self.plan.groups.map(\.profile.requestTimeout)
        rules.resultsFormats = self.plan.groups.map(\.profile.resultsFormat)
        rules.faultsThatRound = scenario.faults.indices.filter { scenario.faults[$0].kind.roundsWaits }
        self.invariants = SimulationInvariants(rules, ledger: settings)
        self.sometimes = CoverageTable(
            expected: scenario.sometimes, named: scenario.moments.compactMap { CoverageGoal(rawValue: $0) },
            slotsMax: settings.slotsMax, raisesBase: scenario.raisesBase)
        self.world = VirtualWorld.World(request.plan)
        let broken = self.world.phonesToStayBroken
        if !broken.isEmpty { self.recorder.leaveOutOfObjectives(broken) }
        let index =
            request.output.map { RunLocation.exactly($0) }
            ?? .dated(
                reports: "Reports", started: self.startedWall, scenario: scenario.name, seed: scenario.seed)
        self.directory = try RunDirectory.create(
            index, log: ObservationLog(isTracing: request.isTraced, faults: scenario.faults.map(\.id)))
        self.directory.write(scenarioResolved: ScenarioWriter.resolved(scenario))
        self.directory.begin(
            RunHead(
                self.plan, request.loaded, world: .virtual, started: self.startedWall, hasBackendView: true,
                command: request.command, labels: request.labels))
    }

    /// Runs to the end, prints the summary, and answers what the process ends with.
    func run() throws -> ExitCode {
        var failure: WorldFailure?
        do throws(WorldFailure) { try self.live() } catch { failure = error }
        self.console.clearProgress()
        return self.judge(failure, planFailures: self.savePlan())
    }

    /// What could not be written: it must not cost the results.
    private func savePlan() -> [OutputError.Failure] {
        guard let path = self.request.savesPlanTo, !self.isInterrupted else { return [] }
        do throws(OutputError) {
            try PlanFiles.save(
                self.request.plan, outcome: self.world.chain, note: self.plan.scenario.description, to: path)
            return []
        } catch {
            return error.failures
        }
    }

    private func live() throws(WorldFailure) {
        let mayEndEarly = self.plan.scenario.slos.contains(where: \.abort)
        let events = mayEndEarly ? Self.eventsPerJudgement : Self.eventsPerLook
        while true {
            let goesOn = try self.world.steps(events)
            self.processObservations()
            guard goesOn else { return }
            if mayEndEarly { self.checkObjectives() }
            guard !Interruption.isRequested else { return self.interrupted() }
            self.showProgress()
        }
    }

    /// An objective with `abort` that is broken ends the run: by the run's own clock, so that it ends alike each time.
    private func checkObjectives() {
        guard self.endedBy == nil, let ending = self.recorder.ending(at: self.world.now) else { return }
        self.endedBy = ending
        self.console.error(ending.text)
        self.world.endEarly()
    }

    /// What a run that is cut short leaves undone is held against nobody.
    private func interrupted() {
        self.isInterrupted = true
        self.recorder.interrupted(at: self.world.now)
        self.invariants.interrupted(at: self.world.now)
    }

    /// Has judged, measured and logged what was seen since the last time.
    private func processObservations() {
        self.collectAuditFindings()
        self.world.take(&self.batch)
        Self.record(&self.batch, &self.recorder, &self.invariants, &self.sometimes, self.directory)
        if let trouble = self.directory.takeTrouble() {
            self.console.error("swiftwing-sim: \(trouble); the run continues")
        }
    }

    /// What its links, its wires and its storages saw, and nobody else.
    private func collectAuditFindings() {
        for finding in self.world.takeFindings() { self.invariants.record(finding) }
        for silence in self.world.takeSilences() { self.invariants.record(silence) }
        for form in self.world.takeForms() { self.invariants.record(form) }
        for request in self.world.takeGivenUp() { self.invariants.record(request) }
    }

    /// Each is moved on: a run sees millions. Leaves the batch empty.
    private static func record(
        _ batch: inout [Observation], _ recorder: inout RunRecorder, _ invariants: inout SimulationInvariants,
        _ sometimes: inout CoverageTable, _ directory: RunDirectory
    ) {
        for index in batch.indices {
            let observation = batch.take(index, leaving: .nothing)
            invariants.record(observation)
            sometimes.record(observation)
            recorder.record(observation, in: directory)
        }
        batch.removeAll(keepingCapacity: true)
    }

    private func showProgress() {
        let every: Interval = self.console.isInteractive ? .milliseconds(250) : .seconds(10)
        let now = self.loop.now()
        guard !self.request.isQuiet, now - self.shownAt >= every else { return }
        self.shownAt = now
        var gauges = FleetGauges()
        gauges.captured = self.world.captured
        gauges.phonesBusy = self.world.phonesBusy
        gauges.phonesOffline = self.world.phonesOffline
        self.console.progress(
            ProgressLine.text(
                at: self.world.now, expectedArrivals: self.expectedArrivals, gauges: gauges,
                scans: self.recorder.ledger.totals.scans,
                seed: self.plan.scenario.seed))
    }

    // MARK: The verdict

    private func judge(_ failure: WorldFailure?, planFailures: [OutputError.Failure]) -> ExitCode {
        let ended = self.world.now
        self.world.checkConservation()
        self.collectAuditFindings()
        var driver = MetricSet()
        let arrivals = self.arrivals
        driver.add(Int64(arrivals.planned), to: .arrivalsPlanned)
        driver.add(Int64(arrivals.achieved), to: .arrivalsAchieved)
        driver.add(Int64(arrivals.late), to: .arrivalsLate)
        self.recorder.finish(
            waiting: self.world.waitingOnDisk, at: ended, driver: driver, in: self.directory)
        var findings = RunFindings(plan: self.plan, self.recorder)
        // A run that was cut short has not come to an end in peace, and what is left in it says nothing.
        let hadItsEnd = self.endedBy == nil || self.request.plan.settle == nil
        if failure == nil, !self.isInterrupted, hadItsEnd { self.invariants.finish(self.world.remains) }
        findings.verdicts += self.invariants.verdicts
        findings.checkNumber(judged: self.recorder.observations, of: self.world.observationsMade)
        if let error = findings.harnessError { self.console.error("swiftwing-sim: \(error)") }
        var metrics = findings.metrics
        // A simulated timer is never late.
        metrics.cannotKnow(.latency(.generatorLateness))
        let slos = self.recorder.results(metrics).map {
            self.isInterrupted ? $0.unjudged : self.endedBy?.result(instead: $0) ?? $0
        }
        let expectations = Expectations(self.plan.scenario.expectBroken)
        let unreached = self.isInterrupted || self.endedBy != nil ? [] : self.sometimes.unreached
        var judgement = Judgement(
            verdicts: findings.verdicts, totals: findings.totals, slos: slos,
            hasInternalError: failure != nil || findings.harnessError != nil, hasOutputError: false,
            isUntrusted: !unreached.isEmpty, isInterrupted: self.isInterrupted, expectations: expectations)
        var result = RunResult(
            tool: "swiftwing-sim \(Main.version)", machine: nil,
            scenario: ScenarioIdentity(
                name: self.plan.scenario.name, description: self.plan.scenario.description,
                file: self.request.loaded.bytes),
            seed: self.plan.scenario.seed, world: .virtual, started: self.startedWall,
            length: (self.isInterrupted || failure != nil ? ended : self.world.phonesEnded) - .zero,
            groups: findings.groups, isInterrupted: self.isInterrupted,
            failure: failure?.text ?? findings.harnessError,
            exit: judgement.exit, hasBackendView: true, totals: findings.totals,
            verdicts: expectations.applied(to: findings.verdicts), slos: slos,
            disconnections: findings.disconnections.rows.filter { $0.count > 0 },
            metrics: metrics, resources: self.resources, generator: GeneratorHealth(complaints: []),
            notes: self.notes,
            warnings: self.warnings(failure) + self.directory.warnings,
            directory: self.directory.path, files: [],
            command: self.request.command)
        result.labels = self.request.labels
        result.endedEarly = self.endedBy?.text
        result.unreached = unreached.map(\.rawValue)
        var streams = GaugeSeries()
        for sample in self.world.streams.samples {
            streams.add(least: sample.least, most: sample.most, upTo: sample.upTo)
        }
        result.streamsOpen = streams
        result.findings = findings.findings
        result.expectations = expectations
        result.take(self.recorder.timeline.impairments)
        if failure == nil, self.endedBy == nil {
            result.drained = self.plan.scenario.drain + (self.request.plan.settle ?? .zero)
        }
        return RunOutput(directory: self.directory, console: self.console, failures: planFailures)
            .finish(&result, &judgement, self.recorder.timeline)
    }

    private var arrivals: ArrivalAccount {
        let scheduled = zip(self.plan.groups, self.expectedArrivals.scansByGroup).reduce(0) {
            if case .open = $1.0.spec.load { $0 + $1.1 } else { $0 }
        }
        return ArrivalAccount(
            planned: scheduled + self.world.closedDue, achieved: self.world.captured, late: 0)
    }

    private var notes: [String] {
        let digest = Hexadecimal.text(self.world.chain.value, digits: 16)
        var notes = ["digest \(digest) of \(self.world.chain.events) events"]
        let broken = self.world.phonesToStayBroken.count
        if broken > 0 {
            notes.append("SLOs exclude \(broken) phones that stay offline")
        }
        let (met, unmet) = (self.sometimes.met, self.sometimes.unmet)
        if !met.isEmpty || !unmet.isEmpty {
            let missed = unmet.isEmpty ? "" : "; not reached: \(unmet.map(\.text).joined(separator: ", "))"
            notes.append(
                "fault coverage: reached \(met.count) of \(met.count + unmet.count) target situations\(missed)"
            )
        }
        return notes
    }

    private func warnings(_ failure: WorldFailure?) -> [String] {
        var warnings: [String] = []
        if let failure {
            warnings.append(
                "an internal error at \(failure.at.nanoseconds) ns; the last events:\n"
                    + failure.lastEvents.joined(separator: "\n"))
        }
        if let expected = self.request.expected, !self.isInterrupted,
            expected.outcome.digest != Hexadecimal.text(self.world.chain.value, digits: 16)
        {
            warnings.append(
                "this build (\(Main.version)) does not reproduce the run of \(expected.tool), which saved the plan with digest \(expected.outcome.digest) of \(expected.outcome.events) events"
            )
        }
        if self.world.shutdownsTimedOut > 0 {
            warnings.append(
                "\(self.world.shutdownsTimedOut) phones had not finished shutting down at the time limit")
        }
        let deferred = self.world.capturesDeferred
        if deferred > 0 {
            warnings.append(
                "\(deferred) captures were skipped because their apps did not become active again")
        }
        let skipped = self.arrivals.planned - self.world.captured - deferred
        if skipped > 0 { warnings.append("\(skipped) captures were skipped because the run was stopped") }
        return warnings
    }

    private var resources: Resources {
        let own = ResourceUsage.own()
        return Resources(
            client: .init(processor: own.processor, residentBytes: own.residentMax), backend: nil)
    }
}
