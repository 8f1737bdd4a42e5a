import EventLoop
import Ledger
import LivePhones
package import Plan
import Reports
import RunArchive
import RunJudge
import SimBase
import SystemIO

/// One run in several processes of this machine: each has a shard of the phones and, against the simulated backend, a backend of
/// its own. It starts them together, shows how they stand, and merges what they leave.
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

        package init(
            _ loaded: LoadedScenario, scenario: String, words: [String], processes: Int, output: String?,
            isQuiet: Bool,
            target: PlanTarget, startAt: Int64?
        ) {
            self.loaded = loaded
            self.words = words
            self.scenario = scenario
            self.processes = processes
            self.output = output
            self.isQuiet = isQuiet
            self.target = target
            self.startAt = startAt
        }
    }

    /// The option that tells a process that another one started it.
    package static let linkOption = "--linked"
    private static let headStart = Interval.seconds(1)

    private let request: Request
    private let console: Console
    private let loop: Loop
    private let folder: RunFolder
    private var shards: [ShardProcess] = []
    private var zero: Int64?
    private var isInterrupted = false

    package init(_ request: Request, console: Console) throws {
        self.request = request
        self.console = console
        self.loop = try Loop(clock: .startingNow())
        let scenario = request.loaded.scenario
        self.folder = try RunFolder(
            request.output.map { .exactly($0) }
                ?? .dated(
                    reports: "Reports", started: WallClock.now() / 1_000_000, scenario: scenario.name,
                    seed: scenario.seed))
    }

    /// Runs to the end, prints the summary, and answers what the process ends with.
    package func run() throws -> ExitCode {
        for index in 0..<self.request.processes {
            let shard = FleetShard(index: index, count: self.request.processes)
            let folder = self.folder.folder(of: shard)
            self.shards.append(
                try ShardProcess(
                    ["run"] + self.request.words + [
                        "--shard", shard.description, "--output", folder, "--force", "--quiet",
                        Self.linkOption, "--", self.request.scenario,
                    ], shard: shard, folder: folder, loop: self.loop))
        }
        try self.start()
        self.follow()
        return try self.merge()
    }

    /// Starts all of them at one moment. Throws if one of them cannot.
    private func start() throws {
        _ = self.loop.turn(
            until: {
                self.noticeInterruption()
                return self.isInterrupted || self.shards.contains(where: \.isOver)
                    || self.shards.allSatisfy(\.isReady)
            }, atMost: .hours(48))
        guard !self.isInterrupted else { return }
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
        let zero =
            self.request.startAt.map { $0 * 1_000_000 } ?? WallClock.now() + Self.headStart.nanoseconds
        self.zero = zero
        for shard in self.shards { shard.start(at: zero) }
    }

    private func follow() {
        let plan = RunPlan(self.request.loaded.scenario, target: self.request.target)
        let outlook = RunOutlook(plan, plan.expectedArrivals)
        if !self.request.isQuiet {
            let option = self.request.words.firstIndex(of: "--target")
            self.console.error(
                outlook.banner(
                    target: option.map { self.request.words[$0 + 1] }, folder: self.folder.path))
        }
        var line = ProgressLine(
            self.console, isQuiet: self.request.isQuiet, outlook: outlook, seed: plan.scenario.seed)
        var told: Set<Int> = []
        _ = self.loop.turn(
            until: {
                self.noticeInterruption()
                for shard in self.shards where shard.isOver && !told.contains(shard.shard.index) {
                    told.insert(shard.shard.index)
                    self.tell(shard)
                }
                let moment = self.zero.map { Instant(nanoseconds: WallClock.now() - $0) } ?? .zero
                line.show(now: moment, RunStanding(at: moment, self.gauges, self.scans, errors: nil))
                return told.count == self.shards.count
            }, atMost: .hours(24 * 365))
        self.console.clearProgress()
    }

    /// Says how a shard ended that has no verdict.
    private func tell(_ shard: ShardProcess) {
        if let crash = shard.crash { self.console.error("swiftwing-sim: shard \(shard.shard) \(crash)") }
        if !shard.complaint.isEmpty {
            let lines = shard.complaint.split(separator: "\n").map { "shard \(shard.shard): \($0)" }
            self.console.error(lines.joined(separator: "\n"))
        }
    }

    private var progress: ShardProgress {
        self.shards.reduce(into: ShardProgress()) { $0.add($1.progress) }
    }

    private var gauges: FleetGauges {
        var gauges = FleetGauges()
        gauges.captured = self.progress.captured
        gauges.phonesBusy = self.progress.busy
        gauges.phonesOffline = self.progress.offline
        return gauges
    }

    private var scans: ScanTotals {
        var scans = ScanTotals()
        scans.completed = self.progress.completed
        scans.canceled = self.progress.canceled
        return scans
    }

    /// Signals reach this process only: its children are in groups of their own.
    private func noticeInterruption() {
        guard !self.isInterrupted, Interruption.isRequested else { return }
        self.isInterrupted = true
        for shard in self.shards { shard.interrupt() }
    }

    // MARK: The verdict

    private func merge() throws -> ExitCode {
        let folders = self.shards.compactMap { shard in
            (try? PastRun.head(of: shard.folder)).map { (path: shard.folder, head: $0) }
        }
        guard !folders.isEmpty else {
            throw CommandFailure(
                self.isInterrupted ? .interrupted : .internalError,
                self.isInterrupted
                    ? "interrupted before the run started; there is no report"
                    : "no shard has left a result")
        }
        var report = try MergedShards.report(of: folders)
        report.result.directory = self.folder.path
        var complaint: OutputError?
        do throws(OutputError) {
            report.result.files = try ReportFile.write(report.files, to: self.folder.path)
        } catch {
            complaint = error
            report.result.files = error.saved
        }
        self.console.out(TerminalSummary.text(report.result, style: self.console.style))
        if let complaint { throw complaint }
        return RunInterruption.code(after: ExitCode(report.result.exit))
    }
}
