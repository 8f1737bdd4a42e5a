import JSON
import Ledger
import Metrics
package import RunJudge
import RunMetrics
package import SimBase
import SystemIO

/// The shards of one run, read from their folders for one report.
///
/// Each folder has `run.json`, `scenario.resolved`, `summary.json` and `evidence.ndjson`; the series and the log are read if
/// they are present. A shard that was killed has neither summary nor evidence, so its log is read instead.
package struct ShardSet: Sendable {
    /// Why the folders are not the shards of one run.
    package enum Problem: Error, Equatable, CustomStringConvertible {
        /// Some of the folders are shards, and this is none.
        case notAShard(String)
        /// Two folders disagree in something.
        case differ(String, first: String, second: String)
        case twice(FleetShard, first: String, second: String)
        case noEvidence(String)

        package var description: String {
            switch self {
            case .notAShard(let folder): "\(folder) is not a shard of a run"
            case .differ(let what, let first, let second):
                "\(first) and \(second) are not shards of one run: they differ in \(what)"
            case .twice(let shard, let first, let second):
                "\(first) and \(second) are both shard \(shard) of the run"
            case .noEvidence(let folder):
                "\(folder)/\(RunDirectory.FileName.evidence) is missing or damaged: the shard cannot be merged"
            }
        }
    }

    private struct Shard: Sendable {
        let folder: String
        let head: RunHead
        let part: ShardMerge.Part
        let lanes: [PhoneTimeline]
    }

    private let shards: [Shard]
    private let settings: JudgeSettings

    /// Whether folders are to be merged as the shards of one run.
    package static func isMeant(_ heads: [RunHead]) -> Bool { heads.contains { !$0.shard.isWhole } }

    /// Throws if the folders are not shards of one run. `settings`: of the scenario as it ran.
    package init(
        _ folders: [(path: String, head: RunHead)], settings: JudgeSettings
    ) throws {
        try Self.check(folders)
        self.settings = settings
        self.shards = try folders.map { folder in
            try Self.read(folder.path, folder.head, settings)
        }
    }

    // MARK: Reading

    /// Milliseconds between the starts of two shards. The arrivals of shards that start further apart never met: they are those
    /// of two runs.
    private static let startsApartMax: Int64 = 60_000

    private static func check(_ folders: [(path: String, head: RunHead)]) throws(Problem) {
        let first = folders[0]
        let scenario = Self.scenario(first.path)
        for (index, folder) in folders.enumerated() {
            let (path, head) = folder
            guard !head.shard.isWhole else { throw .notAShard(path) }
            // The scenario has the seed in it, so the seed comes first.
            let differences: [(String, Bool)] = [
                ("the seed", head.seed != first.head.seed),
                (
                    "the scenario",
                    head.scenario.name != first.head.scenario.name || Self.scenario(path) != scenario
                ),
                ("the version of the program", head.tool != first.head.tool),
                ("the world", head.world != first.head.world),
                ("the number of shards", head.shard.count != first.head.shard.count),
                ("the groups", head.groups != first.head.groups),
                ("the backend", head.hasBackendView != first.head.hasBackendView),
                (
                    "the time of their start",
                    head.world == .live && abs(head.started - first.head.started) > Self.startsApartMax
                ),
            ]
            if let difference = differences.first(where: \.1) {
                throw .differ(difference.0, first: first.path, second: path)
            }
            if let twin = folders[..<index].first(where: { $0.head.shard == head.shard }) {
                throw .twice(head.shard, first: twin.path, second: path)
            }
        }
    }

    /// The scenario with everything that was changed on the command line.
    private static func scenario(_ folder: String) -> [UInt8]? {
        let path = RunDirectory.joined(folder, RunDirectory.FileName.scenario)
        return try? File.contents(of: path, bytesMax: InputFile.documentBytesMax)
    }

    private static func read(
        _ folder: String, _ head: RunHead, _ settings: JudgeSettings
    ) throws -> Shard {
        if FolderLock.isHeld(folder) { throw PastRun.Problem.stillRunning(folder) }
        guard let summary = try PastRun.summary(of: folder) else {
            let killed = try PastRun(folder: folder, head: head, settings: settings)
            return Shard(
                folder: folder, head: head,
                part: .init(head.shard, killed.result, killed.timeline, nil), lanes: [])
        }
        guard let reader = EvidenceReader(folder: folder, head: head) else {
            throw Problem.noEvidence(folder)
        }
        var known = RunResult(
            head, length: .zero, exit: .success, totals: LedgerTotals(),
            groups: head.groups.map { _ in LedgerTotals() },
            verdicts: [],
            tables: GroupTables(disconnections: reader.disconnections[head.groups.count]),
            metrics: reader.table)
        for index in known.groups.indices {
            known.groups[index].tables = GroupTables(disconnections: reader.disconnections[index])
            known.groups[index].errors = reader.errors(ofGroup: index)
        }
        known.expectations = settings.expectations
        let result = SummaryReader(summary: summary, head: head)
            .result(instead: known, measured: reader.table, slos: settings.objectives)
        return Shard(
            folder: folder, head: head,
            part: .init(head.shard, result, reader.timeline, reader.evidence), lanes: reader.lanes)
    }

    // MARK: The merge

    /// Shards of the run that are not among the folders.
    package var missing: [FleetShard] { ShardMerge(self.shards.map(\.part), settings: self.settings).missing }

    /// Returns the report of the whole run.
    package var report: RunReport? {
        let merge = ShardMerge(self.shards.map(\.part), settings: self.settings)
        guard var merged = merge.merged(spans: nil) else { return nil }
        let hasSpans = self.settings.objectives.contains { $0.condition.span != .wholeRun }
        if hasSpans {
            if ShardSpans.isThere(self.shards.map(\.folder)) {
                var spans = ShardSpans(
                    self.shards.map { ($0.folder, $0.head, $0.part.result.length) })
                let results = spans.results(self.settings, whole: merged.result.metrics)
                if let exact = merge.merged(spans: results) { merged = exact }
            } else {
                merged.result.notes.append(
                    "objectives for parts of the run have the verdict of the worst shard: not all shards have a series"
                )
            }
        }
        let targets = Set(self.shards.map(\.head.labels.target)).count
        if targets > 1 { merged.result.notes.append("the shards used \(targets) different backends") }
        return RunReport(
            merged.result, merged.timeline, folders: self.shards.map(\.folder),
            lanes: self.shards.flatMap(\.lanes))
    }
}
