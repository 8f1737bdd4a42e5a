import Backend
import Faults
import HTTPServer
import Ledger
import LivePhones
import LiveServer
import Metrics
import Observations
import Plan
import Reports
import RunArchive
import RunJudge
import RunMetrics
import ScenarioFile
import SimBase
import Talaria

/// What both sides saw, in one order: judged, measured and logged.
struct RunAccount {
    private let plan: RunPlan
    /// Sources of the merge: the phones' threads, and then the backend.
    private let threads: Int
    /// Somebody beside the phones tells something: the backend, or the gateway of its faults.
    private let hasReports: Bool
    private var merge: ObservationMerge
    /// Observations of all sources.
    private var received = 0
    private(set) var recorder: RunRecorder
    private let watchesMoments: Bool
    private var sometimes: CoverageTable
    /// Open event streams as the backend counts them.
    private(set) var streamsOpen = GaugeSeries()

    init(_ plan: RunPlan, threads: Int, hasBackendView: Bool, hasGateway: Bool) {
        self.plan = plan
        self.threads = threads
        self.hasReports = hasBackendView || hasGateway
        self.merge = ObservationMerge(sources: threads + (self.hasReports ? 1 : 0))
        var settings = LedgerSettings(plan, hasBackendView: hasBackendView)
        settings.recordTime = LedgerSettings.recordTimeLive
        self.watchesMoments = !plan.scenario.moments.isEmpty
        self.sometimes = CoverageTable(
            expected: [], named: plan.scenario.moments.compactMap { CoverageGoal(rawValue: $0) },
            slotsMax: settings.slotsMax, raisesBase: plan.scenario.raisesBase)
        self.recorder = RunRecorder(
            ledger: Ledger(
                shelf: plan.shelf, settings: settings,
                harness: HarnessSettings(plan, hasBackendView: hasBackendView, hasGateway: hasGateway)),
            tally: MetricsCollector(
                fleet: settings.fleet, faultIDs: plan.scenario.faults.map(\.id),
                hasBackendView: hasBackendView),
            objectives: SLOParts(plan), aborting: plan.scenario.slos, faults: plan.scenario.faults.count)
    }

    /// What the state folder has lost is seen before anything else.
    mutating func lost(_ scans: [StateFolder.LostScan], directory: RunDirectory) {
        self.received += scans.count
        for scan in scans {
            self.recorder.record(
                Observation(
                    at: .zero, device: scan.device, scan: scan.scan,
                    what: .phone(.lostFromStorage(books: scan.books))), in: directory)
        }
        directory.flush()
    }

    /// For the progress line.
    var scans: ScanTotals { self.recorder.ledger.totals.scans }

    /// What the scenario says that a run must come to, and this one did not.
    var unreached: [CoverageGoal] { self.sometimes.unreached }

    /// Why the run should end now.
    mutating func ending(at moment: Instant) -> RunEnding? { self.recorder.ending(at: moment) }

    mutating func receive(
        phones observations: [Observation], thread: Int, upTo moment: Instant, directory: RunDirectory
    ) {
        self.received += observations.count
        for observation in observations { self.merge.add(observation, of: thread) }
        self.merge.mark(source: thread, upTo: moment)
        self.settle(directory)
    }

    mutating func receive(backend reports: [BackendReport], directory: RunDirectory) {
        for report in reports {
            switch report {
            case .observation(let observation):
                self.received += 1
                self.merge.add(observation, of: self.threads)
            case .streamsOpen(let streams, let moment):
                self.streamsOpen.add(least: streams.least, most: streams.most, upTo: moment)
            case .upTo(let moment): self.merge.mark(source: self.threads, upTo: moment)
            }
        }
        self.settle(directory)
    }

    /// The run was interrupted at this moment.
    mutating func interrupted(at moment: Instant) { self.recorder.interrupted(at: moment) }

    /// The process of the backend, or of the gateway, died: how far its account goes is known, and nothing else comes.
    mutating func lostBackend() {
        guard self.hasReports else { return }
        self.recorder.lostBackend(after: self.merge.mark(of: self.threads))
        self.closeBackend()
    }

    /// The phones will tell nothing more.
    mutating func closePhones() {
        for thread in 0..<self.threads { self.merge.close(source: thread) }
    }

    /// The backend will tell nothing more.
    mutating func closeBackend() {
        if self.hasReports { self.merge.close(source: self.threads) }
    }

    /// Judges what is left and closes the ledger.
    mutating func finish(
        waiting: [WaitingRecord], at moment: Instant, driver: MetricSet, directory: RunDirectory
    ) -> RunFindings {
        self.closePhones()
        self.closeBackend()
        self.settle(directory)
        self.recorder.finish(waiting: waiting, at: moment, driver: driver, in: directory)
        var findings = RunFindings(plan: self.plan, self.recorder)
        findings.checkNumber(judged: self.recorder.observations, of: self.received)
        return findings
    }

    private mutating func settle(_ directory: RunDirectory) {
        while let observation = self.merge.next() {
            if self.watchesMoments { self.sometimes.record(observation) }
            self.recorder.record(observation, in: directory)
        }
    }
}

/// What a run's account comes to.
struct RunFindings {
    var totals: LedgerTotals
    var groups: [GroupResult]
    var verdicts: [Verdict]
    var metrics: MetricTable
    var disconnections: Disconnections
    var findings: FindingsTable
    /// Why nothing of it can be relied on; nil when it can.
    var harnessError: String?

    /// Of a recorder that is finished.
    init(plan: RunPlan, _ recorder: RunRecorder) {
        self.totals = recorder.ledger.totals
        self.groups = Self.groups(plan, recorder.ledger)
        self.verdicts = recorder.ledger.verdicts
        self.metrics = recorder.table
        self.disconnections = recorder.disconnections
        self.findings = recorder.findings
        self.harnessError = recorder.harnessError
    }

    mutating func checkNumber(judged: Int, of made: Int) {
        guard judged != made else { return }
        self.harnessError = "only \(judged) of \(made) observations were judged"
    }

    static func groups(_ plan: RunPlan, _ ledger: Ledger) -> [GroupResult] {
        zip(plan.groups, ledger.totalsByGroup).map { group, totals in
            GroupResult(name: group.spec.name, devices: group.spec.devices, totals: totals)
        }
    }
}

extension RunHead {
    init(
        _ plan: RunPlan, _ loaded: LoadedScenario, world: World, started: Int64, hasBackendView: Bool,
        command: [String], labels: RunLabels
    ) {
        self.init(
            tool: "swiftwing-sim \(Main.version)", machine: world == .live ? ThisMachine.text : nil,
            scenario: ScenarioIdentity(
                name: plan.scenario.name, description: plan.scenario.description, file: loaded.bytes),
            seed: plan.scenario.seed, world: world, started: started, hasBackendView: hasBackendView,
            groups: plan.groups.map { Group(name: $0.spec.name, devices: $0.spec.devices) },
            faults: plan.scenario.faults.map(\.id), command: command, labels: labels)
    }
}

extension LedgerSettings {
    /// What the ledger of a run must know.
    init(_ plan: RunPlan, hasBackendView: Bool) {
        let standard = LedgerSettings.embedded
        self.init(
            hasBackendView: hasBackendView, slotsMax: standard.slotsMax,
            clockTolerance: standard.clockTolerance,
            examplesMax: standard.examplesMax, fleet: FleetMap(plan),
            profiles: plan.groups.map { _ in .contract },
            faultsOffPath: plan.scenario.faults.indices.filter {
                plan.scenario.faults[$0].kind.sparesThePath
            },
            faultsThatRefuse: plan.scenario.faults.indices.filter {
                plan.scenario.faults[$0].kind.refusesScans
            },
            faultsThatCut: plan.scenario.faults.indices.filter {
                plan.scenario.faults[$0].kind.cutsAnswers
            },
            faultsThatGarble: plan.scenario.faults.indices.filter {
                plan.scenario.faults[$0].kind.garblesEvents
            },
            faultsThatChange: plan.scenario.faults.indices.filter {
                plan.scenario.faults[$0].kind.changesEvents
            },
            // A foreign target's tokens live as long as the contract says.
            tokenLifetime: hasBackendView ? plan.scenario.server.backend.tokenLifetime : .hours(2))
    }
}

extension SLOParts {
    init(_ plan: RunPlan) {
        let ends = plan.scenario.faults.compactMap { fault in
            fault.window.end.map { FaultEnd(id: fault.id, first: $0, last: $0 + fault.spread) }
        }
        self.init(plan.objectives, faults: ends)
    }
}

extension FleetMap {
    init(_ plan: RunPlan) {
        self.init(
            groups: plan.groups.map(\.spec.name),
            groupOfDevice: plan.groups.enumerated().flatMap { index, group in
                Array(repeating: UInt16(index), count: group.spec.devices)
            })
    }
}
