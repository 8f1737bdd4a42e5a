import CurlLoop
import Dashboard
import EventLoop
import Faults
import Ledger
import LivePhones
import Metrics
import Observations
import Plan
import RunArchive
import RunControl
package import RunJudge
import RunMetrics
import RunSetup
import SimBase

/// One live run from its plan to its report, on the main thread: it starts the backend and the fleet,
/// receives the reports of both, and passes them to the judge and the report. It decides nothing that a phone
/// or the backend decides.
package final class LiveRun {
    /// The time between sending the run's zero to the backend and that zero: for connecting and the
    /// preflight.
    static let headStart = Interval.milliseconds(250)

    let preparation: RunPreparation
    let console: Console
    let loop: Loop
    let directory: RunDirectory
    var feed: ObservationFeed
    var remarks: [Remark]
    /// The time of the run. Its zero is set when the backend is ready.
    private(set) var clock: LoopClock
    /// Milliseconds since 1970 at that zero.
    private(set) var startedWall: Int64

    var child: BackendChild?
    /// The pipes to the process that started this one as a shard; nil if none did.
    let link: ShardLink?
    var progressSentAt = Instant.zero
    var snapshotSentAt = Instant.zero
    private(set) var fleet: FleetThreads?
    /// Of a worker: nil for every other run.
    var workerPhones: WorkerPhones?
    private(set) var gauges = FleetGauges()
    private(set) var outcome: FleetOutcome?
    private(set) var failure: RunFailure?
    private(set) var firstUploads = FirstUploads()
    private var watchman: LoopTimer?
    private var progress: ProgressLine
    /// The dashboard, if there is one.
    var page: RunPage?
    var isStoppedByOperator = false
    private(set) var head: RunHead
    /// Nil without a collector.
    private(set) var export: SpanExport?
    var control: RunControl
    var due: DueArrivals
    /// Nil if the load has no steps.
    var stepped: SteppedCaptures?

    var request: RunRequest { self.preparation.request }
    var plan: RunPlan { self.preparation.plan }

    /// Makes the run's folder.
    package init(_ preparation: RunPreparation, console: Console) throws {
        self.preparation = preparation
        self.console = console
        self.remarks = preparation.remarks
        self.clock = .startingNow()
        self.startedWall = WallClock.now() / 1_000_000
        self.due = DueArrivals(preparation.plan.arrivals)
        self.stepped = SteppedCaptures(preparation.plan)
        // An operator of several processes orders what the whole fleet does.
        self.control = RunControl(
            preparation.plan, preparation.expectedArrivals,
            ofWholeFleet: preparation.request.isLinked)
        self.loop = try preparation.request.worker?.loop ?? Loop(clock: self.clock)
        self.link = preparation.request.isLinked ? try ShardLink(loop: self.loop) : nil
        self.workerPhones = preparation.request.worker.map { _ in WorkerPhones(preparation.plan) }
        let hasBackendView = preparation.isEmbedded
        var settings = JudgeSettings(preparation.plan, world: .live, hasBackendView: hasBackendView)
        settings.harness = HarnessSettings(
            preparation.plan, hasBackendView: hasBackendView, hasGateway: preparation.hasGateway)
        settings.schedule = CaptureSchedule(preparation.plan)
        let scenario = preparation.request.options.loaded.scenario
        if !scenario.coverageGoals.isEmpty {
            settings.coverage = CoverageTable(scenario, expected: [], slotsMax: settings.ledger.slotsMax)
        }
        let options = preparation.request.options
        self.head = options.head(
            preparation.plan, world: .live, started: self.startedWall, hasBackendView: hasBackendView)
        self.head.deviceSalt = preparation.request.deviceSalt
        self.head.labels.http = preparation.http
        self.directory = try options.makeFolder(scenario, started: self.startedWall)
        self.progress = ProgressLine(
            console, isQuiet: options.isQuiet,
            outlook: RunOutlook(preparation.plan, preparation.expectedArrivals),
            seed: scenario.seed)
        self.feed = ObservationFeed(
            RunJudge(settings), threads: preparation.threads,
            hasReports: hasBackendView || preparation.hasGateway, directory: self.directory)
        self.feed.rollout = scenario.rollout.map { Rollout($0) }
        // Before any interruption, which would excuse it.
        self.feed.lost(preparation.state.lost)
    }

    /// The folder of its reports.
    package var folder: String { self.directory.path }

    /// Runs to the end, prints the summary, and answers what the process ends with.
    package func run() throws -> ExitCode {
        try self.openDashboard()
        do {
            let code = try self.runToItsEnd()
            self.keepDashboard()
            self.closeDashboard()
            return code
        } catch {
            self.page?.fail(error)
            self.closeDashboard()
            throw error
        }
    }

    private func runToItsEnd() throws -> ExitCode {
        let target = try self.prepareTarget()
        self.noticeInterruption()
        self.begin()
        if let target, !self.feed.judge.isInterrupted {
            try self.startExport(target.curl)
            self.announce()
            try self.startFleet(target)
            self.control.began()
            self.followRollout(.began)
            self.link?.onControl = { [unowned self] in self.follow($0) }
            self.startWatching()
            _ = self.loop.turn(until: { self.outcome != nil }, atMost: .hours(24 * 365))
            self.link?.send(.judging)
            // Also in the drain it cuts something short.
            self.noticeInterruption()
            self.endFleet()
        }
        // The backend is about to end as it should: from here on `endChild` judges how it does.
        self.watchman?.disarm()
        self.endChild()
        self.console.clearProgress()
        return try self.judge(waiting: self.preparation.state.waiting(self.plan))
    }

    /// Writes the description of the run before its first observation.
    private func begin() {
        self.head.started = self.startedWall
        self.directory.begin(self.head)
        self.page?.begin(
            folders: [(path: self.directory.path, head: self.head)],
            objectives: self.feed.judge.objectives)
    }

    /// Says what is about to happen, before any load.
    private func announce() {
        guard !self.request.options.isQuiet else { return }
        let outlook = RunOutlook(self.plan, self.preparation.expectedArrivals)
        self.console.error(outlook.banner(target: self.head.labels.target, folder: self.directory.path))
    }

    /// From here on observations are handed over to the exporter, if there is a collector.
    private func startExport(_ backend: CurlTarget) throws {
        guard let collector = self.request.options.collector else { return }
        let target = self.request.target
        let export = try SpanExport(
            to: collector, of: self.head,
            server: (target?.host ?? backend.addresses[0], target?.port ?? backend.port),
            basePath: target?.basePath ?? "")
        self.export = export
        self.directory.observationLogged = { export.record($0, $1) }
    }

    /// The base of the backend, once it is there.
    private func prepareTarget() throws -> (base: String, curl: CurlTarget)? {
        guard let target = self.request.target else { return try self.startChild() }
        if self.preparation.hasGateway {
            let gateway = try self.startChild()
            self.noteLookup(of: target)
            return gateway
        }
        try self.setZero()
        self.noteLookup(of: target)
        return (target.base, self.preparation.curlTarget(to: target))
    }

    /// Phones connect to the addresses that were found once, for all of them.
    private func noteLookup(of target: TargetURL) {
        guard let lookup = target.lookup else { return }
        let payload = NetworkObservation(lookup: lookup, connect: nil, tls: nil, firstByte: nil)
        self.feed.receive(
            phones: [
                Observation(at: .zero, device: DeviceNumber(0), scan: .none, what: .network(payload))
            ], thread: 0, upTo: .zero)
    }

    /// The run begins a moment from now, or at the time that all its shards begin; that of a worker has begun with its test.
    func setZero() throws {
        if let started = self.request.worker?.started {
            let passed = max(0, WallClock.now() - started * 1_000_000)
            self.clock = LoopClock(zero: MonotonicClock.now() - passed)
            self.startedWall = started
            return
        }
        var ahead = Self.headStart.nanoseconds
        var wall = WallClock.now() + ahead
        if let start = self.awaitStart() {
            _ = self.loop.turn(
                until: {
                    self.sendProgress()
                    return self.isAskedToEnd || start.remaining() <= ahead
                }, atMost: .hours(48))
            (ahead, wall) = (start.remaining(), start.wall)
            guard self.isAskedToEnd || ahead > 0 else {
                throw CommandFailure(
                    .untrusted, "the shard was ready \(-ahead / 1_000_000) ms after the start of the run",
                    hint: "choose a later time with --start-at")
            }
        }
        self.clock = LoopClock(zero: MonotonicClock.now() + ahead)
        self.startedWall = wall / 1_000_000
    }

    /// The time at which all shards start, in nanoseconds since 1970, and the time until then; nil if this run starts by itself.
    ///
    /// The processes of one run wait by the monotonic clock of their machine: the other one may be set during
    /// the wait. Those of several machines have the other one only.
    private func awaitStart() -> (wall: Int64, remaining: () -> Int64)? {
        guard let link = self.link else {
            return self.request.startAt.map { start in
                (start * 1_000_000, { start * 1_000_000 - WallClock.now() })
            }
        }
        link.send(.ready)
        _ = self.loop.turn(until: { self.isAskedToEnd || link.start != nil }, atMost: .hours(48))
        return link.start.map { start in (start.wall, { start.zero - MonotonicClock.now() }) }
    }

    // MARK: The fleet

    private func startFleet(_ target: (base: String, curl: CurlTarget)) throws {
        let planner = self.plan.faultDesk
        let photos = self.preparation.photos
        let phones =
            self.request.worker != nil
            ? []
            : self.plan.groups.indices.flatMap { index in
                self.plan.phones(of: self.plan.groups[index]).map {
                    self.phonePlan(DeviceNumber($0), group: index, planner)
                }
            }
        var plan = FleetPlan(
            clock: self.clock, wallClockAtZero: self.startedWall, seed: self.plan.scenario.seed,
            run: self.runID, phones: phones, shard: self.plan.shard, arrivals: self.plan.arrivals,
            // A load in steps says itself when it is over.
            lastArrival: self.stepped == nil ? self.preparation.expectedArrivals.lastArrival : .zero,
            photos: photos.photos,
            target: target.curl,
            base: target.base, stateFolder: self.preparation.state.path,
            socketsKept: self.preparation.socketsKept, drain: self.plan.scenario.drain)
        plan.phonesMax = self.request.worker?.phonesMax
        plan.faults = self.plan.scenario.faults
        // What phones take before the rollout begins is its first stage already.
        plan.rollout = self.plan.scenario.rollout?.firstFlag
        plan.shelf = self.plan.shelf
        if let target = self.request.target {
            let run = Hexadecimal.text(self.runID, digits: 16)
            plan.headers = target.headers + [HeaderField("X-Load-Test", "swiftwing-sim \(run)")]
            plan.observesNetwork = true
            plan.readsStamps = false
            plan.deviceSalt = self.request.deviceSalt
            if !self.preparation.hasGateway {
                plan.trial = self.plan.scenario.trial.rules(
                    isOfOwnPhones: true, inGateway: false, host: target.host, isLocal: target.isLoopback,
                    wallClockAtZero: self.startedWall)
            }
        }
        self.fleet = try FleetThreads(plan, threads: self.preparation.threads, loop: self.loop) {
            [unowned self] in self.receive($0)
        }
        self.openWaitingPhones()
    }

    func phonePlan(_ device: DeviceNumber, group index: Int, _ planner: FaultPlanner) -> FleetPlan.PhonePlan {
        let group = self.plan.groups[index]
        var phone = FleetPlan.PhonePlan(
            number: device, profile: group.profile, photos: self.preparation.photos.ranges[index],
            preprocess: group.spec.preprocess,
            faults: planner.phoneSchedule(device: device, group: group.spec.name),
            think: self.plan.thinkTimes(of: group))
        phone.group = group.spec.name
        phone.library = group.spec.library
        phone.network = group.spec.network
        return phone
    }

    private var runID: UInt64 { RunID.value(seed: self.plan.scenario.seed, started: self.startedWall) }

    private func receive(_ report: FleetReport) {
        switch report {
        case .observations(let observations, let thread, let moment):
            if !self.preparation.isEmbedded {
                // By index: a loop would copy each.
                for index in observations.indices { self.firstUploads.receive(observations.span[index]) }
            }
            self.feed.receive(phones: observations, thread: thread, upTo: moment)
        case .gauges(let gauges): self.gauges = gauges
        case .closed(let phones): self.workerPhones?.closed(phones)
        case .failing(let moment):
            if !self.feed.judge.isInterrupted { self.feed.judge.interrupted(at: moment) }
        case .finished(let outcome): self.outcome = outcome
        }
    }

    private func endFleet() {
        self.fleet?.join()
        self.feed.closePhones()
        guard self.failure == nil, let failure = self.outcome?.failure else { return }
        switch failure {
        case .storage: self.failure = RunFailure(.cannotWrite, failure.text)
        case .other: self.failure = RunFailure(.internalError, failure.text)
        }
    }

    // MARK: Watching

    /// Whether a signal, the operator, or the process that started this one asks it to end.
    var isAskedToEnd: Bool {
        Interruption.isRequested || self.isStoppedByOperator || self.link?.hasEnded == true
    }

    /// Handles an interruption: phones clean up and return their scans to the queue; the rest does not count
    /// against them.
    func noticeInterruption() {
        guard !self.feed.judge.isInterrupted, self.isAskedToEnd else { return }
        self.feed.judge.interrupted(at: self.clock.now())
        self.fleet?.stop()
    }

    /// Sees that the backend lives, and shows how it goes.
    private func startWatching() {
        self.watchman = LoopTimer(loop: self.loop) { [unowned self] _ in
            self.noticeInterruption()
            self.checkChild()
            self.checkObjectives()
            self.followSteps()
            self.followRollout(.woke)
            self.directory.reportTrouble(on: self.console)
            self.export?.handOver()
            self.export?.reportTrouble(on: self.console)
            let now = self.clock.now()
            self.progress.show(now: now, self.standing(at: now))
            self.sendProgress()
            self.sendSnapshot()
            self.updateDashboard()
            self.watchman?.arm(after: .milliseconds(50))
        }
        self.watchman?.arm(after: .milliseconds(50))
    }

    var standing: RunProgress {
        RunProgress(
            self.gauges, self.feed.judge.ledger.totals.scans, errors: self.feed.judge.timeline.errors.count)
    }

    private func standing(at now: Instant) -> RunStanding {
        var standing = RunStanding(at: now, self.standing)
        standing.isPaused = self.control.isPaused
        return standing
    }

    /// The end of the backend's process is the end of the run.
    private func checkChild() {
        // What was in the pipe when it died still counts.
        guard let child = self.child, let end = child.endText, child.isToldOut else { return }
        self.lostBackend(end)
        self.fleet?.stop()
    }

    /// Handles the loss of the backend: observations that it had not sent are unknown, and do not count
    /// against a phone.
    func lostBackend(_ end: String) {
        guard !self.feed.judge.hasLostBackend else { return }
        let moment = ProgressLine.clock(self.clock.now())
        let text = "the backend process \(end) at \(moment): its last observations may be missing"
        self.failure = self.failure ?? RunFailure(.internalError, text)
        self.console.error("swiftwing-sim: \(text)")
        self.feed.lostBackend()
    }

    /// An objective with `abort` that is broken ends the run.
    private func checkObjectives() {
        guard self.outcome == nil, !self.feed.judge.isInterrupted,
            let ending = self.feed.judge.ending(at: self.clock.now())
        else { return }
        self.console.error(ending.text)
        self.fleet?.stop()
    }
}
