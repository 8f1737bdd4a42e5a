import CurlLoop
import Device
import EventLoop
import Faults
import Foundation
import Imaging
import Ledger
import LiveBackend
import LiveDevices
import Plan
import Reporting
import ScenarioFile
import SimBase
import Talaria

/// What `run` is to do.
struct RunRequest {
    var loaded: LoadedScenario
    /// Nil: the embedded backend.
    var target: TargetURL?
    var stateFolder: String?
    var output: String?
    var isTraced: Bool
    var isQuiet: Bool
    /// The words that run it again, but for the seed.
    var command: [String]
}

/// What cut a run short.
struct RunFailure {
    var code: ExitCode
    var text: String
}

/// One live run from its plan to its report, on the main thread: it starts the backend and the fleet, listens to both,
/// and has them judged and reported. It decides nothing that a phone or the backend decides.
final class LiveRun {
    /// Between telling the backend the run's zero and that zero: what connecting and the preflight take.
    private static let headStart = Interval.milliseconds(250)

    let request: RunRequest
    let console: Console
    let plan: RunPlan
    let loop: Loop
    let census: Census
    /// The time of the run. Its zero is set anew when the backend is ready.
    private(set) var clock = LoopClock.startingNow()
    private(set) var startedWall: Int64 = 0

    let directory: RunDirectory
    private(set) var account: RunAccount
    private(set) var child: BackendChild?
    private var fleet: FleetThread?
    private var fleetReader: MailboxReader<FleetReport>?
    private(set) var outcome: FleetOutcome?
    private(set) var gauges = FleetGauges()
    private(set) var isInterrupted = false
    private(set) var failure: RunFailure?
    var warnings: [String] = []
    private var signals: [SignalWatch] = []
    private var progress: LoopTimer?

    init(_ request: RunRequest, console: Console) throws {
        self.request = request
        self.console = console
        self.plan = RunPlan(request.loaded.scenario, target: request.target == nil ? .embedded : .foreign)
        self.census = self.plan.census
        self.loop = try Loop(clock: self.clock)
        self.startedWall = WallClock.now() / 1_000_000
        self.account = RunAccount(self.plan, hasBackendView: request.target == nil)
        let place =
            request.output.map { RunPlace.exactly($0) }
            ?? .dated(
                reports: "Reports", started: self.startedWall, scenario: self.plan.scenario.name,
                seed: self.plan.scenario.seed)
        self.directory = try RunDirectory.create(
            place,
            log: ObservationLog(isTracing: request.isTraced, faults: self.plan.scenario.faults.map(\.id)))
    }

    /// Runs to the end, prints the summary, and answers what the process ends with.
    func run() throws -> ExitCode {
        let photos = try PhotoCorpus(self.plan, scenarioPath: self.request.loaded.path)
        self.warnings += photos.problems
        try self.checkDescriptors()
        self.directory.write(scenarioResolved: ScenarioWriter.resolved(self.plan.scenario))
        self.watchSignals()

        let state = try RunState(self.request.stateFolder)
        defer { state.removeIfTemporary() }
        guard let target = try self.prepareTarget(), !self.isInterrupted else { return .interrupted }
        try self.startFleet(photos, target: target, state: state)
        self.showProgress()
        _ = self.loop.turn(until: { self.outcome != nil }, atMost: .hours(24 * 365))
        self.endFleet()
        self.endChild()
        self.progress?.disarm()
        self.console.clearProgress()
        return try self.judge(waiting: state.waiting(self.plan))
    }

    // MARK: The target

    /// The base of the backend, once it answers.
    private func prepareTarget() throws -> (base: String, curl: CurlTarget)? {
        if let target = self.request.target {
            let curl = CurlTarget(
                port: target.port, addresses: target.addresses, connectTimeout: self.plan.connectTimeout)
            switch Preflight.ask(target.base + Endpoint.upload.path, target: curl, loop: self.loop) {
            case .success: break
            case .failure(let failure):
                throw CommandFailure(
                    .unavailable, "the target \(target.base) does not answer: \(failure.text)",
                    hint: "nothing was sent but this one request; is the backend running?")
            }
            if !self.plan.scenario.faults.isEmpty {
                self.warnings.append(
                    "faults of server and link are not applied to a --target: they are the simulated backend's"
                )
            }
            self.clock = LoopClock(zero: MonotonicClock.now() + Self.headStart.nanoseconds)
            self.startedWall = WallClock.now() / 1_000_000
            return (target.base, curl)
        }
        return try self.startChild()
    }

    private func startChild() throws -> (base: String, curl: CurlTarget)? {
        let nonce = Hexadecimal.text(UInt64.random(in: .min ... .max), digits: 16)
        let child = try BackendChild(
            scenarioPath: self.directory.path + "/" + RunDirectory.FileName.scenario, nonce: nonce,
            loop: self.loop
        ) { [unowned self] reports in self.account.heard(backend: reports, directory: self.directory) }
        self.child = child
        func wait(_ what: String, until holds: () -> Bool) throws {
            let isDone = self.loop.turn(
                until: { holds() || child.exit != nil || self.isInterrupted }, atMost: BackendChild.patience)
            guard child.exit == nil, isDone else {
                throw CommandFailure(
                    .internalError, "the backend process did not get ready: it could not \(what)")
            }
        }
        try wait("read the resolved scenario") { child.isReady }
        self.clock = LoopClock(zero: MonotonicClock.now() + Self.headStart.nanoseconds)
        self.startedWall = (WallClock.now() + Self.headStart.nanoseconds) / 1_000_000
        child.begin(clock: self.clock, wallClockAtZero: self.startedWall)
        try wait("listen") { child.base != nil }
        guard !self.isInterrupted, let base = child.base,
            let port = base.split(separator: ":").last.flatMap({ UInt16($0) })
        else { return nil }

        // No load before it is certain that this is the server that was started.
        let curl = CurlTarget(port: port, addresses: ["127.0.0.1"], connectTimeout: self.plan.connectTimeout)
        switch Preflight.ask(base + BackendServer.noncePath, target: curl, loop: self.loop) {
        case .success((200, nonce)): return (base, curl)
        case .success(let answer):
            throw CommandFailure(
                .unavailable, "another server answers on \(base) (status \(answer.status)): no load was sent")
        case .failure(let failure):
            throw CommandFailure(.unavailable, "the backend on \(base) does not answer: \(failure.text)")
        }
    }

    /// Checks now and then that the backend lives; its end is the end of the run.
    private func checkChild() {
        guard let exit = self.child?.exit, self.failure == nil, self.outcome == nil else { return }
        self.failure = RunFailure(
            code: .internalError,
            text: "the backend process \(exit.cause.text): what it saw last may be missing")
        self.account.closeBackend()
        self.fleet?.stop()
    }

    private func endChild() {
        guard let child = self.child else { return }
        child.letGo()
        let isOver = self.loop.turn(
            until: { child.exit != nil && child.isToldOut }, atMost: BackendChild.patience)
        if !isOver {
            child.kill()
            self.warnings.append("the backend process did not end by itself and was killed")
            _ = self.loop.turn(until: { child.exit != nil }, atMost: .seconds(2))
        }
        self.account.closeBackend()
    }

    // MARK: The fleet

    private func startFleet(
        _ photos: PhotoCorpus, target: (base: String, curl: CurlTarget), state: RunState
    ) throws {
        let desk = self.plan.faultDesk
        let phones = self.plan.groups.enumerated().flatMap { place, group in
            group.devices.map { number in
                let device = DeviceNumber(number)
                return FleetPlan.Phone(
                    number: device, profile: group.profile, photos: photos.ranges[place],
                    offline: desk.phoneSchedule(device: device, group: group.spec.name).map {
                        .init(fault: $0.fault, from: $0.from, to: $0.to)
                    })
            }
        }
        let fleet = try FleetThread(
            FleetPlan(
                clock: self.clock, wallClockAtZero: self.startedWall, seed: self.plan.scenario.seed,
                run: self.runID, phones: phones, arrivals: self.plan.arrivals,
                arrivalsCount: self.census.scans,
                photos: photos.photos, target: target.curl, base: target.base, stateFolder: state.path,
                drain: self.plan.scenario.drain))
        self.fleet = fleet
        self.fleetReader = fleet.reports.read(on: self.loop) { [unowned self] batch in
            for report in batch { self.heard(report) }
        }
    }

    /// The trace id's run: of this seed and this moment, never 0.
    private var runID: UInt64 {
        KeyedRandom(seed: self.plan.scenario.seed).draw(
            .deviceIdentity, .max, UInt64(bitPattern: self.startedWall)) | 1
    }

    private func heard(_ report: FleetReport) {
        switch report {
        case .observations(let observations, let moment):
            self.account.heard(phones: observations, upTo: moment, directory: self.directory)
        case .gauges(let gauges): self.gauges = gauges
        case .finished(let outcome): self.outcome = outcome
        }
    }

    private func endFleet() {
        let complaint = self.fleet?.join()
        self.account.closePhones()
        guard self.failure == nil else { return }
        if let text = complaint ?? self.outcome?.failure {
            self.failure = RunFailure(
                code: text.contains("cannot write") ? .cannotWrite : .internalError, text: text)
        }
    }

    // MARK: Around it

    /// Ctrl-C ends the run with its report; a second one ends the process at once.
    private func watchSignals() {
        self.signals = [Signal.interrupt, .terminate].map { signal in
            self.loop.onSignal(signal) { [unowned self] in
                guard !self.isInterrupted else { exit(ExitCode.interrupted.rawValue) }
                self.isInterrupted = true
                self.console.error(
                    "interrupted: phones say goodbye, then the report; once more to end at once")
                self.fleet?.stop()
            }
        }
    }

    /// Each phone may hold five streams, an upload and an answer at once, but hardly ever does: what is asked for is two
    /// connections a phone, and what libcurl and the loop need.
    private func checkDescriptors() throws {
        let needed = self.plan.devices * 2 + 128
        let granted = try DescriptorLimit.raise(to: needed)
        guard granted >= needed else {
            throw CommandFailure(
                .impossible,
                "\(self.plan.devices) phones need \(needed) descriptors, and this process may have \(granted)",
                hint: "raise the hard limit (ulimit -Hn), or run fewer phones with --devices")
        }
    }

    private func showProgress() {
        let every: Interval = self.console.isInteractive ? .milliseconds(250) : .seconds(10)
        self.progress = LoopTimer(loop: self.loop) { [unowned self] _ in
            self.checkChild()
            if !self.request.isQuiet && self.isProgressDue(every) { self.console.progress(self.progressLine) }
            self.progress?.arm(after: .milliseconds(50))
        }
        self.progress?.arm(after: .milliseconds(50))
    }

    private var shownAt = Instant.zero

    private func isProgressDue(_ every: Interval) -> Bool {
        let now = self.clock.now()
        guard now - self.shownAt >= every else { return false }
        self.shownAt = now
        return true
    }

    private var progressLine: String {
        let seconds = max(0, self.clock.now().nanoseconds / 1_000_000_000)
        let planned = self.census.lastArrival.nanoseconds / 1_000_000_000
        func clock(_ seconds: Int64) -> String {
            let text = String(seconds % 60)
            return "\(seconds / 60):\(text.count < 2 ? "0" : "")\(text)"
        }
        let scans = self.account.scans
        return
            "\(clock(seconds))  arrivals until \(clock(planned))  captured \(self.gauges.captured)/\(self.census.scans)"
            + "  completed \(scans.completed)  busy \(self.gauges.phonesBusy)  offline \(self.gauges.phonesOffline)"
            + "  seed \(self.plan.scenario.seed)"
    }
}

extension ChildExit.Cause {
    fileprivate var text: String {
        switch self {
        case .exited(let code): "ended with code \(code)"
        case .signaled(let number): "was killed by signal \(number)"
        }
    }
}

extension RunPlan {
    /// The longest that any group's phones wait for a connection: one pool serves them all.
    fileprivate var connectTimeout: Interval {
        self.groups.map(\.profile.connectTimeout).max() ?? .seconds(10)
    }
}
