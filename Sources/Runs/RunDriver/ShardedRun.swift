package import Dashboard
import EventLoop
import Ledger
package import Plan
import Reports
import RunArchive
import RunControl
package import RunJudge
import RunMetrics
package import SimBase
import SystemIO

/// One run in several processes of this machine: each has a shard of the phones and, against the simulated
/// backend, a backend of its own. It starts them together, shows their state, and merges their results.
package final class ShardedRun {
    /// The parameters.
    package struct Request {
        let loaded: LoadedScenario
        /// The options of each process, without those that are made here.
        let words: [String]
        /// The scenario as it was named.
        let scenario: String
        let processes: Int
        let output: String?
        let isQuiet: Bool
        let target: PlanTarget
        /// Milliseconds since 1970; nil: as soon as all are ready.
        let startAt: Int64?
        /// The time after which a process that says nothing is ended.
        let silenceMax: Interval
        /// The folder with the state folders of all shards; nil: temporary ones.
        let stateFolder: String?
        /// The file of the plan, whatever the verdict; nil for none.
        let savesPlanTo: String?
        /// The headers of every request, which are not among the words.
        package var headers: [HeaderField] = []
        /// A target that decides in the TLS handshake how it is spoken to; nil where that is known.
        package var undecided: TargetURL?
        /// The address of the live dashboard; nil for none.
        package var dashboard: DashboardAddress?
        /// Whether the dashboard is served after the run, until it is closed.
        package var dashboardStays = false

        package init(
            _ loaded: LoadedScenario, scenario: String, words: [String], processes: Int, output: String?,
            isQuiet: Bool, target: PlanTarget, startAt: Int64?, silenceMax: Interval, stateFolder: String?,
            savesPlanTo: String?
        ) {
            self.loaded = loaded
            self.words = words
            self.scenario = scenario
            self.processes = processes
            self.output = output
            self.isQuiet = isQuiet
            self.target = target
            self.startAt = startAt
            self.silenceMax = silenceMax
            self.stateFolder = stateFolder
            self.savesPlanTo = savesPlanTo
        }
    }

    /// The option that marks a process as started by another one.
    package static let linkOption = "--linked"
    /// The option that says to such a process what was agreed on with the target.
    package static let agreedHTTPOption = "--agreed-http"
    private static let headStart = Interval.seconds(1)
    /// The time in which each process prepares the run.
    private static let readyTimeMax = Interval.minutes(10)

    let request: Request
    let console: Console
    let loop: Loop
    let folder: RunFolder
    let plan: RunPlan
    private let words: [String]
    let expectedArrivals: ExpectedArrivals
    private(set) var shards: [ShardProcess] = []
    /// The time of the run; nil before its start is known.
    private var clock: LoopClock?
    var isInterrupted = false
    private let listener: DashboardListener?
    /// The dashboard, if there is one.
    var page: RunPage?
    var standing: ShardedStanding
    var control: RunControl

    package init(_ request: Request, console: Console) throws {
        self.request = request
        self.console = console
        self.loop = try Loop(clock: .startingNow())
        self.plan = RunPlan(request.loaded.scenario, target: request.target)
        self.words = request.words + (try Self.agreement(request, self.plan))
        self.expectedArrivals = self.plan.expectedArrivals
        self.listener = try request.dashboard.map { try RunPage.listen($0) }
        self.standing = ShardedStanding(
            self.plan, self.expectedArrivals, target: request.target, processes: request.processes)
        self.control = RunControl(self.plan, self.expectedArrivals, ofWholeFleet: true)
        if let state = request.stateFolder {
            try ShardedState.prepare(state, processes: request.processes)
        }
        let scenario = request.loaded.scenario
        self.folder = try RunFolder(
            request.output.map { .exactly($0) }
                ?? .dated(
                    reports: "Reports", started: WallClock.now() / 1_000_000, scenario: scenario.name,
                    seed: scenario.seed))
    }

    /// Runs to the end, prints the summary, and answers what the process ends with.
    package func run() throws -> (code: ExitCode, folder: String) {
        for index in 0..<self.request.processes {
            let shard = FleetShard(index: index, count: self.request.processes)
            let folder = self.folder.folder(of: shard)
            let state = self.request.stateFolder.map {
                ["--state", ShardedState.folder(of: shard, in: $0)]
            }
            self.shards.append(
                try ShardProcess(
                    ["run"] + self.words + (state ?? []) + [
                        "--shard", shard.description, "--output", folder, "--force", "--quiet",
                        Self.linkOption, "--", self.request.scenario,
                    ], headers: self.request.headers, shard: shard, folder: folder, loop: self.loop))
        }
        try self.openDashboard(self.listener)
        do {
            try self.start()
            self.follow()
            let code = try self.merge()
            self.keepDashboard()
            self.closeDashboard()
            return (code, self.folder.path)
        } catch {
            self.page?.fail(error)
            self.closeDashboard()
            throw error
        }
    }

    /// The words that tell all shards what the target has agreed to, so that all of them do the same.
    private static func agreement(_ request: Request, _ plan: RunPlan) throws -> [String] {
        guard let target = request.undecided else { return [] }
        let http = try target.preflight(
            RunPreparation.curlTarget(plan, to: target), takesAnyError: plan.scenario.trial.takesAnyError)
        return [Self.agreedHTTPOption, http.version.rawValue]
    }

    /// Starts all of them at one time. Throws if one of them cannot.
    private func start() throws {
        let areReady = self.loop.turn(
            until: {
                self.noticeInterruption()
                return self.isInterrupted || self.shards.contains(where: \.isOver)
                    || self.shards.allSatisfy(\.isReady)
            }, atMost: Self.readyTimeMax)
        guard !self.isInterrupted else { return }
        guard areReady else {
            let late = self.shards.filter { !$0.isReady }.map(\.shard.description).joined(separator: ", ")
            throw CommandFailure(
                .untrusted,
                "the run did not start: shard \(late) was not ready within \(Self.readyTimeMax.wholeMilliseconds / 60_000) min"
            )
        }
        if let failed = self.shards.first(where: \.isOver) {
            for shard in self.shards { shard.interrupt() }
            _ = self.loop.turn(until: { self.shards.allSatisfy(\.isOver) }, atMost: .seconds(20))
            self.console.error("shard \(failed.shard) could not start:")
            self.console.error(failed.complaint.isEmpty ? failed.crash ?? "no reason" : failed.complaint)
            guard case .exited(let code)? = failed.exit?.cause, let exit = ExitCode(rawValue: code),
                exit != .success
            else { throw CommandFailure(.internalError, "the run did not start") }
            throw CommandFailure(exit, "the run did not start")
        }
        if let state = self.request.stateFolder {
            try ShardedState.begin(state, processes: self.request.processes)
        }
        let (now, wallNow) = (MonotonicClock.now(), WallClock.now())
        let wall = self.request.startAt.map { $0 * 1_000_000 } ?? wallNow + Self.headStart.nanoseconds
        let zero = now + (wall - wallNow)
        self.clock = LoopClock(zero: zero)
        for shard in self.shards {
            if self.page != nil { shard.send(.show) }
            shard.send(.start(zero: zero, wall: wall))
        }
    }

    /// The time of the run.
    var now: Instant { self.clock?.now() ?? .zero }

    private func follow() {
        let outlook = RunOutlook(self.plan, self.expectedArrivals)
        if !self.request.isQuiet {
            let option = self.request.words.firstIndex(of: "--target")
            self.console.error(
                outlook.banner(
                    target: option.map { self.request.words[$0 + 1] }, folder: self.folder.path))
        }
        var line = ProgressLine(
            self.console, isQuiet: self.request.isQuiet, outlook: outlook, seed: self.plan.scenario.seed)
        var told: Set<Int> = []
        var silence = ShardSilence(
            self.request.silenceMax, processes: self.shards.count, at: self.loop.now())
        _ = self.loop.turn(
            until: {
                self.noticeInterruption()
                self.endSilent(&silence)
                for shard in self.shards where shard.isOver && !told.contains(shard.shard.index) {
                    told.insert(shard.shard.index)
                    self.tell(shard)
                }
                let moment = self.now
                line.show(now: moment, self.standing(at: moment))
                self.updateDashboard()
                return told.count == self.shards.count
            }, atMost: .hours(24 * 365))
        self.console.clearProgress()
    }

    /// Ends processes that say nothing any more: the others must not wait for them.
    private func endSilent(_ silence: inout ShardSilence) {
        let looks = self.shards.map { ShardSilence.Look(messages: $0.messages, isJudging: $0.isJudging) }
        for index in silence.silent(looks, at: self.loop.now()) {
            let most = self.request.silenceMax * (looks[index].isJudging ? ShardSilence.judgingFactor : 1)
            self.shards[index].end(
                for: "did not answer for \(most.wholeMilliseconds / 1_000) s and was ended")
        }
    }

    /// Says how a shard ended that has no verdict.
    private func tell(_ shard: ShardProcess) {
        if let crash = shard.crash { self.console.error("swiftwing-sim: shard \(shard.shard) \(crash)") }
        if !shard.complaint.isEmpty {
            let lines = shard.complaint.split(separator: "\n").map { "shard \(shard.shard): \($0)" }
            self.console.error(lines.joined(separator: "\n"))
        }
    }

    var progress: RunProgress { self.shards.reduce(into: RunProgress()) { $0.add($1.progress) } }

    private func standing(at moment: Instant) -> RunStanding {
        var standing = RunStanding(at: moment, self.progress)
        standing.isPaused = self.control.isPaused
        return standing
    }

    /// Signals reach this process only: its children are in groups of their own.
    private func noticeInterruption() {
        guard !self.isInterrupted, Interruption.isRequested else { return }
        self.isInterrupted = true
        for shard in self.shards { shard.interrupt() }
    }

    // MARK: The verdict

    private func merge() throws -> ExitCode {
        for shard in self.shards { ShardSnapshot.remove(from: shard.folder) }
        let folders = MergedShards.folders(self.shards.map(\.folder))
        guard !folders.readable.isEmpty else {
            self.printSummaries { _ in true }
            let found = self.exits.values.filter { $0 != .success && $0.isOfRun }
            let code = ExitCode.worst(found + (self.isInterrupted ? [.interrupted] : []))
            throw CommandFailure(
                code == .success ? .internalError : code,
                code == .interrupted
                    ? "interrupted before the run started; there is no report"
                    : "no shard has left a result")
        }
        let merged = try self.merged(folders)
        self.printSummaries { self.exits[$0.shard] == .cannotWrite || folders.unreadable.contains($0.folder) }
        var output = ReportOutput(folder: self.folder.path, console: self.console)
        output.parts = folders.readable.map(\.path)
        self.savePlan(merged, folders: folders.readable.map(\.path), with: &output)
        self.page?.judged(merged.report.result, merged.report.timeline.withoutPhones)
        let code = output.write(merged.report) { self.page?.finish($0) }
        return RunInterruption.code(after: code)
    }

    /// What the processes ended with that came to an end by themselves.
    private var exits: [FleetShard: ExitCode] {
        var exits: [FleetShard: ExitCode] = [:]
        for shard in self.shards {
            guard case .exited(let code)? = shard.exit?.cause else { continue }
            exits[shard.shard] = ExitCode(rawValue: code)
        }
        return exits
    }

    /// Prints what shards have found whose folders may not have it: nothing else would show it.
    private func printSummaries(where isMissing: (ShardProcess) -> Bool) {
        for shard in self.shards where !shard.summary.isEmpty && isMissing(shard) {
            self.console.out("Shard \(shard.shard):\n\n\(shard.summary)")
        }
    }

    /// What the shards have found by themselves takes precedence over a merge that fails.
    private func merged(
        _ folders: MergedShards.Folders
    ) throws -> (report: RunReport, waiting: [WaitingRecord]) {
        do {
            return try MergedShards.merged(folders, exits: self.exits)
        } catch let failure as CommandFailure {
            self.printSummaries { _ in true }
            let found = self.exits.values.filter(\.holdsForAllShards)
            throw CommandFailure(
                ExitCode.worst(found + [failure.code]), failure.message, hint: failure.hint)
        }
    }

    /// Adds the plan of a run that failed to what is written, and saves that of any run where it is asked for.
    private func savePlan(
        _ merged: (report: RunReport, waiting: [WaitingRecord]), folders: [String],
        with output: inout ReportOutput
    ) {
        let result = merged.report.result
        let file = LivePlanFile(
            plan: self.plan, result: result,
            timeline: merged.report.timeline, waiting: merged.waiting, folders: folders,
            wallClockAtZero: result.started, endedAt: .zero + result.length)
        guard file.isKept || self.request.savesPlanTo != nil else { return }
        let text = file.text
        if file.isKept {
            output.others.append(ReportFile(name: RunDirectory.FileName.plan, bytes: Array(text.utf8)))
        }
        guard let path = self.request.savesPlanTo else { return }
        do throws(OutputError) {
            try OutputError.write([(path: path, text: text)])
        } catch {
            output.failures += error.failures
        }
    }
}
