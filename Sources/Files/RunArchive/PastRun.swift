import Foundation
package import JSON
import Ledger
import Metrics
import Observations
package import RunJudge
package import RunMetrics
import SimBase
import SystemIO

/// A run as read from its folder, whether it completed or was killed.
package struct PastRun: Sendable {
    package let folder: String
    package let head: RunHead
    /// The group that it is about; nil for the whole fleet.
    package let group: String?
    package private(set) var result: RunResult
    package let timeline: RunTimeline
    /// The phones with the most problems, where no log has them.
    private let lanes: [PhoneTimeline]
    /// An invariant or a metric of its summary that this program does not know.
    private let unknownID: String?
    /// Whether it was killed before its verdict.
    package let wasCutOff: Bool

    /// The reason why a folder cannot be read as a run.
    package enum Problem: Error, Equatable, CustomStringConvertible {
        case missing(String)
        case notARun(String)
        /// Written by a version of this program whose files are of another kind.
        case otherFormat(String, Int)
        case unreadable(String)
        /// The summary is damaged. No other file contains the outcome of scans and books. It is written
        /// completely or not at all.
        case damagedSummary(String)
        case stillRunning(String)
        /// A folder, a device or a pipe, which may have no end.
        case notAFile(String)

        package var description: String {
            switch self {
            case .missing(let folder): "there is no folder \(folder)\(Self.advice(folder))"
            case .notARun(let folder):
                "\(folder) is not the folder of a run: it has no \(RunDirectory.FileName.head)\(Self.advice(folder))"
            case .otherFormat(let folder, let schema):
                "\(folder) has format \(schema); this program reads format \(RunHead.schema)"
            case .unreadable(let folder):
                "\(folder)/\(RunDirectory.FileName.head) is incomplete"
            case .notAFile(let path): "cannot read \(path): it is not a file"
            case .stillRunning(let folder): "a run is still writing to \(folder): wait until it ends"
            case .damagedSummary(let folder):
                "\(folder)/\(RunDirectory.FileName.summary) is damaged; remove it to report the run as killed"
            }
        }

        /// For the path of a file of a run in place of its folder.
        private static func advice(_ path: String) -> String {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard let file = parts.last, RunDirectory.FileName.all.contains(String(file)) else { return "" }
            let folder = parts.count > 1 ? parts.dropLast().joined(separator: "/") : "."
            return "; name the folder of the run, \(folder)"
        }
    }

    /// Reads the head of a run's folder.
    package static func head(of folder: String) throws(Problem) -> RunHead {
        guard FileTree.exists(folder) else { throw .missing(folder) }
        guard let head = RunReport.head(of: folder) else {
            let path = RunDirectory.joined(folder, RunDirectory.FileName.head)
            guard FileTree.exists(path) else { throw .notARun(folder) }
            let file = try? File.contents(of: path, bytesMax: InputFile.documentBytesMax)
            let schema = file.flatMap { JSONNode($0) }?["schema"]?.integer
            guard let schema, schema != RunHead.schema else { throw .unreadable(folder) }
            throw .otherFormat(folder, schema)
        }
        return head
    }

    /// Nil if the run was killed before it was judged.
    package static func summary(of folder: String) throws(Problem) -> JSONNode? {
        let path = RunDirectory.joined(folder, RunDirectory.FileName.summary)
        guard FileTree.exists(path) else { return nil }
        let file = try? File.contents(of: path, bytesMax: InputFile.documentBytesMax)
        // A seed has all 64 bits.
        guard let summary = file.flatMap({ JSONNode($0) }), summary["exit"]?.integer != nil,
            summary.holdsCounts(except: ["seed"])
        else { throw .damagedSummary(folder) }
        return summary
    }

    /// `settings`: of the scenario as it ran. What the folder says of itself goes before them.
    /// `group`: one of the head's, to read what is about its phones; nil for the whole fleet.
    /// `needsTimeline`: without it, the log of a run that was judged is not read.
    package init(
        folder: String, head: RunHead, settings: JudgeSettings, group: String? = nil,
        needsTimeline: Bool = true
    ) throws(Problem) {
        try self.init(
            folder: folder, head: head, settings: settings, group: group,
            summary: try Self.summary(of: folder), needsTimeline: needsTimeline)
    }

    /// `summary`: nil to read the run as one that was killed.
    init(
        folder: String, head: RunHead, settings: JudgeSettings, group: String?, summary: JSONNode?,
        needsTimeline: Bool = true
    ) throws(Problem) {
        try Self.requireReadable(folder)
        self.folder = folder
        self.head = head
        self.group = group
        self.wasCutOff = summary == nil
        self.unknownID = summary.flatMap(SummaryReader.unknownID)
        var settings = settings
        settings.faults = head.faults
        settings.ledger.fleet = head.fleet
        settings.ledger.hasBackendView = head.hasBackendView
        let evidence = summary == nil ? nil : Self.evidence(of: folder, head)
        self.lanes = evidence?.lanes ?? []
        var judge = RunJudge(settings)
        let part = group.flatMap { name in head.groups.firstIndex { $0.name == name } }
        judge.timelineOfGroup = part.map { ($0, RunTimeline(faults: head.faults.count)) }
        let readsLog = needsTimeline || summary == nil
        if readsLog { Self.readLog(of: folder, head, into: &judge) }
        var table = head.table
        var intervals = IntervalReader(folder: folder, head: head)
        while let moment = intervals.next() {
            table.add(moment.table)
            judge.receive(interval: moment.table, from: moment.from)
            if let group {
                judge.timelineOfGroup?.timeline.receive(
                    interval: moment.table.part(group), from: moment.from)
            }
        }
        var killed = judge.breakOff(of: head, measured: table)
        if !readsLog, let summary { SummaryReader(summary: summary, head: head).addTables(to: &killed) }
        let whole =
            summary.map { summary in
                evidence.map { $0.result(summary, settings, until: $0.heardAt) }
                    ?? SummaryReader(summary: summary, head: head)
                    .result(instead: killed, measured: table, slos: settings.objectives)
            } ?? killed
        self.result = group.flatMap { whole.part($0) } ?? whole
        self.result.directory = folder
        self.timeline = judge.timelineOfGroup?.timeline ?? evidence?.timeline ?? judge.timeline
    }

    private static func requireReadable(_ folder: String) throws(Problem) {
        if FolderLock.isHeld(folder) { throw .stillRunning(folder) }
        for name in RunDirectory.FileName.growing {
            let path = RunDirectory.joined(folder, name)
            if FileTree.exists(path), InputFile.open(path) == nil { throw .notAFile(path) }
        }
    }

    /// Nil for a run that has a log. A merge has none, and neither has a shard whose files were handed over.
    private static func evidence(of folder: String, _ head: RunHead) -> EvidenceReader? {
        guard !FileTree.exists(RunDirectory.joined(folder, RunDirectory.FileName.events)) else { return nil }
        let found = EvidenceReader(folder: folder, head: head)
        return found.flatMap { $0.foreignFile(in: folder) == nil ? $0 : nil }
    }

    private static func readLog(of folder: String, _ head: RunHead, into judge: inout RunJudge) {
        guard var lines = LineReader(path: RunDirectory.joined(folder, RunDirectory.FileName.events)) else {
            return
        }
        let reader = ObservationReader(faults: head.faults)
        while let line = lines.next() {
            guard lines.isWhole, let observation = reader.observation(line) else { continue }
            judge.receive(observation)
        }
    }

    /// Every report of it, made from its files.
    package var report: RunReport {
        RunReport(
            self.result, self.timeline, folders: [self.folder], group: self.group, lanes: self.lanes)
    }

    // MARK: Merges

    /// Throws unless the runs are of one scenario, and this program knows everything that they have found.
    private static func check(_ runs: [PastRun]) throws(MergeProblem) {
        for run in runs {
            if let id = run.unknownID { throw .otherVersion(run.folder, id: id) }
            let (first, other) = (runs[0].head, run.head)
            let differences: [(String, Bool)] = [
                ("the name of the scenario", other.scenario.name != first.scenario.name),
                ("the groups", other.groups.map(\.name) != first.groups.map(\.name)),
                ("the faults", other.faults != first.faults),
                ("the version of the program", other.tool != first.tool),
                ("the prices", run.result.metrics.prices != runs[0].result.metrics.prices),
            ]
            if let difference = differences.first(where: \.1) {
                throw .runsDiffer(difference.0, first: runs[0].folder, second: run.folder)
            }
        }
    }

    /// Several runs of one scenario: what all of them saw together, in one verdict. Nil without runs.
    ///
    /// Windows of runs that count time from one moment, as those of the workers of a test, are summed. Those of other runs have no
    /// sum, and objectives for them are not judged.
    package static func merged(
        _ runs: [PastRun], _ settings: JudgeSettings
    ) throws(MergeProblem) -> RunReport? {
        guard let first = runs.first else { return nil }
        try Self.check(runs)
        let shards = runs.map { run in
            var result = run.result
            // They did not run at the same time.
            result.streamsOpen = nil
            return (result: result, timeline: run.timeline)
        }
        let shareZero = runs.allSatisfy {
            $0.head.world == .live && $0.head.started == first.head.started && !$0.wasCutOff
        }
        let spans =
            shareZero
            ? ShardSpans.judge(runs.map { ($0.folder, $0.head, $0.result.length) }, settings) : nil
        guard var merged = RunResult.merged(shards, objectives: settings.objectives, spans: spans) else {
            return nil
        }
        merged.result.slow = ScansFile.slow(runs.map(\.folder), limit: merged.result.scanTimeLimit)
        // There is no command that makes several runs.
        if runs.contains(where: { $0.head.command != first.head.command }) { merged.result.command = [] }
        let targets = Set(runs.map(\.head.labels.target)).count
        if targets > 1 {
            merged.result.remarks.insert(.merge(.backendsDiffer(targets, areShards: false)), at: 0)
        }
        merged.result.remarks.insert(.merge(.mergedRuns(seeds: runs.map(\.head.seed))), at: 0)
        return RunReport(merged.result, merged.timeline, folders: runs.map(\.folder), group: first.group)
    }
}

extension PastRun {
    /// The folder of the newest finished run of a scenario in a folder; nil if there is none. `output`: a folder that is none.
    package static func newest(
        in parent: String, except output: String?, of scenario: String, world: WorldKind
    )
        -> String?
    {
        let names = (try? FileTree.names(inFolder: parent)) ?? []
        let runs = names.filter { $0 != RunDirectory.latest }.map { RunDirectory.joined(parent, $0) }.filter {
            $0 != output && FileTree.exists(RunDirectory.joined($0, RunDirectory.FileName.summary))
        }.compactMap { folder in (try? Self.head(of: folder)).map { (folder: folder, head: $0) } }
        return runs.filter {
            $0.head.scenario.name == scenario && $0.head.world == world && $0.head.shard.isWhole
        }.max { $0.head.started < $1.head.started }?.folder
    }
}
