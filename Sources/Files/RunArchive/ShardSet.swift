import JSON
package import Ledger
import Metrics
package import RunJudge
import RunMetrics
package import SimBase
import SystemIO

/// The shards of one run, read from their folders for one report.
///
/// Each folder has `run.json`, `scenario.resolved`, `summary.json` and `evidence.ndjson`. The series and the log are optional. If
/// a shard was killed or its files are damaged, its readable files are merged, and the verdict on its phones is `n/a`.
package struct ShardSet: Sendable {
    private struct Shard: Sendable {
        let folder: String
        let head: RunHead
        let part: ShardMerge.Part
        var lanes: [PhoneTimeline] = []
        /// The sizes of its files by name as the evidence states them, in bytes.
        var sizes: [String: Int] = [:]
    }

    private let shards: [Shard]
    private let settings: JudgeSettings
    /// The exits of the shards whose processes were observed.
    package var exits: [FleetShard: ExitCode] = [:]
    /// The folders of shards that cannot be read.
    package var unreadable: [String] = []

    /// Whether the folders are merged as shards of one run: at least one of them is a shard.
    package static func isMeant(_ heads: [RunHead]) -> Bool { heads.contains { !$0.shard.isWhole } }

    /// Reads at least one folder. Throws if the folders are not shards of one run. `settings`: those of the resolved scenario.
    package init(_ folders: [(path: String, head: RunHead)], settings: JudgeSettings) throws {
        try Self.check(folders)
        self.settings = settings
        let readers = folders.map { EvidenceReader(folder: $0.path, head: $0.head) }
        let heardAt = readers.compactMap { $0?.heardAt }.max() ?? .zero
        self.shards = try zip(folders, readers).map { folder, reader in
            try Self.read(folder.path, folder.head, settings, reader, heardAt)
        }
    }

    // MARK: Reading

    /// The limit of the time between the starts of two shards, in milliseconds. Shards that start further apart did not load the
    /// backend together.
    private static let startsApartMax: Int64 = 60_000

    private static func check(_ folders: [(path: String, head: RunHead)]) throws(MergeProblem) {
        let first = folders[0]
        let scenarios = folders.map { Self.scenario($0.path) }
        let scenario = scenarios.compactMap { $0 }.first
        for (index, folder) in folders.enumerated() {
            let (path, head) = folder
            guard !head.shard.isWhole else { throw .notAShard(path) }
            // The text of the scenario contains the seed, so the seed is compared first.
            let differences: [(String, Bool)] = [
                ("the seed", head.seed != first.head.seed),
                (
                    "the scenario",
                    head.scenario.name != first.head.scenario.name
                        || scenarios[index].map { $0 != scenario }
                            ?? (head.scenario.sha256 != first.head.scenario.sha256)
                ),
                ("the version of the program", head.tool != first.head.tool),
                ("the world", head.world != first.head.world),
                ("the number of shards", head.shard.count != first.head.shard.count),
                ("the groups", head.groups != first.head.groups),
                ("--settle or --ties", head.world == .virtual && head.rules != first.head.rules),
                (
                    "the salt of the device ids (\(DeviceSalt.option))",
                    head.deviceSalt != first.head.deviceSalt
                ),
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

    /// Returns the text of the scenario, including changes of the command line; nil if it cannot be read.
    private static func scenario(_ folder: String) -> [UInt8]? {
        let path = RunDirectory.joined(folder, RunDirectory.FileName.scenario)
        return try? File.contents(of: path, bytesMax: InputFile.documentBytesMax)
    }

    private static func read(
        _ folder: String, _ head: RunHead, _ settings: JudgeSettings, _ reader: EvidenceReader?,
        _ heardAt: Instant
    ) throws -> Shard {
        if FolderLock.isHeld(folder) { throw PastRun.Problem.stillRunning(folder) }
        var summary: JSONNode?
        var defect: ShardMerge.Defect?
        do {
            summary = try PastRun.summary(of: folder)
            if summary == nil { defect = .verdict }
            if let id = summary.flatMap(SummaryReader.unknownID) {
                throw MergeProblem.otherVersion(folder, id: id)
            }
        } catch is PastRun.Problem {
            defect = .summary
        }
        if defect == nil, Self.scenario(folder) == nil { defect = .scenario }
        if defect == nil, let foreign = reader?.foreignFile(in: folder) {
            defect = .foreign(foreign)
            summary = nil
        }
        guard defect == nil, let summary, let reader else {
            let rest = try PastRun(
                folder: folder, head: head, settings: settings, group: nil, summary: summary)
            var result = rest.result
            // Without the evidence, only the peak is known.
            result.streamsOpen = nil
            return Shard(
                folder: folder, head: head,
                part: .init(head.shard, result, rest.timeline, lacking: defect ?? .evidence))
        }
        var result = reader.result(summary, settings, until: heardAt)
        // The summary has remarks as text only.
        result.remarks = reader.remarks
        return Shard(
            folder: folder, head: head,
            part: .init(head.shard, result, reader.timeline, reader.evidence),
            lanes: reader.lanes, sizes: reader.sizes)
    }

    // MARK: The merge

    /// Scans that were in the storage of phones at the end.
    package var waiting: [WaitingRecord] { self.shards.flatMap { $0.part.evidence?.waiting ?? [] } }

    /// The report of the whole run; nil if the shards cannot be merged.
    package var report: RunReport? {
        var merge = ShardMerge(self.shards.map(\.part), settings: self.settings)
        merge.exits = self.exits
        let hasSpans = self.settings.objectives.contains { $0.condition.span != .wholeRun }
        let cut = self.shards.compactMap { shard in
            ShardSpans.damage(in: shard.folder, sizes: shard.sizes).map {
                Remark.merge(
                    .seriesCut(
                        shard.head.shard, file: $0.file, bytes: $0.bytes, of: $0.all, isJudged: hasSpans))
            }
        }
        merge.damage = self.unreadable.map { .merge(.shardWithoutHead(folder: $0)) } + cut
        let spans =
            cut.isEmpty
            ? ShardSpans.judge(
                self.shards.map { ($0.folder, $0.head, $0.part.result.length) }, self.settings)
            : nil
        guard var merged = merge.merged(spans: spans) else { return nil }
        merged.result.slow = ScansFile.slow(
            self.shards.map(\.folder), limit: merged.result.scanTimeLimit)
        let targets = Set(self.shards.map(\.head.labels.target)).count
        merged.result.add(
            (hasSpans && spans == nil ? [.merge(.seriesNotWhole)] : [])
                + (targets > 1 ? [.merge(.backendsDiffer(targets, areShards: true))] : []))
        return RunReport(
            merged.result, merged.timeline, folders: self.shards.map(\.folder),
            lanes: self.shards.flatMap(\.lanes))
    }
}

extension EvidenceReader {
    /// Returns the result of a shard. `summary`: its `summary.json`; `end`: the time of the last observation of all shards.
    func result(_ summary: JSONNode, _ settings: JudgeSettings, until end: Instant) -> RunResult {
        var metrics = self.metrics(until: end)
        metrics.prices = settings.ledger.prices
        var known = RunResult(
            self.head, length: .zero, totals: LedgerTotals(),
            groups: self.head.groups.map { _ in LedgerTotals() }, verdicts: [],
            tables: MeasuredTables(disconnections: self.disconnections[self.head.groups.count]),
            metrics: metrics)
        for index in known.groups.indices {
            known.groups[index].tables = MeasuredTables(disconnections: self.disconnections[index])
            known.groups[index].errors = self.errors(ofGroup: index)
        }
        known.expectations = settings.expectations
        known.controls = self.controls
        var result = SummaryReader(summary: summary, head: self.head)
            .result(instead: known, measured: metrics, slos: settings.objectives, isExact: true)
        result.length = self.length
        result.drained = self.drained
        result.streamsOpen = self.streamsOpen
        return result
    }
}
