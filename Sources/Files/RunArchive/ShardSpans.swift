import Metrics
import RunJudge
import SimBase
import SystemIO

/// The objectives for parts of a run, judged by the series of its shards, or of the workers of a test: runs
/// that count time from one time. The intervals of each end at the boundaries of these objectives, so that
/// their sums are the parts of the whole.
struct ShardSpans {
    private var readers: [IntervalReader]
    private var heads: [IntervalReader.Moment?] = []
    /// The operations of each shard that were open when it was last heard of.
    private var open: [(table: MetricTable, at: Instant)?]
    /// The beginnings of the last intervals of the shards.
    private var last: [Instant]
    /// The end of the last shard.
    private var end: Instant

    /// `shards`: the folders, their heads and the lengths of their runs.
    private init(_ shards: [(folder: String, head: RunHead, length: Interval)]) {
        self.readers = shards.map { IntervalReader(folder: $0.folder, head: $0.head) }
        self.open = shards.map { _ in nil }
        self.last = shards.map { _ in .zero }
        self.end = .zero + (shards.map(\.length).max() ?? .zero)
        for index in self.readers.indices { self.heads.append(self.readers[index].next()) }
    }

    /// The files that the objectives are judged by.
    static let files = [RunDirectory.FileName.series, RunDirectory.FileName.latency]

    /// Returns what judges all objectives, from the table of the whole run; nil unless all shards have these files.
    static func judge(
        _ shards: [(folder: String, head: RunHead, length: Interval)], _ settings: JudgeSettings
    ) -> ((MetricTable) -> [SLOResult])? {
        let areThere = shards.allSatisfy { shard in
            Self.files.allSatisfy { InputFile.open(RunDirectory.joined(shard.folder, $0)) != nil }
        }
        guard areThere else { return nil }
        return { table in
            var spans = ShardSpans(shards)
            return spans.results(settings, whole: table)
        }
    }

    /// The first of these files that has another size than its shard says, with both sizes; nil if there is
    /// none.
    ///
    /// - Parameter sizes: In bytes, by the name of the file.
    static func damage(
        in folder: String, sizes: [String: Int]
    ) -> (file: String, bytes: Int, all: Int)? {
        for name in Self.files {
            guard let size = sizes[name],
                case .file(let bytes) = FileTree.kind(of: RunDirectory.joined(folder, name)), bytes != size
            else { continue }
            return (name, bytes, size)
        }
        return nil
    }

    /// Returns the results of all objectives. `table`: of the whole run.
    private mutating func results(_ settings: JudgeSettings, whole table: MetricTable) -> [SLOResult] {
        var objectives = SLOParts(settings.objectives, faults: settings.faultEnds)
        while let next = self.next() {
            let (index, moment) = next
            // What the driver counted of a whole run belongs to no part of it. It comes behind the intervals.
            guard moment.from >= self.last[index] else {
                self.end = max(self.end, moment.from + moment.length)
                continue
            }
            self.last[index] = moment.from
            // Where nothing was written, nothing was open.
            self.open[index] = moment.open
            objectives.add(
                moment.table, from: moment.from,
                open: objectives.countsOpen
                    ? self.allOpen(moment.table.groups, at: moment.from + moment.length) : nil)
        }
        objectives.finish(at: self.end)
        return objectives.results(whole: table)
    }

    /// The next interval of any shard, in the order of time.
    private mutating func next() -> (index: Int, moment: IntervalReader.Moment)? {
        var first: (index: Int, moment: IntervalReader.Moment)?
        for (index, head) in self.heads.enumerated() {
            guard let head else { continue }
            if let first, first.moment.from <= head.from { continue }
            first = (index, head)
        }
        guard let first else { return nil }
        self.heads[first.index] = self.readers[first.index].next()
        return first
    }

    /// The open operations of all shards, as old as they are at one time.
    private func allOpen(_ groups: [String], at moment: Instant) -> (table: MetricTable, at: Instant) {
        let at = self.open.compactMap { $0?.at }.max() ?? moment
        var all = MetricTable(groups: groups)
        for case let open? in self.open {
            for index in -1..<groups.count {
                let group = index < 0 ? MetricGroup.none : MetricGroup(index: index)
                var set = MetricSet()
                for metric in LatencyMetric.allCases {
                    let unfinished = open.table.set(in: group).unfinished(metric)
                    guard !unfinished.isEmpty else { continue }
                    set.add(
                        Unfinished(count: unfinished.count, oldest: unfinished.oldest + (at - open.at)),
                        to: metric)
                }
                all.add(set, in: group)
            }
        }
        return (all, at)
    }
}
